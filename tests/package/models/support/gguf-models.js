// Small models as llama.cpp's converter writes them: every map as [out, in], gains of Gemma with the 1 in them.
import { gguf } from './files.js';
import { built } from './built.js';

const sizes = { V: 11, d: 64, f: 96, heads: 4, kv: 2, T: 9, layers: 2 };

const common = (arch, heads = sizes.kv, layers = sizes.layers) => [
  ['general.architecture', gguf.text(arch)],
  ...Object.entries({
    ...{ block_count: layers, embedding_length: sizes.d, feed_forward_length: sizes.f },
    ...{
      context_length: sizes.T,
      'attention.head_count': sizes.heads,
      'attention.head_count_kv': heads,
    },
  }).map(([key, value]) => [`${arch}.${key}`, gguf.u32(value)]),
];
const epsilon = (arch, kind) => [`${arch}.attention.${kind}`, gguf.f32(2 ** -16)];

const shared = {
  ...{ vocabulary: sizes.V, numLayers: sizes.layers, dModel: sizes.d, numHeads: sizes.heads },
  ...{ dFeedForward: sizes.f, maxLength: sizes.T, epsilon: 2 ** -16 },
};
const rms = {
  ...{ ...shared, numKvHeads: sizes.kv, normType: 'rms', positions: 'rotary' },
  ...{ activation: 'swiglu', tiedEmbeddings: true, rotary: { base: 10_000 } },
};
const ggufNames = {
  ...{ embedding: 'token_embd', positions: 'position_embd', tokenTypes: 'token_types' },
  ...{ embeddingNorm: 'token_embd_norm', norm: 'output_norm', head: 'output', norm1: 'attn_norm' },
  ...{ q: 'attn_q', k: 'attn_k', v: 'attn_v', o: 'attn_output', norm2: 'ffn_norm' },
  ...{ up: 'ffn_up', down: 'ffn_down', gate: 'ffn_gate', postNorm1: 'post_attention_norm' },
  ...{ postNorm2: 'post_ffw_norm', qNorm: 'attn_q_norm', kNorm: 'attn_k_norm' },
};
const fused = { q: 'attn_qkv', k: 'attn_qkv', v: 'attn_qkv' };
/** By a table: `architecture`, what it is in our words, names that differ, and metadata below the architecture. */
const ggufTable = (arch, own, { names = {}, more = {}, ...file } = {}) => {
  const { normType, numKvHeads = sizes.heads, numLayers = sizes.layers, encoderLayers } = own;
  const { tiedEmbeddings, ...rest } = { ...shared, numKvHeads, ...own };
  const expected = { ...rest, ...(tiedEmbeddings !== undefined && { tiedEmbeddings }) };
  return {
    ...built(expected, { layers: 'blk.', names: { ...ggufNames, ...names }, ...file }),
    metadata: [
      ...common(arch, numKvHeads, encoderLayers ?? numLayers).filter(
        ([key]) => !(key.replace(`${arch}.`, '') in more),
      ),
      epsilon(arch, normType === 'rms' ? 'layer_norm_rms_epsilon' : 'layer_norm_epsilon'),
      ...Object.entries(more).map(([key, value]) => [`${arch}.${key}`, value]),
    ],
    expected,
  };
};
const { u32, f32, bool, text, list } = gguf;
const interleaved = { base: 10_000, interleaved: true };
const encoder = {
  ...{ family: 'bert', activation: 'gelu', causal: false, norm: 'post', embeddingNorm: true },
  head: false,
};
const jinaBert = {
  ...{ ...encoder, family: 'jina-bert-v2', activation: 'geglu', tokenTypes: 2 },
  positions: 'alibi',
};
const gemma = { activation: 'geglu_tanh', embeddingScale: 8 };
const encoderNames = { norm1: 'attn_output_norm', norm2: 'layer_output_norm' };

