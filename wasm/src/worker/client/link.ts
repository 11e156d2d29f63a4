// The connection to one worker: how it starts, what it sends, and how it ends.

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
  type CallRequest,
  everyone,
  type InitRequest,
  isOurs,
  key,
  type Ready,
  type Reply,
  type Underway,
} from '../protocol/messages.js';
import { receive, textOf } from '../protocol/sent-errors.js';
import { remedy } from './spawn.js';

/** Where the worker is from. */
export interface Origin {
  /** Whether it was started here, and is ended here. */
  readonly owned: boolean;
  /** What messages call it. */
  readonly name: string;
}

/** The error with which a call fails once the worker is gone. */
export type Failure = (fn: string) => QkvError;

/** What happens on a link, for whoever sends calls over it. */
export interface LinkListener {
  answered(answer: Answer): void;
  progressed(underway: Underway): void;
  /** No answer comes any more. */
  ended(failure: Failure): void;
}

/** The first message, until the worker answers it. */
interface Starting {
  send(): void;
  resolve(answer: Answer): void;
  reject(error: QkvError): void;
}

/** Most that setTimeout() takes. */
const longest = 2 ** 31 - 1;

/** The number of the first message. Calls have others. */
const initId = 0;

export class Link {
  readonly #port: WorkerPort;
  readonly #owned: boolean;
  readonly #name: string;
  readonly #listener: LinkListener;
  readonly #conversation = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  readonly #listening: (() => void)[] = [];
  readonly #watching = new AbortController();
  #starting: Starting | undefined;
  #ids = initId;
  /** Whether the worker has sent anything yet. */
  #answered = false;
  #failure: Failure | undefined;

  constructor(port: WorkerPort, { owned, name }: Origin, listener: LinkListener) {
    this.#port = port;
    this.#owned = owned;
    this.#name = name;
    this.#listener = listener;
    const on = (type: Parameters<typeof listen>[1], act: (value: unknown) => void): void => {
      this.#listening.push(listen(port, type, act));
    };
    on('message', (message) => this.#receive(message));
    on('messageerror', () => this.fail('has sent a message that cannot be read'));
    on('close', () => this.fail('has closed its port'));
    if (isNodeSide(port)) on('exit', (code) => this.fail(`has ended with ${String(code)}`));
    if (owned || !isNodeSide(port)) on('error', (event) => this.#onError(event));
  }

  /** Set once the worker is gone. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** A number for a call that no other of this link has. */
  nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  /** Loads the engine. */
  async start(init: InitOptions, timeout: number): Promise<Ready> {
    const late = (): void =>
      this.fail(
        this.#answered
          ? `has started but not loaded the engine within ${timeout} ms`
          : `has not answered within ${timeout} ms`,
      );
    const timer = timeout <= longest ? setTimeout(late, timeout) : undefined;
    this.keepAlive(true);
    try {
      const { ready, error } = await this.#init(init);
      if (error) throw receive(error);
      if (!ready)
        throw new QkvError(
          'load_failed',
          'init: the worker sent no description of its engine, expected that of serve(self, init)',
        );
      if (ready.info.version !== QKV_VERSION) {
        throw new QkvError(
          'load_failed',
          `init: the worker is version ${ready.info.version} and the JavaScript is ${QKV_VERSION}, ` +
            'expected the same; one of the two comes from an old copy or cache',
        );
      }
      const died = (): void => this.fail('has ended');
      if (ready.lock) await watch(this.#conversation, this.#watching.signal, died);
      return ready;
    } finally {
      clearTimeout(timer);
      if (!this.#failure) this.keepAlive(false);
    }
  }

  /** @throws what a caller reads of arguments that cannot be sent */
  send(fn: string, request: CallRequest | InitRequest, transfer: readonly ArrayBuffer[]): void {
    try {
      post(this.#port, { [key]: this.#conversation, ...request }, transfer);
    } catch (error) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: the arguments cannot be sent to a worker (${textOf(error)}), expected plain ones`,
        { cause: error },
      );
    }
  }

  /** Asks the worker to stop a call. */
  stop(id: number): void {
    if (!this.#failure) post(this.#port, { [key]: this.#conversation, abort: id });
  }

  /** Whether a process of Node lives on for the worker. */
  keepAlive(wanted: boolean): void {
    const isOurs = this.#owned || !isWorker(this.#port);
    // A worker's own way out is for its other work to keep open.
    if (isOurs && this.#port !== nodeThreads()?.parentPort) keepAlive(this.#port, wanted);
  }

  /** The worker is of no use any more, and everything fails with why. */
  fail(what: string, cause?: unknown): void {
    this.#close(
      (fn) =>
        new QkvError(
          'load_failed',
          `${fn}: the worker (${this.#name}) ${what}, expected one that runs; ` +
            (fn === 'init'
              ? this.#owned
                ? remedy
                : 'call serve(self, init) in it'
              : 'call init() again for a new one'),
          { cause },
        ),
    );
  }

  /** Nobody needs it any more. */
  dispose(): void {
    if (!this.#failure && !this.#owned) {
      post(this.#port, { [key]: this.#conversation, end: true });
    }
    this.#close(disposed);
  }

  #init(init: InitOptions): Promise<Answer> {
    if (this.#failure) return Promise.reject(this.#failure('init'));
    const request = { id: initId, init, watched: !this.#owned };
    return new Promise((resolve, reject) => {
      const send = (): void => this.send('init', request, []);
      this.#starting = { send, resolve, reject };
      send();
    });
  }

  #close(failure: Failure): void {
    if (this.#failure) return;
    this.#failure = failure;
    this.#watching.abort();
    for (const stop of this.#listening) stop();
    if (this.#owned) {
      // What it may still fail of on its way out; Node throws errors that nobody listens to.
      listen(this.#port, 'error', () => undefined);
      terminate(this.#port);
    } else this.keepAlive(false);
    this.#starting?.reject(failure('init'));
    this.#listener.ended(failure);
  }

  #receive(message: unknown): void {
    if (!isOurs(message) || ![this.#conversation, everyone].includes(message[key])) return;
    this.#answered = true;
    const reply = message as Reply;
    if ('unreadable' in reply) this.fail('could not read a message');
    // It may have begun to listen after init was sent.
    else if ('hello' in reply) this.#starting?.send();
    else if ('progress' in reply) this.#listener.progressed(reply);
    else if (reply.id === initId) {
      this.#starting?.resolve(reply);
      this.#starting = undefined;
    } else this.#listener.answered(reply);
  }

  #onError(event: unknown): void {
    // A worker that the caller started may go on after an error.
    if (!this.#owned && this.#answered) return;
    const { message, preventDefault } = event as Partial<ErrorEvent>;
    // The caller gets the error; the console need not show it as well.
    if (this.#owned) preventDefault?.call(event);
    const why = message ? ` (${message})` : '';
    this.fail(this.#answered ? `has failed${why}` : `could not be loaded${why}`, event);
  }
}

const disposed: Failure = (fn) =>
  new QkvError('disposed', `${fn}: the engine is disposed, expected a live one`);
