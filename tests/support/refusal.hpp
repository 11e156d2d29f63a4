// What a refused call must say.
#pragma once

#include <string>

#include "qkv/status.hpp"

namespace qkv::test {

inline constexpr auto kShapeError = StatusCode::kShapeMismatch;
inline constexpr auto kInvalid = StatusCode::kInvalidArgument;
inline constexpr auto kRange = StatusCode::kOutOfRange;

/// Parts of the one sentence: the argument, what it was and what was expected.
struct Refusal {
  StatusCode code;
  const char* argument;
  const char* was;
  const char* expected;
};

/// Asserts the code, and that the message names `function` first and then all parts of `refusal`.
void require_refused(const Status& status, const char* function, const Refusal& refusal);

}  // namespace qkv::test
