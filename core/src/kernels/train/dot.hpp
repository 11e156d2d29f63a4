// Products of two rows.
#pragma once

#include "kernels/tail.hpp"

namespace qkv::kernels {

/// sum of a_i b_i, n terms.
template <class Isa>
inline float dot(const float* a, const float* b, Index n) noexcept {
  using V = Vec<Isa>;
  V sum(0.0F);
  visit<Isa>(a, n, 0.0F,
             [&](Index i, V some) { sum = madd<Isa>(some, load_within<Isa>(b, i, n), sum); });
  return sum_lanes<Isa>(sum);
}

}  // namespace qkv::kernels
