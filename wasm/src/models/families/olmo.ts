// OLMo, the first: Llama whose layer norms have neither gains nor biases.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames } from './llama.js';

const unbiased = /^norm|\.bias$/;

export const olmo: Family = {
  types: ['olmo'],
  traits: { positions: 'rotary', activation: 'swiglu', epsilon: 1e-5 },
  hub: {
    names: { ...llamaNames, constants: unbiased },
    activation: ['hidden_act', 'silu'],
    fixed: { ...llamaFixed, ...all('attention_bias', true, false) },
    more: (fields) =>
      fields.flag('attention_bias', false)
        ? { names: { constants: /^norm|^(up|gate|down)\.bias$/ } }
        : {},
  },
  gguf: {
    ...{ architecture: 'olmo', isInterleaved: true },
    more: () => ({ names: { constants: unbiased } }),
  },
};
