// Automata over bytes, with calls of other rules. State 0 is the first. They have no edges without a byte.

/** Edges and calls of a state, by the states to which they lead. */
export interface State {
  readonly edges: readonly (readonly [low: number, high: number, to: number])[];
  readonly calls: readonly (readonly [rule: number, to: number])[];
  readonly isEnd: boolean;
}

export type Automaton = readonly State[];

/** Most states of one automaton. More are refused: a number in braces of a pattern can ask for any. */
export const mostStates = 100_000;

/** Whether an automaton without calls takes these bytes. One byte may lead to several states: see automatonOf(). */
export function acceptsBytes(automaton: Automaton, bytes: Uint8Array): boolean {
  let states: ReadonlySet<number> = new Set([0]);
  for (const byte of bytes) {
    const next = new Set<number>();
    for (const state of states)
      for (const [low, high, to] of automaton[state]?.edges ?? [])
        if (low <= byte && byte <= high) next.add(to);
    states = next;
  }
  return [...states].some((state) => automaton[state]?.isEnd);
}

/** Thrown where an automaton would be too large, for whoever can say what required it. */
export class TooLarge extends Error {}

/** States that can be reached from the first. */
function reached(automaton: Automaton): boolean[] {
  const found = automaton.map((_, i) => i === 0);
  const open = [0];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { edges = [], calls = [] } = automaton[at] ?? {};
    for (const to of [...edges.map(([, , each]) => each), ...calls.map(([, each]) => each)]) {
      if (!found[to]) open.push(to);
      found[to] = true;
    }
  }
  return found;
}

/** The automaton, turned round: from each state those that lead to it. */
function sourcesOf(automaton: Automaton): number[][] {
  const sources: number[][] = automaton.map(() => []);
  automaton.forEach(({ edges, calls }, from) => {
    for (const [, , to] of edges) sources[to]?.push(from);
    for (const [, to] of calls) sources[to]?.push(from);
  });
  return sources;
}

/** The same texts without states that lead nowhere. The first stays. */
export function trimmed(automaton: Automaton): Automaton {
  const isReached = reached(automaton);
  const sources = sourcesOf(automaton);
  const isUseful = automaton.map(({ isEnd }) => isEnd);
  const open = automaton.flatMap(({ isEnd }, i) => (isEnd ? [i] : []));
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const from of sources[at] ?? []) {
      if (!isUseful[from]) open.push(from);
      isUseful[from] = true;
    }
  }
  const kept = automaton.flatMap((_, i) => (i === 0 || (isReached[i] && isUseful[i]) ? [i] : []));
  const names = new Map(kept.map((old, i) => [old, i]));
  return kept.map((old) => {
    const { edges = [], calls = [], isEnd = false } = automaton[old] ?? {};
    return {
      edges: edges.flatMap(([low, high, to]) => {
        const name = names.get(to);
        return name === undefined ? [] : [[low, high, name] as const];
      }),
      calls: calls.flatMap(([rule, to]) => {
        const name = names.get(to);
        return name === undefined ? [] : [[rule, name] as const];
      }),
      isEnd,
    };
  });
}

/** Texts that both automata take, neither of which calls a rule. */
export function intersection(a: Automaton, b: Automaton): Automaton {
  const names = new Map<number, number>();
  const pairs: [number, number][] = [];
  const nameOf = (i: number, k: number): number => {
    const key = i * b.length + k;
    const known = names.get(key);
    if (known !== undefined) return known;
    if (pairs.length >= mostStates) throw new TooLarge();
    names.set(key, pairs.length);
    return pairs.push([i, k]) - 1;
  };
  nameOf(0, 0);
  const states: State[] = [];
  // The list grows while it is read.
  for (const [i, k] of pairs) {
    const [left, right] = [a[i], b[k]];
    const edges: [number, number, number][] = [];
    for (const [low, high, to] of left?.edges ?? []) {
      for (const [otherLow, otherHigh, otherTo] of right?.edges ?? []) {
        const [from, until] = [Math.max(low, otherLow), Math.min(high, otherHigh)];
        if (from <= until) edges.push([from, until, nameOf(to, otherTo)]);
      }
    }
    states.push({ edges, calls: [], isEnd: Boolean(left?.isEnd && right?.isEnd) });
  }
  return trimmed(states);
}
