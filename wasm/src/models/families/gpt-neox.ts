// GPT-NeoX (Pythia): q, k and v of each head in turn, a part of each head rotated, both parts of a layer side by side.

import type { Fields } from '../fields.js';
import type { Family, More } from './family.js';
import { biased } from './fixed.js';
import { fusedQkv } from './gguf-names.js';
import { named } from './locate.js';

const parallel = 'use_parallel_residual';
const more = (fields: Fields): More => ({
  config: { parallelResidual: fields.flag(parallel, true) },
});

export const gptNeox: Family = {
  types: ['gpt_neox'],
  traits: { positions: 'rotary' },
  hub: {
    names: {
      ...{ layers: 'layers.', prefix: 'gpt_neox.', isByHead: true },
      modules: named(
        'embed_in final_layer_norm embed_out input_layernorm ' +
          'attention.query_key_value attention.query_key_value attention.query_key_value attention.dense ' +
          'post_attention_layernorm mlp.dense_h_to_4h mlp.dense_4h_to_h',
      ),
      ignored: /\.attention\.(masked_bias|bias|rotary_emb\.inv_freq)$/,
    },
    sizes:
      'num_hidden_layers hidden_size num_attention_heads intermediate_size max_position_embeddings',
    ...{ share: null, fixed: biased, more },
  },
  gguf: { architecture: 'gptneox', modules: fusedQkv, keys: parallel, more },
};
