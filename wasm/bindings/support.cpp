#include "support.hpp"

#include <cstring>

namespace qkv::wasm {

Workspace& scratch() noexcept {
  static Workspace workspace;
  return workspace;
}

Address& made() noexcept {
  static Address address;
  return address;
}

const char* caller_name(const char* own) noexcept {
  for (const CallerName& name : kCallerNames) {
    if (std::strcmp(name.own, own) == 0) {
      return name.caller;
    }
  }
  return own;
}

RotaryOptions rotary_options(const RotaryFields& given) noexcept {
  return {.offset = given.offset,
          .positions = given.positions,
          .base = given.base,
          .rotary_dim = given.rotary_dim,
          .interleaved = given.interleaved,
          .scaling = {.type = given.scaling,
                      .factor = given.factor,
                      .original_length = given.original_length,
                      .beta_fast = given.beta_fast,
                      .beta_slow = given.beta_slow,
                      .attention_factor = given.attention_factor.get()},
          .cos = given.cos,
          .sin = given.sin};
}

}  // namespace qkv::wasm
