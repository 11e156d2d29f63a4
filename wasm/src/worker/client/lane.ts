// One worker and the calls that are on their way to it.

import { QkvError } from '../../api/errors.js';
import type { InitOptions } from '../../api/types.js';
import type { WorkerPort } from '../../api/worker-types.js';
import {
  isNodeSide,
  isWorker,
  keepAlive,
  listen,
  nodeThreads,
  post,
  terminate,
} from '../../platform/ports.js';
import { watch } from '../protocol/liveness.js';
import {
  type Answer,
  type Ask,
  buffersOf,
  everyone,
  isOurs,
  key,
  type Ready,
  type Reply,
  type Underway,
} from '../protocol/messages.js';
import { receive, textOf } from '../protocol/errors.js';
import { remedy } from './spawn.js';

/** Takes note of how many tokens a cache holds. */
export interface Counted {
  held(length: number): void;
}

interface Entry {
  readonly id: number;
  readonly fn: string;
  readonly ask: Ask;
  readonly signal: AbortSignal | undefined;
  readonly caches: readonly Counted[];
  readonly onProgress: ((progress: unknown) => void) | undefined;
  readonly settle: (outcome: { answer: Answer } | { error: Error }) => void;
  /** Rejected before the worker has answered. */
  over: boolean;
}

interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly caches?: readonly Counted[];
  /** Told how far the call is; what it throws is what the call is rejected with. */
  readonly onProgress?: ((progress: unknown) => void) | undefined;
}

/** Where the worker is from. */
interface Origin {
  /** Whether it was started here, and is ended here. */
  readonly owned: boolean;
  /** What messages call it. */
  readonly name: string;
}

/** Most that setTimeout() takes. */
const longest = 2 ** 31 - 1;

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/**
 * Calls go to the worker as soon as they are made and wait in its own queue, except that one with a signal
 * waits here until the worker has nothing else to do: what has not begun can then still be withheld. A token that is asked
 * for need not be, as the worker can be told to stop it, nor a generation, which does nothing until it is asked for one.
 */
export class Lane {
  readonly index: number;
  readonly #port: WorkerPort;
  readonly #owned: boolean;
  readonly #name: string;
  readonly #session = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  readonly #waiting: Entry[] = [];
  readonly #sent = new Map<number, Entry>();
  readonly #listening: (() => void)[] = [];
  readonly #watching = new AbortController();
  /** Told whenever the worker has nothing to do. */
  onIdle: (() => void) | undefined;
  /** Told once the worker is of no use any more. */
  onEnd: (() => void) | undefined;
  #ids = 0;
  #heard = false;
  #end: ((fn: string) => QkvError) | undefined;

