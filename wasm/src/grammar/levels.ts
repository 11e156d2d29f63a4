// How deep calls must go from each state until its rule can end.

import type { Grammar } from './grammar.js';

/** Adds to a number of a list. Returns what the number was before. */
function add(list: Int32Array, at: number, what: number): number {
  const before = list[at] ?? 0;
  list[at] = before + what;
  return before;
}

/** Of a list of keys the places of each key, in increasing order. */
export class Grouped {
  readonly #first: Int32Array;
  readonly #values: Int32Array;

  constructor(keys: ArrayLike<number>, count: number) {
    const first = new Int32Array(count + 1);
    for (let i = 0; i < keys.length; i += 1) add(first, (keys[i] ?? 0) + 1, 1);
    for (let key = 0; key < count; key += 1) add(first, key + 1, first[key] ?? 0);
    const next = first.slice();
    this.#values = new Int32Array(keys.length);
    for (let i = 0; i < keys.length; i += 1) this.#values[add(next, keys[i] ?? 0, 1)] = i;
    this.#first = first;
  }

  /** The places in the list that have this key. */
  of(key: number): Int32Array {
    return this.#values.subarray(this.#first[key], this.#first[key + 1]);
  }
}

/**
 * Of each state the least depth of calls by which its rule can end: 0 without any call; -1 where it can end by none. With
 * `usesBytes: false` by calls alone, that is without any text: those that are not -1 end where they are.
 *
 * By buckets, as Dijkstra's algorithm with small numbers: depths are settled in increasing order, each state and each edge once.
 */
export function levelsOf(grammar: Grammar, usesBytes: boolean): Int32Array {
  const { count, accepting, edges, calls, starts } = grammar;
  const edgesTo = new Grouped(edges.to, count);
  const callsTo = new Grouped(calls.to, count);
  const callsOf = new Grouped(calls.rule, starts.length);
  const ruleOfStart = new Map(Array.from(starts, (start, rule) => [start, rule]));
  const levels = new Int32Array(count).fill(-1);
  let now: number[] = [];
  for (let state = 0; state < count; state += 1) if (accepting[state]) now.push(state);
  for (let level = 0; now.length > 0; level += 1) {
    const next: number[] = [];
    for (let state = now.pop(); state !== undefined; state = now.pop()) {
      if (levels[state] !== -1) continue;
      levels[state] = level;
      if (usesBytes) for (const edge of edgesTo.of(state)) now.push(edges.from[edge] ?? 0);
      for (const call of callsTo.of(state)) {
        const inner = levels[starts[calls.rule[call] ?? 0] ?? 0] ?? -1;
        if (inner !== -1) (inner < level ? now : next).push(calls.from[call] ?? 0);
      }
      const rule = ruleOfStart.get(state);
      if (rule === undefined) continue;
      for (const call of callsOf.of(rule))
        if (levels[calls.to[call] ?? 0] !== -1) next.push(calls.from[call] ?? 0);
    }
    now = next;
  }
  return levels;
}

/**
 * Undefined where no rule can call itself again without a byte in between; else a state of such a rule, or one that such a rule
 * reaches by calls alone.
 */
export function leftRecursion(grammar: Grammar): number | undefined {
  const { count, calls, starts } = grammar;
  const nullable = levelsOf(grammar, false);
  const targets = (call: number): number[] => {
    const start = starts[calls.rule[call] ?? 0] ?? 0;
    return nullable[start] === -1 ? [start] : [start, calls.to[call] ?? 0];
  };
  const callsFrom = new Grouped(calls.from, count);
  // What has nothing before it is taken away, again and again (Kahn 1962); what is left lies on circles or behind them.
  const before = new Int32Array(count);
  for (let call = 0; call < calls.from.length; call += 1)
    for (const to of targets(call)) add(before, to, 1);
  const free: number[] = [];
  for (let state = 0; state < count; state += 1) if (before[state] === 0) free.push(state);
  let left = count;
  for (let state = free.pop(); state !== undefined; state = free.pop()) {
    left -= 1;
    for (const call of callsFrom.of(state))
      for (const to of targets(call)) if (add(before, to, -1) === 1) free.push(to);
  }
  return left === 0 ? undefined : before.findIndex((each) => each > 0);
}
