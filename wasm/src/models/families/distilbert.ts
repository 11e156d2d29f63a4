// DistilBERT: BERT without segments, with names of its own. GGUF has it as BERT.

import { bertFixed, bertTraits } from './bert.js';
import type { Family } from './family.js';
import { all } from './fixed.js';
import type { Heads } from './heads.js';
import { named } from './locate.js';
import { plain } from './plain-activations.js';
import type { Fields } from '../fields.js';

const heads = (fields: Fields): Heads => ({
  MaskedLM: {
    config: {
      headTransform: fields.choice('activation', plain, 'gelu'),
      ...{ headNorm: true, headBias: true },
    },
    modules: {
      ...{ headTransform: 'vocab_transform', headNorm: 'vocab_layer_norm' },
      head: 'vocab_projector',
    },
  },
  SequenceClassification: {
    config: { headTransform: 'relu', headPooling: 'first', headBias: true },
    modules: { headTransform: 'pre_classifier', head: 'classifier' },
  },
  TokenClassification: { config: { headBias: true }, modules: { head: 'classifier' } },
});

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
    tasks: heads,
    ...{ activation: ['activation'], fixed: { ...bertFixed, ...all('hidden_act') } },
  },
};
