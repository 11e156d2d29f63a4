// Positions in float64, from the formulas: rotations, float32's way with angles, and what each scheme says of a pair.
import { dModel } from './oracle.js';

export const PAIRS = dModel / 2;
/** Queries and keys of the map of a scheme. */
export const SPAN = 48;
export const frequency = (pair) => 10000 ** ((-2 * pair) / dModel);

/** (sine, cosine) of a pair in float64. */
export const exactPair = (p, pair) => [
  Math.sin(p * frequency(pair)),
  Math.cos(p * frequency(pair)),
];

/** The naive way: each step rounded to float32. */
export function naivePair(p, pair) {
  const angle = Math.fround(Math.fround(p) * Math.fround(frequency(pair)));
  return [Math.fround(Math.sin(angle)), Math.fround(Math.cos(angle))];
}

/** The largest |PE(p + k) - M_k PE(p)| when PE is formed so; M_k is exact here. */
export function residualOf(pairOf, p, k) {
  let most = 0;
  for (let pair = 0; pair < PAIRS; pair++) {
    const [sine, cosine] = pairOf(p, pair);
    const [s, c] = exactPair(k, pair);
    const [toSine, toCosine] = pairOf(p + k, pair);
    most = Math.max(most, Math.abs(toSine - c * sine - s * cosine));
    most = Math.max(most, Math.abs(toCosine + s * sine - c * cosine));
  }
  return most;
}

const rowOf = (data, i) => data.slice(i * dModel, (i + 1) * dModel);
export const dot = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);

/** The bucket of a key `distance` after its query: 32 buckets, half for keys after it, up to 128. */
export function bucketOf(distance) {
  const far = Math.abs(distance);
  const side = distance > 0 ? 16 : 0;
  if (far < 8) return side + far;
  return side + Math.min(15, 8 + Math.floor((Math.log(far / 8) / Math.log(128 / 8)) * 8));
}

/** R_p x in float64; pairs side by side, or in halves. */
export function turned(x, p, layout) {
  const y = [...x];
  for (let i = 0; i < PAIRS; i++) {
    const [a, b] = layout === 'interleaved' ? [2 * i, 2 * i + 1] : [i, i + PAIRS];
    const [s, c] = exactPair(p, i);
    y[a] = c * x[a] - s * x[b];
    y[b] = s * x[a] + c * x[b];
  }
  return y;
}

const sinusoidal = () => (i, j) => {
  const cosines = Array.from({ length: PAIRS }, (_, c) => Math.cos((i - j) * frequency(c)));
  return cosines.reduce((a, b) => a + b);
};

/** Of Transformer-XL: q.k, q.r, u.k and v.r over sqrt(d), with r the encoding of i - j, and their sums. */
export const xlTerms = ({ q, k, u, v }) => {
  const r = (i, j) =>
    Array.from({ length: dModel }, (_, c) => {
      const angle = (i - j) * frequency(c >> 1);
      return c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    });
  const [a, b, c, d] = [
    (i, j) => dot(rowOf(q, i), rowOf(k, j)) / 8,
    (i, j) => dot(rowOf(q, i), r(i, j)) / 8,
    (_, j) => dot(u, rowOf(k, j)) / 8,
    (i, j) => dot(v, r(i, j)) / 8,
  ];
  const position = (i, j) => b(i, j) + d(i, j);
  return { a, b, c, d, position, score: (i, j) => a(i, j) + position(i, j) + c(i, j) };
};

/** What the heads of T5 are trained to give key j, before the shares of a row are divided by their sum. */
export const T5_SHARES = [
  (i, j) => (j === i - 1 ? 1 : 0),
  (i, j) => 0.7 ** Math.abs(i - j),
  (i, j) => (j < i ? 1 : 0),
  (i, j) => (Math.abs(i - j) >= 16 ? 1 : 0),
];

const rotary = ({ drawn: { q, k } }, layout) => {
  const turn = (x) => Array.from({ length: SPAN }, (_, p) => turned(x, p, layout));
  const [queries, keys] = [turn(q), turn(k)];
  return (i, j) => dot(queries[i], keys[j]) / 8;
};

/**
 * Of each scheme: its map from its formula, given what was drawn or trained for it, how far float32 may be from that, and
 * whether only the distance counts.
 */
export const SCHEMES = {
  sinusoidal: { of: sinusoidal, within: 1e-4, toeplitz: true },
  learned: {
    of: ({ drawn: { table } }) => {
      return (i, j) => dot(rowOf(table, i), rowOf(table, j));
    },
    within: 1e-4,
    toeplitz: false,
  },
  t5: {
    of:
      ({ t5: { table, head } }) =>
      (i, j) =>
        table[bucketOf(j - i) * 4 + head],
    within: 0,
    toeplitz: true,
  },
  xl: { of: ({ drawn, xl }) => xlTerms(drawn)[xl.term], within: 1e-5, toeplitz: false },
  alibi: { of: () => (i, j) => -(2 ** -3) * Math.abs(i - j), within: 0, toeplitz: true },
  rotary: { of: rotary, within: 1e-5, toeplitz: true },
};
