// From what a file says of a model to its config: the config.json of the Hugging Face hub, whose words are those of
// transformers, and the metadata of GGUF as llama.cpp's converter writes it. A size or number that should be there is not
// guessed.

import type { LanguageModelConfig, ModelRotary } from '../../api/model-config.js';
import { describe } from '../../arguments/values.js';
import { checkLayers, mostLayers } from '../config.js';
import { refuse } from '../errors.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';

type Activation = NonNullable<LanguageModelConfig['activation']>;
type Config = LanguageModelConfig & { family: string };

const rms = { normType: 'rms', positions: 'rotary' } as const;
const gemma = { ...rms, activation: 'geglu_tanh' } as const;
/** What the families differ in, whichever file they come in. */
const families: Readonly<Record<string, Partial<LanguageModelConfig>>> = {
  ...{ llama: rms, mistral: rms, gemma, gemma2: { ...gemma, postNorms: true } },
  qwen2: { ...rms, qkvBiases: true },
  qwen3: { ...rms, qkNorm: true },
  gpt2: { activation: 'gelu_tanh' },
  gpt_neox: { positions: 'rotary' },
  bert: { causal: false, norm: 'post', embeddingNorm: true, head: false },
};
const isGemma = (family: string): boolean => family.startsWith('gemma');

/** Sizes, in the words of the hub, of GPT-2 there, and of GGUF; the last two may be left out. */
const sizes = words('numLayers dModel numHeads dFeedForward maxLength numKvHeads dK');
const hubSizes = words(
  'num_hidden_layers hidden_size num_attention_heads intermediate_size max_position_embeddings num_key_value_heads head_dim',
);
const gpt2Sizes = words('n_layer n_embd n_head n_inner n_positions');
const ggufSizes = words(
  'block_count embedding_length attention.head_count feed_forward_length context_length attention.head_count_kv attention.key_length',
);

function words(text: string): readonly string[] {
  return text.split(' ');
}

type Sizes = Pick<
  LanguageModelConfig,
  'numLayers' | 'dModel' | 'numHeads' | 'dFeedForward' | 'maxLength' | 'dK'
>;

function sizesOf(fields: Fields, names: readonly string[]): Sizes {
  // Of GPT-2 alone, whose files leave it out.
  const count = (name: string): number =>
    fields.count(name, name === 'n_inner' ? 4 * fields.count('n_embd') : undefined);
  const found = names.flatMap((name, i) =>
    i < 5 || fields.has(name) ? [[sizes[i] ?? '', count(name)] as const] : [],
  );
  const all = Object.fromEntries(found) as unknown as Sizes;
  // Lists with an element for each layer are made before anybody has looked for its arrays.
  checkLayers(all.numLayers, mostLayers);
  return all;
}

/** What follows from sizes. */
const scaled = (family: string, { dModel }: Sizes): Partial<LanguageModelConfig> =>
  isGemma(family) ? { embeddingScale: Math.sqrt(dModel) } : {};

/** The first of these fields that is there. */
const oneOf = (fields: Fields, ...names: [string, ...string[]]): string =>
  names.find((name) => fields.has(name)) ?? names[0];

/** A list for all layers, or what it says of each where that is the same. */
function windowOf(window: number, slides: readonly boolean[]): Pick<LanguageModelConfig, 'window'> {
  if (!slides.includes(true)) return {};
  // The width of a window has the query's own key in it.
  return {
    window: slides.includes(false) ? slides.map((does) => (does ? window - 1 : null)) : window - 1,
  };
}

// ------------------------------------------------------------------------------------------ the hub

const plain: Readonly<Record<string, Activation>> = {
  ...{ relu: 'relu', gelu: 'gelu', gelu_new: 'gelu_tanh', gelu_fast: 'gelu_tanh' },
  ...{ gelu_pytorch_tanh: 'gelu_tanh', silu: 'silu', swish: 'silu' },
};
const gated: typeof plain = {
  ...{ silu: 'swiglu', swish: 'swiglu', gelu: 'geglu', gelu_new: 'geglu_tanh' },
  gelu_pytorch_tanh: 'geglu_tanh',
};

/** Fields that change what is computed, and the only values of them that are known. */
const only: Readonly<Record<string, unknown>> = {
  ...{ mlp_bias: false, use_bidirectional_attention: false, add_cross_attention: false },
  ...{ is_decoder: false, position_embedding_type: 'absolute', quantization_config: null },
  ...{ scale_attn_weights: true, scale_attn_by_inverse_layer_idx: false, rope_interleaved: false },
};

