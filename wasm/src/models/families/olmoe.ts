// OLMoE: Llama with norms of q and k over all heads together, and experts.

import { expertNames, ggufExpertKeys, ggufExpertsOf, hubExperts } from './experts.js';
import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';

const [count, used, norm] = ['num_experts', 'num_experts_per_tok', 'norm_topk_prob'] as const;

export const olmoe: Family = {
  types: ['olmoe'],
  traits: { ...rms, qkNorm: true, qkNormOf: 'whole' },
  hub: {
    names: { ...llamaNames, modules: { ...llamaNames.modules, ...expertNames } },
    fixed: { ...llamaFixed, ...all('clip_qkv') },
    obeyed: `${count} ${used} ${norm}`,
    more: (fields) => ({ config: hubExperts(fields, count, fields.flag(norm, false)) }),
  },
  gguf: {
    ...{ architecture: 'olmoe', keys: ggufExpertKeys },
    more: (fields) => ggufExpertsOf(fields, false),
  },
};
