// Small models as llama.cpp's converter writes them: every map as [out, in], gains of Gemma with the 1 in them.
import { gguf } from './files.js';
import { built } from './built.js';
import { newTruth, stacked, turned } from './truth.js';

const sizes = { V: 11, d: 64, f: 96, heads: 4, kv: 2, T: 9, layers: 2 };

const common = (arch, heads = sizes.kv) => [
  ['general.architecture', gguf.text(arch)],
  ...Object.entries({
    ...{ block_count: sizes.layers, embedding_length: sizes.d, feed_forward_length: sizes.f },
    ...{
      context_length: sizes.T,
      'attention.head_count': sizes.heads,
      'attention.head_count_kv': heads,
    },
  }).map(([key, value]) => [`${arch}.${key}`, gguf.u32(value)]),
];
const epsilon = (arch, kind) => [`${arch}.attention.${kind}`, gguf.f32(2 ** -16)];

/** The arrays of a model: `has` are what the family has besides. */
function tensorsOf(has) {
  const truth = newTruth();
  const { array } = truth;
  const { V, d, f, T } = sizes;
  const kv = (has.fused || has.bert ? d / 16 : sizes.kv) * 16;
  const bias = has.layerNorm;
  const norm = (name, ours) => ({
    [`${name}.weight`]: array(`${ours}.gamma`, [d]),
    ...(has.layerNorm && { [`${name}.bias`]: array(`${ours}.beta`, [d]) }),
  });
  const map = (name, weight, shape, hasBias = bias) => ({
    [`${name}.weight`]: turned(array(weight, shape)),
    ...(hasBias && { [`${name}.bias`]: array(weight.replace('.w', '.b'), [shape[1]]) }),
  });
  const attention = (at, ours) => {
    const widths = { q: d, k: kv, v: kv };
    if (has.fused) {
      const all = Object.entries(widths).map(([x, width]) => [
        turned(array(`${ours}.w${x}`, [d, width])),
        array(`${ours}.b${x}`, [width]),
      ]);
      return {
        [`${at}.attn_qkv.weight`]: stacked(...all.map(([weight]) => weight)),
        [`${at}.attn_qkv.bias`]: stacked(...all.map(([, own]) => own)),
      };
    }
    return Object.assign(
      {},
      ...Object.entries(widths).map(([x, width]) =>
        map(`${at}.attn_${x}`, `${ours}.w${x}`, [d, width], bias || has.qkvBiases),
      ),
      has.qkNorm && {
        [`${at}.attn_q_norm.weight`]: array(`${ours}.qGamma`, [16]),
        [`${at}.attn_k_norm.weight`]: array(`${ours}.kGamma`, [16]),
      },
    );
  };
  const layer = (n) => {
    const [at, ours] = [`blk.${n}`, `layers.${n}`];
    return {
      ...norm(`${at}.${has.bert ? 'attn_output_norm' : 'attn_norm'}`, `${ours}.norm1`),
      ...attention(at, `${ours}.attention`),
      ...map(`${at}.attn_output`, `${ours}.attention.wo`, [d, d]),
      ...(has.post && norm(`${at}.post_attention_norm`, `${ours}.postNorm1`)),
      ...norm(`${at}.${has.bert ? 'layer_output_norm' : 'ffn_norm'}`, `${ours}.norm2`),
      ...map(`${at}.ffn_up`, `${ours}.feedForward.w1`, [d, f]),
      ...(!has.layerNorm && map(`${at}.ffn_gate`, `${ours}.feedForward.wGate`, [d, f])),
      ...map(`${at}.ffn_down`, `${ours}.feedForward.w2`, [f, d]),
      ...(has.post && norm(`${at}.post_ffw_norm`, `${ours}.postNorm2`)),
    };
  };
  const tensors = {
    'token_embd.weight': array('embedding', [V, d]),
    ...(has.learned && { 'position_embd.weight': array('positions', [T, d]) }),
    ...(has.bert && { 'token_types.weight': array('tokenTypes', [2, d]) }),
    ...(has.bert && norm('token_embd_norm', 'embeddingNorm')),
    ...layer(0),
    ...layer(1),
    ...(!has.bert && norm('output_norm', 'norm')),
    ...(has.head && { 'output.weight': turned(array('head', [d, V])) }),
  };
  return { truth, tensors };
}

