// Phi-3 and Phi-4 of the short context: Llama with q, k and v in one map, and gate and up in another.

import type { Family } from './family.js';
import { all, llamaFixed, slides } from './fixed.js';
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
    // Its scalings, whatever their name, have a factor for each pair.
    fixed: { ...llamaFixed, ...slides, ...all('rope_scaling') },
    more: (fields) => {
      fields.part('rope_parameters')?.only('rope_type', 'default');
      return {};
    },
  },
  gguf: {
    ...{ architecture: 'phi3', slides: () => true },
    modules: { ...fusedQkv, gate: up, up },
  },
};
