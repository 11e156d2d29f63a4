// Which tokens may come at a place of a constraint. What stays inside the rule of a configuration is the same wherever that rule was
// called, so it is found once for each state, with the nodes of the vocabulary at which the rule ends; from these on the calls
// around it decide, token by token (as in XGrammar, Dong et al. 2024).

import type { Constraint } from '../../api/constraint-types.js';
import { Alike } from './alike.js';
import type { Tree, Vocabulary } from './vocabulary.js';
import { deepest, type Place, Walker } from './walker.js';

/** What a state allows by itself of the tokens of a tree. */
interface Inside {
  /** Tokens that its rule allows up to its end. */
  readonly mask: Int32Array;
  /** Nodes at which the rule may end, less that of no bytes, and those below which there is no token. */
  readonly exits: Int32Array;
  /** The deepest calls that were met, and what these need to their end. */
  readonly reach: number;
}

/** The same of all trees: exits of each. */
interface InsideAll {
  readonly mask: Int32Array;
  readonly exits: readonly Int32Array[];
  readonly reach: number;
}

/** What was found of a state in each tree, for states that differ only after more bytes than its tokens have. */
interface Found {
  readonly state: number;
  readonly isCalled: boolean;
  readonly insides: readonly Inside[];
}

/** A tree, with what belongs to the classes of this constraint. */
interface Part {
  readonly tree: Tree;
  /** Classes of the bytes of the nodes. */
  readonly classes: Uint8Array;
}

/** Masks of places, and of states, that are kept. */
const [mostMasks, mostInside] = [64, 256];
/** States that others are compared with, for how many bytes at most, and how many are enough. */
const [mostFound, mostBytes, least] = [4, 32, 8];

/** A map that drops what has not been read for longest. */
class Recent<K, V> {
  readonly #most: number;
  readonly #values = new Map<K, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: K, make: () => V): V {
    const value = this.#values.get(key) ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#most) {
      for (const oldest of this.#values.keys()) {
        this.#values.delete(oldest);
        break;
      }
    }
    return value;
  }

  clear(): void {
    this.#values.clear();
  }
}

/** The masks of a constraint for a vocabulary. Bit t % 32 of word t / 32 is token t. */
export class Masks {
  readonly constraint: Constraint;
  readonly walker: Walker;
  readonly vocabulary: Vocabulary;
  readonly words: number;
  readonly #places = new Recent<Place, Int32Array>(mostMasks);
  /** By states, twice: with the ends of their rules or without. */
  readonly #inside = new Recent<number, InsideAll>(mostInside);
  /** The places on the way to a node. */
  readonly #way: Place[] = [];
  readonly #parts: readonly Part[];
  readonly #alike: Alike;
  /** The latest first. */
  #found: readonly Found[] = [];

  constructor(fn: string, constraint: Constraint, vocabulary: Vocabulary) {
    this.constraint = constraint;
    this.walker = new Walker(fn, constraint);
    this.vocabulary = vocabulary;
    this.words = Math.ceil(vocabulary.count / 32);
    const { classOf } = this.walker;
    this.#parts = vocabulary.trees.map((tree) => ({
      tree,
      classes: tree.bytes.map((byte) => classOf[byte] ?? 0),
    }));
    this.#alike = new Alike(this.walker);
  }

  /** The same place, after what is kept was made less where it was too much. */
  current(place: Place): Place {
    if (this.walker.isFull) {
      this.walker.forget();
      this.#places.clear();
    }
    return this.walker.current(place);
  }

  /** The tokens that may come at a place. Not to be changed. */
  of(place: Place): Int32Array {
    return this.#places.get(place, () => this.#make(place));
  }

  #make(place: Place): Int32Array {
    const mask = new Int32Array(this.words);
    place.frames.forEach((frame, i) => {
      const state = place.states[i] ?? 0;
      const { mask: own, exits, reach } = this.#insideOf(state, frame.parent !== undefined);
      if (frame.depth + reach > deepest) {
        // So deep that some of what the rule calls is not allowed any more.
        for (const part of this.#parts) this.#walk(part, 0, this.walker.alone(frame, state), mask);
        return;
      }
      own.forEach((bits, word) => {
        mask[word] = (mask[word] ?? 0) | bits;
      });
      const isLeft = exits.some(({ length }) => length > 0);
      const after = isLeft ? this.walker.after(frame) : undefined;
      if (!after) return;
      this.#parts.forEach((part, k) => {
        for (const node of exits[k] ?? []) this.#walk(part, node, after, mask);
      });
    });
    return mask;
  }

  /** What a state allows; the ends of its rule too, if it was called: after those of the whole text nothing comes. */
  #insideOf(state: number, isCalled: boolean): InsideAll {
    return this.#inside.get(2 * state + Number(isCalled), () => {
      const all = this.#insidesOf(state, isCalled);
      const mask = new Int32Array(this.words);
      for (const { mask: own } of all) {
        for (let word = 0; word < own.length; word += 1)
          mask[word] = (mask[word] ?? 0) | (own[word] ?? 0);
      }
      const reach = Math.max(...all.map((each) => each.reach));
      return { mask, exits: all.map(({ exits }) => exits), reach };
    });
  }

  /** The same of each tree. States of a string that counts its letters differ only where few are left. */
  #insidesOf(state: number, isCalled: boolean): readonly Inside[] {
    let like: Found | undefined;
    let bytes = -1;
    for (const each of this.#found) {
      if (each.isCalled !== isCalled) continue;
      bytes = this.#alike.bytes(state, each.state, mostBytes);
      like = each;
      if (bytes >= least) break;
    }
    const insides = this.#parts.map((part, i) => {
      const { longest } = part.tree;
      const isSame = longest <= mostBytes && longest <= bytes;
      return (isSame && like?.insides[i]) || this.#insideOfPart(part, state, isCalled);
    });
    // The state after this one is compared with this one first.
    this.#found = [{ state, isCalled, insides }, ...this.#found].slice(0, mostFound);
    return insides;
  }

  #insideOfPart(part: Part, state: number, isCalled: boolean): Inside {
    const mask = new Int32Array(this.words);
    const exits: number[] = [];
    const from = this.walker.alone(this.walker.root, state);
    const reach = this.#walk(part, 0, from, mask, isCalled ? exits : undefined);
    return { mask, exits: Int32Array.from(exits), reach };
  }

  /** Sets the bits of the tokens below a node that the rules allow from a place on. Returns the deepest reach of the places met. */
  #walk(
    { tree, classes }: Part,
    node: number,
    from: Place,
    mask: Int32Array,
    exits?: number[],
  ): number {
    const { depths, skips, firsts, tokens } = tree;
    const { walker } = this;
    const way = this.#way;
    let { reach } = from;
    way[depths[node] ?? 0] = from;
    const end = skips[node] ?? 0;
    for (let at = node + 1; at < end;) {
      const depth = depths[at] ?? 0;
      const before = way[depth - 1] as Place;
      const byteClass = classes[at] ?? 0;
      let place = before.next[byteClass];
      if (place === undefined) place = walker.step(before, byteClass);
      if (place === null) {
        at = skips[at] ?? end;
        continue;
      }
      way[depth] = place;
      if (place.reach > reach) ({ reach } = place);
      if (exits && place.isEnd && (skips[at] ?? 0) > at + 1) exits.push(at);
      at += 1;
      const last = firsts[at] ?? 0;
      for (let i = firsts[at - 1] ?? 0; i < last; i += 1) {
        const token = tokens[i] ?? 0;
        mask[token >> 5] = (mask[token >> 5] ?? 0) | (1 << (token & 31));
      }
    }
    return reach;
  }
}