const shared = {
  ...{ vocabulary: sizes.V, numLayers: sizes.layers, dModel: sizes.d, numHeads: sizes.heads },
  ...{ dFeedForward: sizes.f, maxLength: sizes.T, epsilon: 2 ** -16 },
};
const rms = { ...shared, numKvHeads: sizes.kv, normType: 'rms', positions: 'rotary' };
const rmsFamily = (arch, has, expected, more = []) => ({
  ...tensorsOf(has),
  metadata: [...common(arch), epsilon(arch, 'layer_norm_rms_epsilon'), ...more],
  expected: {
    ...{ ...rms, family: arch, activation: 'swiglu', tiedEmbeddings: !has.head },
    ...{ rotary: { base: 10_000 }, ...expected },
  },
});

const ggufNames = {
  ...{ embedding: 'token_embd', positions: 'position_embd', tokenTypes: 'token_types' },
  ...{ embeddingNorm: 'token_embd_norm', norm: 'output_norm', head: 'output', norm1: 'attn_norm' },
  ...{ q: 'attn_q', k: 'attn_k', v: 'attn_v', o: 'attn_output', norm2: 'ffn_norm' },
  ...{ up: 'ffn_up', down: 'ffn_down', gate: 'ffn_gate' },
};
const fused = { q: 'attn_qkv', k: 'attn_qkv', v: 'attn_qkv' };
/** By a table: `architecture`, what it is in our words, and names that differ. */
const ggufTable = (arch, own, names = {}, more = [], file = {}) => {
  const { normType, numKvHeads = sizes.heads } = own;
  const expected = { ...shared, numKvHeads, ...own };
  return {
    ...built(expected, { layers: 'blk.', names: { ...ggufNames, ...names }, ...file }),
    metadata: [
      ...common(arch, numKvHeads),
      epsilon(arch, normType === 'rms' ? 'layer_norm_rms_epsilon' : 'layer_norm_epsilon'),
      ...more,
    ],
    expected,
  };
};
const encoder = {
  ...{ family: 'bert', activation: 'gelu', causal: false, norm: 'post', embeddingNorm: true },
  head: false,
};
const encoderNames = { norm1: 'attn_output_norm', norm2: 'layer_output_norm' };

/** Files of models that GGUF has by the architecture of another: { truth, tensors, metadata, expected } by `model_type`. */
export const ggufOthers = {
  distilbert: () => ggufTable('bert', { ...encoder, tokenTypes: 0 }, encoderNames),
  // The converter leaves out the positions before the first.
  roberta: () => ggufTable('bert', { ...encoder, tokenTypes: 1 }, encoderNames),
  // Of InternLM, and of others that train Llama with biases.
  'llama with biases': () =>
    ggufTable(
      'llama',
      { ...rms, family: 'llama', activation: 'swiglu', tiedEmbeddings: true, biases: true, rotary: { base: 10_000, interleaved: true } }, // prettier-ignore
      {},
      [],
      { constants: /^(up|gate|down)\.bias$/ },
    ),
  'jina-bert-v2 with the gate apart': () =>
    ggufTable(
      'jina-bert-v2',
      {
        ...{ ...encoder, family: 'jina-bert-v2', activation: 'geglu', tokenTypes: 2 },
        positions: 'alibi',
      },
      encoderNames,
      [],
      { constants: /^(up|gate)\.bias$/ },
    ),
  mistral: () =>
    ggufTable(
      'llama',
      { ...rms, family: 'llama', activation: 'swiglu', tiedEmbeddings: false, window: 4, rotary: { base: 10_000, interleaved: true } }, // prettier-ignore
      {},
      [['llama.attention.sliding_window', gguf.u32(5)]],
    ),
};

