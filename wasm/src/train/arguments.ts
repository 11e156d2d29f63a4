// Checks that gradients ask for: arrays of a shape that is known already.

import { QkvError } from '../api/errors.js';
import type { ArrayInput } from '../api/types.js';
import { checkArray, type Input } from '../arguments/arrays.js';
import { asMatrix, shapeText } from '../arguments/shapes.js';

/** An array of exactly this shape. */
export function checkShaped(
  fn: string,
  name: string,
  given: ArrayInput,
  shape: readonly number[],
): Input {
  const input = checkArray(fn, name, given);
  const fits =
    input.shape.length === shape.length && shape.every((extent, i) => extent === input.shape[i]);
  if (!fits) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(input.shape)}, expected ${shapeText(shape)}`,
    );
  }
  return input;
}

/** The rows of an array as a matrix, whatever axes come before the last: at least one does. */
export function rowsOf(fn: string, name: string, { shape }: Input, expected: string) {
  if (shape.length >= 2) return asMatrix(shape, shape.length - 1);
  throw new QkvError(
    'shape_mismatch',
    `${fn}: ${name} is ${shapeText(shape)}, expected ${expected}`,
  );
}
