// GPT-2, whose maps are [in, out], with q, k and v side by side.

import type { Family } from './family.js';
import { all, type Fixed, unrotated } from './fixed.js';
import { fusedQkv } from './gguf-names.js';
import { named, type Names } from './locate.js';

export const gpt2Names: Names = {
  ...{ layers: 'h.', prefix: 'transformer.', ignored: /\.attn\.(masked_)?bias$/ },
  modules: named(
    'wte ln_f lm_head ln_1 attn.c_attn attn.c_attn attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj - - - - - wpe',
  ),
};
export const gpt2Fixed: Fixed = {
  ...{ ...unrotated, ...all('scale_attn_weights', true), ...all('hidden_act') },
  ...all('scale_attn_by_inverse_layer_idx', false),
};
/** Its fields for what all have. */
export const gpt2Fields = {
  ...{ sizes: 'n_layer n_embd n_head n_inner n_positions', isFourfold: true },
  ...{ epsilon: 'layer_norm_epsilon', activation: ['activation_function'] as const, isTied: true },
};

export const gpt2: Family = {
  types: ['gpt2'],
  traits: { activation: 'gelu_tanh' },
  hub: { ...gpt2Fields, names: { ...gpt2Names, layout: 'in_out' }, fixed: gpt2Fixed },
  gguf: { architecture: 'gpt2', modules: fusedQkv },
};
