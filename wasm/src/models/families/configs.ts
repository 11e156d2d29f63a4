// From what a file says of a model to its config: the config.json of the Hugging Face hub, whose words are those of
// transformers, and the metadata of GGUF as llama.cpp's converter writes it. A size or number that should be there is not
// guessed.

import type { LanguageModelConfig, ModelRotary } from '../../api/model-config.js';
import { describe, isRecord } from '../../arguments/values.js';
import { checkLayers, mostLayers } from '../config.js';
import { refuse, refuseUnsupported } from '../errors.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import { ggufFixed, hubFixed } from './fixed-fields.js';

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

/** Those that a file may have as a list with one number for each layer. */
const layered = words('numHeads numKvHeads dFeedForward');

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
  const layers = fields.count(names[0] ?? '');
  const sizeOf = (name: string, i: number): number =>
    layered.includes(sizes[i] ?? '') && fields.has(name)
      ? fields.perLayer(name, layers)
      : count(name);
  const found = names.flatMap((name, i) =>
    i < 5 || fields.has(name) ? [[sizes[i] ?? '', sizeOf(name, i)] as const] : [],
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

/** What of config.json says how its weights were quantised, which have other arrays then. */
const quantised = ['quantization_config', 'quantization', 'compression_config'];

function checkQuantised(fields: Fields): void {
  for (const field of quantised) {
    if (fields.isEmpty(field)) continue;
    refuseUnsupported(
      `${fields.pathOf(field)} is ${fields.textOf(field).slice(0, 120)}`,
      'weights that are not quantised: take the model in BF16 or F16 of which these were made, or its GGUF file in Q8_0',
    );
  }
}

/** Code of the model's own for its layers, which may compute anything. */
function checkOwnCode(fields: Fields): void {
  const field = 'auto_map';
  if (fields.isEmpty(field)) return;
  const own =
    fields
      .part(field)
      ?.names()
      .filter((name) => name.startsWith('AutoModel')) ?? [];
  if (own.length === 0) return;
  refuseUnsupported(
    `${fields.pathOf(field)} is ${fields.textOf(field).slice(0, 120)}: code of the model's own`,
    `none; give the config without it if you know that the model computes as ${fields.text('model_type')} of transformers does`,
  );
}

/** Which of these places has a field that may stand in any of them; those that have it say the same. */
function agreed(
  ...places: readonly (readonly [Fields | undefined, string])[]
): [Fields, string] | undefined {
  const there = places.flatMap(([of, name]) =>
    of?.has(name) ? [[of, name] as [Fields, string]] : [],
  );
  const say = ([of, name]: [Fields, string]): string =>
    `${of.pathOf(name)} is ${describe(of.get(name))}`;
  const [first] = there;
  const other = first && there.find(([of, name]) => of.get(name) !== first[0].get(first[1]));
  if (other) refuse(`${say(first)} and ${say(other)}`, 'the same in both');
  return first;
}

/** How positions beyond the trained length are stretched. */
function scalingOf(rope: Fields, fields: Fields, maxLength: number): ModelRotary['scaling'] {
  const [, kind = 'rope_type'] = agreed([rope, 'rope_type'], [rope, 'type']) ?? [];
  const type = rope.get(kind) ?? 'default';
  if (type === 'default') return undefined;
  const factor = rope.number('factor');
  if (type === 'linear') return { type, factor };
  const original = 'original_max_position_embeddings';
  const originalLength = (rope.has(original) ? rope : fields).count(original, maxLength);
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

const ropeKinds = ['default', 'linear', 'yarn', 'llama3'];
/** What is known of rope_parameters; a kind of scaling leaves those of the others alone, as transformers does. */
const ropeFields = words(
  'rope_type type rope_theta partial_rotary_factor factor original_max_position_embeddings low_freq_factor ' +
    'high_freq_factor beta_fast beta_slow attention_factor mscale mscale_all_dim truncate finetuned',
);

/** The object with what is said of the rotation, of which newer files have one for each kind of layer. */
function ropeOf(fields: Fields): Fields | undefined {
  const [newer, older] = ['rope_parameters', 'rope_scaling'];
  const isTwice = fields.has(newer) && fields.has(older);
  if (isTwice && fields.textOf(newer) !== fields.textOf(older))
    refuse(`${fields.pathOf(newer)} and ${fields.pathOf(older)} differ`, 'one of the two');
  const rope = fields.part(oneOf(fields, newer, older));
  const isObject = (value: unknown): boolean => isRecord(value) && !Array.isArray(value);
  const kinds = rope?.names().filter((name) => isObject(rope.get(name))) ?? [];
  const [kind] = kinds;
  const own = kind === undefined ? rope : rope?.part(kind);
  if (rope && kind !== undefined) {
    const text = rope.textOf(kind);
    const other = kinds.find((each) => rope.textOf(each) !== text);
    if (other !== undefined)
      refuseUnsupported(`${rope.name} differs in ${kind} and ${other}`, 'one for all layers');
    for (const name of rope.names()) if (!kinds.includes(name)) rope.only(name);
  }
  for (const name of ['rope_type', 'type']) own?.only(name, ...ropeKinds);
  for (const name of own?.names() ?? []) if (!ropeFields.includes(name)) own?.only(name);
  return own;
}

/** Rotary positions; newer files have all of it in one object. */
function hubRotary(fields: Fields, own: Sizes, isPartial: boolean): ModelRotary {
  const { dModel, numHeads, dK = dModel / numHeads, maxLength } = own;
  const rope = ropeOf(fields);
  const factor = 'partial_rotary_factor';
  const [of, name] = agreed([rope, factor], [fields, factor], [fields, 'rotary_pct']) ?? [
    fields,
    'rotary_pct',
  ];
  const share = of.number(name, isPartial ? undefined : 1);
  if (!(share > 0 && share <= 1)) refuse(`${of.pathOf(name)} is ${share}`, '(0, 1]');
  const theta = 'rope_theta';
  const [at, base] = agreed([rope, theta], [fields, theta], [fields, 'rotary_emb_base']) ?? [
    fields,
    theta,
  ];
  const scaling = rope && scalingOf(rope, fields, maxLength);
  return {
    // The default of transformers, for each of these families.
    base: at.number(base, 10_000),
    ...(share !== 1 && { rotaryDim: Math.floor(dK * share) }),
    ...(scaling && { scaling }),
  };
}

/** The kinds of the layers, where the file tells them. */
function layerTypes(fields: Fields, layers: number): readonly unknown[] | undefined {
  const path = fields.pathOf('layer_types');
  const types = fields.list('layer_types');
  if (types && types.length !== layers) refuse(`${path} has ${types.length} layers`, `${layers}`);
  const known = ['sliding_attention', 'full_attention'];
  const other = types?.find((type) => !known.includes(type as string));
  if (other !== undefined) refuseUnsupported(`${path} has ${describe(other)}`, known.join(', '));
  return types;
}

/** Windows of the layers that the file names, or else that the family has. */
function hubWindow(
  fields: Fields,
  family: string,
  layers: number,
): Pick<LanguageModelConfig, 'window'> {
  const isQwen = family.startsWith('qwen');
  const has = isQwen || family === 'mistral' || family === 'gemma2';
  const types = layerTypes(fields, layers);
  const isAsked = isQwen || !has ? fields.flag('use_sliding_window', !isQwen) : true;
  if (!has || !isAsked || fields.isNull('sliding_window')) {
    // Of layers that slide nobody has told how far.
    if (types?.includes('sliding_attention'))
      refuseUnsupported(`${fields.pathOf('layer_types')} has "sliding_attention"`, 'a window');
    if (!has && isAsked) fields.only('sliding_window');
    return {};
  }
  // The defaults of transformers, whose files leave defaults out.
  const first = isQwen ? fields.count('max_window_layers', 28, 0) : 0;
  const slides = (i: number): boolean => (family === 'gemma2' ? i % 2 === 0 : i >= first);
  const all = Array.from({ length: layers }, (_, i) =>
    types ? types[i] === 'sliding_attention' : slides(i),
  );
  return windowOf(fields.count('sliding_window', 4096), all);
}

/** A decoder that was trained on as an encoder says so; of windows to both sides nothing here knows. */
function withDirection<T extends LanguageModelConfig>(
  config: T,
  isCausal: boolean,
  name: string,
): T {
  if (isCausal === (config.causal ?? true)) return config;
  if (config.window !== undefined)
    refuseUnsupported(`${name} is ${isCausal} and there are windows`, 'one of the two');
  return { ...config, causal: isCausal };
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

/** The map of a word to an activation, in which field it stands, and its default if the family has one. */
function hubActivation(fields: Fields, family: string, isRms: boolean): Activation {
  // Files of Gemma say 'gelu' in hidden_act and mean its approximation; the other field is what counts.
  if (isGemma(family)) return fields.choice('hidden_activation', gated, 'gelu_pytorch_tanh');
  const name = family === 'gpt2' ? 'activation_function' : 'hidden_act';
  return fields.choice(name, isRms ? gated : plain);
}

/** Biases of all maps, or of none: of those of attention alone the core knows nothing. */
function llamaBiases(fields: Fields): Pick<LanguageModelConfig, 'biases'> {
  const [attention, mlp] = ['attention_bias', 'mlp_bias'].map((name) => fields.flag(name, false));
  if (attention !== mlp) fields.only(attention ? 'attention_bias' : 'mlp_bias', false);
  return attention ? { biases: true } : {};
}

/** The config of a model of the hub. */
export function hubConfig(fields: Fields): Config {
  const traits = fields.choice('model_type', families);
  const family = fields.text('model_type');
  checkQuantised(fields);
  checkOwnCode(fields);
  for (const [field, values] of Object.entries(hubFixed(family))) fields.only(field, ...values);
  const own = sizesOf(fields, family === 'gpt2' ? gpt2Sizes : hubSizes);
  const isRms = traits.normType === 'rms';
  const epsilon = isRms ? 'rms_norm_eps' : `layer_norm_eps${family === 'gpt2' ? 'ilon' : ''}`;
  const config: Config = {
    ...{ ...traits, family, ...own, ...scaled(family, own) },
    activation: hubActivation(fields, family, isRms),
    vocabulary: fields.count('vocab_size'),
    epsilon: fields.number(epsilon),
    ...(family === 'llama' && llamaBiases(fields)),
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
  const usual = config.causal ?? true;
  const isCausal = fields.isEmpty('is_causal') ? usual : fields.flag('is_causal');
  return withDirection(config, isCausal, fields.pathOf('is_causal'));
}

// --------------------------------------------------------------------------------------------- GGUF

/** The families by what GGUF calls them; Mistral is 'llama' there. */
const architectures: Readonly<Record<string, string>> = {
  ...{ llama: 'llama', qwen2: 'qwen2', qwen3: 'qwen3', gemma: 'gemma', gemma2: 'gemma2' },
  ...{ gpt2: 'gpt2', gptneox: 'gpt_neox', bert: 'bert' },
};

/** As llama.cpp: linear where no type is told, the factor by its old name too, and 0 for none. */
function ggufScaling(fields: Fields, maxLength: number): ModelRotary['scaling'] {
  fields.only('rope.scaling.type', 'none', 'linear', 'yarn');
  const type = fields.text('rope.scaling.type', 'linear');
  const factor = fields.number(oneOf(fields, 'rope.scaling.factor', 'rope.scale_linear'), 0);
  const scale = fields.number('rope.scaling.attn_factor', 1);
  const isNone = type === 'none' || factor === 0;
  if (isNone || type !== 'yarn') {
    fields.only('rope.scaling.attn_factor', 1);
    return isNone ? undefined : { type: 'linear', factor };
  }
  // Less than 0 leaves it to the program, which mixes by the formula, as 1 does.
  if (fields.number('rope.scaling.yarn_ext_factor', -1) >= 0)
    fields.only('rope.scaling.yarn_ext_factor', 1);
  return {
    ...{ type: 'yarn', factor },
    originalLength: fields.count('rope.scaling.original_context_length', maxLength),
    betaFast: fields.number('rope.scaling.yarn_beta_fast', 32),
    betaSlow: fields.number('rope.scaling.yarn_beta_slow', 1),
    ...(scale !== 1 && { attentionFactor: scale * (1 + 0.1 * Math.log(factor)) }),
  };
}

/**
 * Rotary positions: the converter turns the rows of q and k of Llama so that the pairs of its rotation lie side by side. The
 * scaling of Llama 3 is an array of the file, see rope-factors.ts.
 */
function ggufRotary(
  fields: Fields,
  isLlama: boolean,
  width: number,
  maxLength: number,
): ModelRotary {
  const rotaryDim = fields.count('rope.dimension_count', width);
  const scaling = ggufScaling(fields, maxLength);
  return {
    base: fields.number('rope.freq_base', 10_000),
    ...(isLlama && { interleaved: true }),
    ...(rotaryDim !== width && { rotaryDim }),
    ...(scaling && { scaling }),
  };
}

/** Windows, which are those of Mistral in files of Llama, and of every other layer in those of Gemma 2. */
function ggufWindow(
  fields: Fields,
  family: string,
  own: Sizes,
): Pick<LanguageModelConfig, 'window'> {
  const [width, pattern] = ['attention.sliding_window', 'attention.sliding_window_pattern'];
  const window = family === 'gemma2' ? fields.count(width) : fields.count(width, 0, 0);
  const told = fields.list(pattern)?.map((slides) => Boolean(slides));
  if (told && told.length !== own.numLayers)
    refuse(`${fields.pathOf(pattern)} has ${told.length} layers`, `${own.numLayers}`);
  // A row has no key that is further away than the window.
  if (window === 0 || (window >= own.maxLength && family !== 'gemma2')) return {};
  const isKnown = told !== undefined || family === 'llama' || family === 'gemma2';
  if (!isKnown) fields.only(width, 0);
  const slides = (_: unknown, i: number): boolean => family === 'llama' || i % 2 === 0;
  return windowOf(window, told ?? Array.from({ length: own.numLayers }, slides));
}

/** Gemma 2: the metadata has no word for the scale, which is not that of the width of a head in the largest alone. */
function ggufGemma2(
  fields: Fields,
  { numLayers, dModel, numHeads }: Sizes,
): Partial<LanguageModelConfig> {
  return {
    attentionSoftcap: fields.number('attn_logit_softcapping'),
    logitSoftcap: fields.number('final_logit_softcapping'),
    ...(numLayers === 46 && { attentionScale: (dModel / numHeads) ** -0.5 }),
  };
}

/** Of the metadata below the architecture all is known, or says what changes nothing. */
function checkKnown(fields: Fields): void {
  for (const name of fields.names()) {
    const values = ggufFixed(name);
    if (values) fields.only(name, ...values);
  }
}

/** The config of a GGUF file. */
export function ggufConfig({ metadata, tensors }: ModelFile): Config {
  const general = new Fields('metadata', metadata);
  general.only('general.type', 'model');
  const family = general.choice('general.architecture', architectures);
  const traits = families[family] ?? {};
  const fields = general.under(`${general.text('general.architecture')}.`);
  checkKnown(fields);
  const own = sizesOf(fields, ggufSizes);
  const { dK = own.dModel / own.numHeads } = own;
  fields.only('attention.value_length', dK);
  const rowsOf = (tensor: string): number => tensors.get(tensor)?.shape[0] ?? 0;
  const vocabulary = rowsOf('token_embd.weight');
  fields.only('vocab_size', vocabulary);
  const isRms = traits.normType === 'rms';
  const isNeox = family === 'gpt_neox';
  if (family !== 'gemma2')
    for (const name of ['attn', 'final']) fields.only(`${name}_logit_softcapping`, 0);
  if (!isNeox) fields.only('use_parallel_residual', false);
  const config: Config = {
    ...{ ...traits, family, ...own, ...scaled(family, own), vocabulary },
    activation: traits.activation ?? (isRms ? 'swiglu' : 'gelu'),
    epsilon: fields.number(`attention.layer_norm_${isRms ? 'rms_' : ''}epsilon`),
    ...(traits.positions && {
      rotary: ggufRotary(fields, family === 'llama', dK, own.maxLength),
    }),
    ...(family === 'gemma2' && ggufGemma2(fields, own)),
    ...(isNeox && { parallelResidual: fields.flag('use_parallel_residual', true) }),
    ...(traits.head === false
      ? { tokenTypes: rowsOf('token_types.weight') }
      : { tiedEmbeddings: !tensors.has('output.weight') }),
    ...ggufWindow(fields, family, own),
  };
  // An encoder without a head says what nothing follows.
  if (traits.head === false) fields.only('attention.causal', false);
  const isCausal = fields.flag('attention.causal', config.causal ?? true);
  return withDirection(config, isCausal, fields.pathOf('attention.causal'));
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