/** How positions beyond the trained length are stretched. */
function scalingOf(rope: Fields, maxLength: number): ModelRotary['scaling'] {
  const kind = oneOf(rope, 'rope_type', 'type');
  rope.only(kind, 'default', 'linear', 'yarn', 'llama3');
  const type = rope.get(kind) ?? 'default';
  if (type === 'default') return undefined;
  const factor = rope.number('factor');
  if (type === 'linear') return { type, factor };
  const originalLength = rope.count('original_max_position_embeddings', maxLength);
  if (type === 'llama3') {
    const lowFrequencyFactor = rope.number('low_freq_factor');
    const highFrequencyFactor = rope.number('high_freq_factor');
    return { type, factor, lowFrequencyFactor, highFrequencyFactor, originalLength };
  }
  for (const field of ['mscale', 'mscale_all_dim']) rope.only(field);
  rope.only('truncate', true);
  return {
    ...{ type: 'yarn', factor, originalLength },
    ...{ betaFast: rope.number('beta_fast', 32), betaSlow: rope.number('beta_slow', 1) },
    ...(rope.has('attention_factor') && { attentionFactor: rope.number('attention_factor') }),
  };
}

/** Rotary positions; newer files have all of it in one object. */
function hubRotary(fields: Fields, own: Sizes, isPartial: boolean): ModelRotary {
  const { dModel, numHeads, dK = dModel / numHeads, maxLength } = own;
  const rope = fields.part(oneOf(fields, 'rope_parameters', 'rope_scaling'));
  const of = rope?.has('rope_theta') ? rope : fields;
  const share = rope?.has('partial_rotary_factor')
    ? rope.number('partial_rotary_factor')
    : fields.number('rotary_pct', isPartial ? undefined : 1);
  const scaling = rope && scalingOf(rope, maxLength);
  return {
    base: of.number(oneOf(of, 'rope_theta', 'rotary_emb_base'), 10_000),
    ...(share !== 1 && { rotaryDim: Math.floor(dK * share) }),
    ...(scaling && { scaling }),
  };
}

/** Windows of the layers that the file names, or else that the family has. */
function hubWindow(
  fields: Fields,
  family: string,
  layers: number,
): Pick<LanguageModelConfig, 'window'> {
  const isQwen = family.startsWith('qwen');
  const isAsked = isQwen
    ? fields.flag('use_sliding_window', false)
    : family === 'mistral' || family === 'gemma2';
  if (!isAsked || fields.isNull('sliding_window')) return {};
  const types = fields.list('layer_types');
  if (types && types.length !== layers) {
    refuse(`${fields.pathOf('layer_types')} has ${types.length} layers`, `${layers}`);
  }
  for (const type of types ?? []) {
    if (type !== 'sliding_attention' && type !== 'full_attention')
      fields.only('layer_types', 'sliding_attention', 'full_attention');
  }
  // The default of transformers, whose files leave defaults out.
  const first = isQwen ? fields.count('max_window_layers', 28, 0) : 0;
  const slides = (i: number): boolean => (family === 'gemma2' ? i % 2 === 0 : i >= first);
  const all = Array.from({ length: layers }, (_, i) =>
    types ? types[i] === 'sliding_attention' : slides(i),
  );
  return windowOf(fields.count('sliding_window'), all);
}

/** What Gemma 2 does with scores and logits. */
function gemma2Scores(fields: Fields): Partial<LanguageModelConfig> {
  const cap = (field: string): number => (fields.isNull(field) ? 0 : fields.number(field));
  return {
    attentionScale: fields.number('query_pre_attn_scalar') ** -0.5,
    attentionSoftcap: cap('attn_logit_softcapping'),
    logitSoftcap: cap('final_logit_softcapping'),
  };
}

/** The config of a model of the hub. */
export function hubConfig(fields: Fields): Config {
  const traits = fields.choice('model_type', families);
  const family = fields.text('model_type');
  for (const [field, allowed] of Object.entries(only)) fields.only(field, allowed);
  fields.only('attention_bias', family === 'gpt_neox');
  const own = sizesOf(fields, family === 'gpt2' ? gpt2Sizes : hubSizes);
  const isRms = traits.normType === 'rms';
  // Files of Gemma say 'gelu' in hidden_act and mean its approximation; the other field is what counts.
  const activation = isGemma(family)
    ? fields.choice('hidden_activation', gated, 'gelu_pytorch_tanh')
    : fields.choice(oneOf(fields, 'hidden_act', 'activation_function'), isRms ? gated : plain);
  return {
    ...{ ...traits, family, ...own, ...scaled(family, own), activation },
    vocabulary: fields.count('vocab_size'),
    epsilon: fields.number(
      isRms ? 'rms_norm_eps' : oneOf(fields, 'layer_norm_eps', 'layer_norm_epsilon'),
    ),
    ...(traits.positions && { rotary: hubRotary(fields, own, family === 'gpt_neox') }),
    ...(family === 'gemma2' && gemma2Scores(fields)),
    ...(family === 'gpt_neox' && { parallelResidual: fields.flag('use_parallel_residual', true) }),
    ...(traits.head === false
      ? { tokenTypes: fields.count('type_vocab_size') }
      : {
          tiedEmbeddings: fields.flag('tie_word_embeddings', family === 'gpt2' || isGemma(family)),
        }),
    ...hubWindow(fields, family, own.numLayers),
  };
}

// --------------------------------------------------------------------------------------------- GGUF

