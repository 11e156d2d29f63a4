// EXAONE 3 and 3.5: Llama by the names of GPT-2.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { rms } from './llama.js';
import { named } from './locate.js';

export const exaone: Family = {
  types: ['exaone'],
  traits: rms,
  hub: {
    classes: 'Exaone',
    names: {
      ...{ layers: 'h.', prefix: 'transformer.', ignored: /\.inv_freq$/ },
      modules: named(
        'wte ln_f lm_head ln_1 attn.attention.q_proj attn.attention.k_proj attn.attention.v_proj attn.attention.out_proj ' +
          'ln_2 mlp.c_fc_1 mlp.c_proj mlp.c_fc_0',
      ),
    },
    sizes:
      'num_layers|num_hidden_layers hidden_size num_attention_heads intermediate_size max_position_embeddings ' +
      'num_key_value_heads head_dim',
    ...{ epsilon: 'layer_norm_epsilon', activation: ['activation_function', 'silu'], isTied: true },
    fixed: { ...llamaFixed, ...all('hidden_act') },
  },
  gguf: { architecture: 'exaone' },
};
