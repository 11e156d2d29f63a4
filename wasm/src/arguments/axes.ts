// The axis that an operator works along.

import { QkvError } from '../api/errors.js';
import type { Input } from './arrays.js';
import { checkInteger } from './numbers.js';
import { sizeOf } from './shapes.js';

/** `axis` of x, or of what is called so, counted from the front. */
export function checkAxis(
  fn: string,
  { name, shape: { length: rank } }: Input,
  axis: number,
): number {
  if (rank === 0) throw new QkvError('shape_mismatch', `${fn}: ${name} is [], expected [...,n]`);
  checkInteger(fn, 'axis', axis, -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

/** Any rank is three axes to the core: what is before the one requested, that one, what is after. */
export const aroundAxis = (shape: readonly number[], axis: number): readonly number[] =>
  [shape.slice(0, axis), shape.slice(axis, axis + 1), shape.slice(axis + 1)].map(sizeOf);
