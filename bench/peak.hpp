// How fast a core multiplies and adds when nothing else is in the way: the roof every kernel is held
// against. Compiled once for each instruction set, with its flags and its madd().
#pragma once

#include "kernels/simd.hpp"

namespace qkv::bench {

using kernels::Index;

/// Independent sums: enough to hide the latency of two pipelines of four or five cycles, few enough
/// for 16 registers.
inline constexpr int kChains = 12;

/// `steps` times kChains madds in registers. Returns something that depends on all of them.
template <class Isa>
float peak_madd(Index steps) noexcept {
  using V = kernels::Vec<Isa>;
  const V factor(0.999999F);
  const V term(1e-6F);
  V sums[kChains];
  for (int i = 0; i < kChains; ++i) {
    sums[i] = V(static_cast<float>(i));
  }
  for (Index step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) {
      sums[i] = kernels::madd<Isa>(sums[i], factor, term);
    }
  }
  V total(0.0F);
  for (int i = 0; i < kChains; ++i) {
    total = total + sums[i];
  }
  return kernels::sum_lanes<Isa>(total);
}

}  // namespace qkv::bench
