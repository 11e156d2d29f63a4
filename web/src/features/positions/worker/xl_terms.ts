import type { NdArray, Qkv } from 'qkv';
import { D_MODEL } from '../../../domain/sources';
import { SPAN, type XlTerm } from '../shared/constants';
import type { PairLayout } from '../../../domain/pair_table';
import { repeat, scale, scores } from './scores';

/** What is drawn for Transformer-XL: a query and a key at every position, and two vectors for all of them. */
export interface XlVectors {
  readonly q: NdArray;
  readonly k: NdArray;
  readonly u: NdArray;
  readonly v: NdArray;
}

/** The encoding of every distance, the greatest first, with the scale of the scores. */
function distances(qkv: Qkv, layout: PairLayout): NdArray {
  const rows = 2 * SPAN - 1;
  const ascending = qkv.sinusoidalEncoding(rows, D_MODEL, { offset: 1 - SPAN, layout }).data;
  const data = new Float32Array(rows * D_MODEL);
  for (let t = 0; t < rows; t++) {
    const from = (rows - 1 - t) * D_MODEL;
    const row = ascending.subarray(from, from + D_MODEL).map((value) => value * scale);
    data.set(row, t * D_MODEL);
  }
  return { data, shape: [rows, D_MODEL] };
}

/**
 * The terms of Dai et al. 2019, section 3.3, each over sqrt(d): (a) q_i . k_j, (b) q_i . r, (c) u . k_j, (d) v . r, with r the
 * sinusoidal encoding of i - j; b + d as the core forms it, and the sum of all.
 */
export function xlTerms(
  qkv: Qkv,
  { q, k, u, v }: XlVectors,
  layout: PairLayout,
): Readonly<Record<XlTerm, Float32Array>> {
  const r = distances(qkv, layout);
  const content = (queries: NdArray) => scores(qkv, queries, k, scale);
  const position = (queries: NdArray, vector: NdArray) =>
    qkv.transformerXlBias({ ...queries, shape: [1, 1, SPAN, D_MODEL] }, r, vector).data;
  const zeros = ({ data, shape }: NdArray): NdArray => ({ data: data.map(() => 0), shape });
  const terms = {
    ...{ a: content(q), b: position(q, zeros(v)) },
    ...{ c: content(repeat(u)), d: position(zeros(q), v) },
    position: position(q, v),
  };
  const score = terms.a.map((a, at) => a + terms.c[at]! + terms.position[at]!);
  return { ...terms, score };
}
