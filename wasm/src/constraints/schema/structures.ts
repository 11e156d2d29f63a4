// Objects and arrays of JSON, and the spaces between their parts.

import type { JsonSchemaOptions } from '../../api/constraint-types.js';
import type { Json, JsonObject } from './reading.js';
import {
  empty,
  type Expression,
  Graph,
  literal,
  optional,
  repeat,
  sequence,
  choice,
} from '../expression.js';

/** What stands between the parts of objects and arrays. */
export interface Spacing {
  readonly colon: Expression;
  readonly comma: Expression;
  /** After what opens, and before what closes, if there is something between them. */
  readonly inside: Expression;
}

/** Spaces at the begin of a line, at most. */
const deepestIndent = 64;
const free = choice([
  optional(literal(' ')),
  sequence(
    optional(literal('\r')),
    literal('\n'),
    repeat(choice([literal(' '), literal('\t')]), 0, deepestIndent),
  ),
]);

/** The spacing of an option. `freeRule` is a call of a rule for free spaces, which then has them once. */
export function spacingOf(
  whitespace: NonNullable<JsonSchemaOptions['whitespace']>,
  freeRule: (make: () => Expression) => Expression,
): Spacing {
  const [colon, comma] = [literal(':'), literal(',')];
  if (whitespace === 'none') return { colon, comma, inside: empty };
  if (whitespace === 'single') return { colon: literal(': '), comma: literal(', '), inside: empty };
  const spaces = freeRule(() => free);
  return { colon: sequence(colon, spaces), comma: sequence(comma, spaces), inside: spaces };
}

/** A property: its name with quotes, and its value. */
export interface Property {
  readonly name: Expression;
  readonly value: Expression;
  readonly isRequired: boolean;
}

/** Objects with these properties in their order, and then as many others as there may be. */
export function objectOf(
  { colon, comma, inside }: Spacing,
  properties: readonly Property[],
  others: Omit<Property, 'isRequired'> | undefined,
): Expression {
  const graph = new Graph();
  /** Where no property was written yet, and where one was. */
  let fresh = graph.state();
  let written = graph.state();
  graph.arc(0, inside, fresh);
  for (const { name, value, isRequired } of properties) {
    const [from, nextFresh, nextWritten] = [graph.state(), graph.state(), graph.state()];
    graph.arc(fresh, empty, from);
    graph.arc(written, comma, from);
    graph.arc(from, sequence(name, colon, value), nextWritten);
    if (!isRequired) {
      graph.arc(fresh, empty, nextFresh);
      graph.arc(written, empty, nextWritten);
    }
    [fresh, written] = [nextFresh, nextWritten];
  }
  if (others) {
    const from = graph.state();
    graph.arc(fresh, empty, from);
    graph.arc(written, comma, from);
    graph.arc(from, sequence(others.name, colon, others.value), written);
  }
  graph.arc(fresh, empty, 1);
  graph.arc(written, inside, 1);
  return sequence(literal('{'), graph.expression, literal('}'));
}

/** Arrays. */
export interface Elements {
  /** Of the first elements. */
  readonly first: readonly Expression[];
  /** Of those after them; undefined where there are none. */
  readonly rest: Expression | undefined;
  readonly least: number;
  readonly most: number;
}

export function arrayOf({ comma, inside }: Spacing, elements: Elements): Expression {
  const { first, rest, least, most } = elements;
  const graph = new Graph();
  let at = graph.state();
  graph.arc(0, inside, at);
  if (least === 0) graph.arc(at, empty, 1);
  const last = rest ? most : Math.min(most, first.length);
  /** From so many on it does not matter how many there are. */
  const count = last === Infinity ? Math.max(first.length, least, 1) : last;
  for (let i = 0; i < count; i += 1) {
    const value = first[i] ?? rest ?? choice([]);
    const next = graph.state();
    graph.arc(at, i === 0 ? value : sequence(comma, value), next);
    if (i + 1 >= least) graph.arc(next, inside, 1);
    at = next;
  }
  if (last === Infinity && rest) graph.arc(at, sequence(comma, rest), at);
  return sequence(literal('['), graph.expression, literal(']'));
}

/** A value that is known. */
export function known(spacing: Spacing, value: Json): Expression {
  if (typeof value !== 'object' || value === null) return literal(JSON.stringify(value));
  if (Array.isArray(value)) {
    const first = (value as readonly Json[]).map((each) => known(spacing, each));
    return arrayOf(spacing, { first, rest: undefined, least: first.length, most: first.length });
  }
  const properties = Object.entries(value as JsonObject).map(([name, part]) => ({
    name: literal(JSON.stringify(name)),
    value: known(spacing, part),
    isRequired: true,
  }));
  return objectOf(spacing, properties, undefined);
}
