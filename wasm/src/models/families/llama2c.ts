// Checkpoints of llama2.c, where one array has those of all layers.

import type { LanguageModelConfig } from '../../api/model-config.js';
import type { ModelFile } from '../file.js';
import { rms } from './llama.js';
import { type Locate, named } from './locate.js';
import type { Sizes } from './sizes.js';

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

const names = named(
  'token_embedding_table rms_final_weight wcls rms_att_weight wq wk wv wo rms_ffn_weight w3 w2 w1',
);
export const llama2cIgnored = /^freq_cis_/;

export const locateStacked =
  ({ numLayers }: LanguageModelConfig): Locate =>
  ({ name, module, layer, kind, shape }) => {
    const outputs = (kind === 'table' ? shape[0] : shape[shape.length - 1]) ?? 0;
    const [inputs = 0, columns = 0] = shape;
    const from = (layer ?? 0) * outputs;
    const rows = layer === undefined ? outputs : numLayers * outputs;
    return {
      tensor: names[module] ?? name,
      shape: kind === 'vector' ? [rows] : [rows, kind === 'table' ? columns : inputs],
      layout: 'out_in',
      ranges: () => [[from, from + outputs]],
    };
  };
