// What a call of LanguageModel::forward() is checked for.
#pragma once

#include <cstddef>
#include <span>

#include "check/memory_check.hpp"
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

/// The arguments of a call, but for what its session must have in common with the model.
Status check_call(const LanguageModelConfig& config,
                  const LanguageModel::ForwardArgs& args) noexcept;

/// What readings write, spans_of(reading), lies apart from each other, from results and from inputs; and results do from
/// inputs.
template <class Reading, class Spans, class Results, class Inputs>
Status check_readings_apart(const Caller& caller, std::span<const Reading> readings,
                            const Spans& spans_of, const Results& results,
                            const Inputs& inputs) noexcept {
  QKV_RETURN_IF_ERROR(check_apart(caller, results, inputs));
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto own = spans_of(readings[i]);
    QKV_RETURN_IF_ERROR(check_apart(caller, own, results));
    QKV_RETURN_IF_ERROR(check_apart(caller, own, inputs));
    for (const Reading& other : readings.subspan(i + 1)) {
      QKV_RETURN_IF_ERROR(check_apart(caller, own, spans_of(other)));
    }
  }
  return {};
}

}  // namespace qkv
