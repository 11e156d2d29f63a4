// Nemotron and Minitron: Llama with layer norms, gains kept less 1, and a squared ReLU without a gate.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames } from './llama.js';

const constants = /^(q|k|v|o|up|down)\.bias$/;

export const nemotron: Family = {
  types: ['nemotron'],
  traits: { positions: 'rotary', activation: 'relu2' },
  hub: {
    names: { ...llamaNames, isLessOne: true, constants },
    ...{ epsilon: 'norm_eps', share: 0.5, fixed: { ...llamaFixed, ...all('hidden_act', 'relu2') } },
  },
  // The converter has added the 1.
  gguf: { architecture: 'nemotron', more: () => ({ names: { constants } }) },
};
