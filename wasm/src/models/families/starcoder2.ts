// StarCoder 2: Llama with layer norms, biases, and no gate.

import type { Family } from './family.js';
import { all, biased, slides } from './fixed.js';
import { llamaNames } from './llama.js';

export const starcoder2: Family = {
  types: ['starcoder2'],
  traits: { positions: 'rotary', activation: 'gelu_tanh' },
  hub: {
    names: {
      ...llamaNames,
      modules: { ...llamaNames.modules, up: 'mlp.c_fc', down: 'mlp.c_proj' },
    },
    ...{ epsilon: 'norm_epsilon', activation: ['hidden_act', 'gelu_pytorch_tanh'], isTied: true },
    slides: (fields) => (fields.has('sliding_window') ? () => true : undefined),
    fixed: {
      ...{ ...biased, ...slides, ...all('use_parallel_residual', false) },
      ...{ ...all('norm_type', 'layer_norm'), ...all('mlp_type', 'default') },
    },
    more: (fields) =>
      fields.flag('use_bias', true) ? {} : { names: { constants: /^(q|k|v|o|up|down)\.bias$/ } },
  },
  gguf: { architecture: 'starcoder2' },
};
