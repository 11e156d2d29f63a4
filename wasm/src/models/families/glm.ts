// GLM (GLM-Edge): Llama that turns neighbours in half of each head, with gate and up in one map.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';

const [gate, bias] = ['mlp.gate_up_proj', 'attention_bias'] as const;

export const glm: Family = {
  types: ['glm'],
  traits: { ...rms, rotary: { interleaved: true } },
  hub: {
    names: { ...llamaNames, modules: { ...llamaNames.modules, gate, up: gate } },
    ...{ share: 0.5, fixed: { ...llamaFixed, ...all(bias, true, false) } },
    more: (fields) => ({ config: { qkvBiases: fields.flag(bias, false) } }),
  },
};
