// Numbers of JSON, with limits that are compared digit by digit. All have at most 15 digits: so many can be distinguished as float64, so
// that what is within limits as written is within them as a number too.

import { type Automaton, type State, trimmed } from '../automaton.js';
import type { CodePoints } from '../code-points.js';
import {
  choice,
  type Expression,
  letter,
  literal,
  optional,
  repeat,
  sequence,
} from '../expression.js';
import { below, type JsonObject, wrong } from './reading.js';

const mostDigits = 15;

const digit: CodePoints = [[0x30, 0x39]];
const first: CodePoints = [[0x31, 0x39]];
const whole = choice([
  literal('0'),
  sequence(letter(first), repeat(letter(digit), 0, mostDigits - 1)),
]);

/** Whole numbers without limits. */
const anyInteger: Expression = choice([
  literal('0'),
  sequence(optional(literal('-')), letter(first), repeat(letter(digit), 0, mostDigits - 1)),
]);

/** Numbers without limits: none of them is infinite as float64. */
const anyNumber: Expression = sequence(
  ...[optional(literal('-')), whole],
  optional(sequence(literal('.'), repeat(letter(digit), 1, mostDigits))),
  optional(
    sequence(
      choice([literal('e'), literal('E')]),
      optional(choice([literal('-'), literal('+')])),
      repeat(letter(digit), 1, 2),
    ),
  ),
);

/** A limit, written out without an exponent. */
interface Limit {
  readonly whole: string;
  readonly fraction: string;
  /** Whether the limit itself is not allowed. */
  readonly isOpen: boolean;
}

/** A positive number as digits. */
function limitOf(value: number, isOpen: boolean): Limit {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [front = '', back = ''] = mantissa.split('.');
  const shift = Number(exponent);
  const digits = (front + back).padEnd(front.length + shift, '0');
  const point = front.length + shift;
  return {
    whole: (point > 0 ? digits.slice(0, point) : '0').replace(/^0+(?=\d)/, ''),
    fraction: point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits,
    isOpen,
  };
}

/** How what was written compares with a limit: -1 is less, 0 the same so far. */
type Order = -1 | 0 | 1;
const orderOf = (a: number, b: number): Order => (a < b ? -1 : a > b ? 1 : 0);

/** Where a number is that is being written. */
interface Written {
  /** 'whole' has digits, 'point' ends with the point. */
  readonly phase: 'begin' | 'zero' | 'whole' | 'point' | 'fraction';
  readonly digits: number;
  /** Digits after the point. */
  readonly after: number;
  readonly orders: readonly Order[];
}

/** The order once the digits before the point are all there. */
const wholeOrder = (limit: Limit, order: Order, digits: number): Order =>
  orderOf(digits, limit.whole.length) || order;

/** The order of the whole number. */
function lastOrder(limit: Limit, written: Written, order: Order): Order {
  const isFraction = written.phase === 'fraction';
  const now = isFraction ? order : wholeOrder(limit, order, written.digits);
  if (now !== 0) return now;
  const rest = limit.fraction.slice(isFraction ? written.after : 0);
  return /[1-9]/.test(rest) ? -1 : 0;
}

/** What a letter makes of it; undefined for one that cannot come. */
function next(written: Written, each: string, limits: readonly Limit[]): Written | undefined {
  const { phase, digits, after, orders } = written;
  if (each === '.') {
    if (phase !== 'zero' && phase !== 'whole') return undefined;
    const now = orders.map((order, i) => wholeOrder(limits[i] as Limit, order, digits));
    return { phase: 'point', digits, after: 0, orders: now };
  }
  if (phase === 'zero' || digits === mostDigits) return undefined;
  const isWhole = phase === 'begin' || phase === 'whole';
  const now = orders.map((order, i): Order => {
    const { whole: before, fraction } = limits[i] as Limit;
    const theirs = isWhole ? before.charAt(digits) : fraction.charAt(after);
    return order || orderOf(Number(each), Number(theirs === '' ? '0' : theirs));
  });
  return {
    phase: isWhole ? (phase === 'begin' && each === '0' ? 'zero' : 'whole') : 'fraction',
    ...{ digits: digits + 1, after: isWhole ? 0 : after + 1, orders: now },
  };
}

/** Positive numbers from one limit to another. */
function between(low: Limit, high: Limit | undefined, isInteger: boolean): Automaton {
  const limits = high ? [low, high] : [low];
  const names = new Map<string, number>();
  const all: Written[] = [];
  const nameOf = (written: Written): number => {
    const { phase, digits, orders } = written;
    // Once a number is on one side of a limit it does not matter where; until then it has as many digits before the point.
    const key = `${phase} ${digits} ${orders.join()}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    names.set(key, all.length);
    return all.push(written) - 1;
  };
  nameOf({ phase: 'begin', digits: 0, after: 0, orders: limits.map(() => 0 as const) });
  const states: State[] = [];
  for (const written of all) {
    const edges: [number, number, number][] = [];
    for (const each of isInteger ? '0123456789' : '0123456789.') {
      const found = next(written, each, limits);
      const byte = each.charCodeAt(0);
      if (found) edges.push([byte, byte, nameOf(found)]);
    }
    const [fromLow = 0, toHigh] = written.orders.map((order, i) =>
      lastOrder(limits[i] as Limit, written, order),
    );
    const isInside =
      (fromLow > 0 || (fromLow === 0 && !low.isOpen)) &&
      (toHigh === undefined || toHigh < 0 || (toHigh === 0 && high?.isOpen === false));
    const isNumber = written.phase !== 'begin' && written.phase !== 'point';
    states.push({ edges, calls: [], isEnd: isNumber && isInside });
  }
  return trimmed(states);
}

/** The tighter of a limit and one that is not allowed itself. */
function limitIn(
  words: JsonObject,
  names: readonly [string, string],
  path: string,
  isTighter: (a: number, b: number) => boolean,
): { value: number; isOpen: boolean } | undefined {
  const [closed, open] = names.map((name) => {
    const value = words[name];
    return value === undefined || typeof value === 'number'
      ? value
      : wrong(below(path, name), value, 'a number');
  });
  if (open !== undefined && (closed === undefined || !isTighter(closed, open)))
    return { value: open, isOpen: true };
  return closed === undefined ? undefined : { value: closed, isOpen: false };
}

/** The limits of a schema's numbers. */
export const limitsOf = (words: JsonObject, path: string) => ({
  low: limitIn(words, ['minimum', 'exclusiveMinimum'], path, (a, b) => a > b),
  high: limitIn(words, ['maximum', 'exclusiveMaximum'], path, (a, b) => a < b),
});

/** Numbers, or whole numbers, within the limits of a schema. */
export function numbersOf(words: JsonObject, isInteger: boolean, path: string): Expression {
  const { low, high } = limitsOf(words, path);
  if (!low && !high) return isInteger ? anyInteger : anyNumber;
  const zero = limitOf(0, false);
  const parts: Expression[] = [];
  if (!high || high.value >= 0) {
    const from = low && low.value >= 0 ? limitOf(low.value, low.isOpen) : zero;
    const to = high && limitOf(high.value, high.isOpen);
    parts.push({ is: 'automaton', automaton: between(from, to, isInteger) });
  }
  if (!low || low.value < 0) {
    // Of -0 one way to write it is enough.
    const from =
      high && high.value < 0 ? limitOf(-high.value, high.isOpen) : { ...zero, isOpen: true };
    const to = low && limitOf(-low.value, low.isOpen);
    const automaton = between(from, to, isInteger);
    parts.push(sequence(literal('-'), { is: 'automaton', automaton }));
  }
  return choice(parts);
}
