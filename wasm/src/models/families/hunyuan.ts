// Hunyuan, the dense one: Llama with norms of q and k after the rotation.

import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';

export const hunyuan: Family = {
  types: ['hunyuan_v1_dense'],
  traits: { ...rms, qkNorm: true, qkNormOf: 'rotated' },
  hub: {
    names: {
      ...llamaNames,
      modules: {
        ...llamaNames.modules,
        ...{ qNorm: 'self_attn.query_layernorm', kNorm: 'self_attn.key_layernorm' },
      },
    },
    scalings: ['dynamic'],
    fixed: {
      ...{ ...llamaFixed, ...all('use_qk_norm', true), ...all('use_cla', false) },
      ...all('num_experts', 0, 1),
    },
  },
  gguf: { architecture: 'hunyuan-dense' },
};
