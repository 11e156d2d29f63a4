// How fast bytes come.

/** Milliseconds whose bytes count: what is older has 1 / e of its weight after so many. */
const span = 2000;

/** Bytes in a second, smoothed. `now` in milliseconds. */
export class Rate {
  #last: number;
  /** Bytes and milliseconds, both less for what is older. */
  #bytes = 0;
  #time = 0;

  constructor(now: number) {
    this.#last = now;
  }

  /** Adds bytes that have come, and tells the rate. */
  add(bytes: number, now: number): number {
    const passed = Math.max(0, now - this.#last);
    const fade = Math.exp(-passed / span);
    this.#last = now;
    this.#bytes = this.#bytes * fade + bytes;
    this.#time = this.#time * fade + passed;
    // What comes at once has no rate yet.
    return this.#time > 0 ? (1000 * this.#bytes) / this.#time : 0;
  }
}
