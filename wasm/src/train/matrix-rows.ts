import { QkvError } from '../api/errors.js';
import type { Input } from '../arguments/arrays.js';
import { asMatrix, shapeText } from '../arguments/shapes.js';

/** The rows of an array as a matrix, whatever axes come before the last: at least one does. */
export function rowsOf(fn: string, name: string, { shape }: Input, expected: string) {
  if (shape.length >= 2) return asMatrix(shape, shape.length - 1);
  throw new QkvError(
    'shape_mismatch',
    `${fn}: ${name} is ${shapeText(shape)}, expected ${expected}`,
  );
}
