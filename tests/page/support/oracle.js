// The layer of the page in float64 by the oracle of all tests, with a bound for what float32 may differ; and the
// page's softmax, encodings and colours.
import * as oracle from '../../support/js/oracle.js';

const U = 2 ** -24; // unit roundoff of float32
const gamma = (n) => (n * U) / (1 - n * U);

export const dModel = 64;
const dK = 16;

/** A matrix to no columns at all. */
const empty = (rows) => ({ data: new Float32Array(0), shape: [rows, 0] });

/**
 * Softmax of one row. With logit j off by at most d_j, weight j grows at most by the factor
 * exp(d_j) / sum p exp(-d), and shrinks no further than by its inverse. The subtraction of the
 * maximum rounds once more; exp, the sum and the division are worth a few units in the last place.
 * Below 2^-126 float32 has nothing but zero.
 */
export function softmax(logits) {
  const largest = Math.max(...logits.map((l) => l.value));
  const powers = logits.map((l) => Math.exp(l.value - largest));
  const total = powers.reduce((a, b) => a + b);
  const weights = powers.map((p) => p / total);
  const off = logits.map((l) => l.error + 2 * U * (Math.abs(l.value - largest) + 1));
  const least = weights.reduce((sum, p, j) => sum + p * Math.exp(-off[j]), 0);
  const rounding = gamma(logits.length + 8);
  const bounds = weights.map((p, j) => p * (Math.exp(off[j]) / least - 1 + rounding) + 2 ** -126);
  const entropy = weights.reduce((h, p) => (p > 0 ? h - p * Math.log(p) : h), 0);
  return { weights, bounds, entropy };
}

/** The keys [first, end) that a query may read under a mask of the page. */
export function allowedKeys(mask, row, tokens) {
  if (mask === 'none') return [0, tokens];
  return [mask === 'window' ? Math.max(0, row - 3) : 0, row + 1];
}

/** The same for a mask as a list, too: [T, T], 1 where a key may be read. */
function keysOf(mask, row, tokens) {
  const keys = Array.from({ length: tokens }, (_, j) => j);
  if (typeof mask !== 'string') return keys.filter((j) => mask[row * tokens + j]);
  return keys.slice(...allowedKeys(mask, row, tokens));
}

/** Weights [heads, T, T], their bounds, and the entropy of each row [heads, T]; zeros without keys. */
export function layer({ x, wq, wk, bq, mask, temperature }) {
  const [tokens, columns] = [x.length / dModel, wq.length / dModel];
  const allowed = { data: new Uint8Array(tokens * tokens), shape: [tokens, tokens] };
  for (let row = 0; row < tokens; row++) {
    for (const key of keysOf(mask, row, tokens)) allowed.data[row * tokens + key] = 1;
  }
  const projection = (data) => ({ data, shape: [dModel, columns] });
  const exact = oracle.layer({
    config: { numHeads: columns / dK },
    // What is asked for here does not depend on the values, nor on what becomes of them.
    weights: { wq: projection(wq), wk: projection(wk), wv: projection(wk), bq, wo: empty(columns) },
    x: { data: x, shape: [1, tokens, dModel] },
    options: { mask: allowed, temperature },
  });
  const { data: weights, bound: bounds } = exact.weights;
  const { data: entropy } = exact.entropy;
  return { weights, bounds, entropy };
}

// What the page's tensors are to these formulas.

/** The arguments of the oracle's layer(). */
export function layerOf({ x, wq, wk, bq, request }) {
  const { mask, temperature } = request.layer;
  return { x, wq, wk, bq, mask, temperature };
}

/** The weights, or entropies, of all heads one after another. */
export const allOf = ({ heads }, what) => heads.flatMap((head) => Array.from(head[what]));

export const weightOf = ({ heads, request }, head, row, col) =>
  heads[head].weights[row * request.layer.tokens.length + col];

/** Largest excess of |got - exact| over its bound; negative when all is within. */
export function excess(got, exact, bounds) {
  if (got.length !== exact.length) throw new Error(`${got.length} numbers, not ${exact.length}`);
  return got.reduce((most, value, i) => {
    return Math.max(most, Math.abs(value - exact[i]) - bounds[i]);
  }, -Infinity);
}

/** PE(p, c) of the paper. */
export function positional(p, c) {
  const angle = p * 10000 ** (-(c - (c % 2)) / dModel);
  return c % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
}

// Sixteen evenly spaced colours of the published map.
const cividis = [
  [0, 34, 78],
  [0, 46, 108],
  [30, 58, 111],
  [53, 70, 108],
  [71, 81, 108],
  [87, 93, 109],
  [102, 105, 112],
  [117, 117, 117],
  [132, 130, 121],
  [148, 142, 119],
  [165, 156, 116],
  [183, 169, 110],
  [200, 184, 102],
  [219, 199, 90],
  [238, 214, 73],
  [254, 232, 56],
];

/** The colour of a weight on one of the page's scales, by the same 256 steps. */
export function colourOf(weight, scale) {
  const log = weight <= 1e-6 ? 0 : 1 + Math.log10(weight) / 6;
  const on = { weights: weight, sqrt: Math.sqrt(weight), log }[scale];
  const at = (Math.round(on * 255) / 255) * (cividis.length - 1);
  const low = cividis[Math.floor(at)];
  const high = cividis[Math.ceil(at)];
  return low.map((value, c) => value + (high[c] - value) * (at - Math.floor(at)));
}

/** Contrast of two sRGB colours by WCAG. */
export function contrast(a, b) {
  const luminance = (rgb) => {
    const [r, g, blue] = rgb.map((value) => {
      const s = value / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}
