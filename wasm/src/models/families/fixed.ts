// Fields of config.json that change what is computed in a way that nothing here knows, with the values at which they do not: of
// every family here, and of their relatives in transformers. A file in which one of them says something else is refused by its
// name. wasm/docs/model-files.md has all fields.

import { words } from './sizes.js';

/** By the name of a field; none for one that must not be there. */
export type Fixed = Readonly<Record<string, readonly unknown[]>>;

export const all = (text: string, ...values: readonly unknown[]): Fixed =>
  Object.fromEntries(words(text).map((name) => [name, values]));

/** Of every family. Null, an empty list and an empty object say as much as no field, and are always right. */
export const common: Fixed = {
  ...all('is_encoder_decoder tie_encoder_decoder add_cross_attention use_bidirectional_attention', false),
  ...all('rope_interleaved use_mrope use_logn_attn use_dynamic_ntk alibi use_alibi parallel_attn', false),
  ...all('multi_query new_decoder_architecture lm_head_bias bias qkv_bias o_bias use_qk_norm qk_norm qk_layernorm', false),
  ...all('attn_temperature_tuning', false),
  ...all('residual_multiplier embedding_multiplier logits_scaling logit_scale scale_emb rope_ratio', 1),
  ...all('num_experts num_local_experts n_routed_experts n_shared_experts num_nextn_predict_layers', 0),
  ...all(
    'pruned_heads per_layer_config cross_attention_hidden_size attention_multiplier scale_depth dim_model_base ' +
      'q_lora_rank kv_lora_rank attention_chunk_size clip_qkv rope_local_base_freq no_rope_layers no_rope_layer_interval ' +
      'dual_chunk_attention_config sliding_window_pattern rotary_dim',
  ),
}; // oxfmt-ignore

/** Of rotations. */
const rotary =
  'rope_theta rope_parameters rope_scaling partial_rotary_factor rotary_pct rotary_emb_base';
/** Of scores and logits. */
export const caps = all('query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping');
export const unbiased: Fixed = all('attention_bias mlp_bias use_parallel_residual', false);
/** Of models as Llama: maps without biases. */
export const llamaFixed: Fixed = { ...caps, ...unbiased };
export const slides: Fixed = all('use_sliding_window', true);
/** Of models as GPT-2: maps with biases. */
export const biased: Fixed = { ...caps, ...all('bias qkv_bias attention_bias mlp_bias', true) };
/** And without a rotation. */
export const unrotated: Fixed = {
  ...{ ...biased, ...all(rotary) },
  ...all('use_parallel_residual', false),
};
