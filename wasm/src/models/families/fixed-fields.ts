// Fields that change what is computed in a way that nothing here knows, with the values at which they do not. They are
// fields of config.json, of the family itself or of its relatives in transformers, and of the metadata of GGUF, as llama.cpp reads
// it. A file in which one of them says something else is refused by its name. wasm/docs/model-files.md has all fields.

type Fixed = Readonly<Record<string, readonly unknown[]>>;

const words = (text: string): string[] => text.split(' ');
const all = (text: string, ...values: readonly unknown[]): Fixed =>
  Object.fromEntries(words(text).map((name) => [name, values]));

/** Of every family. Null, an empty list and an empty object say as much as no field, and are always right. */
const common: Fixed = {
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
}; // prettier-ignore

const rotary =
  'rope_theta rope_parameters rope_scaling partial_rotary_factor rotary_pct rotary_emb_base';
const caps = 'query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping';
const unbiased: Fixed = all('attention_bias mlp_bias use_parallel_residual', false);
const fixed: Fixed = { ...all(caps), ...unbiased };
const gemma: Fixed = { ...unbiased, ...all('hidden_act', 'gelu', 'gelu_pytorch_tanh') };
const slides: Fixed = all('use_sliding_window', true);
/** Their maps have biases; those of GPT-2 and BERT no rotation. */
const biased = { ...all(caps), ...all('bias qkv_bias attention_bias mlp_bias', true) };
const unrotated: Fixed = { ...biased, ...all(rotary), ...all('use_parallel_residual', false) };

const families: Readonly<Record<string, Fixed>> = {
  ...{ mistral: { ...fixed, ...slides }, qwen3: fixed },
  ...{ gemma: { ...all(caps), ...gemma }, gemma2: { ...gemma, ...slides } },
  // Its two kinds of biases are there together or not at all, see configs.ts.
  llama: { ...fixed, ...all('attention_bias mlp_bias', true, false) },
  // Its maps of q, k and v have biases whatever these say.
  qwen2: { ...fixed, ...all('attention_bias qkv_bias', true, false) },
  gpt2: {
    ...unrotated,
    ...all('scale_attn_weights', true),
    ...all('scale_attn_by_inverse_layer_idx', false),
    ...all('hidden_act'),
  },
  gpt_neox: biased,
  bert: {
    ...unrotated,
    ...all('is_decoder is_causal', false),
    ...all('position_embedding_type', 'absolute'),
    ...all('directionality', 'bidi'),
  },
};

/** Of config.json. */
export const hubFixed = (family: string): Fixed => ({ ...common, ...families[family] });

/** Of the metadata of GGUF below the architecture: what is read, or nothing hangs on. */
const known = words(
  'block_count embedding_length feed_forward_length context_length vocab_size use_parallel_residual pooling_type ' +
    'attn_logit_softcapping final_logit_softcapping attention.head_count attention.head_count_kv attention.key_length ' +
    'attention.value_length attention.layer_norm_epsilon attention.layer_norm_rms_epsilon attention.causal ' +
    'attention.sliding_window attention.sliding_window_pattern rope.dimension_count rope.freq_base rope.scale_linear ' +
    'rope.scaling.type rope.scaling.factor rope.scaling.attn_factor rope.scaling.original_context_length ' +
    'rope.scaling.yarn_beta_fast rope.scaling.yarn_beta_slow rope.scaling.yarn_ext_factor rope.scaling.finetuned ' +
    'tensor_data_layout classifier.output_labels',
);
/** Others of which one value is known. */
const ggufValues: Fixed = {
  ...all('expert_count expert_used_count expert_shared_count expert_group_count expert_group_used_count', 0),
  ...all('leading_dense_block_count nextn_predict_layers attention.max_alibi_bias attention.clamp_kqv', 0),
  ...all('attention.scale logit_scale residual_scale embedding_scale rope.scaling.yarn_log_multiplier', 0),
}; // prettier-ignore

/** The values of a field of GGUF with which a file can be read; undefined for one that is known. */
export const ggufFixed = (field: string): readonly unknown[] | undefined =>
  known.includes(field) ? undefined : (ggufValues[field] ?? []);
