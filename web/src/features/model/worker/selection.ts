import { largestAt } from '../../../domain/largest_at';
import type { Qkv } from 'qkv';
import type { Sampling } from '../shared/protocol';

/** The likeliest tokens and what is left of them after each step of a selection. */
export interface Selection {
  /** All tokens, the likeliest first, of equal ones the first. */
  readonly order: Uint32Array;
  /** softmax(logits / temperature) by token. */
  readonly p: Float32Array;
  /** Tokens that top-k leaves, and top-p of those: the first so many of `order`. */
  readonly keptK: number;
  readonly keptP: number;
  /** The sums of `p` over what is left. */
  readonly sumK: number;
  readonly sumP: number;
}

/** softmax(logits / temperature) by the core; at temperature 0 all of it is on the likeliest token. */
function probabilities(qkv: Qkv, logits: Float32Array, temperature: number): Float32Array {
  if (temperature > 0) {
    return qkv.softmax({ data: logits, shape: [logits.length] }, { temperature }).data;
  }
  const p = new Float32Array(logits.length);
  p[largestAt(logits)] = 1;
  return p;
}

/**
 * The steps of sampling, in the order of the package: temperature, top-k, top-p. Top-p keeps the likeliest
 * tokens of those that top-k left, as long as the probabilities before each add up to less than it.
 */
export function select(qkv: Qkv, logits: Float32Array, sampling: Sampling): Selection {
  const { temperature, topK, topP } = sampling;
  const p = probabilities(qkv, logits, temperature);
  const order = Uint32Array.from(logits, (_, id) => id);
  order.sort((a, b) => logits[b]! - logits[a]! || a - b);
  const possible = temperature > 0 ? order.length : 1;
  const keptK = topK > 0 ? Math.min(topK, possible) : possible;
  let sumK = 0;
  for (let i = 0; i < keptK; i++) sumK += p[order[i]!]!;
  let keptP = 0;
  let sumP = 0;
  while (keptP < keptK && sumP / sumK < topP) sumP += p[order[keptP++]!]!;
  if (topP === 1) [keptP, sumP] = [keptK, sumK]; // whatever the rounding of the sums
  return { order, p, keptK, keptP, sumK, sumP };
}
