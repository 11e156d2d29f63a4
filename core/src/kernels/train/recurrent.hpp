// The elementwise part of a gated recurrent unit, forward and backward.
#pragma once

#include "kernels/attention/scores.hpp"
#include "kernels/exp.hpp"
#include "kernels/tail.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// 1 / (1 + exp(-x)), by exp(-|x|), which neither overflows nor cancels.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> sigmoid_of(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V e = exp_nonpositive<Isa>(-xsimd::abs(x));
  const V above = quotient<Isa>(V(1.0F), V(1.0F) + e);
  const V value = xsimd::select(x < V(0.0F), e * above, above);
  return xsimd::select(xsimd::isnan(x), x, value);
}

/// r, z and n of a unit, from its six sums: x W + b and h U + c of each gate.
template <class Isa>
struct Gates {
  Vec<Isa> r, z, n;

  [[gnu::always_inline]] explicit Gates(const Vec<Isa>* sums) noexcept
      : r(sigmoid_of<Isa>(sums[0] + sums[3])),
        z(sigmoid_of<Isa>(sums[1] + sums[4])),
        n(cap_score<Isa>(sums[2] + r * sums[5], Vec<Isa>(1.0F))) {}
};

/// h' = (1 - z) n + z h of one batch row.
template <class Isa>
void gru_step(const GruStepArgs& args) noexcept {
  using V = Vec<Isa>;
  const Index h = args.hidden;
  const float* const in[] = {args.of_x,     args.of_x + h,     args.of_x + 2 * h, args.of_h,
                             args.of_h + h, args.of_h + 2 * h, args.before};
  float* const out[] = {args.after};
  zip<Isa>(in, out, h, [](const V(&from)[7], V(&to)[1]) {
    const Gates<Isa> gates(from);
    to[0] = (V(1.0F) - gates.z) * gates.n + gates.z * from[6];
  });
}

/// With g the gradient of h' and a bar for that of a sum:
///
///     n~ = g (1 - z) (1 - n^2),  z~ = g (h - n) z (1 - z),  r~ = n~ (h U_n + c_n) r (1 - r)
///
/// The sums of x have r~, z~, n~; those of h have r~, z~, r n~; h itself has g z besides.
template <class Isa>
void gru_step_backward(const GruStepArgs& args) noexcept {
  using V = Vec<Isa>;
  const Index h = args.hidden;
  const float* const in[] = {args.of_x,     args.of_x + h,     args.of_x + 2 * h, args.of_h,
                             args.of_h + h, args.of_h + 2 * h, args.before,       args.d_after};
  float* const out[] = {args.d_of_x,     args.d_of_x + h,     args.d_of_x + 2 * h, args.d_of_h,
                        args.d_of_h + h, args.d_of_h + 2 * h, args.d_before};
  zip<Isa>(in, out, h, [](const V(&from)[8], V(&to)[7]) {
    const Gates<Isa> gates(from);
    const V one(1.0F);
    const V g = from[7];
    to[2] = g * (one - gates.z) * (one - gates.n * gates.n);
    to[1] = g * (from[6] - gates.n) * (gates.z * (one - gates.z));
    to[0] = to[2] * from[5] * (gates.r * (one - gates.r));
    to[3] = to[0];
    to[4] = to[1];
    to[5] = to[2] * gates.r;
    to[6] = g * gates.z;
  });
}

}  // namespace qkv::kernels
