// From the config.json of a model on the Hugging Face hub to ours. The defaults are those of the config classes of
// transformers, because files leave out what equals them.

import type { ModelConfig, ModelRotary } from '../config.js';
import { refuse } from '../errors.js';
import type { Fields } from '../fields.js';

const plain = {
  relu: 'relu', gelu: 'gelu', gelu_new: 'gelu_tanh', gelu_fast: 'gelu_tanh', gelu_pytorch_tanh: 'gelu_tanh',
  silu: 'silu', swish: 'silu',
} as const; // prettier-ignore
const gated = {
  silu: 'swiglu', swish: 'swiglu', gelu: 'geglu', gelu_new: 'geglu_tanh', gelu_pytorch_tanh: 'geglu_tanh',
} as const; // prettier-ignore

/** How positions beyond the trained length are stretched. */
function scalingOf(rope: Fields, maxLength: number): ModelRotary['scaling'] {
  const kind = rope.text('rope_type', rope.text('type', 'default'));
  if (kind === 'default') return undefined;
  rope.only(rope.has('rope_type') ? 'rope_type' : 'type', 'default', 'linear', 'yarn', 'llama3');
  const factor = rope.number('factor');
  if (kind === 'linear') return { type: kind, factor };
  const originalLength = rope.count('original_max_position_embeddings', maxLength);
  if (kind === 'llama3') {
    const lowFrequencyFactor = rope.number('low_freq_factor');
    return {
      type: kind,
      factor,
      lowFrequencyFactor,
      highFrequencyFactor: rope.number('high_freq_factor'),
      originalLength,
    };
  }
  for (const field of ['mscale', 'mscale_all_dim']) rope.only(field);
  rope.only('truncate', true);
  const ramp = { betaFast: rope.number('beta_fast', 32), betaSlow: rope.number('beta_slow', 1) };
  const factors = rope.has('attention_factor')
    ? { attentionFactor: rope.number('attention_factor') }
    : {};
  return { type: 'yarn', factor, originalLength, ...ramp, ...factors };
}

/** Rotary positions; a file has them beside the rest, or all in one object. */
function rotaryOf(fields: Fields, base: string, part?: string): ModelRotary {
  const rope = fields.part('rope_parameters') ?? fields.part('rope_scaling');
  const theta = rope?.has('rope_theta') ? rope.number('rope_theta') : fields.number(base, 10_000);
  const scaling = rope && scalingOf(rope, fields.count('max_position_embeddings', 2048));
  const share = rope?.has('partial_rotary_factor')
    ? rope.number('partial_rotary_factor')
    : undefined;
  const rotaryShare = share ?? (part === undefined ? 1 : fields.number(part, 0.25));
  const width = fields.has('head_dim')
    ? fields.count('head_dim')
    : fields.count('hidden_size') / fields.count('num_attention_heads');
  const partial = rotaryShare === 1 ? {} : { rotaryDim: Math.floor(width * rotaryShare) };
  return { base: theta, ...partial, ...(scaling && { scaling }) };
}

/** Windows of the layers: of those that the file calls so, or else of those that the family says. */
function windowOf(
  fields: Fields,
  layers: number,
  slides: (layer: number) => boolean,
): Pick<ModelConfig, 'window'> {
  if (fields.isNull('sliding_window')) return {};
  // The width of a window has the query's own key in it.
  const window = fields.count('sliding_window', 4096) - 1;
  const types = fields.list('layer_types');
  if (types && types.length !== layers)
    refuse(`${fields.at('layer_types')} has ${types.length} layers`, `${layers}`);
  const known = ['sliding_attention', 'full_attention'];
  if (types?.some((type) => !known.includes(String(type)))) fields.only('layer_types', ...known);
  const all = Array.from({ length: layers }, (_, i) => (types ? types[i] === known[0] : slides(i)));
  if (!all.includes(true)) return {};
  return { window: all.includes(false) ? all.map((slide) => (slide ? window : null)) : window };
}

/** What Llama and the families after it have in common. */
function llamaLike(
  fields: Fields,
  { tied = false, act = 'hidden_act', base = 'silu', length = 2048 } = {},
): ModelConfig {
  for (const field of ['attention_bias', 'mlp_bias', 'use_bidirectional_attention'])
    fields.only(field, false);
  const numHeads = fields.count('num_attention_heads');
  return {
    vocabulary: fields.count('vocab_size'),
    numLayers: fields.count('num_hidden_layers'),
    dModel: fields.count('hidden_size'),
    numHeads,
    numKvHeads: fields.count('num_key_value_heads', numHeads),
    ...(fields.has('head_dim') && { dK: fields.count('head_dim') }),
    dFeedForward: fields.count('intermediate_size'),
    maxLength: fields.count('max_position_embeddings', length),
    normType: 'rms',
    epsilon: fields.number('rms_norm_eps', 1e-6),
    activation: fields.choice(act, gated, base),
    positions: 'rotary',
    rotary: rotaryOf(fields, 'rope_theta'),
    tiedEmbeddings: fields.flag('tie_word_embeddings', tied),
  };
}

