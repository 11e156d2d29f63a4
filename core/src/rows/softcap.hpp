// The softcap of logits, c tanh(x / c), and its slope, in double precision from the core's own exponential: models and trainers have
// the same bits, on every machine. That of attention scores is a kernel.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// x = c tanh(x / c) for n numbers: tanh(y) = 1 - 2 / (exp(2 y) + 1). NaN stays NaN.
inline void cap_numbers(float* x, Index n, double c) noexcept {
  for (Index i = 0; i < n; ++i) {
    if (x[i] == x[i]) {
      const double y = std::clamp(static_cast<double>(x[i]) / c, -30.0, 30.0);
      x[i] = static_cast<float>(c * (1.0 - 2.0 / (natural_power(2.0 * y) + 1.0)));
    }
  }
}

/// The slope of c tanh(x / c), which is 1 - tanh(y)^2 = 4 e / (1 + e)^2 with y = x / c and e = exp(-2 |y|). The first form loses all its
/// digits where tanh is near 1. Beyond |y| = 400 the exponential is 0. NaN stays NaN.
[[nodiscard]] inline double cap_slope(float x, double c) noexcept {
  if (x != x) {
    return static_cast<double>(x);
  }
  const double size = std::min(std::abs(static_cast<double>(x)) / c, 400.0);
  const double e = natural_power(-2.0 * size);
  return 4.0 * e / ((1.0 + e) * (1.0 + e));
}

}  // namespace qkv
