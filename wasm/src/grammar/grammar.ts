// The rules of a constraint as one graph, whose states are numbered through.

import type { Constraint } from '../api/constraint-types.js';

/** Most states of a grammar, and most edges and calls. */
export const mostStates = 2 ** 20;
export const mostEdges = 2 ** 22;

/** Edges by what they have: the same place of each list is one edge. */
interface Edges {
  readonly from: Int32Array;
  readonly low: Int32Array;
  readonly high: Int32Array;
  readonly to: Int32Array;
}

interface Calls {
  readonly from: Int32Array;
  readonly rule: Int32Array;
  readonly to: Int32Array;
}

export interface Grammar {
  /** Of states. */
  readonly count: number;
  /** The first state of each rule. */
  readonly starts: Int32Array;
  /** 1 where the text of the rule may end. */
  readonly accepting: Uint8Array;
  readonly edges: Edges;
  readonly calls: Calls;
}

/** The numbers of a list of records, one list for each field; those that are states of a rule are numbered through. */
function column(
  { rules }: Constraint,
  name: 'edges' | 'calls',
  [width, at]: readonly [width: number, at: number],
  shifts?: ArrayLike<number>,
): Int32Array {
  const length = rules.reduce((sum, rule) => sum + rule[name].length / width, 0);
  const all = new Int32Array(length);
  let next = 0;
  rules.forEach((rule, i) => {
    const shift = shifts?.[i] ?? 0;
    const list = rule[name];
    for (let k = at; k < list.length; k += width) all[next++] = (list[k] ?? 0) + shift;
  });
  return all;
}

/** The graph of rules that were checked, or made here. */
export function grammarOf(constraint: Constraint): Grammar {
  const { rules } = constraint;
  const starts = new Int32Array(rules.length);
  let count = 0;
  rules.forEach(({ states }, i) => {
    starts[i] = count;
    count += states;
  });
  const accepting = new Uint8Array(count);
  rules.forEach((rule, i) => {
    for (const state of rule.accepting) accepting[state + (starts[i] ?? 0)] = 1;
  });
  const edge = (at: number, shifts?: Int32Array) => column(constraint, 'edges', [4, at], shifts);
  const call = (at: number, shifts?: Int32Array) => column(constraint, 'calls', [3, at], shifts);
  return {
    ...{ count, starts, accepting },
    edges: { from: edge(0, starts), low: edge(1), high: edge(2), to: edge(3, starts) },
    calls: { from: call(0, starts), rule: call(1), to: call(2, starts) },
  };
}
