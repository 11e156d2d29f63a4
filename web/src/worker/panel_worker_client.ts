import LabWorker from './panel_worker?worker';
import type { Failure, LabFailed } from '../domain/failure';

export interface LabListener<FromLab> {
  onMessage(message: FromLab): void;
  /** Something it needs did not load, or what it did went wrong. It has been stopped: the next `send` starts another worker. */
  onFailure(failure: Failure): void;
}

/**
 * The worker of one panel, for what takes long and is requested by a press: training, measuring. It is not there before
 * the first message, so a page whose reader asks for nothing starts nothing.
 */
export class Lab<ToLab, FromLab extends { readonly type: string }> {
  readonly #id: string;
  readonly #listener: LabListener<FromLab>;
  #worker: Worker | undefined;

  /** `id`: the panel, whose features/<id>/worker/serve.ts works here. */
  constructor(id: string, listener: LabListener<FromLab>) {
    this.#id = id;
    this.#listener = listener;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  send(message: ToLab, transfer: Transferable[] = []): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message, transfer);
  }

  /** Ends the worker, whatever it is doing, and gives its memory back. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #start(): Worker {
    const worker = new LabWorker();
    worker.postMessage(this.#id);
    worker.addEventListener('message', (event: MessageEvent<FromLab | LabFailed>) => {
      if (this.#worker !== worker) return; // it was stopped, and this was under way
      const { data } = event;
      if (!isFailure(data)) {
        this.#listener.onMessage(data);
        return;
      }
      this.stop(); // it keeps what did not load as it is, and would refuse for ever
      this.#listener.onFailure(data.failure);
    });
    worker.addEventListener('error', (event) => {
      if (this.#worker !== worker) return;
      this.stop();
      const message = event.message || 'the worker script did not load';
      this.#listener.onFailure({ code: 'load_failed', message });
    });
    return worker;
  }
}

function isFailure(data: { readonly type: string }): data is LabFailed {
  return data.type === 'failed';
}
