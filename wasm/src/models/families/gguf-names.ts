// The names of arrays in GGUF, which the converter writes alike for most families.

import { named, type Names } from './locate.js';

export const ggufModules = named(
  'token_embd output_norm output attn_norm attn_q attn_k attn_v attn_output ffn_norm ffn_up ffn_down ffn_gate ' +
    'attn_q_norm attn_k_norm post_attention_norm post_ffw_norm position_embd token_types token_embd_norm',
);
/** Where q, k and v are one map. */
export const fusedQkv: Names['modules'] = { q: 'attn_qkv', k: 'attn_qkv', v: 'attn_qkv' };
