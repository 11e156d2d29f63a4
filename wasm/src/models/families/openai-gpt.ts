// GPT, the first: GPT-2 with norms after its parts.

import type { Family } from './family.js';
import { all, unrotated } from './fixed.js';
import { gpt2Fields } from './gpt2.js';
import { named } from './locate.js';

/** Its word for the approximation is that of the other. */
const activations = { gelu: 'gelu_tanh', relu: 'relu', silu: 'silu', swish: 'silu' } as const;

export const openaiGpt: Family = {
  types: ['openai-gpt'],
  traits: { norm: 'post', activation: 'gelu_tanh' },
  hub: {
    ...{ sizes: gpt2Fields.sizes, epsilon: gpt2Fields.epsilon, isFourfold: true, isTied: true },
    names: {
      ...{ layers: 'h.', prefix: 'transformer.', layout: 'in_out' },
      modules: named(
        'tokens_embed - lm_head ln_1 attn.c_attn attn.c_attn attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj - - - - - positions_embed',
      ),
      ignored: /^position_ids$|\.attn\.bias$/,
    },
    fixed: { ...unrotated, ...all('hidden_act activation_function') },
    more: (fields) => ({ config: { activation: fields.choice('afn', activations, 'gelu') } }),
  },
};
