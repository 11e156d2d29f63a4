// In a copy of the tree with planted faults, each is a choice between the source as it is and the fault:
// qkv_planted::acts(7) ? fault : source. The environment variable QKV_FAULT is the number of the one that acts.
#pragma once

#include <cstdlib>
#include <type_traits>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif

namespace qkv_planted {

inline int number_from_environment() {
#ifdef __EMSCRIPTEN__
  return EM_ASM_INT({ return Number(process.env.QKV_FAULT || 0); });
#else
  const char* number = std::getenv("QKV_FAULT");
  return number ? std::atoi(number) : 0;
#endif
}

inline const int acting = number_from_environment();

constexpr bool acts(int number) noexcept {
  return !std::is_constant_evaluated() && acting == number;
}

}  // namespace qkv_planted
