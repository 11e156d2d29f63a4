import { worse } from '../../../domain/nan_max';
import type { Scheme } from '../../../domain/schemes';
import type { NdArray, Qkv } from 'qkv';
import { columnsOfPair, frequency, PAIRS, type PairLayout } from '../shared/pair_table';
import { hashText, uniform } from '../../../engine/random';
import { D_MODEL } from '../../../domain/sources';
import { ALIBI_HEAD, ALIBI_HEADS, BUCKETS, SPAN } from '../shared/constants';

/** What a scheme adds to a score, or makes of it: [SPAN, SPAN]. */
export interface SchemeMap {
  readonly scheme: Scheme;
  readonly values: Float32Array;
  /** The largest magnitude. */
  readonly range: number;
  /** The largest step along a diagonal: 0, or nearly, where only the distance counts. */
  readonly alongDiagonals: number;
  /** What was drawn at random for it, by name. */
  readonly drawn: Drawn;
}

type Drawn = Readonly<Record<string, Float32Array>>;

export interface SchemeChoice {
  readonly scheme: Scheme;
  readonly layout: PairLayout;
  readonly seed: number;
}

/** Rows of unit variance, so that scores with the factor 1/sqrt(d) have it too. */
function draw(name: string, seed: number, rows: number): NdArray {
  const data = uniform(hashText(name, seed), rows * D_MODEL, Math.sqrt(3));
  return { data, shape: [rows, D_MODEL] };
}

const scale = 1 / Math.sqrt(D_MODEL);

function scores(qkv: Qkv, q: NdArray, k: NdArray, factor: number): Float32Array {
  const options = { numHeads: 1, scale: factor, returnLogits: 'raw' } as const;
  return qkv.attention(q, k, k, options).logits.data;
}

const repeat = ({ data }: NdArray): NdArray => ({
  data: Float32Array.from({ length: SPAN * D_MODEL }, (_, at) => data[at % D_MODEL]!),
  shape: [SPAN, D_MODEL],
});

/** The query and key that are turned, the same at every position. */
const rotaryPair = (seed: number) => ({
  q: draw('rotary q', seed, 1),
  k: draw('rotary k', seed, 1),
});

type Maker = (qkv: Qkv, choice: SchemeChoice) => { values: Float32Array; drawn?: Drawn };

const MAPS: Readonly<Record<Scheme, Maker>> = {
  sinusoidal(qkv, { layout }) {
    const encoding = qkv.sinusoidalEncoding(SPAN, D_MODEL, { layout });
    return { values: scores(qkv, encoding, encoding, 1) };
  },

  learned(qkv, { seed }) {
    const table = draw('learned positions', seed, SPAN);
    const encoding = qkv.learnedEncoding(table, SPAN);
    return { values: scores(qkv, encoding, encoding, 1), drawn: { table: table.data } };
  },

  /** The table holds its own row numbers: what comes out is the bucket of every pair. */
  t5(qkv) {
    const table = {
      data: Float32Array.from({ length: BUCKETS }, (_, b) => b),
      shape: [BUCKETS, 1],
    };
    return { values: qkv.t5RelativeBias(table, SPAN, SPAN).data };
  },

  /** (q_i + v) . r(i - j): q and v drawn, r the sinusoidal encoding of the distance. */
  xl(qkv, { seed, layout }) {
    const q = draw('xl q', seed, SPAN);
    const v = draw('xl v', seed, 1);
    const rows = 2 * SPAN - 1;
    const ascending = qkv.sinusoidalEncoding(rows, D_MODEL, { offset: 1 - SPAN, layout }).data;
    const r = new Float32Array(rows * D_MODEL); // its first row is the greatest distance
    for (let t = 0; t < rows; t++) {
      const from = (rows - 1 - t) * D_MODEL;
      const row = ascending.subarray(from, from + D_MODEL).map((value) => value * scale);
      r.set(row, t * D_MODEL);
    }
    const queries = { data: q.data, shape: [1, 1, SPAN, D_MODEL] };
    const { data } = qkv.transformerXlBias(queries, { data: r, shape: [rows, D_MODEL] }, v);
    return { values: data, drawn: { q: q.data, v: v.data } };
  },

  /** Scores of queries that are zero: what is left is the bias. */
  alibi(qkv) {
    const shape = [SPAN, ALIBI_HEADS];
    const nothing = { data: new Float32Array(SPAN * ALIBI_HEADS), shape };
    const options = {
      numHeads: ALIBI_HEADS,
      bias: { kind: 'alibi' },
      returnLogits: 'biased',
    } as const;
    const { data } = qkv.attention(nothing, nothing, nothing, options).logits;
    return { values: data.slice(ALIBI_HEAD * SPAN ** 2, (ALIBI_HEAD + 1) * SPAN ** 2) };
  },

  rotary(qkv, { seed, layout }) {
    const { q, k } = rotaryPair(seed);
    const options = { numHeads: 1, interleaved: layout === 'interleaved' };
    const turn = (row: NdArray) => qkv.rotaryEmbedding(repeat(row), options);
    return { values: scores(qkv, turn(q), turn(k), scale), drawn: { q: q.data, k: k.data } };
  },
};

export function schemeMap(qkv: Qkv, choice: SchemeChoice): SchemeMap {
  const { values, drawn = {} } = MAPS[choice.scheme](qkv, choice);
  const range = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let alongDiagonals = 0;
  for (let at = 0; at + SPAN + 1 < values.length; at++) {
    if (at % SPAN === SPAN - 1) continue;
    alongDiagonals = worse(alongDiagonals, Math.abs(values[at]! - values[at + SPAN + 1]!));
  }
  return { scheme: choice.scheme, values, range, alongDiagonals, drawn };
}

/** One query at m and one key at n. */
export interface RotaryScore {
  readonly m: number;
  readonly n: number;
  readonly score: number;
  /** The same two at m - n and 0. */
  readonly apart: number;
  /** In float64, from the same float32 vectors. */
  readonly exact: number;
  /** Those vectors, [D_MODEL]. */
  readonly q: Float32Array;
  readonly k: Float32Array;
}

function exactScore(q: Float32Array, k: Float32Array, distance: number, layout: PairLayout) {
  let sum = 0;
  for (let i = 0; i < PAIRS; i++) {
    const [a, b] = columnsOfPair(layout, i);
    const angle = distance * frequency(i);
    const along = q[a]! * k[a]! + q[b]! * k[b]!;
    const across = q[a]! * k[b]! - q[b]! * k[a]!;
    sum += along * Math.cos(angle) + across * Math.sin(angle);
  }
  return sum * scale;
}

export function rotaryScore(
  qkv: Qkv,
  [m, n]: readonly [number, number],
  { layout, seed }: Pick<SchemeChoice, 'layout' | 'seed'>,
): RotaryScore {
  const { q, k } = rotaryPair(seed);
  const interleaved = layout === 'interleaved';
  const turn = (row: NdArray, offset: number) =>
    qkv.rotaryEmbedding(row, { numHeads: 1, interleaved, offset });
  const at = (i: number, j: number) => scores(qkv, turn(q, i), turn(k, j), scale)[0]!;
  return {
    m,
    n,
    score: at(m, n),
    apart: at(m - n, 0),
    exact: exactScore(q.data, k.data, m - n, layout),
    q: q.data,
    k: k.data,
  };
}
