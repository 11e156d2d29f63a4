// Qwen 1.5, 2 and 2.5: Llama with biases of q, k and v, and windows from one layer on.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';
import type { Slides } from './windows.js';

/** By the defaults of transformers, whose files leave defaults out. */
export const qwenSlides: Slides = (fields) => {
  if (!fields.flag('use_sliding_window', false)) return undefined;
  const first = fields.count('max_window_layers', 28, 0);
  return (layer) => layer >= first;
};

export const qwen2: Family = {
  types: ['qwen2'],
  traits: { ...rms, qkvBiases: true },
  hub: {
    names: llamaNames,
    // Its maps of q, k and v have biases whatever these say.
    fixed: { ...llamaFixed, ...all('attention_bias qkv_bias', true, false) },
    slides: qwenSlides,
  },
  gguf: { architecture: 'qwen2' },
};
