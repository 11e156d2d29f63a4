import type { Qkv } from 'qkv';
import { mean } from '../../../domain/averages';
import { hashText, normals } from '../../../engine/random';
import { LAB } from '../shared/constants';

/** A row of attention whose query and keys come out of a LayerNorm. */
export interface GainRow {
  /** By how much the gain of that LayerNorm is multiplied, and the temperature of the softmax. */
  readonly gain: number;
  readonly temperature: number;
  /** Standard deviation of the scores, before the temperature. */
  readonly deviation: number;
  readonly entropy: number;
  readonly largest: number;
}

/** What multiplying the gain by c does, and what multiplying the temperature by c^2 gives back. */
export interface GainResult {
  readonly plain: GainRow;
  readonly scaled: GainRow;
  readonly restored: GainRow;
  /** Largest difference of a weight between the first and the last. */
  readonly difference: number;
}

function deviationOf(scores: Float32Array): number {
  const centre = mean(scores);
  return Math.sqrt(mean(Array.from(scores, (score) => (score - centre) ** 2)));
}

/** One query against random keys, all of them through LayerNorm with the gain `gain`; the projections are identities. */
function rowOf(qkv: Qkv, seed: number, gain: number, temperature: number) {
  const fill = normals(hashText('gain', seed));
  const gamma = new Float32Array(LAB.width).fill(gain);
  const normed = (rows: number) => {
    const data = new Float32Array(rows * LAB.width);
    fill(data);
    return qkv.layerNorm({ data, shape: [rows, LAB.width] }, { gamma });
  };
  const [q, k] = [normed(1), normed(LAB.keys)];
  const options = { numHeads: 1, temperature, returnWeights: true, returnEntropy: true } as const;
  const { weights, entropy, logits } = qkv.attention(q, k, k, { ...options, returnLogits: 'raw' });
  const row: GainRow = {
    gain,
    temperature,
    deviation: deviationOf(logits.data),
    entropy: entropy.data[0]!,
    largest: weights.data.reduce((a, b) => Math.max(a, b), 0),
  };
  return { row, weights: weights.data };
}

/** q and k grow by c each, so q.k grows by c^2; the softmax of c^2 s at c^2 tau is that of s at tau. */
export function gainRows(qkv: Qkv, seed: number, c: number, temperature: number): GainResult {
  const plain = rowOf(qkv, seed, 1, temperature);
  const restored = rowOf(qkv, seed, c, c * c * temperature);
  const off = plain.weights.map((weight, j) => Math.abs(weight - restored.weights[j]!));
  return {
    plain: plain.row,
    scaled: rowOf(qkv, seed, c, temperature).row,
    restored: restored.row,
    difference: off.reduce((a, b) => Math.max(a, b), 0),
  };
}
