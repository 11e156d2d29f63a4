import type { NdArray, Qkv } from 'qkv';
import type { Model } from '../../../domain/model';
import { columnsOf } from '../../../engine/layer_weights';
import { D_K, D_MODEL } from '../../../domain/sources';

/** One head whose queries come from x and whose keys and values come from another sentence. */
export interface Cross {
  readonly head: number;
  readonly rows: readonly string[];
  readonly cols: readonly string[];
  /** [rows, cols] */
  readonly weights: Float32Array;
}

/** The weights alone, [Tq, Tk]: every query may read every key. */
export function crossWeights(
  qkv: Qkv,
  { wq, wk, wv, bq }: Model,
  { x, context, head }: { x: NdArray; context: NdArray; head: number },
  temperature: number,
): Float32Array {
  const part = (matrix: Float32Array) => ({
    data: columnsOf(matrix, D_MODEL, head),
    shape: [D_MODEL, D_K],
  });
  const q = qkv.linear(x, part(wq), { bias: bq.slice(head * D_K, (head + 1) * D_K) });
  const [k, v] = [qkv.linear(context, part(wk)), qkv.linear(context, part(wv))];
  return qkv.attention(q, k, v, { numHeads: 1, temperature, returnWeights: true }).weights.data;
}
