// A constraint may come from a stranger, as JSON or out of a message: every field of it is checked, and copied.

import type { Constraint, ConstraintRule } from '../../api/constraint-types.js';
import { QkvError } from '../../api/errors.js';
import { checkInteger } from '../../arguments/numbers.js';
import {
  describe,
  isInt32Array,
  isRecord,
  lengthOf,
  listOf,
  reading,
} from '../../arguments/values.js';
import { mostEdges, mostStates } from '../../grammar/grammar.js';

const type: Constraint['type'] = 'qkv-constraint-1';
const mostRules = 2 ** 16;

const expected = 'expected what regularExpression() or jsonSchema() of qkv/constraints returns';

/** A list of records of so many numbers, as a copy. */
function numbers(fn: string, name: string, value: unknown, width: number): Int32Array {
  const copy = reading(fn, name, () =>
    isInt32Array(value) && lengthOf(value) <= 4 * mostEdges ? Int32Array.from(value) : undefined,
  );
  if (copy && copy.length % width === 0) return copy;
  throw new QkvError(
    'invalid_argument',
    `${fn}: ${name} is ${copy ? `${copy.length} numbers` : describe(value)}, expected an Int32Array of ${width} numbers each`,
  );
}

/** Every number of a column is within these. */
function checkColumn(
  fn: string,
  name: string,
  list: Int32Array,
  [width, at, least, most]: readonly [width: number, at: number, least: number, most: number],
): void {
  for (let i = at; i < list.length; i += width)
    checkInteger(fn, `${name}[${i}]`, list[i], least, most);
}

function checkedRule(fn: string, name: string, value: unknown, rules: number): ConstraintRule {
  const rule = reading(fn, name, () => {
    if (!isRecord(value)) return undefined;
    const { states, edges, calls, accepting } = value;
    return { states, edges, calls, accepting };
  });
  if (!rule)
    throw new QkvError('invalid_argument', `${fn}: ${name} is ${describe(value)}, ${expected}`);
  const { states } = rule;
  checkInteger(fn, `${name}.states`, states, 1, mostStates);
  const last = states - 1;
  const edges = numbers(fn, `${name}.edges`, rule.edges, 4);
  const calls = numbers(fn, `${name}.calls`, rule.calls, 3);
  const accepting = numbers(fn, `${name}.accepting`, rule.accepting, 1);
  for (const at of [0, 3]) checkColumn(fn, `${name}.edges`, edges, [4, at, 0, last]);
  for (const at of [1, 2]) checkColumn(fn, `${name}.edges`, edges, [4, at, 0, 255]);
  for (const at of [0, 2]) checkColumn(fn, `${name}.calls`, calls, [3, at, 0, last]);
  checkColumn(fn, `${name}.calls`, calls, [3, 1, 0, rules - 1]);
  checkColumn(fn, `${name}.accepting`, accepting, [1, 0, 0, last]);
  return { states, edges, calls, accepting };
}

/** A copy of a constraint in which every number means something. */
export function checkedConstraint(fn: string, value: unknown): Constraint {
  const name = 'constraint';
  const given = reading(fn, name, () =>
    isRecord(value) && value['type'] === type ? { rules: value['rules'] } : undefined,
  );
  const list = given && listOf(fn, `${name}.rules`, given.rules, mostRules);
  if (!list || list.length === 0) {
    const was = given ? `one whose rules are ${describe(given.rules)}` : describe(value);
    throw new QkvError('invalid_argument', `${fn}: ${name} is ${was}, ${expected}`);
  }
  const rules = list.map((rule, i) => checkedRule(fn, `${name}.rules[${i}]`, rule, list.length));
  const total = (of: (rule: ConstraintRule) => number): number =>
    rules.reduce((sum, rule) => sum + of(rule), 0);
  checkInteger(
    fn,
    `the states of ${name}`,
    total(({ states }) => states),
    1,
    mostStates,
  );
  const edges = total((rule) => rule.edges.length / 4 + rule.calls.length / 3);
  checkInteger(fn, `the edges of ${name}`, edges, 0, mostEdges);
  return { type, rules };
}

const sameNumbers = (a: Int32Array, b: Int32Array): boolean =>
  a.length === b.length && a.every((each, i) => each === b[i]);

/** Whether two constraints say the same in the same way. */
export const isSame = ({ rules: a }: Constraint, { rules: b }: Constraint): boolean =>
  a.length === b.length &&
  a.every((rule, i) => {
    const other = b[i];
    return (
      other?.states === rule.states &&
      sameNumbers(rule.edges, other.edges) &&
      sameNumbers(rule.calls, other.calls) &&
      sameNumbers(rule.accepting, other.accepting)
    );
  });
