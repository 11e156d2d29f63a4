// Tiny language models with random weights as GGUF files: one of each family, in the names and keys that llama.cpp reads.
// Weights follow from the names of the tensors, so that only what llama.cpp makes of them is kept, in fixtures/.
import { gguf } from '../../support/js/gguf.js';

const sizes = { vocabulary: 64, layers: 2, dModel: 64, heads: 4, kvHeads: 2, dK: 16, hidden: 96 };
export const MAX_LENGTH = 32;

/** The tokens that every model reads. */
export const tokens = [3, 17, 42, 8, 60, 17, 5, 29, 33, 3, 51, 12];

/** `count` numbers in [-1, 1), the top 24 bits of an LCG that starts with a hash (FNV-1a) of the name. */
function numbers(name, count) {
  let state = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1)
    state = Math.imul(state ^ name.charCodeAt(i), 0x01000193);
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 2 ** 23 - 1;
  });
}

/** What Llama 3.1 divides the frequencies of its pairs by: as they are, by 8, or between where they turn 1 to 4 times in 8192. */
const ropeFactors = (count, base) =>
  Float32Array.from({ length: count }, (_, i) => {
    const turns = (8192 * base ** (-i / count)) / (2 * Math.PI);
    const smooth = Math.min(1, Math.max(0, (turns - 1) / 3));
    return 1 / ((1 - smooth) / 8 + smooth);
  });

/** Of norms and biases around what they are at the start; of matrices so that a product keeps the size of its input. */
function weightsOf(name, shape) {
  if (name === 'rope_freqs.weight') return ropeFactors(shape[0], 500000);
  const x = numbers(
    name,
    shape.reduce((n, extent) => n * extent),
  );
  const norm = /norm\.weight$/.test(name);
  const bias = /\.bias$/.test(name);
  const [offset, scale] = norm ? [1, 0.2] : [0, bias ? 0.1 : Math.sqrt(3 / shape.at(-1))];
  return x.map((value) => Math.fround(offset + scale * value));
}

/** Each with a bias when asked. */
const withBias = (name, [rows, ...columns], bias) => ({
  [`${name}.weight`]: [rows, ...columns],
  ...(bias ? { [`${name}.bias`]: [rows] } : {}),
});

/** Separate maps of q, k and v. */
const apart = (at, { dModel, heads, kvHeads, dK }, bias) => ({
  ...withBias(`${at}attn_q`, [heads * dK, dModel], bias),
  ...withBias(`${at}attn_k`, [kvHeads * dK, dModel], bias),
  ...withBias(`${at}attn_v`, [kvHeads * dK, dModel], bias),
});

const output = (at, { dModel, heads, dK }, bias) =>
  withBias(`${at}attn_output`, [dModel, heads * dK], bias);

const plainFeedForward = (at, { dModel, hidden }) => ({
  ...withBias(`${at}ffn_up`, [hidden, dModel], true),
  ...withBias(`${at}ffn_down`, [dModel, hidden], true),
});

const gatedFeedForward = (at, { dModel, hidden }) => ({
  ...withBias(`${at}ffn_gate`, [hidden, dModel]),
  ...withBias(`${at}ffn_up`, [hidden, dModel]),
  ...withBias(`${at}ffn_down`, [dModel, hidden]),
});

/** Blocks of the families after Llama: `qkvBias`, `qkNorm`, and norms behind attention and feed-forward (`sandwich`). */
function modernBlock(at, s, { qkvBias = false, qkNorm = false, sandwich = false }) {
  const norm = (name, width = s.dModel) => ({ [`${at}${name}.weight`]: [width] });
  return {
    ...norm('attn_norm'),
    ...apart(at, s, qkvBias),
    ...(qkNorm ? { ...norm('attn_q_norm', s.dK), ...norm('attn_k_norm', s.dK) } : {}),
    ...output(at, s, false),
    ...(sandwich ? norm('post_attention_norm') : {}),
    ...norm('ffn_norm'),
    ...gatedFeedForward(at, s),
    ...(sandwich ? norm('post_ffw_norm') : {}),
  };
}

/** Blocks of GPT-2 and GPT-NeoX. */
const fusedBlock = (at, s) => ({
  ...withBias(`${at}attn_norm`, [s.dModel], true),
  ...withBias(`${at}attn_qkv`, [3 * s.dModel, s.dModel], true),
  ...output(at, s, true),
  ...withBias(`${at}ffn_norm`, [s.dModel], true),
  ...plainFeedForward(at, s),
});

const bertBlock = (at, s) => ({
  ...apart(at, s, true),
  ...output(at, s, true),
  ...withBias(`${at}attn_output_norm`, [s.dModel], true),
  ...plainFeedForward(at, s),
  ...withBias(`${at}layer_output_norm`, [s.dModel], true),
});

/** All tensors: { name: shape }. */
function tensorsOf(s, { block, tied = false, before = {}, lastNorm = 'rms' }) {
  const blocks = Array.from({ length: s.layers }, (_, l) => block(`blk.${l}.`, s));
  return Object.assign(
    { 'token_embd.weight': [s.vocabulary, s.dModel], ...before },
    ...blocks,
    lastNorm === 'none' ? {} : withBias('output_norm', [s.dModel], lastNorm === 'layer'),
    tied || lastNorm === 'none' ? {} : { 'output.weight': [s.vocabulary, s.dModel] },
  );
}

const float = (value) => ({ float: value });
const modern =
  (options = {}) =>
  (at, s) =>
    modernBlock(at, s, options);