const experts = { numExperts: 5, expertsPerToken: 2 };
const expertNames = {
  ...{ router: 'ffn_gate_inp', gate: 'ffn_gate_exps', up: 'ffn_up_exps', down: 'ffn_down_exps' },
};
const expertKeys = { expert_count: u32(5), expert_used_count: u32(2) };
const phi = {
  ...{ family: 'phi', activation: 'gelu_tanh', tiedEmbeddings: false, parallelResidual: true },
  ...{ positions: 'rotary', rotary: { base: 10_000, rotaryDim: 8 }, headBias: true },
};
const gemma3 = {
  ...{ ...rms, ...gemma, family: 'gemma3_text', dK: 16, postNorms: true, qkNorm: true },
  rotary: [{ base: 10_000 }, { base: 1_000_000 }],
};
const gemma3Keys = {
  ...{ 'attention.key_length': u32(16), 'attention.sliding_window': u32(4) },
  ...{ 'attention.sliding_window_pattern': u32(2), 'rope.freq_base': f32(1_000_000) },
};
/** Of a rotation of 16 numbers, as float32. */
const pairFactors = (last) => Array.from({ length: 8 }, (_, i) => Math.fround(1 + (i * (last - 1)) / 7)); // prettier-ignore
const phi3 = () =>
  ggufTable(
    'phi3',
    {
      ...{ ...rms, family: 'phi3', tiedEmbeddings: true },
      rotary: {
        base: 10_000,
        scaling: {
          ...{ type: 'longrope', originalLength: 4, attentionFactor: 1.25 },
          ...{ shortFactors: pairFactors(2), longFactors: pairFactors(4) },
        },
      },
    },
    {
      names: { ...fused, gate: 'ffn_up' },
      more: {
        ...{ 'attention.sliding_window': u32(0), 'rope.scaling.attn_factor': f32(1.25) },
        'rope.scaling.original_context_length': u32(4),
      },
    },
  );

/** Files of models that GGUF has by the architecture of another: { truth, tensors, metadata, expected } by `model_type`. */
export const ggufOthers = {
  'phi with one map of q, k and v': () =>
    ggufTable('phi2', phi, {
      ...{ names: fused, same: { norm2: 'norm1' }, more: { 'rope.dimension_count': u32(8) } },
    }),
  'phi3 of long contexts': () => {
    const { tensors, ...made } = phi3();
    const factors = (last) => ({ shape: [8], values: Float32Array.from(pairFactors(last)) });
    const more = {
      'rope_factors_long.weight': factors(4),
      'rope_factors_short.weight': factors(2),
    };
    return { ...made, tensors: { ...more, ...tensors } };
  },
  distilbert: () => ggufTable('bert', { ...encoder, tokenTypes: 0 }, { names: encoderNames }),
  // The converter leaves out the positions before the first.
  roberta: () => ggufTable('bert', { ...encoder, tokenTypes: 1 }, { names: encoderNames }),
  // Of InternLM, and of others that train Llama with biases.
  'llama with biases': () =>
    ggufTable(
      'llama',
      { ...rms, family: 'llama', biases: true, rotary: interleaved },
      { constants: /^(up|gate|down)\.bias$/ },
    ),
  'jina-bert-v2 with the gate apart': () =>
    ggufTable('jina-bert-v2', jinaBert, { names: encoderNames, constants: /^(up|gate)\.bias$/ }),
  // The file does not say which layers slide: all but each fourth.
  'exaone4 of eight layers': () => {
    const [keys, turned] = [3, { base: 4096 }];
    return ggufTable(
      'exaone4',
      {
        ...{ ...rms, family: 'exaone4', dK: 16, norm: 'after', qkNorm: true, numLayers: 8 },
        window: [keys, keys, keys, null, keys, keys, keys, null],
        rotary: [turned, turned, turned, null, turned, turned, turned, null],
      },
      {
        more: {
          ...{ 'attention.key_length': u32(16), 'rope.freq_base': f32(4096) },
          'attention.sliding_window': u32(4),
        },
      },
    );
  },
  mistral: () =>
    ggufTable(
      'llama',
      { ...rms, family: 'llama', tiedEmbeddings: false, window: 4, rotary: interleaved },
      { more: { 'attention.sliding_window': u32(5) } },
    ),
};

