/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import { D_K, D_MODEL, NUM_HEADS, type Projections } from './model';
import type { Check } from './protocol';

// Plain loops in float64 from the same float32 inputs and weights, sharing no code with the core:
// they are slow and easy to read, which is what a check should be.

function project(x: Float32Array, weight: Float32Array, tokens: number): Float64Array {
  const result = new Float64Array(tokens * D_MODEL);
  for (let t = 0; t < tokens; t++) {
    for (let i = 0; i < D_MODEL; i++) {
      const value = x[t * D_MODEL + i]!;
      for (let j = 0; j < D_MODEL; j++) {
        result[t * D_MODEL + j]! += value * weight[i * D_MODEL + j]!;
      }
    }
  }
  return result;
}

/** q . k / sqrt(d_k) for every head, query and key: [NUM_HEADS, T, T]. */
export function exactScores(x: Float32Array, { wq, wk }: Projections, tokens: number) {
  const q = project(x, wq, tokens);
  const k = project(x, wk, tokens);
  const scores = new Float64Array(NUM_HEADS * tokens * tokens);
  let at = 0;
  for (let h = 0; h < NUM_HEADS; h++) {
    for (let i = 0; i < tokens; i++) {
      for (let j = 0; j < tokens; j++) {
        let dot = 0;
        for (let c = 0; c < D_K; c++) {
          dot += q[i * D_MODEL + h * D_K + c]! * k[j * D_MODEL + h * D_K + c]!;
        }
        scores[at++] = dot / Math.sqrt(D_K);
      }
    }
  }
  return scores;
}

/** softmax(scores / temperature) over the first `allowed` keys; zero beyond. */
function exactRow(scores: Float64Array, allowed: number, temperature: number): Float64Array {
  const row = new Float64Array(scores.length);
  let largest = -Infinity;
  for (let j = 0; j < allowed; j++) largest = Math.max(largest, scores[j]!);
  let sum = 0;
  for (let j = 0; j < allowed; j++) {
    row[j] = Math.exp((scores[j]! - largest) / temperature);
    sum += row[j]!;
  }
  for (let j = 0; j < allowed; j++) row[j]! /= sum;
  return row;
}

function entropyOf(row: Float64Array): number {
  let entropy = 0;
  for (const p of row) if (p > 0) entropy -= p * Math.log(p);
  return entropy;
}

export function checkLayer(
  scores: Float64Array,
  got: { weights: Float32Array; entropy: Float32Array },
  options: { tokens: number; causal: boolean; temperature: number },
): Check {
  const { tokens, causal, temperature } = options;
  let [weights, entropy, rowSum] = [0, 0, 0];
  for (let row = 0; row < NUM_HEADS * tokens; row++) {
    const from = row * tokens;
    const allowed = causal ? (row % tokens) + 1 : tokens;
    const exact = exactRow(scores.subarray(from, from + tokens), allowed, temperature);
    let sum = 0;
    for (let j = 0; j < tokens; j++) {
      const weight = got.weights[from + j]!;
      sum += weight;
      weights = Math.max(weights, Math.abs(weight - exact[j]!));
    }
    rowSum = Math.max(rowSum, Math.abs(sum - 1));
    entropy = Math.max(entropy, Math.abs(got.entropy[row]! - entropyOf(exact)));
  }
  return { weights, entropy, rowSum };
}

/** Largest |PE(p + k) - M_k PE(p)|, the product taken in float64. */
export function shiftResidual(
  encoding: Float32Array,
  shifted: Float32Array,
  blocks: Float32Array,
): number {
  let residual = 0;
  for (let at = 0; at < encoding.length; at += 2) {
    const block = (at % D_MODEL) * 2;
    const [sine, cosine] = [encoding[at]!, encoding[at + 1]!];
    const first = blocks[block]! * sine + blocks[block + 1]! * cosine;
    const second = blocks[block + 2]! * sine + blocks[block + 3]! * cosine;
    residual = Math.max(
      residual,
      Math.abs(shifted[at]! - first),
      Math.abs(shifted[at + 1]! - second),
    );
  }
  return residual;
}
