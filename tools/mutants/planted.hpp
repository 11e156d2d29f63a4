// In a copy of the tree with planted faults, each is a choice between the source as it is and the fault:
// qkv_planted::acts(7) ? fault : source. The environment variable QKV_FAULT is the number of the one that acts. A WebAssembly module
// has no environment, and one fault at a time.
#pragma once

#include <cstdlib>
#include <type_traits>

namespace qkv_planted {

#ifdef __EMSCRIPTEN__

constexpr bool acts(int /*number*/) noexcept { return true; }

#else

inline int number_from_environment() {
  const char* number = std::getenv("QKV_FAULT");
  return number ? std::atoi(number) : 0;
}

inline const int acting = number_from_environment();

constexpr bool acts(int number) noexcept {
  return !std::is_constant_evaluated() && acting == number;
}

#endif

}  // namespace qkv_planted
