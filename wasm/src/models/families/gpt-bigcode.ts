// GPT-BigCode (StarCoder, SantaCoder): GPT-2 with one head of keys, and maps the other way round.

import type { Family } from './family.js';
import { all } from './fixed.js';
import { fusedQkv } from './gguf-names.js';
import { gpt2Fields, gpt2Fixed, gpt2Names } from './gpt2.js';

export const gptBigcode: Family = {
  types: ['gpt_bigcode'],
  traits: { activation: 'gelu_tanh' },
  hub: {
    ...gpt2Fields,
    names: { ...gpt2Names, isByHead: true },
    activation: ['activation_function', 'gelu_pytorch_tanh'],
    fixed: { ...gpt2Fixed, ...all('multi_query', true, false) },
    more: (fields) => ({ config: fields.flag('multi_query', true) ? { numKvHeads: 1 } : {} }),
  },
  gguf: { architecture: 'starcoder', modules: fusedQkv },
};
