// Derivatives of the activations. As in kernels/rows/activation.hpp everything is written with exp(-|x|), so that nothing
// overflows and a derivative near 0 keeps its relative accuracy.
#pragma once

#include "kernels/rows/activation.hpp"
#include "kernels/tail.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// f(x) and f'(x).
template <class Isa>
struct Slope {
  Vec<Isa> value, derivative;
};

template <class Isa>
[[gnu::always_inline]] inline Slope<Isa> relu_slope(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  // NaN is not above 0 and stays.
  const V one = xsimd::select(x > V(0.0F), V(1.0F), V(0.0F));
  return {relu_of<Isa>(x), xsimd::select(xsimd::isnan(x), x, one)};
}

/// Phi(x) + x phi(x), phi(x) = exp(-x^2 / 2) / sqrt(2 pi).
template <class Isa>
[[gnu::always_inline]] inline Slope<Isa> gelu_slope(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V a = clamped_abs<Isa>(x, 14.0F);
  const NormalTail<Isa> of = normal_tail<Isa>(a);
  const V phi = of.exponential * V(0.398942280F);
  const V tail = of.exponential * of.ratio;  // Phi(-a)
  const V below = tail - a * phi;            // f'(-a)
  const V value = xsimd::select(x < V(0.0F), -(a * tail), x - a * tail);
  return {value, xsimd::select(x < V(0.0F), below, V(1.0F) - below)};
}

/// x sigmoid(s) and its derivative for x of either sign, s >= 0 that of |x|, ds its derivative by |x|:
/// sigmoid(s) + a s' sigmoid(s) sigmoid(-s) at a = |x|, and 1 less that at -a.
template <class Isa>
[[gnu::always_inline]] inline Slope<Isa> sigmoid_slope(Vec<Isa> x, Vec<Isa> a, Vec<Isa> s,
                                                       Vec<Isa> ds) noexcept {
  using V = Vec<Isa>;
  const V e = exp_nonpositive<Isa>(-s);
  const V inverse = quotient<Isa>(V(1.0F), V(1.0F) + e);
  const V low = e * inverse;  // sigmoid(-s)
  const V below = low - a * ds * (low * inverse);
  return {xsimd::select(x < V(0.0F), -(a * e), x) * inverse,
          xsimd::select(x < V(0.0F), below, V(1.0F) - below)};
}

template <class Isa>
[[gnu::always_inline]] inline Slope<Isa> gelu_tanh_slope(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V a = clamped_abs<Isa>(x, 32.0F);
  const V square = a * a;
  return sigmoid_slope<Isa>(x, a, a * gelu_tanh_factor<Isa>(square),
                            madd<Isa>(square, V(0.214064449F), V(1.59576912F)));
}

template <class Isa>
[[gnu::always_inline]] inline Slope<Isa> silu_slope(Vec<Isa> x) noexcept {
  const Vec<Isa> a = clamped_abs<Isa>(x, 128.0F);
  return sigmoid_slope<Isa>(x, a, a, Vec<Isa>(1.0F));
}

/// dx = f(x) d_out by vectors, through for_each().
template <class Isa, class F>
[[gnu::always_inline]] inline void slope_each(const ElementwiseBackwardArgs& args, F f) noexcept {
  const ElementwiseArgs each{args.n, args.x, nullptr, args.dx};
  for_each<Isa>(each, args.d_out,
                [&](Vec<Isa> x, Vec<Isa> d_out) { return d_out * f(x).derivative; });
}

/// The gradients of f(x) y: dx = d_out y f'(x), dy = d_out f(x).
template <class Isa, class F>
[[gnu::always_inline]] inline void gate_each(const ElementwiseBackwardArgs& args, F f) noexcept {
  using V = Vec<Isa>;
  const float* const in[] = {args.x, args.y, args.d_out};
  float* const out[] = {args.dx, args.dy};
  zip<Isa>(in, out, args.n, [&](const V(&from)[3], V(&to)[2]) {
    const Slope<Isa> slope = f(from[0]);
    to[0] = from[2] * from[1] * slope.derivative;
    to[1] = from[2] * slope.value;
  });
}

template <class Isa>
void relu_backward(const ElementwiseBackwardArgs& args) noexcept {
  slope_each<Isa>(args, relu_slope<Isa>);
}

template <class Isa>
void gelu_backward(const ElementwiseBackwardArgs& args) noexcept {
  slope_each<Isa>(args, gelu_slope<Isa>);
}

template <class Isa>
void gelu_tanh_backward(const ElementwiseBackwardArgs& args) noexcept {
  slope_each<Isa>(args, gelu_tanh_slope<Isa>);
}

template <class Isa>
void silu_backward(const ElementwiseBackwardArgs& args) noexcept {
  slope_each<Isa>(args, silu_slope<Isa>);
}

template <class Isa>
void silu_times_backward(const ElementwiseBackwardArgs& args) noexcept {
  gate_each<Isa>(args, silu_slope<Isa>);
}

template <class Isa>
void gelu_times_backward(const ElementwiseBackwardArgs& args) noexcept {
  gate_each<Isa>(args, gelu_slope<Isa>);
}

template <class Isa>
void gelu_tanh_times_backward(const ElementwiseBackwardArgs& args) noexcept {
  gate_each<Isa>(args, gelu_tanh_slope<Isa>);
}

}  // namespace qkv::kernels
