// AdamW, and the norm of its gradients.
#pragma once

#include <limits>

#include "kernels/rows/norm.hpp"
#include "kernels/tail.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// Moments smaller than this are none.
inline constexpr float kLeastMoment = 0x1p-120F;

/// x, or 0 where it is smaller than kLeastMoment; NaN stays.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> without_traces(Vec<Isa> x) noexcept {
  return xsimd::select(xsimd::abs(x) < Vec<Isa>(kLeastMoment), Vec<Isa>(0.0F), x);
}

/// With g the clipped gradient (Loshchilov & Hutter 2019, algorithm 2; decay as PyTorch applies it, first):
///
///     m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
///     w = decay w - step_size m / (sqrt(v) root_scale + epsilon)
///
/// m and v of less than 2^-120 in size become 0. Without new gradients m shrinks by beta1 only until rounding keeps it, at a
/// subnormal number, which takes processors up to 150 cycles in each step from then on: 4 * 2^-149 times 0.9 is 4 * 2^-149.
template <class Isa>
void adamw(const AdamWArgs& args) noexcept {
  using V = Vec<Isa>;
  const V clip(args.gradient_factor);
  const V beta1(args.beta1);
  const V beta2(args.beta2);
  const V rest1(1.0F - args.beta1);
  const V rest2(1.0F - args.beta2);
  const float* const in[] = {args.parameters, args.gradients, args.first, args.second};
  float* const out[] = {args.parameters, args.first, args.second};
  zip<Isa>(in, out, args.n, [&](const V(&from)[4], V(&to)[3]) {
    const V g = from[1] * clip;
    to[1] = without_traces<Isa>(beta1 * from[2] + rest1 * g);
    to[2] = without_traces<Isa>(beta2 * from[3] + rest2 * (g * g));
    const V size = root<Isa>(to[2]) * V(args.root_scale) + V(args.epsilon);
    to[0] = from[0] * V(args.decay) - V(args.step_size) * quotient<Isa>(to[1], size);
  });
}

/// Chunks in float, their sums in double; all of it in double where squares are beyond what a float holds.
template <class Isa>
double sum_of_squares(const float* x, Index n) noexcept {
  const double sum = row_moments<Isa, true>(x, n, 0.0F).squares;
  // Each square below 2^-126 is off by at most 2^-149, so that 2^31 of them are off by 2^-28 of such a sum.
  if (sum >= 0x1p-90 && sum <= std::numeric_limits<double>::max()) {
    return sum;
  }
  double exact = 0.0;
  for (Index i = 0; i < n; ++i) {
    exact += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  return exact;
}

}  // namespace qkv::kernels
