// Fixtures of tests/reference/torch/fixtures, and PyTorch's parameters as weights of this package.
import { readFileSync } from 'node:fs';

const words = { '-inf': -Infinity, inf: Infinity };

export const fixture = (name) =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8'));

/** As this package takes it. */
export const toArray = ({ data, shape }) => ({
  data: Float32Array.from(data, (x) => words[x] ?? x),
  shape,
});

/** A boolean array as a mask of another shape; PyTorch's modules say true where a key is left out. */
export const toMask = ({ data, shape }, { flip = false, as = shape } = {}) => ({
  data: Uint8Array.from(data, (x) => Number((x !== 0) !== flip)),
  shape: as,
});

/** A state_dict() as arrays. */
export const toState = (state) =>
  Object.fromEntries(Object.entries(state).map(([name, array]) => [name, toArray(array)]));

/** Of a matrix or bias that holds those of q, k and v one after the other: one of them. */
export function third({ data, shape: [rows, ...rest] }, part) {
  const size = data.length / 3;
  return { data: data.slice(part * size, (part + 1) * size), shape: [rows / 3, ...rest] };
}

const defined = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

const output = (state, prefix) => ({
  wo: state[`${prefix}out_proj.weight`],
  bo: state[`${prefix}out_proj.bias`]?.data,
});

/** nn.MultiheadAttention `prefix` with its matrices apart, whichever way it keeps them. */
export function attentionWeights(state, prefix = '') {
  const [fused, bias] = ['weight', 'bias'].map((what) => state[`${prefix}in_proj_${what}`]);
  const matrix = (name, part) =>
    fused ? third(fused, part) : state[`${prefix}${name}_proj_weight`];
  return defined({
    ...{ wq: matrix('q', 0), wk: matrix('k', 1), wv: matrix('v', 2), ...output(state, prefix) },
    ...(bias && Object.fromEntries(['bq', 'bk', 'bv'].map((n, i) => [n, third(bias, i).data]))),
  });
}

/** The same with q, k and v in one matrix, as it keeps them when all widths are alike. */
export const fusedWeights = (state, prefix = '') =>
  defined({
    wqkv: state[`${prefix}in_proj_weight`],
    bqkv: state[`${prefix}in_proj_bias`]?.data,
    ...output(state, prefix),
  });

export const normWeights = (state, prefix) => ({
  gamma: state[`${prefix}weight`].data,
  beta: state[`${prefix}bias`].data,
});

/** nn.TransformerEncoderLayer `prefix`, or with `cross` nn.TransformerDecoderLayer. */
export const blockWeights = (state, prefix, cross) => ({
  attention: fusedWeights(state, `${prefix}self_attn.`),
  norm1: normWeights(state, `${prefix}norm1.`),
  ...(cross && {
    cross: attentionWeights(state, `${prefix}multihead_attn.`),
    normCross: normWeights(state, `${prefix}norm2.`),
  }),
  norm2: normWeights(state, `${prefix}norm${cross ? 3 : 2}.`),
  w1: state[`${prefix}linear1.weight`],
  b1: state[`${prefix}linear1.bias`].data,
  w2: state[`${prefix}linear2.weight`],
  b2: state[`${prefix}linear2.bias`].data,
});
