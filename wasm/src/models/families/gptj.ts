// GPT-J: both parts of a layer side by side after one norm, neighbours turned, a bias of the head.

import { refuse } from '../errors.js';
import type { Family } from './family.js';
import { all, unrotated } from './fixed.js';
import { gpt2Fields } from './gpt2.js';
import { named } from './locate.js';

const turned = { base: 10_000, interleaved: true };

export const gptj: Family = {
  types: ['gptj'],
  traits: {
    ...{ positions: 'rotary', parallelResidual: true, headBias: true },
    rotary: turned,
  },
  hub: {
    ...{ ...gpt2Fields, activation: ['activation_function', 'gelu_new'], isTied: false },
    names: {
      ...{ layers: 'h.', prefix: 'transformer.', constants: /^[qkvo]\.bias$/ },
      modules: named(
        'wte ln_f lm_head ln_1 attn.q_proj attn.k_proj attn.v_proj attn.out_proj ln_1 mlp.fc_in mlp.fc_out',
      ),
      ignored: /\.attn\.(masked_)?bias$/,
    },
    fixed: {
      ...{ ...unrotated, ...all('use_parallel_residual', true), ...all('hidden_act') },
      ...all('scale_attn_weights', true),
    },
    obeyed: 'rotary_dim',
    more: (fields) => {
      const rotaryDim = fields.isNull('rotary_dim') ? undefined : fields.count('rotary_dim', 64);
      if (rotaryDim === undefined) refuse(`${fields.pathOf('rotary_dim')} is null`, 'a number');
      return { config: { rotary: { ...turned, rotaryDim } } };
    },
  },
};
