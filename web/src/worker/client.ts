import type { EngineInfo } from 'qkv';
import type { PaintPalette } from '../domain/paint_palette';
import type {
  Frame,
  FrameNews,
  FrameRequest,
  FromWorker,
  Report,
  Tensors,
  ToWorker,
  Wanted,
} from './protocol';
import type { Failure } from '../domain/failure';
import type { Studies } from '../features/computed';
import type { FromModel, ToModel } from '../features/model/shared/protocol';
import type { Pixels } from '../domain/pixels';
import FrameWorker from './worker?worker';

export type EngineStatus =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly info: EngineInfo }
  /** `during` a run the engine stays usable; after a failed load it may be started again. */
  | { readonly kind: 'failed'; readonly during: 'load' | 'run'; readonly failure: Failure };

export interface EngineListener {
  onStatus(status: EngineStatus): void;
  onFrame(frame: Frame): void;
  onReport(report: Report): void;
  onStudies(news: Partial<Studies>): void;
  onModel(message: FromModel): void;
}

/**
 * Talks to the worker: at most one request is under way, and only the latest one waits. Canvases are
 * handed over once; where the browser cannot, the pixels come back and are put on them here.
 */
export class EngineClient {
  readonly #listener: EngineListener;
  readonly #canvases = new Map<string, HTMLCanvasElement>();
  #worker: Worker | undefined;
  /** Whether there was one and it died. */
  #lost = false;
  #info: EngineInfo | undefined;
  #frame: Frame | undefined;
  #waiting: FrameRequest | undefined;
  #running: FrameRequest | undefined;
  /** The latest request; '' when its picture would be another by now. */
  #requested = '';
  #nextId = 1;
  /** The request for which the worker has nothing left to do. */
  #rested = 0;
  #palette: PaintPalette | undefined;
  #wanted: { resolve: (tensors: Tensors) => void; reject: (reason: Error) => void }[] = [];

  constructor(listener: EngineListener) {
    this.#listener = listener;
  }

  /** Whether canvases are painted in the worker itself. */
  readonly paintsInWorker = 'transferControlToOffscreen' in HTMLCanvasElement.prototype;

  /** Also the way to try again after a failure. An engine that is there stays as it is. */
  start(): void {
    this.#listener.onStatus({ kind: 'loading' });
    if (this.#lost) this.#equip();
    this.#send({ type: 'start' });
  }

  /** A new worker after one that died: what was handed to that one is lost, so there are new canvases. */
  #equip(): void {
    this.#lost = false;
    for (const [name, canvas] of [...this.#canvases]) {
      const fresh = canvas.cloneNode() as HTMLCanvasElement;
      canvas.replaceWith(fresh);
      this.give(name, fresh);
    }
    if (this.#palette) this.#send({ type: 'palette', palette: this.#palette });
  }

  /** The worker paints this canvas from now on, under this name. */
  give(name: string, canvas: HTMLCanvasElement): void {
    this.#requested = '';
    this.#canvases.set(name, canvas);
    if (this.#lost) return;
    if (this.paintsInWorker) {
      const offscreen = canvas.transferControlToOffscreen();
      this.#send({ type: 'surface', name, canvas: offscreen }, [offscreen]);
    } else {
      this.#send({ type: 'surface', name, canvas: null });
    }
  }

  set palette(palette: PaintPalette) {
    this.#palette = palette;
    this.#requested = '';
    if (!this.#lost) this.#send({ type: 'palette', palette });
  }

  /** What is on its way is not requested again. */
  request(request: FrameRequest): void {
    const written = JSON.stringify(request);
    if (written === this.#requested && (this.#waiting ?? this.#running)) return;
    this.#requested = written;
    this.#waiting = request;
    this.#pump();
  }

  /** Whether everything that was requested has been answered, the report and the studies included. */
  get atRest(): boolean {
    const last = this.#nextId - 1;
    return !this.#waiting && !this.#running && last > 0 && this.#rested === last;
  }

  /** The tensors behind the latest frame. */
  tensors(wanted: Wanted = 'all'): Promise<Tensors> {
    if (!this.#frame) return Promise.reject(new Error('nothing was computed yet'));
    return new Promise((resolve, reject) => {
      this.#wanted.push({ resolve, reject });
      this.#send({ type: 'tensors', wanted });
    });
  }

  /** Says something to the trained model, whose code the worker fetches then. */
  tell(message: ToModel): void {
    this.#send({ type: 'model', message });
  }

  #send(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker ??= this.#newWorker();
    this.#worker.postMessage(message, transfer);
  }

  #newWorker(): Worker {
    const worker = new FrameWorker();
    worker.addEventListener('message', (event: MessageEvent<FromWorker>) => {
      this.#receive(event.data);
    });
    worker.addEventListener('error', (event) => this.#workerDied(event.message));
    return worker;
  }

  #pump(): void {
    if (!this.#info || this.#running || !this.#waiting) return;
    this.#running = this.#waiting;
    this.#waiting = undefined;
    this.#send({ type: 'run', id: this.#nextId++, request: this.#running });
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
        this.#put(message.pixels);
        this.#take(message.news);
        break;
      case 'report':
        this.#put(message.pixels);
        this.#listener.onReport(message.report);
        break;
      case 'studies':
        this.#listener.onStudies(message.news);
        break;
      case 'model':
        this.#listener.onModel(message.message);
        break;
      case 'tensors':
        this.#wanted.shift()?.resolve(message.tensors);
        break;
      case 'tensors-failed':
        this.#wanted.shift()?.reject(Object.assign(new Error(), message.failure));
        break;
      case 'rest':
        this.#rested = message.id;
        break;
      case 'run-failed':
        // What failed may also be work in the background for an earlier one.
        if (message.id === this.#nextId - 1) this.#running = undefined;
        this.#listener.onStatus({ kind: 'failed', during: 'run', failure: message.failure });
        break;
    }
    this.#pump();
  }

  #take(news: FrameNews): void {
    const request = this.#running;
    this.#running = undefined;
    if (!request) return;
    // The first frame is complete, and from then on nothing of it is missing.
    this.#frame = { ...this.#frame, ...news, request } as Frame;
    this.#listener.onStatus({ kind: 'ready', info: this.#frame.info });
    this.#listener.onFrame(this.#frame);
  }

  #put(pixels: Readonly<Record<string, Pixels>>): void {
    for (const [name, { width, height, data }] of Object.entries(pixels)) {
      const canvas = this.#canvases.get(name);
      if (!canvas) continue;
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      canvas.getContext('2d')?.putImageData(new ImageData(data, width, height), 0, 0);
    }
  }

  /** The worker's script did not load, or threw outside a request: only a new worker can help. */
  #workerDied(message: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#lost = true;
    this.#info = undefined;
    // The next worker has no tensors before its own first frame, which is complete.
    this.#frame = undefined;
    this.#running = undefined;
    const failure = { code: 'load_failed', message: message || 'the worker script did not load' };
    for (const { reject } of this.#wanted.splice(0)) reject(new Error(failure.message));
    this.#listener.onStatus({ kind: 'failed', during: 'load', failure });
  }
}
