// States that allow the same for some bytes, though they are not the same: those of a string of at most 400 letters, of which one has said
// 100 and the other 101, are alike for 299 bytes.

import type { Walker } from './walker.js';

/** Edges that are looked at for one answer, and pairs of states and forms that are kept. */
const [mostLooks, mostKept] = [2 ** 14, 2 ** 16];
/** Bytes that are looked ahead besides, for the states that come next. */
const ahead = 32;

/** Two states as one number. */
const pairOf = (a: number, b: number): number => a * 2 ** 20 + b;

/** What a state has of its own. */
interface Form {
  /** The same number for states that end or not, and have the same bytes and calls. What comes after a call has to be one state. */
  readonly kind: number;
  /** Where its edges lead. */
  readonly targets: readonly number[];
}

export class Alike {
  readonly #walker: Walker;
  readonly #kinds = new Map<string, number>();
  readonly #forms = new Map<number, Form>();
  /** Of pairs of states for how many bytes they are alike at least. */
  #kept = new Map<number, number>();

  constructor(walker: Walker) {
    this.#walker = walker;
  }

  /**
   * For how many bytes two states allow the same and need the same calls, as far as it was found, up to `most` or more; -1 where they differ
   * at once.
   */
  bytes(a: number, b: number, most: number): number {
    if (a === b) return Infinity;
    const known = this.#kept.get(pairOf(a, b)) ?? -1;
    return known >= most ? known : this.#compare(a, b, most + ahead);
  }

  /** Byte by byte, so that each pair is met first with the fewest bytes before it. */
  #compare(a: number, b: number, most: number): number {
    this.#forget();
    const met = new Map<number, number>();
    let now: [number, number][] = [[a, b]];
    let length = 0;
    let looks = 0;
    for (; length <= most && now.length > 0; length += 1) {
      const next: [number, number][] = [];
      const areAll = now.every(([one, other]) => {
        const key = pairOf(one, other);
        if (one === other || met.has(key)) return true;
        const [form, like] = [this.#formOf(one), this.#formOf(other)];
        looks += 1 + form.targets.length;
        if (looks > mostLooks || form.kind !== like.kind) return false;
        met.set(key, length);
        form.targets.forEach((to, i) => {
          const same = like.targets[i] ?? 0;
          if (to !== same) next.push([to, same]);
        });
        return true;
      });
      if (!areAll) break;
      now = next;
    }
    // Where nothing is left to compare they are the same for ever.
    const found = now.length === 0 ? most : length - 1;
    for (const [key, after] of met) {
      const left = found - after;
      if (left > (this.#kept.get(key) ?? -1)) this.#kept.set(key, left);
    }
    return found;
  }

  #forget(): void {
    if (this.#kept.size > mostKept) this.#kept = new Map();
    if (this.#forms.size < mostKept) return;
    this.#forms.clear();
    this.#kinds.clear();
  }

  #formOf(state: number): Form {
    const known = this.#forms.get(state);
    if (known) return known;
    const { isEnd, level, edges, calls } = this.#walker.formOf(state);
    const said = JSON.stringify([isEnd, level, edges.map(([low, high]) => [low, high]), calls]);
    const kind = this.#kinds.get(said) ?? this.#kinds.size;
    this.#kinds.set(said, kind);
    const form = { kind, targets: edges.map(([, , to]) => to) };
    this.#forms.set(state, form);
    return form;
  }
}
