// The names of arrays in GGUF, which the converter writes alike for most families.

import type { ModelFile } from '../file.js';
import type { More } from './family.js';
import { named, type Names } from './locate.js';

export const ggufModules = named(
  'token_embd output_norm output attn_norm attn_q attn_k attn_v attn_output ffn_norm ffn_up ffn_down ffn_gate ' +
    'attn_q_norm attn_k_norm post_attention_norm post_ffw_norm position_embd token_types token_embd_norm',
);
/** Where experts are. */
export const ggufExperts: Names['modules'] = {
  ...{ router: 'ffn_gate_inp', up: 'ffn_up_exps', gate: 'ffn_gate_exps', down: 'ffn_down_exps' },
};
/** Where q, k and v are one map. */
export const fusedQkv: Names['modules'] = { q: 'attn_qkv', k: 'attn_qkv', v: 'attn_qkv' };

const maps = ['q', 'k', 'v', 'o', 'up', 'gate', 'down'] as const;
/** Biases of the maps that have one in the first layer, where a family has them or not; those of the others are zeros. */
export function ggufBiases({ tensors }: ModelFile): More {
  const isBiased = (map: (typeof maps)[number]): boolean =>
    tensors.has(`blk.0.${ggufModules[map] ?? ''}.bias`);
  const others = maps.filter((map) => !isBiased(map));
  if (others.length === maps.length) return {};
  const constants = new RegExp(`^(${others.join('|')})\\.bias$`);
  return { config: { biases: true }, ...(others.length > 0 && { names: { constants } }) };
}
