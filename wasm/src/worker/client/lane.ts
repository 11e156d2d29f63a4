// The calls that are on their way to one worker.

import type { QkvError } from '../../api/errors.js';
import type { InitOptions } from '../../api/types.js';
import type { WorkerPort } from '../../api/worker-types.js';
import { type Answer, type CallRequest, type Ready, type Underway } from '../protocol/messages.js';
import { receive } from '../protocol/sent-errors.js';
import { type Failure, Link, type LinkListener, type Origin } from './link.js';

/** Something of which the worker sends the length: how many tokens it holds. */
export interface Counted {
  setLength(length: number): void;
}

/** How a call goes, where not as most do. */
export interface Manner {
  /**
   * Whether with a signal it waits here until the worker has nothing else to do, so that one that is aborted before is never sent.
   * Default true.
   */
  readonly isWithheld?: boolean;
  /**
   * What an abort does once the worker has the call: it is rejected at once, and the worker finishes it ('leave', the
   * default); it is rejected at once, and the worker is asked to stop it ('stop'); or the worker is asked to stop it
   * and its answer counts ('wait').
   */
  readonly onAbort?: 'leave' | 'stop' | 'wait';
  /**
   * Whether the worker has turns for other calls while it does this one for a long time, so that those do not count it as one to
   * wait for. Default false.
   */
  readonly isBackground?: boolean;
  /** Called with how far it is; what it throws is what the call is rejected with. */
  readonly onProgress?: ((progress: unknown) => void) | undefined;
}

interface AskOptions extends Manner {
  readonly signal?: AbortSignal | undefined;
  readonly caches?: readonly Counted[];
  /** Buffers of the arguments that are moved to the worker and not copied. */
  readonly transfer?: readonly ArrayBuffer[];
}

interface Entry extends Required<Omit<AskOptions, 'signal' | 'onProgress'>> {
  readonly fn: string;
  readonly call: CallRequest;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: unknown) => void) | undefined;
  readonly settle: (outcome: { answer: Answer } | { error: Error }) => void;
  /** Rejected before the worker has answered. */
  over: boolean;
}

/**
 * Calls go to the worker as soon as they are made and wait in its own queue, except that one with a signal waits here
 * until the worker has nothing else to do: what has not begun can then still be withheld. {@link Manner} is of calls
 * for which that is not wanted.
 */
export class Lane implements LinkListener {
  readonly index: number;
  readonly #link: Link;
  readonly #waiting: Entry[] = [];
  readonly #sent = new Map<number, Entry>();
  /** Calls between whose parts others run. */
  readonly #inBackground = new Map<number, Entry>();
  /** Called whenever the worker has nothing to do. */
  onIdle: (() => void) | undefined;
  /** Called once the worker is of no use any more. */
  onEnd: (() => void) | undefined;

  constructor(index: number, port: WorkerPort, origin: Origin) {
    this.index = index;
    this.#link = new Link(port, origin, this);
  }

  /** Calls that others wait for, those included whose results nobody waits for any more. */
  get busy(): number {
    return this.#waiting.length + this.#sent.size;
  }

  /** Whether a call goes on between the others. */
  get isShared(): boolean {
    return this.#inBackground.size > 0;
  }

  get alive(): boolean {
    return this.#link.failure === undefined;
  }

  /** Loads the engine. */
  start(init: InitOptions, timeout: number): Promise<Ready> {
    return this.#link.start(init, timeout);
  }

  /** Nobody needs the worker any more. */
  dispose(): void {
    this.#link.dispose();
  }

