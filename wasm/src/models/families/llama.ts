// Llama, and what all models after it share.

import type { Fields } from '../fields.js';
import type { Family, More } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { named, type Names } from './locate.js';

export const rms = { normType: 'rms', positions: 'rotary' } as const;

export const llamaNames: Names = {
  ...{ layers: 'layers.', prefix: 'model.', ignored: /\.rotary_emb\.inv_freq$/ },
  modules: named(
    'embed_tokens norm lm_head input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj ' +
      'post_attention_layernorm mlp.up_proj mlp.down_proj mlp.gate_proj self_attn.q_norm self_attn.k_norm',
  ),
};

/** Biases of all maps, or of none. */
function biases(fields: Fields): More {
  const [attention, mlp] = ['attention_bias', 'mlp_bias'].map((name) => fields.flag(name, false));
  if (attention !== mlp) fields.only(attention ? 'attention_bias' : 'mlp_bias', false);
  return attention ? { config: { biases: true } } : {};
}

export const llama: Family = {
  types: ['llama'],
  traits: rms,
  hub: {
    names: llamaNames,
    fixed: { ...llamaFixed, ...all('attention_bias mlp_bias', true, false) },
    more: biases,
  },
  // The converter turns the rows of q and k so that the pairs of the rotation lie side by side. Windows are those of Mistral.
  gguf: { architecture: 'llama', isInterleaved: true, slides: () => true },
};
