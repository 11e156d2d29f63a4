// Mistral, whose files of GGUF are those of Llama.

import type { Family } from './family.js';
import { llamaFixed, slides } from './fixed.js';
import { llamaNames, rms } from './llama.js';

export const mistral: Family = {
  types: ['mistral'],
  traits: rms,
  hub: { names: llamaNames, fixed: { ...llamaFixed, ...slides }, slides: () => () => true },
};
