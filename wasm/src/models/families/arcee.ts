// Arcee's AFM: Llama with a squared ReLU and no gate.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';

export const arcee: Family = {
  types: ['arcee'],
  traits: { ...rms, activation: 'relu2' },
  hub: { names: llamaNames, fixed: { ...llamaFixed, ...all('hidden_act', 'relu2') } },
  gguf: { architecture: 'arcee', isInterleaved: true },
};
