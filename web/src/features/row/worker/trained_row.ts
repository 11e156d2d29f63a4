import { allowedKeys } from '../../../domain/mask';
import { MAX_KEYS } from '../../../domain/number_sets';
import { worse } from '../../../domain/nan_max';
import type { Heads } from '../../../engine/head_list';
import type { Layer } from '../../../engine/heads';

/** A row of a head whose q and k are known, as those of a trained model: its steps for the keys of the largest weights. */
export interface LearnedRow {
  readonly head: number;
  readonly query: number;
  /** d_k */
  readonly width: number;
  readonly scale: number;
  readonly temperature: number;
  /** How many keys the query may read. */
  readonly allowed: number;
  /** The places of those that are listed, which have the largest weights: MAX_KEYS at most. */
  readonly keys: readonly number[];
  /** Of each listed key the products q_c k_c, [width], and their sum, added up in float64. */
  readonly terms: readonly Float32Array[];
  readonly products: Float32Array;
  /** By the core. */
  readonly scaled: Float32Array;
  readonly core: Float32Array;
  /** By the page: s / tau, exp(s / tau - max), and each as a part of the sum over all keys. */
  readonly tempered: Float32Array;
  readonly exps: Float32Array;
  readonly weights: Float32Array;
  readonly max: number;
  readonly sum: number;
  /** Largest |difference| of the page's steps from the core's: of a score, and of a weight. */
  readonly error: number;
}

function largestKeys(weights: Float32Array, [first, end]: readonly [number, number]): number[] {
  const keys = Array.from({ length: end - first }, (_, i) => first + i);
  keys.sort((a, b) => weights[b]! - weights[a]! || a - b);
  return keys.slice(0, MAX_KEYS).sort((a, b) => a - b);
}

export function learnedRow(
  heads: Heads,
  head: number,
  { mask, temperature }: Layer,
  query: number,
): LearnedRow | null {
  const of = heads.exact?.(head);
  if (!of || query < 0 || query >= heads.count) return null;
  const { q, k, width, scale = 1 / Math.sqrt(width) } = of;
  const extras = { returnWeights: true, returnLogits: 'biased' } as const;
  const { weights, logits } = heads.list[head]!.row(query, { mask, temperature }, extras);
  if (!weights || !logits) throw new Error('the head left out its row');
  const range = allowedKeys(mask, query, heads.count);
  const keys = largestKeys(weights.data, range);
  const termsOf = (key: number) =>
    Float64Array.from({ length: width }, (_, c) => q[query * width + c]! * k[key * width + c]!);
  const terms = keys.map(termsOf);
  const products = Float32Array.from(terms, (each) => each.reduce((a, b) => a + b, 0));
  const scores = logits.data.subarray(...range).map((s) => s / temperature);
  const max = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = scores.reduce((total, s) => total + Math.exp(s - max), 0);
  const pick = (from: Float32Array) => Float32Array.from(keys, (key) => from[key]!);
  const [scaled, core] = [pick(logits.data), pick(weights.data)];
  const tempered = scaled.map((s) => s / temperature);
  const exps = tempered.map((s) => Math.exp(s - max));
  const shares = exps.map((e) => e / sum);
  let error = 0;
  keys.forEach((_, i) => {
    error = worse(error, Math.abs(products[i]! * scale - scaled[i]!));
    error = worse(error, Math.abs(shares[i]! - core[i]!));
  });
  return {
    ...{ head, query, width, scale, temperature, allowed: range[1] - range[0], keys },
    ...{ products, scaled, core, tempered },
    ...{
      terms: terms.map((each) => Float32Array.from(each)),
      exps,
      weights: shares,
      max,
      sum,
      error,
    },
  };
}
