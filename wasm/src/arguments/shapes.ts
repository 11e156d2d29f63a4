// Shapes: checks, and text for messages.

import { QkvError } from '../api/errors.js';
import { mostInt } from './numbers.js';
import { describe, listOf, listText } from './values.js';

export const shapeText = (shape: readonly (number | string)[]): string => `[${shape.join(',')}]`;

export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, e) => n * e, 1);

export const isSameShape = (a: readonly number[], b: readonly (number | string)[]): boolean =>
  a.length === b.length && a.every((extent, axis) => extent === b[axis]);

/** Most axes of an array: more than anybody has. */
export const mostAxes = 64;

/** A copy of `shape`, an array of whole numbers >= 0. */
export function takeShape(fn: string, name: string, shape: unknown): readonly number[] {
  const extents = listOf(fn, `the shape of ${name}`, shape, mostAxes);
  if (!extents?.every((e) => Number.isSafeInteger(e) && Number(e) >= 0)) {
    const was = extents ? listText(extents) : describe(shape);
    throw new QkvError(
      'invalid_argument',
      `${fn}: the shape of ${name} is ${was}, expected an array of whole numbers >= 0`,
    );
  }
  return extents as number[];
}

/**
 * Refuses what the core cannot count the places of that extents span: an empty array may have large ones all the same.
 * `what` has it, with a verb.
 */
export function checkCountable(fn: string, what: string, shape: readonly number[]): void {
  if (shape.reduce((n, e) => n * Math.max(e, 1), 1) <= mostInt) return;
  throw new QkvError(
    'out_of_range',
    `${fn}: ${what} ${shapeText(shape)}, expected extents whose product, zeros left out, is at most ${mostInt}`,
  );
}

/** [rows, columns] of a shape whose axes from `axis` on are one row. */
export const asMatrix = (shape: readonly number[], axis: number): readonly [number, number] => [
  sizeOf(shape.slice(0, axis)),
  sizeOf(shape.slice(axis)),
];
