// Rules that are made once for each name, and the constraint of all of them.

import type { Constraint, ConstraintRule } from '../api/constraint-types.js';
import { QkvError } from '../api/errors.js';
import { grammarOf, mostEdges, mostStates } from '../grammar/grammar.js';
import { leftRecursion, levelsOf } from '../grammar/levels.js';
import type { Automaton } from './automaton.js';

function ruleOf(automaton: Automaton): ConstraintRule {
  return Object.freeze({
    states: automaton.length,
    edges: Int32Array.from(
      automaton.flatMap(({ edges }, from) =>
        edges.flatMap(([low, high, to]) => [from, low, high, to]),
      ),
    ),
    calls: Int32Array.from(
      automaton.flatMap(({ calls }, from) => calls.flatMap(([rule, to]) => [from, rule, to])),
    ),
    accepting: Int32Array.from(automaton.flatMap(({ isEnd }, i) => (isEnd ? [i] : []))),
  });
}

/** The rules of a constraint. */
export class Rules {
  readonly #rules: (Automaton | undefined)[] = [];
  readonly #names = new Map<unknown, number>();

  /** The rule of a name, which `make` makes if there is none yet; it may ask for the same. */
  of(name: unknown, make: () => Automaton): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const rule = this.#rules.push(undefined) - 1;
    this.#names.set(name, rule);
    this.#rules[rule] = make();
    return rule;
  }

  /**
   * The constraint whose first rule is that of the whole text. `what` is what has no text, or is too large, for messages.
   *
   * @throws {@link QkvError}
   */
  constraint(what: string): Constraint {
    const rules = this.#rules.map((automaton) => ruleOf(automaton ?? []));
    const sum = (of: (rule: ConstraintRule) => number): number =>
      rules.reduce((all, rule) => all + of(rule), 0);
    const states = sum((rule) => rule.states);
    if (states > mostStates || sum(({ edges }) => edges.length / 4) > mostEdges)
      throw new QkvError(
        'unsupported',
        `${what} needs ${states} states, expected at most ${mostStates}: smaller limits of lengths and numbers of elements need fewer`,
      );
    const constraint = Object.freeze({
      type: 'qkv-constraint-1',
      rules: Object.freeze(rules),
    } as const);
    const grammar = grammarOf(constraint);
    // Only references can make one.
    if (leftRecursion(grammar) !== undefined)
      throw new QkvError(
        'invalid_argument',
        `${what} has a $ref that leads to itself without a part of a document between, expected one below properties or items`,
      );
    if (levelsOf(grammar, true)[0] === -1)
      throw new QkvError('invalid_argument', `${what} allows no text, expected one that does`);
    return constraint;
  }
}
