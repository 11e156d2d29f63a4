// Results that go to a tensor of the caller, where nothing copies them.

import { isSameShape, shapeText } from './shapes.js';
import { QkvError } from '../api/errors.js';
import { describe } from './values.js';
import { isTensor } from './genuine.js';
import type { Destination, Tensor } from '../api/types.js';

/** Options that may say where the result goes. */
export type To<Options> = Options & Partial<Destination>;

/** The caller's tensor for the output, of exactly this shape. That it is no input the core sees by itself. */
export function checkOut(fn: string, out: unknown, shape: readonly number[]): Tensor | undefined {
  if (out === undefined) return undefined;
  if (!isTensor(out)) {
    throw new QkvError('invalid_argument', `${fn}: out is ${describe(out)}, expected a Tensor`);
  }
  if (!isSameShape(out.shape, shape)) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: out is ${shapeText(out.shape)}, expected ${shapeText(shape)}`,
    );
  }
  return out;
}
