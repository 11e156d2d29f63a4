// Follows the rules of a constraint byte by byte. Where it is in them is a set of configurations, each a state and the calls that it
// came through. Sets are made once, and what each byte makes of them too, so that a deterministic automaton grows where it is used.

import type { Constraint } from '../../api/constraint-types.js';
import { QkvError } from '../../api/errors.js';
import { type Grammar, grammarOf } from '../../grammar/grammar.js';
import { Grouped, leftRecursion, levelsOf } from '../../grammar/levels.js';

/** Calls in calls, at most: nested arrays and objects of JSON are one each. */
export const deepest = 256;
/** Configurations of a set. More are of rules that say the same in many ways. */
const mostConfigurations = 4096;
/** Sets and frames that are kept; then all but those in use are forgotten. */
export const mostKept = 2 ** 15;

/** A call that goes on: whose it is, and the state after it. */
export interface Frame {
  readonly id: number;
  readonly parent: Frame | undefined;
  readonly to: number;
  readonly depth: number;
}

/** Where a text is in the rules. */
export interface Place {
  /** The sets that were made together know each other. */
  readonly era: number;
  /** Configurations from which a byte goes on: pairs of a frame and a state. */
  readonly frames: readonly Frame[];
  readonly states: readonly number[];
  /** Whether the text may end here. */
  readonly isEnd: boolean;
  /** The deepest that any of it needs to go to its end. */
  readonly reach: number;
  /** By the class of a byte: where it leads, null for nowhere; undefined until it was computed. */
  readonly next: (Place | null | undefined)[];
}

/** What a state has of its own. */
export interface StateForm {
  readonly isEnd: boolean;
  /** How deep calls must go from here to the end of the rule. */
  readonly level: number;
  readonly edges: readonly (readonly [low: number, high: number, to: number])[];
  readonly calls: readonly (readonly [rule: number, to: number])[];
}

/** Bytes that all edges take or leave together have one class. */
function classesOf({ edges }: Grammar): { of: Uint8Array; count: number } {
  const begins = new Uint8Array(257);
  edges.low.forEach((low) => {
    begins[low] = 1;
  });
  edges.high.forEach((high) => {
    begins[high + 1] = 1;
  });
  const of = new Uint8Array(256);
  let last = 0;
  for (let byte = 1; byte < 256; byte += 1) {
    last += begins[byte] ?? 0;
    of[byte] = last;
  }
  return { of, count: last + 1 };
}

export class Walker {
  readonly classOf: Uint8Array;
  readonly #fn: string;
  readonly #grammar: Grammar;
  readonly #classes: number;
  readonly #levels: Int32Array;
  readonly #edges: Grouped;
  readonly #calls: Grouped;
  /** The frame of the whole text, which no call made. */
  readonly root: Frame = { id: 0, parent: undefined, to: -1, depth: 0 };
  #frames = new Map<string, Frame>();
  #places = new Map<string, Place>();
  #era = 0;
  #nextFrame = 1;

