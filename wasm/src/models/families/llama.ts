// Llama, and what all models after it share.

import type { Fields } from '../fields.js';
import type { Family, More } from './family.js';
import { all, type Fixed, llamaFixed } from './fixed.js';
import { ggufBiases } from './gguf-names.js';
import { named, type Names } from './locate.js';

export const rms = { normType: 'rms', positions: 'rotary' } as const;

export const llamaNames: Names = {
  ...{ layers: 'layers.', prefix: 'model.', ignored: /\.rotary_emb\.inv_freq$/ },
  modules: named(
    'embed_tokens norm lm_head input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj ' +
      'post_attention_layernorm mlp.up_proj mlp.down_proj mlp.gate_proj self_attn.q_norm self_attn.k_norm',
  ),
};

const isOn = (fields: Fields, field: string): boolean =>
  !fields.isEmpty(field) && fields.flag(field);

export const llamaBiases = (fields: Fields): More =>
  biasesOf(isOn(fields, 'attention_bias'), isOn(fields, 'mlp_bias'));
/** Biases of the maps of attention, of the feed-forward part, or of both; those of the others are zeros. */
export function biasesOf(attention: boolean, mlp: boolean): More {
  if (!attention && !mlp) return {};
  const constants = attention ? /^(up|gate|down)\.bias$/ : /^[qkvo]\.bias$/;
  return { config: { biases: true }, ...(attention !== mlp && { names: { constants } }) };
}
/** Both flags are obeyed. */
export const llamaBiased: Fixed = all('attention_bias mlp_bias', true, false);

export const llama: Family = {
  types: ['llama'],
  traits: rms,
  hub: {
    names: llamaNames,
    fixed: { ...llamaFixed, ...llamaBiased },
    more: llamaBiases,
  },
  // The converter turns the rows of q and k so that the pairs of the rotation lie side by side. Windows are those of Mistral.
  gguf: {
    ...{ architecture: 'llama', isInterleaved: true, slides: () => true },
    more: (_fields, _sizes, file) => ggufBiases(file),
  },
};
