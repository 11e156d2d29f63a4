import { entropyOf, softmaxOf } from '../domain/softmax';
import { worse } from '../domain/nan_max';
import type { Mask } from '../domain/choices';
import type { Model } from '../domain/model';
import type { Check } from '../domain/check_result';
import { allowedKeys } from '../domain/mask';
import { D_K, D_MODEL } from '../domain/sources';

// Plain loops in float64 from the same float32 inputs and weights, sharing no code with the core:
// they are slow and easy to read, which is what a check should be.

/** Queries and keys of one head in float64, [count, width] each. */
export interface ExactHead {
  readonly q: Float64Array;
  readonly k: Float64Array;
  readonly width: number;
  /** Factor on q.k; by default 1 / sqrt(width). */
  readonly scale?: number;
}

function project(
  x: Float32Array,
  weight: Float32Array,
  bias: Float32Array | null,
  head: number,
): Float64Array {
  const tokens = x.length / D_MODEL;
  const columns = weight.length / D_MODEL;
  const result = new Float64Array(tokens * D_K);
  for (let t = 0; t < tokens; t++) {
    for (let c = 0; c < D_K; c++) {
      let sum = bias ? bias[head * D_K + c]! : 0;
      for (let i = 0; i < D_MODEL; i++) {
        sum += x[t * D_MODEL + i]! * weight[i * columns + head * D_K + c]!;
      }
      result[t * D_K + c] = sum;
    }
  }
  return result;
}

export function exactHead(x: Float32Array, model: Model, head: number): ExactHead {
  return {
    q: project(x, model.wq, model.bq, head),
    k: project(x, model.wk, null, head),
    width: D_K,
  };
}

/** The values, too. */
export interface ExactProjections extends ExactHead {
  readonly v: Float64Array;
}

export function exactProjections(x: Float32Array, model: Model, head: number): ExactProjections {
  return { ...exactHead(x, model, head), v: project(x, model.wv, null, head) };
}

/** softmax(q.k / sqrt(d_k) / temperature) over the allowed keys of one row; zero elsewhere. */
export function exactRow(
  { q, k, width, scale = 1 / Math.sqrt(width) }: ExactHead,
  row: number,
  options: { mask: Mask; temperature: number },
): Float64Array {
  const count = q.length / width;
  const weights = new Float64Array(count);
  const [first, end] = allowedKeys(options.mask, row, count);
  for (let j = first; j < end; j++) {
    let dot = 0;
    for (let c = 0; c < width; c++) dot += q[row * width + c]! * k[j * width + c]!;
    weights[j] = (dot * scale) / options.temperature;
  }
  weights.set(softmaxOf(weights.subarray(first, end)), first);
  return weights;
}

/** Compares a head row by row with the same in float64; yields after every row, returns what it found. */
export function* checkHead(
  exact: ExactHead,
  got: { weights: Float32Array; entropy: Float32Array },
  options: { mask: Mask; temperature: number },
): Generator<undefined, Check> {
  const count = got.entropy.length;
  let [weights, entropy, rowSum] = [0, 0, 0];
  for (let row = 0; row < count; row++) {
    const wanted = exactRow(exact, row, options);
    let sum = 0;
    for (let j = 0; j < count; j++) {
      const weight = got.weights[row * count + j]!;
      sum += weight;
      weights = worse(weights, Math.abs(weight - wanted[j]!));
    }
    rowSum = worse(rowSum, Math.abs(sum - 1));
    entropy = worse(entropy, Math.abs(got.entropy[row]! - entropyOf(wanted)));
    yield;
  }
  return { weights, entropy, rowSum };
}
