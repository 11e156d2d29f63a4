/** What a generator does, a slice of time after the other. */
export interface SlicesListener<Value, Result> {
  onStep?(value: Value): void;
  /** The value of the last step of a slice. */
  onSlice?(value: Value): void;
  onDone?(result: Result): void;
  onError(error: unknown): void;
}

/**
 * Work in steps, of which as many are done at once as take some milliseconds; messages are read between two slices. What
 * is ended before it is done gives back what it holds: a generator that is only forgotten never comes to its `finally`.
 */
export class Slices<Value, Result> {
  readonly #steps: Generator<Value, Result>;
  readonly #length: number;
  readonly #listener: SlicesListener<Value, Result>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;
  /** Whether a step is being done: a generator cannot be ended from within. */
  #inside = false;

  /** `length`: of a slice, in milliseconds. */
  constructor(
    steps: Generator<Value, Result>,
    length: number,
    listener: SlicesListener<Value, Result>,
  ) {
    this.#steps = steps;
    this.#length = length;
    this.#listener = listener;
  }

  /** Begins, or goes on, after so many milliseconds. */
  start(delay = 0): this {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.run(), delay);
    return this;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#ended = true;
    if (!this.#inside) this.#steps.return(undefined as never);
  }

  /** A slice at once, and the others after it. */
  run(): void {
    const start = performance.now();
    try {
      let step;
      do {
        step = this.#step();
        if (this.#ended) {
          this.end();
          return;
        }
        if (step.done) {
          this.#listener.onDone?.(step.value);
          return;
        }
        this.#listener.onStep?.(step.value);
      } while (!this.#ended && performance.now() - start < this.#length);
      this.#listener.onSlice?.(step.value);
    } catch (error) {
      this.end();
      this.#listener.onError(error);
      return;
    }
    if (!this.#ended) this.start();
  }

  #step(): IteratorResult<Value, Result> {
    this.#inside = true;
    try {
      return this.#steps.next();
    } finally {
      this.#inside = false;
    }
  }
}
