// OLMo 2: Llama with norms after its parts alone, and norms of q and k over all heads together.

import type { Family, Hub } from './family.js';
import { llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';

/** Of norms after the parts alone. */
export const afterNames: Hub['names'] = {
  ...llamaNames,
  modules: {
    ...llamaNames.modules,
    ...{ postNorm1: 'post_attention_layernorm', postNorm2: 'post_feedforward_layernorm' },
  },
};

export const olmo2: Family = {
  types: ['olmo2'],
  traits: { ...rms, norm: 'after', qkNorm: true, qkNormOf: 'whole' },
  hub: { names: afterNames, fixed: llamaFixed },
  gguf: { architecture: 'olmo2' },
};
