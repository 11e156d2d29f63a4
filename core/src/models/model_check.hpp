// Checks of what models are given, whether they are trained or only run: their configs, and the tokens that they read.
#pragma once

#include "base/message.hpp"
#include "qkv/activation.hpp"
#include "qkv/language_model_config.hpp"

namespace qkv {

/// Logits of a row.
[[nodiscard]] constexpr Index head_outputs(const LanguageModelConfig& c) noexcept {
  return c.classes > 0 ? c.classes : c.vocabulary;
}
/// Whether logits are those of tokens that may follow: the stream times one map.
[[nodiscard]] constexpr bool has_plain_head(const LanguageModelConfig& c) noexcept {
  return c.classes == 0 && c.head_transform == HeadTransform::kNone &&
         c.head_pooling == HeadPooling::kNone;
}

/// The activation of a head that has one: the values of HeadTransform are those of Activation, after kNone and before kTanh.
[[nodiscard]] constexpr Activation head_activation(HeadTransform transform) noexcept {
  constexpr auto kSame = [](HeadTransform a, Activation b) {
    return static_cast<int>(a) == static_cast<int>(b) + 1;
  };
  static_assert(kSame(HeadTransform::kRelu, Activation::kRelu) &&
                kSame(HeadTransform::kGelu, Activation::kGelu) &&
                kSame(HeadTransform::kGeluTanh, Activation::kGeluTanh) &&
                kSame(HeadTransform::kSilu, Activation::kSilu));
  return static_cast<Activation>(static_cast<int>(transform) - 1);
}

/// Whether an activation has a gate: those between the first four and the last.
[[nodiscard]] constexpr bool is_gated(ModelActivation activation) noexcept {
  static_assert(ModelActivation::kSwiglu > ModelActivation::kSilu &&
                ModelActivation::kGeglu > ModelActivation::kSwiglu &&
                ModelActivation::kGegluTanh > ModelActivation::kSwiglu &&
                ModelActivation::kRelu2 > ModelActivation::kGegluTanh);
  return activation >= ModelActivation::kSwiglu && activation < ModelActivation::kRelu2;
}

/// Most tokens of a row: at least 1, and a position at most.
Status check_max_length(const Caller& caller, Index max_length) noexcept;

/// Layers of a model: at least 1, and no more than make a list of arrays that can be gone through.
Status check_layers(const Caller& caller, Index num_layers) noexcept;

/// The config of a language model with every size filled in, or why there is no such model.
Status check_model_config(const Caller& caller, LanguageModelConfig& config) noexcept;

/// What tokens are held to.
struct TokenLimits {
  Index vocabulary, max_length;
};

/// Rows of tokens: [B, T] with both at least 1, T at most max_length, every token one of the vocabulary.
Status check_tokens(const Caller& caller, const char* name,
                    const TensorView<const std::int32_t>& ids, const TokenLimits& limits) noexcept;

/// A type for each token of ids, in a model that has some; may be absent.
Status check_types(const Caller& caller, const LanguageModelConfig& config,
                   const TensorView<const std::int32_t>& types,
                   const TensorView<const std::int32_t>& ids) noexcept;

/// One length for each row of ids, 0 to T; may be absent.
Status check_lengths(const Caller& caller, const char* name,
                     const TensorView<const std::int32_t>& lengths,
                     const TensorView<const std::int32_t>& ids) noexcept;

}  // namespace qkv
