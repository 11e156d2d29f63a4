// Automata of expressions: first with steps that take nothing (Thompson 1968), then without them, each state a set of those (Rabin and
// Scott 1959). Where there would be far more sets than states, these stay what they are, each with all that it reaches: what
// follows an automaton takes either.

import { type Automaton, mostStates, type State, TooLarge, trimmed } from './automaton.js';
import type { CodePoints } from './code-points.js';
import type { ByteRanges } from './encodings.js';
import type { Expression } from './expression.js';
import { end, type LetterGraph, letterGraph } from './letter-graph.js';

/** Sets of states, and states in all of these sets. */
const [mostSets, mostInSets] = [20_000, 2_000_000];

/** Steps that take nothing: always, or only where the text begins or ends. */
type Condition = 'always' | 'begin' | 'end';

interface Open {
  readonly steps: [condition: Condition, to: number][];
  readonly edges: [low: number, high: number, to: number][];
  readonly calls: [rule: number, to: number][];
}

class Builder {
  readonly states: Open[] = [];
  readonly #encode: (set: CodePoints) => ByteRanges[];
  readonly #letters = new Map<CodePoints, LetterGraph>();

  constructor(encode: (set: CodePoints) => ByteRanges[]) {
    this.#encode = encode;
  }

  state(): number {
    if (this.states.length >= mostStates) throw new TooLarge();
    return this.states.push({ steps: [], edges: [], calls: [] }) - 1;
  }

  step(from: number, to: number, condition: Condition = 'always'): void {
    this.states[from]?.steps.push([condition, to]);
  }

  /** Adds what an expression says between two states. */
  add(expression: Expression, from: number, to: number): void {
    switch (expression.is) {
      case 'letter':
        this.#letter(expression.set, from, to);
        break;
      case 'sequence': {
        const { parts } = expression;
        let at = from;
        parts.forEach((part, i) => {
          const next = i === parts.length - 1 ? to : this.state();
          this.add(part, at, next);
          at = next;
        });
        if (parts.length === 0) this.step(from, to);
        break;
      }
      case 'choice':
        for (const part of expression.parts) this.add(part, from, to);
        break;
      case 'repeat':
        this.#repeat(expression, from, to);
        break;
      case 'graph': {
        // States of their own, because arcs may lead back to the first.
        const names = Array.from({ length: expression.states }, () => this.state());
        this.step(from, names[0] ?? from);
        this.step(names[1] ?? to, to);
        for (const [begin, says, end] of expression.arcs)
          this.add(says, names[begin] ?? from, names[end] ?? to);
        break;
      }
      case 'call':
        this.states[from]?.calls.push([expression.rule, to]);
        break;
      case 'automaton':
        this.#automaton(expression.automaton, from, to);
        break;
      default:
        this.step(from, to, expression.is);
    }
  }

  #repeat(
    { part, least, most }: Extract<Expression, { is: 'repeat' }>,
    from: number,
    to: number,
  ): void {
    let at = from;
    const next = (): void => {
      const after = this.state();
      this.add(part, at, after);
      at = after;
    };
    for (let i = 0; i < least; i += 1) next();
    if (most === Infinity) {
      const loop = this.state();
      this.step(at, loop);
      const end = this.state();
      this.add(part, loop, end);
      this.step(end, loop);
      this.step(loop, to);
      return;
    }
    this.step(at, to);
    for (let i = least; i < most; i += 1) {
      next();
      this.step(at, to);
    }
  }

  /** The bytes of one letter. */
  #letter(set: CodePoints, from: number, to: number): void {
    let graph = this.#letters.get(set);
    if (!graph) {
      graph = letterGraph(this.#encode(set));
      this.#letters.set(set, graph);
    }
    const last = graph.length - 1;
    const names = graph.map((_, i) => (i === last ? from : this.state()));
    graph.forEach((edges, i) => {
      const own = this.states[names[i] ?? from]?.edges;
      for (const [low, high, next] of edges)
        own?.push([low, high, next === end ? to : (names[next] ?? to)]);
    });
  }

  #automaton(automaton: Automaton, from: number, to: number): void {
    const names = automaton.map(() => this.state());
    this.step(from, names[0] ?? to);
    automaton.forEach(({ edges, calls, isEnd }, i) => {
      const state = this.states[names[i] ?? 0];
      for (const [low, high, next] of edges) state?.edges.push([low, high, names[next] ?? 0]);
      for (const [rule, next] of calls) state?.calls.push([rule, names[next] ?? 0]);
      if (isEnd) this.step(names[i] ?? 0, to);
    });
  }
}