  /** @throws {@link QkvError} `unsupported` for rules that call themselves before any byte, `invalid_argument` for those without a text */
  constructor(fn: string, constraint: Constraint) {
    const grammar = grammarOf(constraint);
    this.#fn = fn;
    this.#grammar = grammar;
    if (leftRecursion(grammar) !== undefined)
      throw new QkvError(
        'unsupported',
        `${fn}: constraint has a rule that calls itself before it takes a byte, expected none`,
      );
    this.#levels = levelsOf(grammar, true);
    this.#edges = new Grouped(grammar.edges.from, grammar.count);
    this.#calls = new Grouped(grammar.calls.from, grammar.count);
    const { of, count } = classesOf(grammar);
    [this.classOf, this.#classes] = [of, count];
    const level = this.#levels[0] ?? -1;
    if (level === -1 || level > deepest)
      throw new QkvError(
        level === -1 ? 'invalid_argument' : 'unsupported',
        `${fn}: constraint has no text with calls of at most ${deepest} levels, expected one at least`,
      );
  }

  /** A state: where bytes lead, which rules it calls, how it ends. */
  formOf(state: number): StateForm {
    const { edges, calls, accepting } = this.#grammar;
    return {
      ...{ isEnd: accepting[state] === 1, level: this.#levels[state] ?? -1 },
      edges: Array.from(
        this.#edges.of(state),
        (edge) => [edges.low[edge] ?? 0, edges.high[edge] ?? 0, edges.to[edge] ?? 0] as const,
      ),
      calls: Array.from(
        this.#calls.of(state),
        (each) => [calls.rule[each] ?? 0, calls.to[each] ?? 0] as const,
      ),
    };
  }

  /** How many places and frames are kept. */
  get kept(): number {
    return this.#places.size + this.#frames.size;
  }

  /** Whether so much is kept that it should be forgotten. */
  get isFull(): boolean {
    return this.kept > mostKept;
  }

  /** Where a text begins. */
  begin(): Place {
    return this.#place([this.root], [0]);
  }

  /** A configuration by itself, without the calls from its state. */
  alone(frame: Frame, state: number): Place {
    return this.#intern([frame], [state], false, frame.depth + (this.#levels[state] ?? 0));
  }

  /** Where the text is after a call that ends; undefined after the whole text. */
  after({ parent, to }: Frame): Place | undefined {
    return parent && this.#place([parent], [to]);
  }

  /** Where a byte of this class leads. */
  step(place: Place, byteClass: number): Place | null {
    const known = place.next[byteClass];
    if (known !== undefined) return known;
    const byte = this.classOf.indexOf(byteClass);
    const frames: Frame[] = [];
    const states: number[] = [];
    const { low, high, to } = this.#grammar.edges;
    place.states.forEach((state, i) => {
      const frame = place.frames[i];
      if (!frame) return;
      for (const edge of this.#edges.of(state)) {
        if (byte < (low[edge] ?? 0) || byte > (high[edge] ?? 0)) continue;
        frames.push(frame);
        states.push(to[edge] ?? 0);
      }
    });
    const next = this.#place(frames, states);
    const found = next.isEnd || next.states.length > 0 ? next : null;
    place.next[byteClass] = found;
    return found;
  }

  /** Forgets all places. One in use is made anew by current(). */
  forget(): void {
    this.#places = new Map();
    this.#frames = new Map();
    this.#era += 1;
  }

  /** The same place, among those that are kept. */
  current(place: Place): Place {
    if (place.era === this.#era) return place;
    const again = (frame: Frame): Frame =>
      frame.parent ? this.#call(again(frame.parent), frame.to) : frame;
    return this.#intern(place.frames.map(again), place.states, place.isEnd, place.reach);
  }

  #call(parent: Frame, to: number): Frame {
    const key = `${parent.id},${to}`;
    let frame = this.#frames.get(key);
    if (!frame) {
      frame = { id: this.#nextFrame++, parent, to, depth: parent.depth + 1 };
      this.#frames.set(key, frame);
    }
    return frame;
  }

  /** Whether nothing comes after this state: what it calls last needs no frame of its own. */
  #isLast(state: number): boolean {
    return (
      this.#grammar.accepting[state] === 1 &&
      this.#edges.of(state).length === 0 &&
      this.#calls.of(state).length === 0
    );
  }

  /** The place of these configurations, with what they call and where calls end. */
  #place(frames: Frame[], states: number[]): Place {
    const { accepting, starts, calls, count } = this.#grammar;
    const kept: [frame: Frame, state: number][] = [];
    const seen = new Set<number>();
    let isEnd = false;
    let reach = 0;
    for (let frame = frames.pop(); frame; frame = frames.pop()) {
      const state = states.pop() ?? 0;
      const level = this.#levels[state] ?? -1;
      const key = frame.id * count + state;
      if (level === -1 || seen.has(key)) continue;
      reach = Math.max(reach, frame.depth + level);
      if (frame.depth + level > deepest) continue;
      seen.add(key);
      if (seen.size > mostConfigurations) this.#tooMany();
      if (this.#edges.of(state).length > 0) kept.push([frame, state]);
      if (accepting[state] === 1) {
        if (frame.parent) {
          frames.push(frame.parent);
          states.push(frame.to);
        } else isEnd = true;
      }
      for (const call of this.#calls.of(state)) {
        const to = calls.to[call] ?? 0;
        if (this.#levels[to] === -1) continue;
        frames.push(this.#isLast(to) ? frame : this.#call(frame, to));
        states.push(starts[calls.rule[call] ?? 0] ?? 0);
      }
    }
    kept.sort(([a, i], [b, k]) => a.id - b.id || i - k);
    return this.#intern(
      kept.map(([frame]) => frame),
      kept.map(([, state]) => state),
      isEnd,
      reach,
    );
  }

  #intern(
    frames: readonly Frame[],
    states: readonly number[],
    isEnd: boolean,
    reach: number,
  ): Place {
    const key = `${states.map((state, i) => `${frames[i]?.id ?? 0}:${state}`).join()} ${Number(isEnd)} ${reach}`;
    let place = this.#places.get(key);
    if (!place) {
      const next = new Array<Place | null | undefined>(this.#classes).fill(undefined);
      place = { era: this.#era, frames, states, isEnd, reach, next };
      this.#places.set(key, place);
    }
    return place;
  }

  #tooMany(): never {
    throw new QkvError(
      'unsupported',
      `${this.#fn}: constraint can be followed in more than ${mostConfigurations} ways at once, expected rules that differ sooner`,
    );
  }
}
