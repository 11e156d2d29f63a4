// ERNIE 4.5, the dense one: Llama whose rotation turns neighbours.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';

export const ernie4_5: Family = {
  types: ['ernie4_5'],
  traits: { ...rms, rotary: { interleaved: true } },
  hub: {
    ...{ names: llamaNames, isTied: true },
    fixed: { ...llamaFixed, ...all('compression_ratio', 1) },
    more: (fields) => ({ config: fields.flag('use_bias', false) ? { biases: true } : {} }),
  },
  gguf: { architecture: 'ernie4_5' },
};
