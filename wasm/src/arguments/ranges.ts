import { QkvError } from '../api/errors.js';
import { checkInteger, checkNumber } from './numbers.js';
import { describe, listOf } from './values.js';

/** Ranges that numbers have, by the words for them. */
const ranges = {
  'at least 0': (x: number) => x >= 0,
  'above 0': (x: number) => x > 0,
  '[0, 1)': (x: number) => x >= 0 && x < 1,
  '[0, 1]': (x: number) => x >= 0 && x <= 1,
  '(0, 1]': (x: number) => x > 0 && x <= 1,
} as const;

/** The number, finite as a float32 and within a range. */
export function within(
  fn: string,
  name: string,
  value: unknown,
  range: keyof typeof ranges,
): number {
  checkNumber(fn, name, value);
  if (ranges[range](Math.fround(value))) return value;
  throw new QkvError('out_of_range', `${fn}: ${name} is ${value}, expected ${range}`);
}

/** [begin, end) of an axis of `length`, at least one of it; all of it unless it is given. */
export function rangeOf(
  fn: string,
  name: string,
  given: unknown,
  length: number,
): readonly [begin: number, end: number] {
  if (given === undefined) return [0, length];
  const list = listOf(fn, name, given, 2);
  if (list?.length !== 2) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)}, expected [begin, end]`,
    );
  }
  const [begin, end] = list as [number, number];
  checkInteger(fn, `${name}[0]`, begin, 0, length - 1);
  checkInteger(fn, `${name}[1]`, end, begin + 1, length);
  return [begin, end];
}
