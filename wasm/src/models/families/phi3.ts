// Phi-3 and Phi-4: Llama with q, k and v in one map, and gate and up in another; those of the long context have a factor for each
// pair of the rotation.

import type { Family } from './family.js';
import { llamaFixed, slides } from './fixed.js';
import { fusedQkv } from './gguf-names.js';
import { llamaNames, rms } from './llama.js';

const qkv = 'self_attn.qkv_proj';
const [gate, up] = ['mlp.gate_up_proj', 'ffn_up'];

export const phi3: Family = {
  types: ['phi3'],
  traits: rms,
  hub: {
    classes: 'Phi3',
    names: {
      ...llamaNames,
      modules: { ...llamaNames.modules, q: qkv, k: qkv, v: qkv, gate, up: gate },
    },
    slides: (fields) => (fields.has('sliding_window') ? () => true : undefined),
    ...{ fixed: { ...llamaFixed, ...slides }, scalings: ['longrope', 'su'] },
  },
  gguf: {
    ...{ architecture: 'phi3', slides: () => true, hasFactors: true },
    modules: { ...fusedQkv, gate: up, up },
  },
};
