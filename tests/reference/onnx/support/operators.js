// RotaryEmbedding-23, RMSNormalization-23, LayerNormalization-17, Gelu-20 and Softmax-13 in float64, written as
// attention.js is. Bounds are a part of those in core/include/qkv, 1.5
// times the worst that was measured.
import { erf, u } from '../../../support/js/oracle.js';

const smallest = 2 ** -149;
const held = { layerNorm: 0.21, rmsNorm: 0.27, gelu: 0.23, softmax: 0.21 };

// --- RotaryEmbedding-23 ---

/** Where element d of a head and a token lies in [B, H, T, width], */
export const index4 = ({ heads, tokens, width }, [b, h, t, d]) =>
  ((b * heads + h) * tokens + t) * width + d;
/** and where in [B, T, H * width]. */
export const index3 = ({ heads, tokens, width }, [b, h, t, d]) =>
  ((b * tokens + t) * heads + h) * width + d;

/** Pair i of r elements. */
const pairOf = (i, r, interleaved) => (interleaved ? [2 * i, 2 * i + 1] : [i, i + r / 2]);
const turned = ([x1, x2], cos, sin) => [cos * x1 - sin * x2, sin * x1 + cos * x2];
/** Why r elements cannot be turned with caches of so many columns. */
const refusal = (r, columns) =>
  r % 2 === 1 ? 'out_of_range' : columns === r / 2 ? undefined : 'shape_mismatch';

/**
 * Turns one head of one token in place. float32 holds all products and sums of small fractions, so that the
 * bound stays 0.
 */
function turnHead({ Y, caches, interleaved, r }, row, index) {
  const half = r / 2;
  for (let i = 0; i < half; ++i) {
    const pair = pairOf(i, r, interleaved).map(index);
    const [cos, sin] = caches.map((cache) => cache.data[row * half + i]);
    const x = pair.map((at) => Y.data[at]);
    turned(x, cos, sin).forEach((value, part) => {
      Y.data[pair[part]] = value;
    });
  }
}

export function rotary({ attributes, inputs }) {
  const { input: X, cos_cache: cos, sin_cache: sin, position_ids: ids } = inputs;
  const flat = X.shape.length === 3;
  const { num_heads: count, interleaved, rotary_embedding_dim: dim = 0 } = attributes;
  const [batch, heads, tokens] = flat ? [X.shape[0], count, X.shape[1]] : X.shape;
  const sizes = { heads, tokens, width: flat ? X.shape[2] / count : X.shape[3] };
  const r = dim || sizes.width;
  const refused = refusal(r, cos.shape.at(-1));
  if (refused) return { refused };
  const Y = { dtype: 'f32', shape: X.shape, data: [...X.data], bound: X.data.map(() => 0) };
  const call = { Y, caches: [cos, sin], interleaved: interleaved === 1, r };
  for (let b = 0; b < batch; ++b) {
    for (let h = 0; h < heads; ++h) {
      for (let t = 0; t < tokens; ++t) {
        const row = ids ? ids.data[b * tokens + t] : b * tokens + t;
        const index = (d) => (flat ? index3 : index4)(sizes, [b, h, t, d]);
        turnHead(call, row, index);
      }
    }
  }
  return { output: Y };
}

// --- RMSNormalization-23 and LayerNormalization-17 ---

const sumOf = (row) => row.reduce((sum, x) => sum + x, 0);
const squaresOf = (row) => row.reduce((sum, x) => sum + x * x, 0);
const product = (extents) => extents.reduce((total, extent) => total * extent, 1);
/** An axis counted from the first. */
const fromFirst = (axis = -1, rank) => (axis < 0 ? axis + rank : axis);

/** Element i of a factor or term that broadcasts right-aligned to the normalised axes. */
function spread({ shape, data }, extents, i) {
  const own = [...extents.map(() => 1), ...shape].slice(-extents.length);
  let [index, stride, rest] = [0, 1, i];
  for (let axis = extents.length - 1; axis >= 0; --axis) {
    if (own[axis] > 1) index += (rest % extents[axis]) * stride;
    stride *= own[axis];
    rest = Math.floor(rest / extents[axis]);
  }
  return data[index];
}

const layerBound = (z, q, factor, exact) => {
  const grows = Math.abs(factor) * (22 + 18 * Math.abs(z)) * (1 + 2 * q) ** 2;
  return held.layerNorm * u * (grows + Math.abs(exact)) + smallest;
};
const rmsBound = (factor, exact) =>
  held.rmsNorm * 14 * u * Math.abs(exact) + smallest * (1 + Math.abs(factor));

export function norm({ op, attributes: { axis, epsilon = 1e-5 }, inputs: { X, W, B } }) {
  const layer = op === 'LayerNormalization';
  /** The axes of one row: from this one to the last. */
  const extents = X.shape.slice(fromFirst(axis, X.shape.length));
  const n = product(extents);
  const Y = { dtype: 'f32', shape: X.shape, data: [], bound: [] };
  for (let at = 0; at < X.data.length; at += n) {
    const row = X.data.slice(at, at + n);
    const centre = layer ? sumOf(row) / n : 0;
    const away = row.map((x) => x - centre);
    const size = Math.sqrt(squaresOf(away) / n + epsilon);
    away.forEach((x, i) => {
      const factor = spread(W, extents, i);
      const exact = (x / size) * factor + (B ? spread(B, extents, i) : 0);
      const q = (u * Math.abs(centre)) / size;
      Y.data.push(exact);
      Y.bound.push(layer ? layerBound(x / size, q, factor, exact) : rmsBound(factor, exact));
    });
  }
  return { Y };
}

// --- Gelu-20 ---

const geluForms = {
  none: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
  tanh: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

export function gelu({ attributes: { approximate: form = 'none' }, inputs: { x: X } }) {
  const bound = (x) => {
    const g = Math.abs(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3));
    const grows = form === 'tanh' ? 8 + (x < 0 ? 8 * g : 0) : 22 + (x < 0 ? (x * x) / 2 : 0);
    return held.gelu * u * Math.abs(geluForms[form](x)) * grows + 2 ** -122;
  };
  return {
    y: {
      dtype: 'f32',
      shape: X.shape,
      data: X.data.map(geluForms[form]),
      bound: X.data.map(bound),
    },
  };
}

// --- Softmax-13 ---

export function softmax({ attributes, inputs: { x: X } }) {
  const axis = fromFirst(attributes.axis, X.shape.length);
  const [n, stride] = [X.shape[axis], product(X.shape.slice(axis + 1))];
  const Y = { dtype: 'f32', shape: X.shape, data: [], bound: [] };
  X.data.forEach((x, at) => {
    const first = Math.floor(at / (n * stride)) * n * stride + (at % stride);
    const row = Array.from({ length: n }, (_, i) => X.data[first + i * stride]);
    const shift = Math.max(...row);
    const sum = row.reduce((total, other) => total + Math.exp(other - shift), 0);
    const y = Math.exp(x - shift) / sum;
    Y.data.push(y);
    const grows = 3 * (shift - x + Math.log(n)) + 26;
    Y.bound.push(held.softmax * u * y * grows + 2 ** -125);
  });
  return { y: Y };
}