/** { truth, tensors, metadata, expected } of each. */
export const ggufModels = {
  phi2: () =>
    ggufTable('phi2', phi, {
      ...{ same: { norm2: 'norm1' }, more: { 'rope.dimension_count': u32(8) } },
    }),
  nemotron: () =>
    ggufTable(
      'nemotron',
      {
        ...{ family: 'nemotron', numKvHeads: 2, activation: 'relu2', tiedEmbeddings: false },
        ...{ positions: 'rotary', rotary: { base: 10_000, rotaryDim: 8 } },
      },
      { more: { 'rope.dimension_count': u32(8) }, constants: /^(q|k|v|o|up|down)\.bias$/ },
    ),
  arcee: () =>
    ggufTable('arcee', { ...rms, family: 'arcee', activation: 'relu2', rotary: interleaved }),
  'hunyuan-dense': () =>
    ggufTable(
      'hunyuan-dense',
      {
        ...{ ...rms, family: 'hunyuan_v1_dense', dK: 16, qkNorm: true, qkNormOf: 'rotated' },
        rotary: { base: 4096 },
      },
      {
        more: { 'attention.key_length': u32(16), 'rope.freq_base': f32(4096) },
      },
    ),
  olmo2: () =>
    ggufTable('olmo2', {
      ...{ ...rms, family: 'olmo2', tiedEmbeddings: false, norm: 'after' },
      ...{ qkNorm: true, qkNormOf: 'whole' },
    }),
  exaone4: () =>
    ggufTable(
      'exaone4',
      {
        ...{ ...rms, family: 'exaone4', dK: 16, norm: 'after', qkNorm: true, window: [3, null] },
        rotary: [{ base: 4096 }, null],
      },
      {
        more: {
          ...{ 'attention.key_length': u32(16), 'rope.freq_base': f32(4096) },
          'attention.sliding_window': u32(4),
          'attention.sliding_window_pattern': list([bool(true), bool(false)]),
        },
      },
    ),
  smollm3: () =>
    ggufTable('smollm3', {
      ...{ ...rms, family: 'smollm3', numLayers: 4 },
      rotary: [interleaved, interleaved, interleaved, null],
    }),
  gemma3: () => ggufTable('gemma3', { ...gemma3, window: [3, null] }, { more: gemma3Keys }),
  'gemma-embedding': () =>
    ggufTable(
      'gemma-embedding',
      {
        ...{ ...gemma3, window: [2, null], causal: false, head: false, symmetricWindow: true },
        ...{ tokenTypes: 0, tiedEmbeddings: undefined },
      },
      { more: { ...gemma3Keys, 'attention.causal': bool(false) } },
    ),
  'modern-bert': () =>
    ggufTable(
      'modern-bert',
      {
        ...{ family: 'modernbert', positions: 'rotary', activation: 'geglu', embeddingNorm: true },
        ...{ biases: false, causal: false, head: false, firstNorm: false, symmetricWindow: true },
        ...{ tokenTypes: 0, window: [null, 2], rotary: [{ base: 160_000 }, { base: 4096 }] },
      },
      {
        names: { ...fused, gate: 'ffn_up' },
        more: {
          ...{ 'attention.sliding_window': u32(4), 'attention.sliding_window_pattern': u32(2) },
          ...{ 'rope.freq_base': f32(160_000), 'rope.freq_base_swa': f32(4096) },
          hidden_activation: text('gelu'),
        },
      },
    ),
  olmoe: () =>
    ggufTable(
      'olmoe',
      {
        ...{ ...rms, ...experts, family: 'olmoe', tiedEmbeddings: false, normalizedExperts: false },
        // llama.cpp reads no fewer heads of keys.
        ...{ numKvHeads: 4, qkNorm: true, qkNormOf: 'whole' },
      },
      { names: expertNames, more: expertKeys },
    ),
  qwen3moe: () =>
    ggufTable(
      'qwen3moe',
      { ...rms, ...experts, family: 'qwen3_moe', normalizedExperts: true, dK: 16, qkNorm: true },
      {
        names: expertNames,
        more: {
          ...{ ...expertKeys, 'attention.key_length': u32(16), feed_forward_length: u32(7) },
          expert_feed_forward_length: u32(96),
        },
      },
    ),
  granitemoe: () =>
    ggufTable(
      'granitemoe',
      {
        ...{ ...rms, ...experts, family: 'granitemoe', normalizedExperts: true },
        ...{ rotary: interleaved, embeddingScale: 12, attentionScale: 0.125 },
      },
      {
        names: expertNames,
        more: {
          ...{ ...expertKeys, 'attention.scale': f32(0.125), embedding_scale: f32(12) },
          ...{ residual_scale: f32(0.25), logit_scale: f32(8) },
        },
        factors: { o: 0.25, down: 0.25, norm: 1 / 8 },
      },
    ),
  t5encoder: () =>
    ggufTable(
      't5encoder',
      {
        ...{ family: 't5', normType: 'rms', positions: 'none', attentionScale: 1, dK: 16 },
        ...{ activation: 'relu', causal: false, head: false, tokenTypes: 0, relativeBuckets: 8 },
      },
      {
        layers: 'enc.blk.',
        names: { o: 'attn_o', norm: 'enc.output_norm', relativeBias: 'enc.blk.0.attn_rel_b' },
        more: {
          ...{ 'attention.key_length': u32(16), 'attention.relative_buckets_count': u32(8) },
        },
      },
    ),
  t5: () =>
    ggufTable(
      't5',
      {
        ...{ family: 't5', normType: 'rms', positions: 'none', attentionScale: 1, dK: 16 },
        ...{ activation: 'geglu_tanh', tiedEmbeddings: true, relativeBuckets: 8, numLayers: 1 },
        ...{ encoderLayers: 2, startToken: 3 },
      },
      {
        layers: 'dec.blk.',
        names: {
          ...{ o: 'attn_o', norm: 'dec.output_norm', relativeBias: 'dec.blk.0.attn_rel_b' },
          ...{ normCross: 'cross_attn_norm', crossQ: 'cross_attn_q', crossK: 'cross_attn_k' },
          ...{ crossV: 'cross_attn_v', crossO: 'cross_attn_o' },
        },
        encoder: {
          layers: 'enc.blk.',
          names: {
            ...{ ...ggufNames, o: 'attn_o', norm: 'enc.output_norm' },
            relativeBias: 'enc.blk.0.attn_rel_b',
          },
        },
        factors: { norm: 1 / 8 },
        more: {
          ...{ 'attention.key_length': u32(16), 'attention.relative_buckets_count': u32(8) },
          ...{ decoder_block_count: u32(1), decoder_start_token_id: u32(3) },
        },
      },
    ),
  llama: () =>
    ggufTable(
      'llama',
      {
        ...{ ...rms, family: 'llama', tiedEmbeddings: false },
        rotary: { base: 500_000, interleaved: true },
      },
      { more: { 'rope.freq_base': f32(500_000), 'rope.dimension_count': u32(16) } },
    ),
  qwen2: () =>
    ggufTable(
      'qwen2',
      {
        ...{ ...rms, family: 'qwen2', qkvBiases: true },
        rotary: { base: 10_000, scaling: { type: 'linear', factor: 2 } },
      },
      { more: { 'rope.scaling.type': text('linear'), 'rope.scaling.factor': f32(2) } },
    ),
  qwen3: () =>
    ggufTable(
      'qwen3',
      { ...rms, family: 'qwen3', tiedEmbeddings: false, qkNorm: true, dK: 16 },
      { more: { 'attention.key_length': u32(16), 'attention.value_length': u32(16) } },
    ),
  gemma: () => ggufTable('gemma', { ...rms, ...gemma, family: 'gemma' }),
  gemma2: () =>
    ggufTable(
      'gemma2',
      {
        ...{ ...rms, ...gemma, family: 'gemma2', postNorms: true, window: [3, null] },
        ...{ attentionSoftcap: 50, logitSoftcap: 30 },
      },
      {
        more: {
          ...{ 'attention.sliding_window': u32(4), attn_logit_softcapping: f32(50) },
          final_logit_softcapping: f32(30),
        },
      },
    ),
  gpt2: () =>
    ggufTable(
      'gpt2',
      { family: 'gpt2', activation: 'gelu_tanh', tiedEmbeddings: true },
      { names: fused },
    ),
  gptneox: () =>
    ggufTable(
      'gptneox',
      {
        ...{ family: 'gpt_neox', activation: 'gelu', tiedEmbeddings: false, positions: 'rotary' },
        ...{ rotary: { base: 10_000, rotaryDim: 4 }, parallelResidual: true },
      },
      { names: fused, more: { 'rope.dimension_count': u32(4), use_parallel_residual: bool(true) } },
    ),
  bert: () =>
    ggufTable(
      'bert',
      { ...encoder, tokenTypes: 2 },
      { names: encoderNames, more: { 'attention.causal': bool(false) } },
    ),
  bloom: () =>
    ggufTable(
      'bloom',
      {
        ...{ family: 'bloom', positions: 'alibi', embeddingNorm: true, activation: 'gelu_tanh' },
        tiedEmbeddings: false,
      },
      { names: fused },
    ),
  starcoder: () =>
    ggufTable(
      'starcoder',
      { family: 'gpt_bigcode', numKvHeads: 1, activation: 'gelu_tanh', tiedEmbeddings: true },
      { names: fused },
    ),
  starcoder2: () =>
    ggufTable(
      'starcoder2',
      {
        ...{ family: 'starcoder2', numKvHeads: 2, activation: 'gelu_tanh', tiedEmbeddings: true },
        ...{ positions: 'rotary', rotary: { base: 4096 } },
      },
      { more: { 'rope.freq_base': f32(4096) } },
    ),
  ernie4_5: () =>
    ggufTable(
      'ernie4_5',
      { ...rms, family: 'ernie4_5', dK: 16, rotary: { base: 4096, interleaved: true } },
      { more: { 'attention.key_length': u32(16), 'rope.freq_base': f32(4096) } },
    ),
  'jina-bert-v2': () =>
    ggufTable('jina-bert-v2', jinaBert, {
      names: { ...encoderNames, gate: 'ffn_up' },
      constants: /^(up|gate)\.bias$/,
    }),
  'nomic-bert': () =>
    ggufTable(
      'nomic-bert',
      {
        ...{ ...encoder, family: 'nomic_bert', activation: 'swiglu', tokenTypes: 2 },
        ...{ positions: 'rotary', rotary: { base: 1000 } },
      },
      {
        ...{ names: { ...encoderNames, ...fused }, more: { 'rope.freq_base': f32(1000) } },
        constants: /^(q|k|v|o|up|gate|down)\.bias$/,
      },
    ),
  internlm2: () =>
    ggufTable(
      'internlm2',
      {
        ...{ ...rms, family: 'internlm2', tiedEmbeddings: false },
        rotary: { base: 4096, interleaved: true },
      },
      { more: { 'rope.freq_base': f32(4096) } },
    ),
  exaone: () =>
    ggufTable(
      'exaone',
      { ...rms, family: 'exaone', rotary: { base: 4096 } },
      { more: { 'rope.freq_base': f32(4096) } },
    ),
  granite: () =>
    ggufTable(
      'granite',
      {
        ...{ ...rms, family: 'granite', rotary: interleaved, embeddingScale: 12 },
        attentionScale: 0.125,
      },
      {
        more: {
          ...{ 'attention.scale': f32(0.125), embedding_scale: f32(12) },
          ...{ residual_scale: f32(0.25), logit_scale: f32(8) },
        },
        factors: { o: 0.25, down: 0.25, norm: 1 / 8 },
      },
    ),
  minicpm: () =>
    ggufTable(
      'minicpm',
      { ...rms, family: 'minicpm', rotary: interleaved, embeddingScale: 12 },
      {
        more: { embedding_scale: f32(12), residual_scale: f32(0.25), logit_scale: f32(4) },
        factors: { o: 0.25, down: 0.25, norm: 1 / 4 },
      },
    ),
  olmo: () =>
    ggufTable(
      'olmo',
      {
        ...{ family: 'olmo', numKvHeads: 2, activation: 'swiglu', tiedEmbeddings: false },
        ...{ positions: 'rotary', rotary: interleaved },
      },
      { constants: /^norm|\.bias$/ },
    ),
  phi3: () =>
    ggufTable(
      'phi3',
      {
        ...{ ...rms, family: 'phi3', tiedEmbeddings: false, window: 4 },
        rotary: { base: 10_000, rotaryDim: 12 },
      },
      {
        names: { ...fused, gate: 'ffn_up' },
        more: {
          ...{ 'attention.sliding_window': u32(5), 'rope.dimension_count': u32(12) },
          'rope.scaling.original_context_length': u32(sizes.T),
        },
      },
    ),
  stablelm: () =>
    ggufTable(
      'stablelm',
      {
        ...{ family: 'stablelm', numKvHeads: 2, activation: 'swiglu', tiedEmbeddings: false },
        ...{ positions: 'rotary', rotary: { base: 10_000, rotaryDim: 4 } },
      },
      {
        more: { 'rope.dimension_count': u32(4), use_parallel_residual: bool(true) },
        constants: /^(o|up|gate|down)\.bias$/,
      },
    ),
};
