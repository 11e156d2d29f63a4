import { median } from '../domain/averages';
import type { Timing } from './protocol';

const KEPT = 15;
const MAX_CALLS = 64;
/** A new kind of call begins with three measurements, or up to five as long as they fit in the time. */
const FIRST_SAMPLES = [3, 5] as const;
const FIRST_TIME = 20;

/** The smallest step performance.now() makes here: browsers round it to 5 to 1000 microseconds. */
function smallestTick(): number {
  let smallest = Infinity;
  for (let i = 0; i < 8; i++) {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    smallest = Math.min(smallest, now - start);
  }
  return smallest;
}

/** Times calls of one kind after another with a clock that may be much coarser than the call. */
export class Stopwatch {
  readonly #tick = smallestTick();
  #samples: number[] = [];
  #calls = 0;
  #kind = '';

  /**
   * Takes a measurement of `work`, yielding after each. Samples of another kind of call are forgotten,
   * and a few are taken in their place, because the first calls are slower than those that follow.
   */
  *measure(kind: string, work: () => void): Generator<undefined> {
    if (kind !== this.#kind) this.#samples = [];
    this.#kind = kind;
    this.#sample(work);
    let spent = this.#samples[0] ?? 0;
    const [least, most] = FIRST_SAMPLES;
    while (this.#samples.length < (spent < FIRST_TIME ? most : least)) {
      yield;
      this.#sample(work);
      spent += (this.#samples.at(-1) ?? 0) * this.#calls;
    }
  }

  /** Repeats `work` until the span is ten ticks of the clock, or MAX_CALLS calls; keeps the mean. */
  #sample(work: () => void): void {
    const start = performance.now();
    work();
    let calls = 1;
    let span = performance.now() - start;
    while (span < 10 * this.#tick && calls < MAX_CALLS) {
      work();
      calls++;
      span = performance.now() - start;
    }
    this.#calls = calls;
    this.#samples.push(span / calls);
    if (this.#samples.length > KEPT) this.#samples.shift();
  }

  reading(): Timing {
    return {
      median: median(this.#samples),
      samples: this.#samples.length,
      calls: this.#calls,
      tick: this.#tick,
    };
  }
}
