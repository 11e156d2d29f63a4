// BioGPT: OPT with scaled embeddings and names of its own.

import type { Family } from './family.js';
import { unrotated } from './fixed.js';
import { bertSizes } from './bert.js';
import { named } from './locate.js';

export const biogpt: Family = {
  types: ['biogpt'],
  traits: {},
  hub: {
    names: {
      ...{ layers: 'layers.', prefix: 'biogpt.', firstPosition: 2 },
      modules: named(
        'embed_tokens layer_norm output_projection self_attn_layer_norm ' +
          'self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj ' +
          'final_layer_norm fc1 fc2 - - - - - embed_positions',
      ),
    },
    ...{ sizes: bertSizes, isTied: true, fixed: unrotated },
    more: (fields, { dModel }) =>
      fields.flag('scale_embedding', true) ? { config: { embeddingScale: Math.sqrt(dModel) } } : {},
  },
};
