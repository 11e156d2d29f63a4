import type { EngineInfo } from 'qkv';
import type { Failure, Frame, FromWorker, LayerRequest, ToWorker } from './protocol';

export type EngineStatus =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly info: EngineInfo }
  /** `during` a run the engine stays usable; after a failed load it may be started again. */
  | { readonly kind: 'failed'; readonly during: 'load' | 'run'; readonly failure: Failure };

export interface EngineListener {
  onStatus(status: EngineStatus): void;
  onFrame(frame: Frame): void;
}

/** Talks to the worker: at most one request is under way, and only the latest one waits. */
export class EngineClient {
  readonly #listener: EngineListener;
  #worker: Worker | undefined;
  #info: EngineInfo | undefined;
  #frame: Frame | undefined;
  #waiting: LayerRequest | undefined;
  #busy = false;
  #nextId = 1;

  constructor(listener: EngineListener) {
    this.#listener = listener;
  }

  /** Also the way to try again after a failed load. */
  start(): void {
    this.#listener.onStatus({ kind: 'loading' });
    if (!this.#worker) {
      this.#worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
      this.#worker.addEventListener('message', (event: MessageEvent<FromWorker>) => {
        this.#receive(event.data);
      });
      this.#worker.addEventListener('error', (event) => this.#workerDied(event.message));
    }
    this.#send({ type: 'start' });
  }

  request(request: LayerRequest): void {
    this.#waiting = request;
    this.#pump();
  }

  #send(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #pump(): void {
    if (!this.#info || this.#busy || !this.#waiting) return;
    const request = this.#waiting;
    this.#waiting = undefined;
    this.#busy = true;
    this.#send({ type: 'run', id: this.#nextId++, request });
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        this.#info = message.info;
        this.#listener.onStatus({ kind: 'ready', info: message.info });
        break;
      case 'load-failed':
        this.#listener.onStatus({ kind: 'failed', during: 'load', failure: message.failure });
        break;
      case 'frame':
        this.#busy = false;
        // The first frame is complete, and from then on nothing of it is missing.
        this.#frame = { ...this.#frame, ...message.news } as Frame;
        this.#listener.onStatus({ kind: 'ready', info: this.#frame.info });
        this.#listener.onFrame(this.#frame);
        break;
      case 'run-failed':
        this.#busy = false;
        this.#listener.onStatus({ kind: 'failed', during: 'run', failure: message.failure });
        break;
    }
    this.#pump();
  }

  /** The worker's script did not load, or threw outside a request: only a new worker can help. */
  #workerDied(message: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#info = undefined;
    this.#busy = false;
    const failure = { code: 'load_failed', message: message || 'the worker script did not load' };
    this.#listener.onStatus({ kind: 'failed', during: 'load', failure });
  }
}