/** The families by what GGUF calls them; Mistral is 'llama' there. */
const architectures: Readonly<Record<string, string>> = {
  ...{ llama: 'llama', qwen2: 'qwen2', qwen3: 'qwen3', gemma: 'gemma', gemma2: 'gemma2' },
  ...{ gpt2: 'gpt2', gptneox: 'gpt_neox', bert: 'bert' },
};

/**
 * Rotary positions: the converter turns the rows of q and k of Llama so that the pairs of its rotation lie side by side. The
 * scaling of Llama 3 is an array of the file, see rope-factors.ts.
 */
function ggufRotary(fields: Fields, isLlama: boolean, width: number): ModelRotary {
  const rotaryDim = fields.count('rope.dimension_count', width);
  fields.only('rope.scaling.type', 'none', 'linear');
  // As llama.cpp: linear where no type is told, the factor by its old name too, and 0 for none.
  const isNone = fields.get('rope.scaling.type') === 'none';
  const factor = fields.number(oneOf(fields, 'rope.scaling.factor', 'rope.scale_linear'), 0);
  return {
    base: fields.number('rope.freq_base', 10_000),
    ...(isLlama && { interleaved: true }),
    ...(rotaryDim !== width && { rotaryDim }),
    ...(!isNone && factor !== 0 && { scaling: { type: 'linear', factor } }),
  };
}

/** Gemma 2: the metadata has no word for the scale, which is not that of the width of a head in the largest alone. */
function ggufGemma2(
  fields: Fields,
  { numLayers, dModel, numHeads }: Sizes,
): Partial<LanguageModelConfig> {
  const slides = Array.from({ length: numLayers }, (_, i) => i % 2 === 0);
  return {
    ...windowOf(fields.count('attention.sliding_window'), slides),
    attentionSoftcap: fields.number('attn_logit_softcapping'),
    logitSoftcap: fields.number('final_logit_softcapping'),
    ...(numLayers === 46 && { attentionScale: (dModel / numHeads) ** -0.5 }),
  };
}

/** The config of a GGUF file. */
export function ggufConfig({ metadata, tensors }: ModelFile): Config {
  const general = new Fields('metadata', metadata);
  const family = general.choice('general.architecture', architectures);
  const traits = families[family] ?? {};
  const fields = general.under(`${general.text('general.architecture')}.`);
  fields.only('expert_count', 0);
  const own = sizesOf(fields, ggufSizes);
  const { dK = own.dModel / own.numHeads } = own;
  fields.only('attention.value_length', dK);
  const rowsOf = (tensor: string): number => tensors.get(tensor)?.shape[0] ?? 0;
  const isRms = traits.normType === 'rms';
  return {
    ...{
      ...traits,
      family,
      ...own,
      ...scaled(family, own),
      vocabulary: rowsOf('token_embd.weight'),
    },
    activation: traits.activation ?? (isRms ? 'swiglu' : 'gelu'),
    epsilon: fields.number(`attention.layer_norm_${isRms ? 'rms_' : ''}epsilon`),
    ...(traits.positions && { rotary: ggufRotary(fields, family === 'llama', dK) }),
    ...(family === 'gemma2' && ggufGemma2(fields, own)),
    ...(family === 'gpt_neox' && { parallelResidual: fields.flag('use_parallel_residual', true) }),
    ...(traits.head === false
      ? { tokenTypes: rowsOf('token_types.weight') }
      : { tiedEmbeddings: !tensors.has('output.weight') }),
  };
}

// --------------------------------------------------------------------------------------- of their own

/** The config in a file of Trainer.save(), of which only the sizes are checked here: the engine checks all of it. */
export function ownConfig({ metadata }: ModelFile): LanguageModelConfig {
  const kind = metadata.get('kind');
  if (kind !== 'language_model') refuse(`weights are of a ${describe(kind)}`, 'a language_model');
  let value: unknown;
  try {
    value = JSON.parse(String(metadata.get('config')));
  } catch {
    // What is no JSON is no object either.
  }
  const fields = Fields.of('config', value);
  sizesOf(fields, sizes.slice(0, 3));
  // In these two it is looked for words before the engine is asked.
  for (const name of ['family', 'activation']) fields.text(name, '');
  for (const name of ['numKvHeads', 'dK']) if (fields.has(name)) fields.count(name);
  for (const name of ['vocabulary', 'maxLength']) fields.count(name);
  fields.count('dFeedForward', undefined, 0);
  fields.count('tokenTypes', 0, 0);
  return value as LanguageModelConfig;
}

export function llama2cConfig({ metadata }: ModelFile): LanguageModelConfig {
  const { vocabulary, ...numbers } = Object.fromEntries(metadata) as unknown as Sizes & {
    vocabulary: number;
  };
  return {
    ...{ ...rms, family: 'llama', ...numbers, vocabulary: Math.abs(vocabulary) },
    ...{ tiedEmbeddings: vocabulary > 0, epsilon: 1e-5, activation: 'swiglu' },
    rotary: { base: 10_000, interleaved: true },
  };
}
