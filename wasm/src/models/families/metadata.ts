// From the metadata of a GGUF file to a config, as llama.cpp's converter writes them. It stores gains of Gemma with the 1
// added, and turns the rows of q and k of Llama so that the pairs of its rotation lie side by side.

import type { ModelConfig, ModelRotary } from '../config.js';
import type { ModelFile } from '../file.js';
import { Fields } from '../fields.js';

/** What the families differ in. */
const families: Readonly<Record<string, (fields: Fields, d: number) => Partial<ModelConfig>>> = {
  llama: () => rms('swiglu'),
  qwen2: () => ({ ...rms('swiglu'), qkvBiases: true }),
  qwen3: () => ({ ...rms('swiglu'), qkNorm: true }),
  gemma: (_, d) => ({ ...rms('geglu_tanh'), embeddingScale: Math.sqrt(d) }),
  gemma2: (fields, d) => ({
    ...{ ...rms('geglu_tanh'), embeddingScale: Math.sqrt(d), postNorms: true },
    ...{ ...gemma2Window(fields), ...gemma2Scale(fields, d) },
    attentionSoftcap: fields.number('attn_logit_softcapping', 50),
    logitSoftcap: fields.number('final_logit_softcapping', 30),
  }),
  gpt2: () => ({ activation: 'gelu_tanh' }),
  gptneox: (fields) => ({
    ...{ activation: 'gelu', positions: 'rotary' },
    parallelResidual: fields.flag('use_parallel_residual', true),
  }),
  bert: (fields) => ({
    ...{ activation: 'gelu', causal: fields.flag('attention.causal', false), norm: 'post' },
    ...{ embeddingNorm: true, head: false },
  }),
};

const names: Readonly<Record<string, string>> = { gptneox: 'gpt_neox' };

const rms = (activation: 'swiglu' | 'geglu_tanh'): Partial<ModelConfig> => ({
  ...{ normType: 'rms', positions: 'rotary', activation },
});

/** Every other layer, beginning with the first. */
function gemma2Window(fields: Fields): Partial<ModelConfig> {
  const window = fields.count('attention.sliding_window', 4096) - 1;
  const layers = fields.count('block_count');
  return { window: Array.from({ length: layers }, (_, i) => (i % 2 === 0 ? window : null)) };
}

/** The metadata has no word for it: of the largest alone, which has 46 layers, it is not that of the width of a head. */
const gemma2Scale = (fields: Fields, d: number): Partial<ModelConfig> =>
  fields.count('block_count') === 46
    ? { attentionScale: (d / fields.count('attention.head_count')) ** -0.5 }
    : {};

/** How positions beyond the trained length are stretched; the scaling of Llama 3 is an array of the file. */
function scalingOf(fields: Fields): Pick<ModelRotary, 'scaling'> {
  fields.only('rope.scaling.type', 'none', 'linear');
  if (fields.text('rope.scaling.type', 'none') === 'none') return {};
  return { scaling: { type: 'linear', factor: fields.number('rope.scaling.factor') } };
}

function rotaryOf(fields: Fields, interleaved: boolean, width: number): ModelRotary {
  const rotaryDim = fields.count('rope.dimension_count', width);
  return {
    base: fields.number('rope.freq_base', 10_000),
    ...(interleaved && { interleaved }),
    ...(rotaryDim !== width && { rotaryDim }),
    ...scalingOf(fields),
  };
}

/** Rows of a table of the file. */
const rowsOf = ({ tensors }: ModelFile, name: string): number => tensors.get(name)?.shape[0] ?? 0;

/** The config of a file. */
export function metadataConfig(file: ModelFile): ModelConfig & { family: string } {
  const general = new Fields('metadata', file.metadata);
  const read = general.choice('general.architecture', families);
  const family = general.text('general.architecture');
  const fields = general.under(`${family}.`);
  fields.only('expert_count', 0);
  const [dModel, numHeads] = [
    fields.count('embedding_length'),
    fields.count('attention.head_count'),
  ];
  const own = read(fields, dModel);
  const dK = fields.count('attention.key_length', dModel / numHeads);
  fields.only('attention.value_length', dK);
  const epsilon = own.normType === 'rms' ? 'layer_norm_rms_epsilon' : 'layer_norm_epsilon';
  const maxLength = fields.count('context_length');
  return {
    ...{ family: names[family] ?? family, dModel, numHeads, dK, maxLength },
    vocabulary: rowsOf(file, 'token_embd.weight') || fields.count('vocab_size'),
    numLayers: fields.count('block_count'),
    numKvHeads: fields.count('attention.head_count_kv', numHeads),
    dFeedForward: fields.count('feed_forward_length'),
    epsilon: fields.number(`attention.${epsilon}`, 1e-5),
    ...own,
    ...(own.positions && { rotary: rotaryOf(fields, family === 'llama', dK) }),
    ...(own.head === false
      ? { tokenTypes: rowsOf(file, 'token_types.weight') }
      : { tiedEmbeddings: !file.tensors.has('output.weight') }),
  };
}
