// Qwen 3 with experts in every layer.

import { expertNames, ggufExpertKeys, ggufExpertsOf, hubExperts } from './experts.js';
import type { Family } from './family.js';
import { all, llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';
import { qwenSlides } from './qwen2.js';

const [count, used, norm] = ['num_experts', 'num_experts_per_tok', 'norm_topk_prob'] as const;

export const qwen3Moe: Family = {
  types: ['qwen3_moe'],
  traits: { ...rms, qkNorm: true },
  hub: {
    names: { ...llamaNames, modules: { ...llamaNames.modules, ...expertNames } },
    sizes:
      'num_hidden_layers hidden_size num_attention_heads moe_intermediate_size max_position_embeddings num_key_value_heads head_dim',
    fixed: { ...llamaFixed, ...all('mlp_only_layers'), ...all('decoder_sparse_step', 1) },
    ...{ obeyed: `${count} ${used} ${norm}`, slides: qwenSlides },
    more: (fields) => ({ config: hubExperts(fields, count, fields.flag(norm, false)) }),
  },
  gguf: {
    ...{ architecture: 'qwen3moe', keys: ggufExpertKeys },
    more: (fields) => ggufExpertsOf(fields, true),
  },
};
