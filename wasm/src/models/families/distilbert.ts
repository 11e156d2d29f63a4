// DistilBERT: BERT without segments, with names of its own. GGUF has it as BERT.

import { bertFixed, bertTraits } from './bert.js';
import type { Family } from './family.js';
import { all } from './fixed.js';
import { named } from './locate.js';

export const distilbert: Family = {
  types: ['distilbert'],
  traits: { ...bertTraits, epsilon: 1e-12 },
  hub: {
    names: {
      ...{ layers: 'transformer.layer.', prefix: 'distilbert.' },
      modules: named(
        'embeddings.word_embeddings - - sa_layer_norm attention.q_lin attention.k_lin attention.v_lin attention.out_lin ' +
          'output_layer_norm ffn.lin1 ffn.lin2 - - - - - embeddings.position_embeddings - embeddings.LayerNorm',
      ),
      ignored: /^embeddings\.position_ids$/,
    },
    sizes: 'n_layers dim n_heads hidden_dim max_position_embeddings',
    ...{ activation: ['activation'], fixed: { ...bertFixed, ...all('hidden_act') } },
  },
};
