// OPT, without what 350m alone has: embeddings of another width, and norms after the parts.

import type { Family } from './family.js';
import { all, unrotated } from './fixed.js';
import { named } from './locate.js';

export const opt: Family = {
  types: ['opt'],
  traits: { epsilon: 1e-5 },
  hub: {
    names: {
      ...{ layers: 'decoder.layers.', prefix: 'model.', firstPosition: 2 },
      modules: named(
        'decoder.embed_tokens decoder.final_layer_norm lm_head self_attn_layer_norm ' +
          'self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj ' +
          'final_layer_norm fc1 fc2 - - - - - decoder.embed_positions',
      ),
    },
    sizes: 'num_hidden_layers hidden_size num_attention_heads ffn_dim max_position_embeddings',
    ...{ activation: ['activation_function', 'relu'], isTied: true },
    fixed: {
      ...{ ...unrotated, ...all('hidden_act') },
      ...all('do_layer_norm_before enable_bias layer_norm_elementwise_affine', true),
      ...all('_remove_final_layer_norm', false),
    },
    more: (fields, { dModel }) => {
      fields.only('word_embed_proj_dim', dModel);
      return {};
    },
  },
};