const learned = { 'position_embd.weight': [MAX_LENGTH, sizes.dModel] };
const wide = { ...sizes, dK: 24 };
const everyHead = { ...sizes, kvHeads: sizes.heads };
const epsilon = { 'attention.layer_norm_rms_epsilon': float(1e-5) };
const layerEpsilon = { 'attention.layer_norm_epsilon': float(1e-5) };
const wideHeads = { 'attention.key_length': wide.dK, 'attention.value_length': wide.dK };

/** An encoder whose file says how rows become one: 1 by their mean, 2 by the first of them. */
const bert = (pooling) => ({
  architecture: 'bert',
  sizes: everyHead,
  keys: { ...layerEpsilon, 'attention.causal': false, pooling_type: pooling },
  tensors: tensorsOf(everyHead, {
    block: bertBlock,
    lastNorm: 'none',
    before: {
      'token_types.weight': [2, sizes.dModel],
      ...learned,
      ...withBias('token_embd_norm', [sizes.dModel], true),
    },
  }),
});

/** Families: sizes, what follows `<architecture>.` in the keys, and the tensors. */
const families = {
  llama: {
    architecture: 'llama',
    ...{ sizes, keys: { ...epsilon, 'rope.dimension_count': 16, 'rope.freq_base': float(10000) } },
    tensors: tensorsOf(sizes, { block: modern() }),
  },
  llama3: {
    architecture: 'llama',
    ...{ sizes, keys: { ...epsilon, 'rope.dimension_count': 16, 'rope.freq_base': float(500000) } },
    tensors: tensorsOf(sizes, { block: modern(), before: { 'rope_freqs.weight': [8] } }),
  },
  qwen2: {
    architecture: 'qwen2',
    ...{ sizes, keys: { ...epsilon, 'rope.freq_base': float(1000000) } },
    tensors: tensorsOf(sizes, { block: modern({ qkvBias: true }), tied: true }),
  },
  qwen3: {
    architecture: 'qwen3',
    ...{ sizes: wide, keys: { ...epsilon, ...wideHeads, 'rope.freq_base': float(1000000) } },
    tensors: tensorsOf(wide, { block: modern({ qkNorm: true }) }),
  },
  gemma: {
    architecture: 'gemma',
    ...{ sizes: wide, keys: { ...epsilon, ...wideHeads } },
    tensors: tensorsOf(wide, { block: modern(), tied: true }),
  },
  gemma2: {
    architecture: 'gemma2',
    sizes: wide,
    keys: {
      ...epsilon,
      ...wideHeads,
      attn_logit_softcapping: float(5),
      final_logit_softcapping: float(3),
      'attention.sliding_window': 4,
    },
    tensors: tensorsOf(wide, { block: modern({ sandwich: true }), tied: true }),
  },
  gpt2: {
    architecture: 'gpt2',
    ...{ sizes: everyHead, keys: layerEpsilon },
    tensors: tensorsOf(everyHead, {
      block: fusedBlock,
      tied: true,
      before: learned,
      lastNorm: 'layer',
    }),
  },
  gptneox: {
    architecture: 'gptneox',
    sizes: everyHead,
    keys: { ...layerEpsilon, 'rope.dimension_count': 4, use_parallel_residual: true },
    tensors: tensorsOf(everyHead, { block: fusedBlock, lastNorm: 'layer' }),
  },
  bert_mean: bert(1),
  bert_cls: bert(2),
};

/** What is kept: every family in float32, and Llama in the other formats too. */
export const cases = [
  ...Object.keys(families).map((family) => ({ family, format: 'F32' })),
  ...['F16', 'BF16', 'Q8_0'].map((format) => ({ family: 'llama', format })),
];

/** Pairs of bytes without merges: no text is read, but llama.cpp wants a tokenizer that is whole. */
const tokenizer = (vocabulary) => ({
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'gpt-2',
  'tokenizer.ggml.tokens': Array.from({ length: vocabulary }, (_, id) => `t${id}`),
  'tokenizer.ggml.merges': [],
  'tokenizer.ggml.token_type_count': 2,
  'tokenizer.ggml.bos_token_id': 1,
  'tokenizer.ggml.eos_token_id': 2,
  'tokenizer.ggml.add_bos_token': false,
});

/** The arrays of a family: { name: { shape, data } }, data a Float32Array. */
const weights = (family) =>
  Object.fromEntries(
    Object.entries(families[family].tensors).map(([name, shape]) => [
      name,
      { shape, data: weightsOf(name, shape) },
    ]),
  );

/** The file of a case. Vectors are float32 in every format. */
export function file({ family, format }) {
  const { architecture, sizes: s, keys } = families[family];
  const all = {
    context_length: MAX_LENGTH,
    embedding_length: s.dModel,
    block_count: s.layers,
    feed_forward_length: s.hidden,
    'attention.head_count': s.heads,
    'attention.head_count_kv': s.kvHeads,
    vocab_size: s.vocabulary,
    ...keys,
  };
  const metadata = {
    'general.architecture': architecture,
    'general.name': `random ${family}`,
    ...Object.fromEntries(Object.entries(all).map(([key, x]) => [`${architecture}.${key}`, x])),
    ...tokenizer(s.vocabulary),
  };
  const tensors = Object.entries(weights(family)).map(([name, { shape, data }]) => ({
    ...{ name, shape, data },
    type: shape.length === 1 ? 'F32' : format,
  }));
  return gguf({ metadata, tensors });
}
