#include "models/layer_config.hpp"

namespace qkv {

NormConfig norm_config(const LanguageModelConfig& c) noexcept {
  return {.type = c.norm_type,
          .epsilon = c.epsilon,
          .beta = c.biases.value_or(false) && c.norm_type == NormType::kLayer};
}

LayerConfig layer_config(const LanguageModelConfig& c, Index n) noexcept {
  using enum NormPlacement;
  const bool pre = c.norm == kPre;
  LayerConfig layer;
  layer.d_model = c.d_model;
  layer.d_feed_forward = c.d_feed_forward;
  layer.num_experts = c.num_experts;
  layer.activation = c.activation;
  layer.biases = c.biases.value_or(false);
  layer.crosses = c.encoder_layers > 0;
  layer.parallel = c.parallel_residual;
  layer.norm = norm_config(c);
  layer.norms = {.input = pre,
                 .attention_input = pre && (c.first_norm || n > 0),
                 .output = c.post_norms || c.norm == kAfter,
                 .sum = c.norm == kPost};
  LayerAttention& a = layer.attention;
  a.num_heads = c.num_heads;
  a.num_kv_heads = c.num_kv_heads;
  a.d_k = c.d_k;
  a.causal = c.causal;
  a.window = c.windows.absent() ? c.window : c.windows.data[n];
  a.window_right = c.symmetric_window ? a.window : -1;
  a.scale = c.attention_scale;
  a.softcap = c.attention_softcap;
  a.alibi = c.positions == ModelPositions::kAlibi;
  if (c.positions == ModelPositions::kRotary) {
    a.rotation = c.rotations.absent() ? 1 : c.rotations.data[n];
  }
  if (a.rotation > 0) {
    a.rotary = a.rotation == 1 ? c.rotary : c.second_rotary;
  }
  a.qk_norm = c.qk_norm;
  a.qk_norm_of = c.qk_norm_of;
  a.qkv_biases = c.qkv_biases.value_or(false);
  return layer;
}

LanguageModelConfig encoder_config(const LanguageModelConfig& c) noexcept {
  LanguageModelConfig encoder = c;
  encoder.num_layers = c.encoder_layers;
  encoder.encoder_layers = 0;
  encoder.causal = encoder.head = encoder.tied_embeddings = encoder.head_bias = false;
  encoder.logit_softcap = 0.0F;
  return encoder;
}

AttentionOptions attention_options(const LayerAttention& a) noexcept {
  AttentionOptions options;
  options.scale = a.scale;
  options.softcap = a.softcap;
  options.causal = a.causal;
  options.window_left = a.window;
  options.window_right = a.window_right;
  return options;
}

}  // namespace qkv
