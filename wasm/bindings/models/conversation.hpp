// The object behind a session of the package.
#pragma once

#include "qkv/language_model.hpp"
#include "qkv/sampling.hpp"

namespace qkv::wasm {

struct Conversation {
  ModelSession session;
  /// [V], of the token that is chosen next: no caller of generateToken() sees them.
  AlignedBuffer logits;
};

}  // namespace qkv::wasm