  /** The answer; rejected with what went wrong in the worker or on the way. */
  ask(fn: string, call: Omit<CallRequest, 'id'>, options: AskOptions = {}): Promise<Answer> {
    const { failure } = this.#link;
    if (failure) return Promise.reject(failure(fn));
    const { signal, onProgress, caches = [], transfer = [] } = options;
    const { isWithheld = true, onAbort = 'leave', isBackground = false } = options;
    return new Promise((resolve, reject) => {
      const entry: Entry = {
        ...{
          fn,
          signal,
          onProgress,
          caches,
          transfer,
          isWithheld,
          onAbort,
          isBackground,
          over: false,
        },
        call: { id: this.#link.nextId(), ...call },
        settle: (outcome) => {
          signal?.removeEventListener('abort', abort);
          entry.over = true;
          if ('answer' in outcome) resolve(outcome.answer);
          else reject(outcome.error);
        },
      };
      const abort = (): void => this.#abort(entry);
      signal?.addEventListener('abort', abort);
      this.#waiting.push(entry);
      this.#pump();
    });
  }

  /** Disposes a handle of the worker, after the calls made so far. */
  async discard(target: number, caches: readonly Counted[] = []): Promise<void> {
    try {
      await this.ask('dispose', { method: 'dispose', target, args: [] }, { caches });
    } catch {
      // The worker is gone, and the handle with it.
    }
  }

  /** Of the link. */
  ended(failure: Failure): void {
    const sent = [...this.#sent.values(), ...this.#inBackground.values()];
    const left = [...sent, ...this.#waiting.splice(0)];
    this.#sent.clear();
    this.#inBackground.clear();
    for (const { over, fn, settle } of left) if (!over) settle({ error: failure(fn) });
    this.onEnd?.();
  }

  /** Of the link. */
  progressed({ id, progress }: Underway): void {
    const entry = this.#entryOf(id);
    if (!entry || entry.over) return;
    try {
      entry.onProgress?.(progress);
    } catch (error) {
      this.#giveUp(entry, error as Error);
    }
  }

  /** Of the link. */
  answered(answer: Answer): void {
    const entry = this.#entryOf(answer.id);
    if (!entry) return;
    this.#sentLike(entry).delete(answer.id);
    // A call that was refused before the worker had found its caches says nothing of them.
    for (const [i, length] of answer.lengths.entries()) entry.caches[i]?.setLength(length);
    if (!entry.over) {
      const { signal } = entry;
      const error = answer.error && receive(answer.error);
      // What the worker makes of an abort is not the reason of the signal.
      entry.settle(
        error ? { error: signal?.aborted ? (signal.reason as Error) : error } : { answer },
      );
    } else if (answer.handle) {
      void this.discard(answer.handle.id);
    }
    this.#pump();
  }

  #pump(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (next.signal && next.isWithheld && this.#sent.size > 0) break;
      this.#waiting.shift();
      this.#send(next);
    }
    if (!this.alive) return;
    this.#link.keepAlive(this.busy > 0 || this.isShared);
    if (this.busy === 0) this.onIdle?.();
  }

  #send(entry: Entry): void {
    const { call, fn, transfer } = entry;
    this.#sentLike(entry).set(call.id, entry);
    try {
      this.#link.send(fn, call, transfer);
    } catch (error) {
      this.#sentLike(entry).delete(call.id);
      entry.settle({ error: error as QkvError });
    }
  }

  #abort(entry: Entry): void {
    if (entry.onAbort === 'wait' && this.#entryOf(entry.call.id)) {
      this.#link.stop(entry.call.id);
      return;
    }
    const at = this.#waiting.indexOf(entry);
    if (at >= 0) this.#waiting.splice(at, 1);
    // Whatever the owner of the signal gave as its reason.
    this.#giveUp(entry, entry.signal?.reason as Error);
    this.#pump();
  }

  /** Nobody waits for the call any more. */
  #giveUp(entry: Entry, error: Error): void {
    entry.settle({ error });
    const { onAbort, call } = entry;
    if (onAbort !== 'leave' && this.#entryOf(call.id)) this.#link.stop(call.id);
  }

  /** The call of this number, if the worker has it. */
  #entryOf(id: number): Entry | undefined {
    return this.#sent.get(id) ?? this.#inBackground.get(id);
  }

  /** Where a call is noted once it is sent. */
  #sentLike({ isBackground }: Entry): Map<number, Entry> {
    return isBackground ? this.#inBackground : this.#sent;
  }
}
