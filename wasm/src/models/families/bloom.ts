// BLOOM: ALiBi, a norm of the embeddings, and q, k and v of each head in turn.

import type { Family } from './family.js';
import { all, unrotated } from './fixed.js';
import { fusedQkv } from './gguf-names.js';
import { named } from './locate.js';

export const bloom: Family = {
  types: ['bloom'],
  traits: { positions: 'alibi', embeddingNorm: true, activation: 'gelu_tanh' },
  hub: {
    names: {
      ...{ layers: 'h.', prefix: 'transformer.', isByHead: true },
      modules: named(
        'word_embeddings ln_f lm_head input_layernorm ' +
          'self_attention.query_key_value self_attention.query_key_value self_attention.query_key_value self_attention.dense ' +
          'post_attention_layernorm mlp.dense_h_to_4h mlp.dense_4h_to_h - - - - - - - word_embeddings_layernorm',
      ),
    },
    sizes:
      'n_layer|num_hidden_layers n_embed|hidden_size n_head|num_attention_heads n_inner seq_length',
    ...{ isFourfold: true, epsilon: 'layer_norm_epsilon', isTied: true },
    fixed: {
      ...{ ...unrotated, ...all('hidden_act activation_function') },
      ...all('apply_residual_connection_post_layernorm', false),
    },
  },
  gguf: { architecture: 'bloom', modules: fusedQkv },
};
