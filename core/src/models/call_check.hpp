// What a call of LanguageModel::forward() is checked for.
#pragma once

#include "base/message.hpp"
#include "qkv/language_model.hpp"

namespace qkv {

inline constexpr const char* kModelForward = "LanguageModel::forward";

/// Why a session and an encoder do not go together.
inline constexpr const char* kEncoder =
    "the model is an encoder, expected a model with @causal for a session: in an encoder earlier "
    "tokens attend to later ones";

/// What a call of a model without a model answers, or of one that is not filled.
Status refuse_empty(const Caller& caller, bool exists) noexcept;

/// What a call of a session without caches answers.
Status refuse_no_session(const Caller& caller) noexcept;

/// Refuses a model whose logits are not the stream times one map to the vocabulary.
Status check_plain_head(const Caller& caller, const LanguageModelConfig& config) noexcept;

/// The arguments of a call, but for what its session must have in common with the model.
Status check_call(const LanguageModelConfig& config,
                  const LanguageModel::ForwardArgs& args) noexcept;

}  // namespace qkv
