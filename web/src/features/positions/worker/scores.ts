import type { NdArray, Qkv } from 'qkv';
import { D_MODEL } from '../../../domain/sources';
import { SPAN } from '../shared/constants';

/** 1/sqrt(d). */
export const scale = 1 / Math.sqrt(D_MODEL);

/** Products of queries and keys, times a factor. */
export function scores(qkv: Qkv, q: NdArray, k: NdArray, factor: number): Float32Array {
  const options = { numHeads: 1, scale: factor, returnLogits: 'raw' } as const;
  return qkv.attention(q, k, k, options).logits.data;
}

/** The same row at every position. */
export const repeat = ({ data }: NdArray): NdArray => ({
  data: Float32Array.from({ length: SPAN * D_MODEL }, (_, at) => data[at % D_MODEL]!),
  shape: [SPAN, D_MODEL],
});
