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

const transformerXl =
  ({ q, v }) =>
  (i, j) => {
    const r = Array.from({ length: dModel }, (_, c) => {
      const angle = (i - j) * frequency(c >> 1);
      return c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    });
    const query = Array.from(rowOf(q, i), (value, c) => value + v[c]);
    return dot(query, r) / 8;
  };

const rotary = ({ q, k }, layout) => {
  const turn = (x) => Array.from({ length: SPAN }, (_, p) => turned(x, p, layout));
  const [queries, keys] = [turn(q), turn(k)];
  return (i, j) => dot(queries[i], keys[j]) / 8;
};

/**
 * Of each scheme: its map from its formula, given what was drawn for it, how far float32 may be from that, and
 * whether only the distance counts.
 */
export const SCHEMES = {
  sinusoidal: { of: sinusoidal, within: 1e-4, toeplitz: true },
  learned: {
    of: ({ table }) => {
      return (i, j) => dot(rowOf(table, i), rowOf(table, j));
    },
    within: 1e-4,
    toeplitz: false,
  },
  t5: { of: () => (i, j) => bucketOf(j - i), within: 0, toeplitz: true },
  xl: { of: transformerXl, within: 1e-5, toeplitz: false },
  alibi: { of: () => (i, j) => -(2 ** -3) * Math.abs(i - j), within: 0, toeplitz: true },
  rotary: { of: rotary, within: 1e-5, toeplitz: true },
};
