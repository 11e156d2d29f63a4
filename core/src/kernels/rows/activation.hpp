// Functions of single elements. The sigmoids are written with exp(-|x|), so nothing overflows and
// nothing cancels: results have a small relative error on both sides, down to where exp ends.
#pragma once

#include "kernels/exp.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"
#include "kernels/tail.hpp"

namespace qkv::kernels {

/// out = f(x, y).
template <class Isa, class F>
[[gnu::always_inline]] inline void for_each(const ElementwiseArgs& args, const float* y,
                                            F f) noexcept {
  using V = Vec<Isa>;
  const float* const in[] = {args.x, y};
  float* const out[] = {args.out};
  zip<Isa>(in, out, args.n, [&](const V(&from)[2], V(&to)[1]) { to[0] = f(from[0], from[1]); });
}

/// |x|, but no more than `most`, where a sigmoid has long reached its limit: infinity times the 0
/// of its exponential would be NaN. NaN stays.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> clamped_abs(Vec<Isa> x, float most) noexcept {
  const Vec<Isa> size = xsimd::abs(x);
  return xsimd::select(size > Vec<Isa>(most), Vec<Isa>(most), size);
}

template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> relu_of(Vec<Isa> x) noexcept {
  return xsimd::select(x < Vec<Isa>(0.0F), Vec<Isa>(0.0F), x);
}

/// exp(-a^2 / 2) and R(a) = erfcx(a / sqrt(2)) / 2 for a >= 0: Phi(-a) is their product. R is smooth and
/// falls from 1/2 as 1/a; in t = 1 / (1 + 0.3 a) it is a minimax polynomial of relative error 3e-9
/// (2.8e-8 with coefficients in float) up to a = 13.4, beyond the end of the exponential.
template <class Isa>
struct NormalTail {
  Vec<Isa> exponential, ratio;
};

template <class Isa>
[[gnu::always_inline]] inline NormalTail<Isa> normal_tail(Vec<Isa> a) noexcept {
  using V = Vec<Isa>;
  const V t = quotient<Isa>(V(1.0F), madd<Isa>(a, V(0.3F), V(1.0F)));
  V r = madd<Isa>(t, V(-0.0205877591F), V(0.112235367F));
  r = madd<Isa>(t, r, V(-0.227726072F));
  r = madd<Isa>(t, r, V(0.191109449F));
  r = madd<Isa>(t, r, V(-0.0788387433F));
  r = madd<Isa>(t, r, V(0.0958289281F));
  r = madd<Isa>(t, r, V(0.0785084292F));
  r = madd<Isa>(t, r, V(0.110208683F));
  r = madd<Isa>(t, r, V(0.11957521F));
  r = madd<Isa>(t, r, V(0.119686514F));
  return {exp_nonpositive<Isa>(a * a * V(-0.5F)), t * r};
}

/// x Phi(x).
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> gelu_of(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V a = clamped_abs<Isa>(x, 14.0F);
  const NormalTail<Isa> of = normal_tail<Isa>(a);
  const V tail = a * (of.exponential * of.ratio);
  return xsimd::select(x < V(0.0F), -tail, x - tail);
}

/// x / (1 + exp(-s)) for x >= 0 and -a exp(-s) / (1 + exp(-s)) for x = -a, s >= 0.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> times_sigmoid(Vec<Isa> x, Vec<Isa> a, Vec<Isa> s) noexcept {
  using V = Vec<Isa>;
  const V e = exp_nonpositive<Isa>(-s);
  return quotient<Isa>(xsimd::select(x < V(0.0F), -(a * e), x), V(1.0F) + e);
}

/// 2 g / a as a function of a^2, with g = sqrt(2 / pi) (a + 0.044715 a^3).
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> gelu_tanh_factor(Vec<Isa> square) noexcept {
  return madd<Isa>(square, Vec<Isa>(0.0713548163F), Vec<Isa>(1.59576912F));
}

/// x / 2 (1 + tanh(g)) = x sigmoid(2 g).
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> gelu_tanh_of(Vec<Isa> x) noexcept {
  const Vec<Isa> a = clamped_abs<Isa>(x, 32.0F);
  return times_sigmoid<Isa>(x, a, a * gelu_tanh_factor<Isa>(a * a));
}

template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> silu_of(Vec<Isa> x) noexcept {
  const Vec<Isa> a = clamped_abs<Isa>(x, 128.0F);
  return times_sigmoid<Isa>(x, a, a);
}

template <class Isa>
void relu(const ElementwiseArgs& args) noexcept {
  for_each<Isa>(args, args.x, [](Vec<Isa> x, Vec<Isa>) { return relu_of<Isa>(x); });
}

template <class Isa>
void gelu(const ElementwiseArgs& args) noexcept {
  for_each<Isa>(args, args.x, [](Vec<Isa> x, Vec<Isa>) { return gelu_of<Isa>(x); });
}

template <class Isa>
void gelu_tanh(const ElementwiseArgs& args) noexcept {
  for_each<Isa>(args, args.x, [](Vec<Isa> x, Vec<Isa>) { return gelu_tanh_of<Isa>(x); });
}

template <class Isa>
void silu(const ElementwiseArgs& args) noexcept {
  for_each<Isa>(args, args.x, [](Vec<Isa> x, Vec<Isa>) { return silu_of<Isa>(x); });
}

template <class Isa>
void silu_times(const ElementwiseArgs& args) noexcept {
  for_each<Isa>(args, args.y, [](Vec<Isa> x, Vec<Isa> y) { return silu_of<Isa>(x) * y; });
}

template <class Isa>
void add(const ElementwiseArgs& args) noexcept {
  for_each<Isa>(args, args.y, [](Vec<Isa> x, Vec<Isa> y) { return x + y; });
}

template <class Isa>
void multiply_each(const ElementwiseArgs& args) noexcept {
  for_each<Isa>(args, args.y, [](Vec<Isa> x, Vec<Isa> y) { return x * y; });
}

}  // namespace qkv::kernels
