import { worse } from '../../../domain/nan_max';
import type { Scheme } from '../../../domain/schemes';
import type { NdArray, Qkv } from 'qkv';
import { columnsOfPair, frequency, PAIRS, type PairLayout } from '../../../domain/pair_table';
import { hashText, uniform } from '../../../engine/random';
import { D_MODEL } from '../../../domain/sources';
import { ALIBI_HEAD, ALIBI_HEADS, BUCKETS, SPAN, T5_HEADS, type XlTerm } from '../shared/constants';
import type { T5Biases } from './t5_biases';
import { repeat, scale, scores } from './scores';
import { xlTerms } from './xl_terms';

/** What a scheme adds to a score, or makes of it: [SPAN, SPAN]. */
export interface SchemeMap extends Details {
  readonly scheme: Scheme;
  readonly values: Float32Array;
  /** The largest magnitude. */
  readonly range: number;
  /** The largest step along a diagonal: 0, or nearly, where only the distance counts. */
  readonly alongDiagonals: number;
}

interface Details {
  /** What was drawn at random for it, by name. */
  readonly drawn: Readonly<Record<string, Float32Array>>;
  /** With T5: the table, the head of the map, and the bucket of every pair. */
  readonly t5: (T5Biases & { readonly head: number }) | null;
  /** With Transformer-XL: every part of the score, and which of them is the map. */
  readonly xl: (Readonly<Record<XlTerm, Float32Array>> & { readonly term: XlTerm }) | null;
}

export interface SchemeChoice {
  readonly scheme: Scheme;
  readonly layout: PairLayout;
  readonly seed: number;
  readonly t5Head: number;
  readonly xlTerm: XlTerm;
}

/** Rows of unit variance, so that scores with the factor 1/sqrt(d) have it too. */
function draw(name: string, seed: number, rows: number): NdArray {
  const data = uniform(hashText(name, seed), rows * D_MODEL, Math.sqrt(3));
  return { data, shape: [rows, D_MODEL] };
}

/** The query and key that are turned, the same at every position. */
const rotaryPair = (seed: number) => ({
  q: draw('rotary q', seed, 1),
  k: draw('rotary k', seed, 1),
});

type Maker = (
  qkv: Qkv,
  choice: SchemeChoice,
  trained: () => T5Biases,
) => { values: Float32Array } & Partial<Details>;

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

  /** The bias of one head for every pair: the column of the table that the core looks up by bucket. */
  t5(qkv, { t5Head: head }, trained) {
    const t5 = trained();
    const { data } = qkv.t5RelativeBias({ data: t5.table, shape: [BUCKETS, T5_HEADS] }, SPAN, SPAN);
    return { values: data.slice(head * SPAN ** 2, (head + 1) * SPAN ** 2), t5: { ...t5, head } };
  },

  xl(qkv, { seed, layout, xlTerm: term }) {
    const [q, k] = ['q', 'k'].map((name) => draw(`xl ${name}`, seed, SPAN)) as [NdArray, NdArray];
    const [u, v] = ['u', 'v'].map((name) => draw(`xl ${name}`, seed, 1)) as [NdArray, NdArray];
    const terms = xlTerms(qkv, { q, k, u, v }, layout);
    const drawn = { q: q.data, k: k.data, u: u.data, v: v.data };
    return { values: terms[term], drawn, xl: { ...terms, term } };
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

export function schemeMap(qkv: Qkv, choice: SchemeChoice, trained: () => T5Biases): SchemeMap {
  const made = MAPS[choice.scheme](qkv, choice, trained);
  const { values, drawn = {}, t5 = null, xl = null } = made;
  const range = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let alongDiagonals = 0;
  for (let at = 0; at + SPAN + 1 < values.length; at++) {
    if (at % SPAN === SPAN - 1) continue;
    alongDiagonals = worse(alongDiagonals, Math.abs(values[at]! - values[at + SPAN + 1]!));
  }
  return { scheme: choice.scheme, values, range, alongDiagonals, drawn, t5, xl };
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