/** The states that are reached from these without a byte. */
function closed(states: readonly Open[], from: Iterable<number>, also: readonly Condition[]) {
  const all = new Set(from);
  // The set grows while it is read.
  for (const state of all)
    for (const [condition, to] of states[state]?.steps ?? [])
      if (condition === 'always' || also.includes(condition)) all.add(to);
  return all;
}

/** What can be said of a set of states. */
interface Reached {
  readonly members: readonly number[];
  readonly isEnd: boolean;
  readonly key: string;
}

function reachedFrom(states: readonly Open[], from: Iterable<number>, isBegin: boolean): Reached {
  const begin: Condition[] = isBegin ? ['begin'] : [];
  const all = closed(states, from, begin);
  // The last state made is where the whole expression ends: see automatonOf().
  const isEnd = all.has(1) || closed(states, all, [...begin, 'end']).has(1);
  const members = [...all]
    .filter((each) => (states[each]?.edges.length ?? 0) + (states[each]?.calls.length ?? 0) > 0)
    .sort((a, b) => a - b);
  return { members, isEnd, key: `${members.join()} ${Number(isEnd)}` };
}

/** Edges that overlap, cut into ranges of bytes with all states that each leads to. */
function cutEdges(edges: readonly (readonly [low: number, high: number, to: number])[]) {
  const bounds = [...new Set(edges.flatMap(([low, high]) => [low, high + 1]))].sort(
    (a, b) => a - b,
  );
  return bounds.slice(0, -1).map((low, i) => {
    const high = (bounds[i + 1] ?? low) - 1;
    const to = edges.filter((edge) => edge[0] <= low && edge[1] >= high).map(([, , each]) => each);
    return { low, high, to };
  });
}

/** The deterministic automaton; undefined where it would be too large. */
function determinised(states: readonly Open[]): Automaton | undefined {
  const sets: Reached[] = [];
  const names = new Map<string, number>();
  let sum = 0;
  const nameOf = (from: Iterable<number>, isBegin = false): number => {
    const reached = reachedFrom(states, from, isBegin);
    const known = names.get(reached.key);
    if (known !== undefined) return known;
    sum += reached.members.length;
    names.set(reached.key, sets.length);
    return sets.push(reached) - 1;
  };
  nameOf([0], true);
  const found: State[] = [];
  for (const { members, isEnd } of sets) {
    if (sets.length > mostSets || sum > mostInSets) return undefined;
    const edges: [number, number, number][] = [];
    for (const { low, high, to } of cutEdges(
      members.flatMap((each) => states[each]?.edges ?? []),
    )) {
      if (to.length === 0) continue;
      const name = nameOf(to);
      const last = edges[edges.length - 1];
      if (last && last[1] === low - 1 && last[2] === name) last[1] = high;
      else edges.push([low, high, name]);
    }
    const byRule = new Map<number, number[]>();
    for (const [rule, to] of members.flatMap((each) => states[each]?.calls ?? []))
      byRule.set(rule, [...(byRule.get(rule) ?? []), to]);
    const calls = Array.from(byRule, ([rule, to]) => [rule, nameOf(to)] as const);
    found.push({ edges, calls, isEnd });
  }
  return found;
}

/** The same states, each with what it reaches without a byte. */
function withoutSteps(states: readonly Open[]): Automaton {
  let sum = 0;
  const stateOf = (from: number, isBegin: boolean): State => {
    const { members, isEnd } = reachedFrom(states, [from], isBegin);
    // State 0 is a new one, for where the text begins.
    const edges = members.flatMap((each) =>
      (states[each]?.edges ?? []).map(([low, high, to]) => [low, high, to + 1] as const),
    );
    const calls = members.flatMap((each) =>
      (states[each]?.calls ?? []).map(([rule, to]) => [rule, to + 1] as const),
    );
    sum += edges.length + calls.length;
    if (sum > mostInSets) throw new TooLarge();
    return { edges, calls, isEnd };
  };
  return [stateOf(0, true), ...states.map((_, i) => stateOf(i, false))];
}

/**
 * The automaton of an expression, whose letters are written as `encode` says.
 *
 * @throws {@link TooLarge}
 */
export function automatonOf(
  expression: Expression,
  encode: (set: CodePoints) => ByteRanges[],
): Automaton {
  const builder = new Builder(encode);
  // State 0 is where it begins, state 1 where it ends.
  const [from, to] = [builder.state(), builder.state()];
  builder.add(expression, from, to);
  return trimmed(determinised(builder.states) ?? withoutSteps(builder.states));
}
