// How near vectors are to each other.

import { QkvError } from '../api/errors.js';
import type { Neighbour } from '../api/model-types.js';
import type { NdArray, OwnedArray } from '../api/types.js';
import { checkArray } from '../arguments/arrays.js';
import { isTensor } from '../arguments/genuine.js';
import { checkInteger, mostInt } from '../arguments/numbers.js';
import { shapeText } from '../arguments/shapes.js';
import { describe, isFloat32Array, newFloats } from '../arguments/values.js';

/** Rows of numbers. */
interface Vectors {
  readonly data: Float32Array;
  readonly count: number;
  readonly width: number;
}

/** [n, d], or one vector. */
function vectorsOf(fn: string, name: string, given: unknown): Vectors {
  if (isFloat32Array(given)) return { data: given, count: 1, width: given.length };
  if (isTensor(given)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)}, expected { data, shape } or a Float32Array`,
    );
  }
  const { source, shape } = checkArray(fn, name, given as NdArray);
  if (shape.length < 1 || shape.length > 2) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(shape)}, expected [vectors, width]`,
    );
  }
  const [count = 1, width = 0] = shape.length === 2 ? shape : [1, ...shape];
  return { data: source as Float32Array, count, width };
}

/** The lengths of all vectors. */
const normsOf = ({ data, count, width }: Vectors): Float64Array =>
  Float64Array.from({ length: count }, (_, i) => {
    let squares = 0;
    for (let at = i * width; at < (i + 1) * width; at += 1) squares += (data[at] ?? 0) ** 2;
    return Math.sqrt(squares);
  });

/** The product of two vectors over that of their lengths, which rounding does not take beyond 1; 0 if one has none. */
function cosine(a: Vectors, i: number, b: Vectors, j: number, norms: number): number {
  let sum = 0;
  for (let at = 0; at < a.width; at += 1) {
    sum += (a.data[i * a.width + at] ?? 0) * (b.data[j * b.width + at] ?? 0);
  }
  return norms === 0 ? 0 : Math.max(-1, Math.min(1, sum / norms));
}

function checkWidths(fn: string, name: string, a: Vectors, b: Vectors): void {
  if (a.width === b.width) return;
  throw new QkvError(
    'shape_mismatch',
    `${fn}: ${name} has vectors of ${b.width} numbers, expected ${a.width} as the others have`,
  );
}

export function cosineSimilarity(
  first: unknown,
  second: unknown = first,
): OwnedArray<readonly [number, number]> {
  const fn = 'cosineSimilarity';
  const [a, b] = [vectorsOf(fn, 'a', first), vectorsOf(fn, 'b', second)];
  checkWidths(fn, 'b', a, b);
  const data = newFloats(fn, a.count * b.count);
  const [ofA, ofB] = [normsOf(a), normsOf(b)];
  for (let i = 0; i < a.count; i += 1) {
    for (let j = 0; j < b.count; j += 1) {
      const norms = (ofA[i] ?? 0) * (ofB[j] ?? 0);
      data[i * b.count + j] = cosine(a, i, b, j, norms);
    }
  }
  return { data, shape: [a.count, b.count] };
}

export function nearest(vectors: unknown, query: unknown, k: unknown = 10): Neighbour[] {
  const fn = 'nearest';
  const [all, one] = [vectorsOf(fn, 'vectors', vectors), vectorsOf(fn, 'query', query)];
  if (one.count !== 1) {
    throw new QkvError('shape_mismatch', `${fn}: query has ${one.count} vectors, expected one`);
  }
  checkWidths(fn, 'query', all, one);
  checkInteger(fn, 'k', k, 1, mostInt);
  const [norms, [own = 0]] = [normsOf(all), normsOf(one)];
  const found = Array.from(norms, (norm, index) => {
    return { index, similarity: cosine(all, index, one, 0, norm * own) };
  });
  // What is no number is the least.
  const of = ({ similarity }: Neighbour): number => (similarity >= -1.5 ? similarity : -2);
  found.sort((a, b) => of(b) - of(a) || a.index - b.index);
  return found.slice(0, k);
}
