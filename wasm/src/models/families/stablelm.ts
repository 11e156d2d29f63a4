// StableLM, but the 12B: Llama with layer norms.

import type { Family } from './family.js';
import { llamaFixed } from './fixed.js';
import { llamaNames } from './llama.js';
import type { Names } from './locate.js';

/** Norms have biases, and maps have none, but q, k and v may. */
const names = (hasQkv: boolean): Partial<Names> => ({
  constants: hasQkv ? /^(o|up|gate|down)\.bias$/ : /^(q|k|v|o|up|gate|down)\.bias$/,
});

export const stablelm: Family = {
  types: ['stablelm'],
  traits: { positions: 'rotary', activation: 'swiglu' },
  hub: {
    ...{ names: llamaNames, activation: ['hidden_act', 'silu'], share: 0.25 },
    fixed: llamaFixed,
    more: (fields) => ({ names: names(fields.flag('use_qkv_bias', false)) }),
  },
  gguf: {
    architecture: 'stablelm',
    // llama.cpp does not read it: there a model is parallel if it has no second norm.
    keys: 'use_parallel_residual',
    more: (_fields, _sizes, { tensors }) => ({ names: names(tensors.has('blk.0.attn_q.bias')) }),
  },
};
