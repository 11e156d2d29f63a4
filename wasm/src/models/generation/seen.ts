// The tokens that penalties are for.

/** A list of tokens that grows: each token once, or as often as it came. */
export class Seen {
  readonly #known = new Set<number>();
  readonly #isOnce: boolean;
  #ids = new Int32Array(256);
  #count = 0;

  /** `isOnce`: whether a token that came before is left out. */
  constructor(ids: Int32Array, isOnce: boolean) {
    this.#isOnce = isOnce;
    for (const id of ids) this.add(id);
  }

  add(id: number): void {
    if (this.#isOnce) {
      if (this.#known.has(id)) return;
      this.#known.add(id);
    }
    if (this.#count === this.#ids.length) {
      const more = new Int32Array(2 * this.#count);
      more.set(this.#ids);
      this.#ids = more;
    }
    this.#ids[this.#count] = id;
    this.#count += 1;
  }

  /** As an argument. */
  get input() {
    return { name: 'seen', shape: [this.#count], source: this.#ids.subarray(0, this.#count) };
  }
}
