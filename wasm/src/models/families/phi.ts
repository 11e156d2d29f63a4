// Phi-1, 1.5 and 2: both parts of a layer side by side after one norm, half of each head rotated, a bias of the head.

import type { Family } from './family.js';
import { all, biased } from './fixed.js';
import { fusedQkv, ggufModules } from './gguf-names.js';
import { llamaNames } from './llama.js';

const oneNorm = { norm2: 'attn_norm' };

export const phi: Family = {
  types: ['phi'],
  traits: {
    ...{ positions: 'rotary', parallelResidual: true, headBias: true, activation: 'gelu_tanh' },
  },
  hub: {
    names: {
      ...llamaNames,
      modules: {
        ...{ ...llamaNames.modules, norm: 'final_layernorm', norm2: 'input_layernorm' },
        ...{ o: 'self_attn.dense', up: 'mlp.fc1', down: 'mlp.fc2' },
      },
    },
    ...{ activation: ['hidden_act', 'gelu_new'], share: 0.5 },
    fixed: { ...biased, ...all('use_parallel_residual', true) },
  },
  gguf: {
    ...{ architecture: 'phi2', modules: oneNorm },
    // Older files have one map of q, k and v, newer ones three.
    more: (_fields, _sizes, { tensors }) =>
      tensors.has('blk.0.attn_qkv.weight')
        ? { names: { modules: { ...ggufModules, ...oneNorm, ...fusedQkv } } }
        : {},
  },
};