/** Qwen 2 and 3: windows of the layers from one on, if they are asked for at all. */
function qwenWindow(fields: Fields, layers: number): Pick<ModelConfig, 'window'> {
  if (!fields.flag('use_sliding_window', false)) return {};
  const first = fields.count('max_window_layers', 28, 0);
  return windowOf(fields, layers, (layer) => layer >= first);
}

function gemma(fields: Fields): ModelConfig {
  // Files of Gemma say 'gelu' and mean its approximation; `hidden_activation` is what counts.
  const shared = llamaLike(fields, {
    tied: true,
    act: 'hidden_activation',
    base: 'gelu_pytorch_tanh',
    length: 8192,
  });
  return { dK: 256, ...shared, embeddingScale: Math.sqrt(shared.dModel) };
}

function gemma2(fields: Fields): ModelConfig {
  const shared = gemma(fields);
  const cap = (field: string, fallback: number): number =>
    fields.number(field, fields.isNull(field) ? 0 : fallback);
  return {
    ...shared,
    ...windowOf(fields, shared.numLayers, (layer) => layer % 2 === 0),
    postNorms: true,
    attentionScale: fields.number('query_pre_attn_scalar', 256) ** -0.5,
    attentionSoftcap: cap('attn_logit_softcapping', 50),
    logitSoftcap: cap('final_logit_softcapping', 30),
  };
}

function gpt2(fields: Fields): ModelConfig {
  fields.only('scale_attn_weights', true);
  for (const field of ['scale_attn_by_inverse_layer_idx', 'add_cross_attention'])
    fields.only(field, false);
  const dModel = fields.count('n_embd', 768);
  return {
    vocabulary: fields.count('vocab_size', 50_257),
    numLayers: fields.count('n_layer', 12),
    dModel,
    numHeads: fields.count('n_head', 12),
    dFeedForward: fields.count('n_inner', 4 * dModel),
    maxLength: fields.count('n_positions', 1024),
    epsilon: fields.number('layer_norm_epsilon', 1e-5),
    activation: fields.choice('activation_function', plain, 'gelu_new'),
    tiedEmbeddings: fields.flag('tie_word_embeddings', true),
  };
}

function gptNeox(fields: Fields): ModelConfig {
  fields.only('attention_bias', true);
  return {
    vocabulary: fields.count('vocab_size', 50_432),
    numLayers: fields.count('num_hidden_layers', 44),
    dModel: fields.count('hidden_size', 6144),
    numHeads: fields.count('num_attention_heads', 64),
    dFeedForward: fields.count('intermediate_size', 24_576),
    maxLength: fields.count('max_position_embeddings', 2048),
    epsilon: fields.number('layer_norm_eps', 1e-5),
    activation: fields.choice('hidden_act', plain, 'gelu'),
    positions: 'rotary',
    rotary: rotaryOf(fields, 'rotary_emb_base', 'rotary_pct'),
    parallelResidual: fields.flag('use_parallel_residual', true),
    tiedEmbeddings: fields.flag('tie_word_embeddings', false),
  };
}

function bert(fields: Fields): ModelConfig {
  fields.only('position_embedding_type', 'absolute');
  for (const field of ['is_decoder', 'add_cross_attention']) fields.only(field, false);
  return {
    vocabulary: fields.count('vocab_size', 30_522),
    numLayers: fields.count('num_hidden_layers', 12),
    dModel: fields.count('hidden_size', 768),
    numHeads: fields.count('num_attention_heads', 12),
    dFeedForward: fields.count('intermediate_size', 3072),
    maxLength: fields.count('max_position_embeddings', 512),
    causal: false,
    norm: 'post',
    epsilon: fields.number('layer_norm_eps', 1e-12),
    activation: fields.choice('hidden_act', plain, 'gelu'),
    tokenTypes: fields.count('type_vocab_size', 2),
    embeddingNorm: true,
    head: false,
  };
}

const families: Readonly<Record<string, (fields: Fields) => ModelConfig>> = {
  gpt2,
  gpt_neox: gptNeox,
  llama: llamaLike,
  mistral(fields) {
    const shared = llamaLike(fields);
    return { ...shared, ...windowOf(fields, shared.numLayers, () => true) };
  },
  qwen2(fields) {
    const shared = llamaLike(fields, { length: 32_768 });
    return { ...shared, ...qwenWindow(fields, shared.numLayers), qkvBiases: true };
  },
  qwen3(fields) {
    const shared = llamaLike(fields, { length: 32_768 });
    return { dK: 128, ...shared, ...qwenWindow(fields, shared.numLayers), qkNorm: true };
  },
  gemma,
  gemma2,
  bert,
};

/** The config of a model of the hub. */
export function hubConfig(fields: Fields): ModelConfig & { family: string } {
  fields.only('quantization_config');
  const read = fields.choice('model_type', families);
  return { ...read(fields), family: fields.text('model_type') };
}
