/** elu(x) + 1: positive everywhere, as weights must be. */
export const phi = (x: number): number => (x > 0 ? x + 1 : Math.exp(x));

export interface LinearOutput {
  /** [tokens, width] */
  readonly output: Float64Array;
  /** Multiplications and additions of the recurrence, counted while it ran. */
  readonly operations: number;
}

/**
 * Causal linear attention of Katharopoulos et al. (2020) as a recurrence: a matrix, the sum of phi(k) v^T, and a vector, the sum of
 * phi(k), are all that is kept of the tokens before. q, k and v are [tokens, width].
 */
export function linearAttention(
  [q, k, v]: readonly [Float32Array, Float32Array, Float32Array],
  width: number,
  sharpness: number,
): LinearOutput {
  const matrix = new Float64Array(width * width);
  const vector = new Float64Array(width);
  const output = new Float64Array(q.length);
  let operations = 0;
  for (let at = 0; at < q.length; at += width) {
    let norm = 0;
    for (let a = 0; a < width; a++) {
      const key = phi(k[at + a]!);
      const query = phi(sharpness * q[at + a]!);
      vector[a]! += key;
      norm += query * vector[a]!;
      operations += 3;
      for (let b = 0; b < width; b++) {
        matrix[a * width + b]! += key * v[at + b]!;
        output[at + b]! += query * matrix[a * width + b]!;
        operations += 4;
      }
    }
    for (let b = 0; b < width; b++) output[at + b]! /= norm;
  }
  return { output, operations };
}

/** The weights that a query gives in it to the keys up to its own: phi(q)·phi(k_j), as shares of their sum. */
export function linearWeights(
  q: Float32Array,
  k: Float32Array,
  row: number,
  sharpness: number,
): Float64Array {
  const width = q.length;
  const products = Float64Array.from({ length: row + 1 }, (_, j) => {
    let sum = 0;
    for (let a = 0; a < width; a++) sum += phi(sharpness * q[a]!) * phi(k[j * width + a]!);
    return sum;
  });
  const all = products.reduce((a, b) => a + b, 0);
  return products.map((product) => product / all);
}
