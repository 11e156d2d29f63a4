// ONNX Attention-23 to 25 in float64, one plain loop after another, written from the text of the operator.
// Every decision of that text is a step by itself.
import { rowBounds, u } from '../../../support/js/oracle.js';
import { toHalf } from './half.js';
import { index3, index4 } from './operators.js';

/**
 * Which part of the headers' bounds results are held to: 1.5 times the worst that WebAssembly was
 * measured to reach, 0.0212, 0.0509 and 0.0948. The other instruction sets stay within them.
 */
const held = { out: 1 / 31, weights: 1 / 13, scores: 1 / 7 };

/** The decisions, each as the specification has it. */
const step = {
  /** Whether these numbers of heads go together. */
  headsFit: (heads, kvHeads) => heads % kvHeads === 0,
  /** Whether a mask's extent may stand for `extent` elements; keys may be more (opset 24). */
  maskFits: (own, extent, isKeys) => own === 1 || own === extent || (isKeys && own < extent),
  /** Whether it may be the size of a window. */
  windowFits: (size) => size >= -1,
  /** The key/value head that query head h reads. */
  kvHead: (h, heads, kvHeads) => Math.floor(h / (heads / kvHeads)),
  /** Where token t is, of `past` tokens and `now` new ones: the past comes first. */
  source: (t, past) => (t < past ? { of: 'past', t } : { of: 'now', t: t - past }),
  scale: (given, { width }) => given ?? 1 / Math.sqrt(width),
  /** The score of one key. Scaling both factors keeps the product in range. */
  product: (q, k, scale) => {
    const root = Math.sqrt(scale);
    return q.reduce((sum, value, d) => sum + value * root * (k[d] * root), 0);
  },
  cap: (score, softcap) => (softcap > 0 ? softcap * Math.tanh(score / softcap) : score),
  /** The scores after the softcap, and after the bias. */
  stages: (raw, bias, { cap, softcap }) => {
    const capped = cap(raw, softcap);
    return { raw, capped, biased: capped + bias };
  },
  /** Where in the mask the element for [b, h, i, j] is, axis by axis from the right. */
  maskPosition: (position, rank) => position.slice(4 - rank),
  maskTerm: (value, isBoolean) => (isBoolean ? (value ? 0 : -Infinity) : value),
  /** The bias of a key that the mask is too short for. */
  maskMissing: () => -Infinity,
  /** The position of query 0: the number of keys in use before this block of queries. */
  offset: ({ b, past, lengths, tq }) =>
    lengths && past === undefined ? lengths[b] - tq : (past ?? 0),
  causal: (i, j, offset) => j <= i + offset,
  window: (p, j, [left, right]) => (left < 0 || j >= p - left) && (right < 0 || j <= p + right),
  /** Whether a key is in use. */
  inUse: (j, lengths, b) => j < lengths[b],
  /** The bias of a key, from that of the mask and from whether causality, window and lengths allow it. */
  compose: (mask, { causal, window, inUse }) => mask + (causal && window && inUse ? 0 : -Infinity),
  /** A row in which every bias is -inf is all zeros, whatever the scores are. */
  softmax: (scores, biases) => {
    if (biases.every((bias) => bias === -Infinity)) return scores.map(() => 0);
    const most = Math.max(...scores);
    const terms = scores.map((s) => Math.exp(s - most));
    const sum = terms.reduce((total, term) => total + term, 0);
    return terms.map((term) => term / sum);
  },
  /** What qk_matmul_output holds. */
  mode: (mode, { raw, capped, biased, weights }) => [raw, capped, biased, weights][mode],
};

/** A 3D or 4D array, read by [b, h, t, d]. */
function view({ shape, data }, count) {
  const flat = shape.length === 3;
  const [batch, heads, tokens] = flat ? [shape[0], count, shape[1]] : shape;
  const sizes = { batch, heads, tokens, width: flat ? shape[2] / count : shape[3] };
  const index = flat ? index3 : index4;
  return { ...sizes, at: (...position) => data[index(sizes, position)] };
}

/** The past, and what is new after it. */
function joined(past, now) {
  if (!past) return now;
  const at = (b, h, t, d) => {
    const from = step.source(t, past.tokens, now.tokens);
    return (from.of === 'past' ? past : now).at(b, h, from.t, d);
  };
  return { ...now, tokens: past.tokens + now.tokens, at };
}

/** The operator's arguments, ready to be read by head and token. */
function read({ attributes, inputs }) {
  const { q_num_heads: heads, kv_num_heads: kvHeads } = attributes;
  const past = (array) => array && view(array, 0);
  const q = view(inputs.Q, heads);
  const k = joined(past(inputs.past_key), view(inputs.K, kvHeads));
  const v = joined(past(inputs.past_value), view(inputs.V, kvHeads));
  const { left_window_size: left = -1, right_window_size: right = -1 } = attributes;
  return {
    ...{ attributes, q, k, v },
    mask: inputs.attn_mask,
    past: inputs.past_key?.shape[2],
    lengths: inputs.nonpad_kv_seqlen?.data,
    window: [left, right],
    scale: step.scale(attributes.scale, { ...q, valueWidth: v.width }),
    softcap: attributes.softcap ?? 0,
    flat: inputs.Q.shape.length === 3,
  };
}

/** Which error the arguments are, if they are one. */
function refusal({ q, k, mask, window }) {
  if (!step.headsFit(q.heads, k.heads)) return 'shape_mismatch';
  const extents = [q.batch, q.heads, q.tokens, k.tokens];
  const fits = mask?.shape.every((own, axis) => {
    const at = 4 - mask.shape.length + axis;
    return step.maskFits(own, extents[at], at === 3);
  });
  if (fits === false) return 'shape_mismatch';
  return window.every(step.windowFits) ? undefined : 'out_of_range';
}