/** { truth, tensors, metadata, expected } of each. */
export const ggufModels = {
  llama: () =>
    rmsFamily('llama', { head: true }, { rotary: { base: 500_000, interleaved: true } }, [
      ['llama.rope.freq_base', gguf.f32(500_000)],
      ['llama.rope.dimension_count', gguf.u32(16)],
    ]),
  qwen2: () =>
    rmsFamily(
      'qwen2',
      { qkvBiases: true },
      { qkvBiases: true, rotary: { base: 10_000, scaling: { type: 'linear', factor: 2 } } },
      [
        ['qwen2.rope.scaling.type', gguf.text('linear')],
        ['qwen2.rope.scaling.factor', gguf.f32(2)],
      ],
    ),
  qwen3: () =>
    rmsFamily('qwen3', { qkNorm: true, head: true }, { qkNorm: true, dK: 16 }, [
      ['qwen3.attention.key_length', gguf.u32(16)],
      ['qwen3.attention.value_length', gguf.u32(16)],
    ]),
  gemma: () => rmsFamily('gemma', {}, { activation: 'geglu_tanh', embeddingScale: 8 }),
  gemma2: () =>
    rmsFamily(
      'gemma2',
      { post: true },
      {
        ...{ activation: 'geglu_tanh', embeddingScale: 8, postNorms: true, window: [3, null] },
        ...{ attentionSoftcap: 50, logitSoftcap: 30 },
      },
      [
        ['gemma2.attention.sliding_window', gguf.u32(4)],
        ['gemma2.attn_logit_softcapping', gguf.f32(50)],
        ['gemma2.final_logit_softcapping', gguf.f32(30)],
      ],
    ),
  gpt2: () => ({
    ...tensorsOf({ fused: true, learned: true, layerNorm: true }),
    metadata: [...common('gpt2', sizes.heads), epsilon('gpt2', 'layer_norm_epsilon')],
    expected: {
      ...{ ...shared, family: 'gpt2', numKvHeads: sizes.heads, activation: 'gelu_tanh' },
      tiedEmbeddings: true,
    },
  }),
  gptneox: () => ({
    ...tensorsOf({ fused: true, layerNorm: true, head: true }),
    metadata: [
      ...[...common('gptneox', sizes.heads), epsilon('gptneox', 'layer_norm_epsilon')],
      ['gptneox.rope.dimension_count', gguf.u32(4)],
      ['gptneox.use_parallel_residual', gguf.bool(true)],
    ],
    expected: {
      ...{ ...shared, family: 'gpt_neox', numKvHeads: sizes.heads, activation: 'gelu' },
      ...{ positions: 'rotary', rotary: { base: 10_000, rotaryDim: 4 }, parallelResidual: true },
      tiedEmbeddings: false,
    },
  }),
  bert: () => ({
    ...tensorsOf({ bert: true, learned: true, layerNorm: true }),
    metadata: [
      ...[...common('bert', sizes.heads), epsilon('bert', 'layer_norm_epsilon')],
      ['bert.attention.causal', gguf.bool(false)],
    ],
    expected: {
      ...{ ...shared, family: 'bert', numKvHeads: sizes.heads, activation: 'gelu', causal: false },
      ...{ norm: 'post', embeddingNorm: true, head: false, tokenTypes: 2 },
    },
  }),
  bloom: () =>
    ggufTable(
      'bloom',
      {
        ...{ family: 'bloom', positions: 'alibi', embeddingNorm: true, activation: 'gelu_tanh' },
        tiedEmbeddings: false,
      },
      fused,
    ),
  starcoder: () =>
    ggufTable(
      'starcoder',
      { family: 'gpt_bigcode', numKvHeads: 1, activation: 'gelu_tanh', tiedEmbeddings: true },
      fused,
    ),
  starcoder2: () =>
    ggufTable(
      'starcoder2',
      {
        ...{ family: 'starcoder2', numKvHeads: 2, activation: 'gelu_tanh', tiedEmbeddings: true },
        ...{ positions: 'rotary', rotary: { base: 4096 } },
      },
      {},
      [['starcoder2.rope.freq_base', gguf.f32(4096)]],
    ),
  ernie4_5: () =>
    ggufTable(
      'ernie4_5',
      {
        ...{ ...rms, family: 'ernie4_5', dK: 16, activation: 'swiglu', tiedEmbeddings: true },
        rotary: { base: 4096, interleaved: true },
      },
      {},
      [
        ['ernie4_5.attention.key_length', gguf.u32(16)],
        ['ernie4_5.rope.freq_base', gguf.f32(4096)],
      ],
    ),
  'jina-bert-v2': () =>
    ggufTable(
      'jina-bert-v2',
      {
        ...{ ...encoder, family: 'jina-bert-v2', activation: 'geglu', tokenTypes: 2 },
        positions: 'alibi',
      },
      { ...encoderNames, gate: 'ffn_up' },
      [],
      { constants: /^(up|gate)\.bias$/ },
    ),
  'nomic-bert': () =>
    ggufTable(
      'nomic-bert',
      {
        ...{ ...encoder, family: 'nomic_bert', activation: 'swiglu', tokenTypes: 2 },
        ...{ positions: 'rotary', rotary: { base: 1000 } },
      },
      { ...encoderNames, ...fused },
      [['nomic-bert.rope.freq_base', gguf.f32(1000)]],
      { constants: /^(q|k|v|o|up|gate|down)\.bias$/ },
    ),
  internlm2: () =>
    ggufTable(
      'internlm2',
      {
        ...{ ...rms, family: 'internlm2', activation: 'swiglu', tiedEmbeddings: false },
        rotary: { base: 4096, interleaved: true },
      },
      {},
      [['internlm2.rope.freq_base', gguf.f32(4096)]],
    ),
  exaone: () =>
    ggufTable(
      'exaone',
      {
        ...{ ...rms, family: 'exaone', activation: 'swiglu', tiedEmbeddings: true },
        rotary: { base: 4096 },
      },
      {},
      [['exaone.rope.freq_base', gguf.f32(4096)]],
    ),
  granite: () =>
    ggufTable(
      'granite',
      {
        ...{ ...rms, family: 'granite', activation: 'swiglu', tiedEmbeddings: true },
        ...{
          rotary: { base: 10_000, interleaved: true },
          embeddingScale: 12,
          attentionScale: 0.125,
        },
      },
      {},
      Object.entries({ 'attention.scale': 0.125, embedding_scale: 12, residual_scale: 0.25, logit_scale: 8 }).map(([key, value]) => [`granite.${key}`, gguf.f32(value)]), // prettier-ignore
      { factors: { o: 0.25, down: 0.25, norm: 1 / 8 } },
    ),
  minicpm: () =>
    ggufTable(
      'minicpm',
      {
        ...{ ...rms, family: 'minicpm', activation: 'swiglu', tiedEmbeddings: true },
        ...{ rotary: { base: 10_000, interleaved: true }, embeddingScale: 12 },
      },
      {},
      Object.entries({ embedding_scale: 12, residual_scale: 0.25, logit_scale: 4 }).map(([key, value]) => [`minicpm.${key}`, gguf.f32(value)]), // prettier-ignore
      { factors: { o: 0.25, down: 0.25, norm: 1 / 4 } },
    ),
  olmo: () =>
    ggufTable(
      'olmo',
      {
        ...{ family: 'olmo', numKvHeads: 2, activation: 'swiglu', tiedEmbeddings: false },
        ...{ positions: 'rotary', rotary: { base: 10_000, interleaved: true } },
      },
      {},
      [],
      { constants: /^norm|\.bias$/ },
    ),
  phi3: () =>
    ggufTable(
      'phi3',
      {
        ...{ ...rms, family: 'phi3', activation: 'swiglu', tiedEmbeddings: false, window: 4 },
        rotary: { base: 10_000, rotaryDim: 12 },
      },
      { ...fused, gate: 'ffn_up' },
      [
        ['phi3.attention.sliding_window', gguf.u32(5)],
        ['phi3.rope.dimension_count', gguf.u32(12)],
        ['phi3.rope.scaling.original_context_length', gguf.u32(sizes.T)],
      ],
    ),
  stablelm: () =>
    ggufTable(
      'stablelm',
      {
        ...{ family: 'stablelm', numKvHeads: 2, activation: 'swiglu', tiedEmbeddings: false },
        ...{ positions: 'rotary', rotary: { base: 10_000, rotaryDim: 4 } },
      },
      {},
      [
        ['stablelm.rope.dimension_count', gguf.u32(4)],
        ['stablelm.use_parallel_residual', gguf.bool(true)],
      ],
      { constants: /^(o|up|gate|down)\.bias$/ },
    ),
};
