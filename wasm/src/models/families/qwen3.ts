// Qwen 3: Llama with norms of q and k.

import type { Family } from './family.js';
import { llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';
import { qwenSlides } from './qwen2.js';

export const qwen3: Family = {
  types: ['qwen3'],
  traits: { ...rms, qkNorm: true },
  hub: { names: llamaNames, fixed: llamaFixed, slides: qwenSlides },
  gguf: { architecture: 'qwen3' },
};
