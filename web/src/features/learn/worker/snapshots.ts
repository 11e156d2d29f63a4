/** Something with the number of steps after which it was so. */
export interface Moment {
  readonly step: number;
}

/**
 * Moments of a run, of which only so many are kept: when there are more, every other one goes, and from then on only every
 * other one is taken. So they stay evenly spread over a run of any length.
 */
export class History<T extends Moment> {
  readonly #most: number;
  #stride = 1;
  #moments: T[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether the moment after so many steps is taken. */
  takes(step: number): boolean {
    return step % this.#stride === 0;
  }

  add(moment: T): void {
    if (!this.takes(moment.step)) return;
    this.#moments.push(moment);
    if (this.#moments.length <= this.#most) return;
    this.#stride *= 2;
    this.#moments = this.#moments.filter(({ step }) => this.takes(step));
  }

  /** The moment that is nearest to a step, the earlier of two. */
  nearest(step: number): T | undefined {
    let best: T | undefined;
    for (const moment of this.#moments) {
      if (!best || Math.abs(moment.step - step) < Math.abs(best.step - step)) best = moment;
    }
    return best;
  }

  get steps(): readonly number[] {
    return this.#moments.map(({ step }) => step);
  }
}
