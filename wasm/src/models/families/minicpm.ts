// MiniCPM 1 and 2: Llama with the factors of Granite by other names.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { ggufBiases } from './gguf-names.js';
import { withFactors } from './granite.js';
import { biasesOf, llamaNames, rms } from './llama.js';

export const minicpm: Family = {
  types: ['minicpm'],
  traits: rms,
  hub: {
    ...{ classes: 'MiniCPM', isByConfig: true },
    ...{ names: llamaNames, isTied: true, obeyed: 'scale_emb scale_depth dim_model_base' },
    fixed: { ...llamaFixed, ...all('attention_bias', true, false), ...all('sparse_config') },
    more: (fields, { numLayers, dModel }) =>
      withFactors(
        biasesOf(fields.flag('attention_bias', false), false),
        fields.number('scale_depth') / Math.sqrt(numLayers),
        dModel / fields.number('dim_model_base'),
        { embeddingScale: fields.number('scale_emb') },
      ),
  },
  gguf: {
    ...{ architecture: 'minicpm', isInterleaved: true },
    keys: 'embedding_scale residual_scale logit_scale',
    more: (fields, _sizes, file) =>
      withFactors(ggufBiases(file), fields.number('residual_scale'), fields.number('logit_scale'), {
        embeddingScale: fields.number('embedding_scale'),
      }),
  },
};
