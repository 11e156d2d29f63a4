import { newFloats } from '../../arguments/values.js';

/** A matrix of so many rows the other way round. */
export function transposed(fn: string, from: Float32Array, rows: number): Float32Array {
  const columns = from.length / rows;
  const to = newFloats(fn, from.length);
  for (let i = 0; i < rows; i += 1)
    for (let j = 0; j < columns; j += 1) to[j * rows + i] = from[i * columns + j] ?? 0;
  return to;
}