  constructor(index: number, port: WorkerPort, { owned, name }: Origin) {
    this.index = index;
    this.#port = port;
    this.#owned = owned;
    this.#name = name;
    const on = (type: Parameters<typeof listen>[1], listener: (value: unknown) => void): void => {
      this.#listening.push(listen(port, type, listener));
    };
    on('message', (message) => this.#receive(message));
    on('messageerror', () => this.fail('has sent what cannot be read'));
    on('close', () => this.fail('has closed its port'));
    if (isNodeSide(port)) on('exit', (code) => this.fail(`has ended with ${String(code)}`));
    if (owned || !isNodeSide(port)) on('error', (event) => this.#onError(event));
  }

  /** Calls that are not done, those included whose results nobody waits for any more. */
  get busy(): number {
    return this.#waiting.length + this.#sent.size;
  }

  get alive(): boolean {
    return this.#end === undefined;
  }

  /** Loads the engine. */
  async start(init: InitOptions, timeout: number): Promise<Ready> {
    const late = (): void =>
      this.fail(
        this.#heard
          ? `has started but not loaded the engine within ${timeout} ms`
          : `has not answered within ${timeout} ms`,
      );
    const timer = timeout <= longest ? setTimeout(late, timeout) : undefined;
    try {
      const watched = !this.#owned;
      const { ready } = await this.ask('init', { init, watched });
      if (!ready) throw new QkvError('load_failed', 'init: the worker says nothing of its engine');
      if (ready.info.version !== QKV_VERSION) {
        throw new QkvError(
          'load_failed',
          `init: the worker is version ${ready.info.version} and the JavaScript is ${QKV_VERSION}, ` +
            'expected the same; one of the two comes from an old copy or cache',
        );
      }
      const died = (): void => this.fail('has ended');
      if (ready.lock) await watch(this.#session, this.#watching.signal, died);
      return ready;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The answer; rejected with what went wrong in the worker or on the way. */
  ask(fn: string, ask: Without<Ask, 'id'>, options: AskOptions = {}): Promise<Answer> {
    if (this.#end) return Promise.reject(this.#end(fn));
    const { signal, caches = [], onProgress } = options;
    const id = this.#ids++;
    return new Promise((resolve, reject) => {
      const entry: Entry = {
        ...{ id, fn, signal, caches, onProgress, over: false },
        ask: { id, ...ask },
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

  /** The worker is of no use any more: everything is rejected with why. */
  fail(what: string, cause?: unknown): void {
    this.#close(
      (fn) =>
        new QkvError(
          'load_failed',
          `${fn}: the worker (${this.#name}) ${what}, expected one that runs; ` +
            (fn === 'init'
              ? this.#owned
                ? remedy
                : 'let it call serve(self, init)'
              : 'call init() again for a new one'),
          { cause },
        ),
    );
  }

  /** Nobody needs it any more. */
  dispose(why: (fn: string) => QkvError = disposed): void {
    if (!this.#end && !this.#owned) post(this.#port, { [key]: this.#session, end: true });
    this.#close(why);
  }

  #close(why: (fn: string) => QkvError): void {
    if (this.#end) return;
    this.#end = why;
    this.#watching.abort();
    for (const stop of this.#listening) stop();
    if (this.#owned) {
      // What it may still fail of on its way out; Node throws errors that nobody listens to.
      listen(this.#port, 'error', () => undefined);
      terminate(this.#port);
    } else this.#keepAlive(false);
    const left = [...this.#sent.values(), ...this.#waiting.splice(0)];
    this.#sent.clear();
    for (const { over, fn, settle } of left) if (!over) settle({ error: why(fn) });
    this.onEnd?.();
  }

  #keepAlive(wanted: boolean): void {
    const isOurs = this.#owned || !isWorker(this.#port);
    // A worker's own way out is for its other work to keep open.
    if (isOurs && this.#port !== nodeThreads()?.parentPort) keepAlive(this.#port, wanted);
  }

  #pump(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (next.signal && this.#sent.size > 0 && !isOf(next, 'next', 'generate')) break;
      this.#waiting.shift();
      this.#sent.set(next.id, next);
      this.#post(next);
    }
    if (this.#end) return;
    this.#keepAlive(this.busy > 0);
    if (this.busy === 0) this.onIdle?.();
  }

  #post(entry: Entry): void {
    const { ask, fn } = entry;
    try {
      const transfer = 'args' in ask ? buffersOf(ask.args) : [];
      post(this.#port, { [key]: this.#session, ...ask }, transfer);
    } catch (error) {
      this.#sent.delete(entry.id);
      const message = `${fn}: the arguments cannot be sent to a worker (${textOf(error)}), expected plain ones`;
      entry.settle({ error: new QkvError('invalid_argument', message, { cause: error }) });
    }
  }

  #abort(entry: Entry): void {
    // A session holds the token that is chosen, unless the worker hears of it before: only its answer says which.
    if (isOf(entry, 'next') && this.#sent.has(entry.id)) {
      this.#stop(entry);
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
    if (isOf(entry, 'loadModel') && this.#sent.has(entry.id) && !this.#end) this.#stop(entry);
  }

  /** Tells the worker that a call which takes long may end. */
  #stop({ id }: Entry): void {
    post(this.#port, { [key]: this.#session, abort: id });
  }

  #progressed({ id, progress }: Underway): void {
    const entry = this.#sent.get(id);
    if (!entry || entry.over) return;
    try {
      entry.onProgress?.(progress);
    } catch (error) {
      this.#giveUp(entry, error as Error);
    }
  }

  #receive(message: unknown): void {
    if (!isOurs(message) || ![this.#session, everyone].includes(message[key])) return;
    this.#heard = true;
    const reply = message as Reply;
    if ('unreadable' in reply) {
      this.fail('could not read a message');
    } else if ('hello' in reply) {
      // It may have begun to listen after init was sent.
      for (const entry of this.#sent.values()) if ('init' in entry.ask) this.#post(entry);
    } else if ('progress' in reply) {
      this.#progressed(reply);
    } else {
      this.#answered(reply);
    }
  }

  #answered(answer: Answer): void {
    const entry = this.#sent.get(answer.id);
    if (!entry) return;
    this.#sent.delete(answer.id);
    // A call that was refused before the worker had found its caches says nothing of them.
    for (const [i, length] of answer.lengths.entries()) entry.caches[i]?.held(length);
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

  #onError(event: unknown): void {
    // Somebody's own worker may go on after an error of its own.
    if (!this.#owned && this.#heard) return;
    const { message, preventDefault } = event as Partial<ErrorEvent>;
    // The caller learns of it; the console need not as well.
    if (this.#owned) preventDefault?.call(event);
    const why = message ? ` (${message})` : '';
    this.fail(this.#heard ? `has failed${why}` : `could not be loaded${why}`, event);
  }
}

const isOf = ({ ask }: Entry, ...methods: readonly string[]): boolean =>
  'method' in ask && methods.includes(ask.method);

const disposed = (fn: string): QkvError =>
  new QkvError('disposed', `${fn}: the engine is disposed, expected a live one`);
