// Many steps of a trainer, one after the other, between which the worker hears messages.

import type { Batch, StepResult } from '../../api/trainer-types.js';
import type { RunResult } from '../../api/worker-train-types.js';
import { Pause } from '../../platform/pause.js';
import type { RunProgress } from '../protocol/messages.js';

/** Batches that a run asks for before it needs them, so that the worker need not wait for the other side. */
const ahead = 4;

export interface RunRequest {
  /** Used again and again; if there are none, they are requested one by one. */
  readonly batches?: readonly Batch[] | undefined;
  readonly steps: number;
  readonly every: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: RunProgress) => void;
}

/** A trainer, as far as a run needs it. */
interface Stepping {
  readonly steps: number;
  step(batch: Batch): StepResult;
}

export class Run {
  readonly #trainer: Stepping;
  readonly #request: RunRequest;
  /** Batches that have come; undefined says that there are no more. */
  readonly #come: (Batch | undefined)[] = [];
  readonly #firstStep: number;
  #requested = 0;
  #made = 0;
  #last: StepResult | undefined;
  /** Of the steps since the last report. */
  #unreported = { steps: 0, loss: 0 };
  #isPaused = false;
  #stopped: { readonly why: unknown } | undefined;
  #wake = (): void => undefined;

  constructor(trainer: Stepping, request: RunRequest) {
    this.#trainer = trainer;
    this.#request = request;
    this.#firstStep = trainer.steps + 1;
  }

  /** All of it. A rejected one leaves the steps that were made. */
  async result(): Promise<RunResult> {
    const { steps, every, signal } = this.#request;
    const pause = new Pause();
    const abort = (): void => this.stop(signal.reason);
    signal.addEventListener('abort', abort);
    try {
      for (let batch = await this.#next(); batch !== undefined; batch = await this.#next()) {
        this.#last = this.#trainer.step(batch);
        this.#made += 1;
        this.#unreported.steps += 1;
        this.#unreported.loss += this.#last.loss;
        if (this.#unreported.steps === every) this.report();
        if (this.#made < steps) await pause.maybe();
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.report();
    }
    return { steps: this.#made, last: this.#last };
  }

  /** Ends it before the next step, with this error. */
  stop(why: unknown): void {
    this.#stopped = { why };
    this.#wake();
  }

  pause(): void {
    this.#isPaused = true;
    this.report();
  }

  resume(): void {
    this.#isPaused = false;
    this.#wake();
  }

  feed(batch: Batch | undefined): void {
    this.#come.push(batch);
    this.#wake();
  }

  /** Reports what has not been reported yet. */
  report(): void {
    const { steps, loss } = this.#unreported;
    if (!this.#last || steps === 0) return;
    this.#unreported = { steps: 0, loss: 0 };
    this.#request.onProgress({ report: { ...this.#last, meanLoss: loss / steps } });
  }

  /** The batch of the next step, once it is its turn; undefined after the last. */
  async #next(): Promise<Batch | undefined> {
    const { batches, steps } = this.#request;
    for (;;) {
      if (this.#stopped) throw this.#stopped.why;
      if (this.#made === steps) return undefined;
      if (!batches) this.#ask();
      if (!this.#isPaused) {
        if (batches) return batches[this.#made % batches.length];
        if (this.#come.length > 0) return this.#come.shift();
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Asks for the batches of steps to come. */
  #ask(): void {
    const { steps, onProgress } = this.#request;
    for (; this.#requested < Math.min(steps, this.#made + ahead); this.#requested += 1) {
      onProgress({ wants: this.#firstStep + this.#requested });
    }
  }
}
