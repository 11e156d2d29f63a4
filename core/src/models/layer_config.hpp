// What one layer of a model is, as data: filled once from a model's flat config, and read by everything that lists, runs or
// trains layers.
#pragma once

#include <optional>

#include "qkv/attention.hpp"
#include "qkv/language_model_config.hpp"

namespace qkv {

/// A norm over the width of a token.
struct NormConfig {
  NormType type = NormType::kLayer;
  float epsilon = 1e-5F;
  bool beta = true;  ///< it adds beta after the factors gamma
};

/// Where a sub-layer f has norms. The stream x becomes sum(x + output(f(input(x)))), each of the three a norm or nothing.
struct NormPlaces {
  bool input = true;
  bool attention_input = true;  ///< the same of attention
  bool output = false;
  bool sum = false;
};

/// The attention of a layer.
struct LayerAttention {
  Index num_heads = 0, num_kv_heads = 0, d_k = 0;
  bool causal = true;
  Index window = -1;                    ///< AttentionOptions::window_left
  Index window_right = -1;              ///< AttentionOptions::window_right
  std::optional<float> scale;           ///< AttentionOptions::scale
  float softcap = 0.0F;                 ///< AttentionOptions::softcap
  bool alibi = false;                   ///< scores fall with distance, by alibi_slopes()
  Index rotation = 0;                   ///< of which number among the model's; 0 for none
  std::optional<RotaryOptions> rotary;  ///< how queries and keys are rotated
  bool qk_norm = false;                 ///< q and k are normalised
  QkNorm qk_norm_of = QkNorm::kHead;    ///< over what
  bool qkv_biases = true;               ///< of the maps to q, k and v

  [[nodiscard]] Index q_width() const noexcept { return detail::saturated_product(num_heads, d_k); }
  [[nodiscard]] Index kv_width() const noexcept {
    return detail::saturated_product(num_kv_heads, d_k);
  }
  /// Numbers that one norm of q or k is over, of `heads` heads.
  [[nodiscard]] Index norm_width(Index heads) const noexcept {
    return qk_norm_of == QkNorm::kWhole ? detail::saturated_product(heads, d_k) : d_k;
  }
};

/// One layer: attention, cross-attention where there is an encoder, then a feed-forward layer.
struct LayerConfig {
  Index d_model = 0;
  Index d_feed_forward = 0;  ///< 0: there is no feed-forward layer
  Index num_experts = 0;     ///< feed-forward layers, of which a router chooses; 0: there is one
  ModelActivation activation = ModelActivation::kGelu;
  bool biases = true;     ///< of the maps but those to q, k and v
  bool crosses = false;   ///< it has cross-attention
  bool parallel = false;  ///< the feed-forward layer reads what attention reads, not its sum
  NormConfig norm;        ///< of all norms of the layer
  NormPlaces norms;
  LayerAttention attention;
};

/// The norms of a model. `config` as check_model_config() left it.
[[nodiscard]] NormConfig norm_config(const LanguageModelConfig& config) noexcept;

/// Layer n of a model. `config` as check_model_config() left it.
[[nodiscard]] LayerConfig layer_config(const LanguageModelConfig& config, Index n) noexcept;

/// The encoder of a model that has one, as a model of its own. `config` as check_model_config() left it.
[[nodiscard]] LanguageModelConfig encoder_config(const LanguageModelConfig& config) noexcept;

/// The options of a layer's attention that do not depend on the tokens. Key lengths, slopes and offsets do.
[[nodiscard]] AttentionOptions attention_options(const LayerAttention& attention) noexcept;

}  // namespace qkv
