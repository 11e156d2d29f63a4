import { QkvError } from '../api/errors.js';
import { checkNumber } from './numbers.js';

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