/** What the mask adds to a score. */
function maskBias({ mask, k }, position) {
  if (!mask) return 0;
  const { shape, data, dtype } = mask;
  const at = step.maskPosition(position, shape.length);
  const keys = shape.at(-1);
  if (keys > 1 && keys < k.tokens && at.at(-1) >= keys) return step.maskMissing();
  const index = shape.reduce(
    (sum, extent, axis) => sum * extent + (extent === 1 ? 0 : at[axis]),
    0,
  );
  return step.maskTerm(data[index], dtype === 'bool');
}

/** What is added to the score of key j. */
function biasOf(p, [b, h, i, j]) {
  const { past, lengths, q, k } = p;
  const offset = step.offset({ b, past, lengths, tq: q.tokens, tk: k.tokens });
  return step.compose(maskBias(p, [b, h, i, j]), {
    causal: p.attributes.is_causal !== 1 || step.causal(i, j, offset),
    window: step.window(i + offset, j, p.window),
    inUse: !lengths || step.inUse(j, lengths, b),
  });
}

const vector = (array, [b, h, t]) =>
  Array.from({ length: array.width }, (_, d) => array.at(b, h, t, d));

/** One query row, and what the error bounds are made of: A, V and the size of every score. */
function rowOf(p, [b, h, i]) {
  const { q, k, v, scale, softcap } = p;
  const kvHead = step.kvHead(h, q.heads, k.heads);
  const query = vector(q, [b, h, i]);
  const row = { raw: [], capped: [], biased: [], sizes: [], biases: [], A: 0, V: 0, allowed: 0 };
  for (let j = 0; j < k.tokens; ++j) {
    const key = vector(k, [b, kvHead, j]);
    const bias = biasOf(p, [b, h, i, j]);
    const raw = step.product(query, key, scale);
    const stages = step.stages(raw, bias, { cap: step.cap, softcap, scale });
    for (const stage of ['raw', 'capped', 'biased']) row[stage].push(stages[stage]);
    row.biases.push(bias);
    const size = scale * query.reduce((sum, value, d) => sum + Math.abs(value * key[d]), 0);
    row.sizes.push(size + (bias === -Infinity ? 0 : Math.abs(bias)));
    if (bias === -Infinity) continue;
    row.allowed += 1;
    row.A = Math.max(row.A, row.sizes[j]);
    row.V = Math.max(row.V, ...vector(v, [b, kvHead, j]).map(Math.abs));
  }
  row.weights = step.softmax(row.biased, row.biases);
  row.out = Array.from({ length: v.width }, (_, d) =>
    row.weights.reduce((sum, w, j) => sum + w * v.at(b, kvHead, j, d), 0),
  );
  return row;
}

/** How far each number of qk_matmul_output may be from exact arithmetic. */
function matmulBound(mode, row, dK) {
  const { weight } = rowBounds(row, dK, row.raw.length);
  if (mode === 3) return row.weights.map((w) => (w > 0 ? held.weights * weight(w) : 0));
  return row.sizes.map((size) => (size < Infinity ? held.scores * u * (dK + 16) * size : 0));
}

/** Outputs of float16 are the nearest ones, half a unit of theirs away from exact arithmetic. */
function roundToHalf(array) {
  array.bound = array.bound.map((bound, i) => bound + 2 ** -11 * Math.abs(array.data[i]));
  array.data = array.data.map(toHalf);
}

/** All elements of a view, which is then a dense array of rank 4. */
function dense({ batch, heads, tokens, width, at }) {
  const data = [];
  for (let b = 0; b < batch; ++b)
    for (let h = 0; h < heads; ++h)
      for (let t = 0; t < tokens; ++t) data.push(...vector({ width, at }, [b, h, t]));
  return { dtype: 'f32', shape: [batch, heads, tokens, width], data, bound: data.map(() => 0) };
}

/**
 * The outputs that an example asks for, each with a bound for every element; or the code of the error that
 * the example is.
 */
export function attention(example) {
  const p = read(example);
  const refused = refusal(p);
  if (refused) return { refused };
  const { q, k, v } = p;
  const total = k.tokens;
  const mode = example.attributes.qk_matmul_output_mode ?? 0;
  const empty = (shape) => ({ dtype: example.inputs.Q.dtype, shape, data: [], bound: [] });
  const Y = empty(
    p.flat ? [q.batch, q.tokens, q.heads * v.width] : [q.batch, q.heads, q.tokens, v.width],
  );
  const matmul = empty([q.batch, q.heads, q.tokens, total]);
  const sizes = { ...q, width: v.width };
  for (let b = 0; b < q.batch; ++b) {
    for (let h = 0; h < q.heads; ++h) {
      for (let i = 0; i < q.tokens; ++i) {
        const row = rowOf(p, [b, h, i]);
        const bound = held.out * rowBounds(row, q.width, total).output;
        row.out.forEach((value, d) => {
          const at = (p.flat ? index3 : index4)(sizes, [b, h, i, d]);
          Y.data[at] = value;
          Y.bound[at] = bound;
        });
        matmul.data.push(...step.mode(mode, row));
        matmul.bound.push(...matmulBound(mode, row, q.width));
      }
    }
  }
  if (Y.dtype === 'f16') [Y, matmul].forEach(roundToHalf);
  const all = { Y, present_key: dense(k), present_value: dense(v), qk_matmul_output: matmul };
  return Object.fromEntries(example.outputs.map((name) => [name, all[name]]));
}
