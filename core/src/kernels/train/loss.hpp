// Cross-entropy and softmax, backward.
#pragma once

#include "kernels/log.hpp"
#include "kernels/rows/softmax.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// Whether element `target` is the greatest, the first one of equals.
static inline bool is_first_greatest(const float* x, Index n, Index target) noexcept {
  for (Index i = 0; i < n; ++i) {
    if (i < target ? !(x[i] < x[target]) : !(x[i] <= x[target])) {
      return false;
    }
  }
  return true;
}

/// Sum of a row in double, for label smoothing.
static inline double sum_of(const float* x, Index n) noexcept {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) {
    sum += static_cast<double>(x[i]);
  }
  return sum;
}

/// One row: with p = softmax(x) and q = (1 - e) at the target plus e / V everywhere,
///
///     loss = -sum q ln p = lse - (1 - e) x_target - e mean(x),   d x = factor (p - q)
template <class Isa>
inline void cross_entropy_row(const CrossEntropyArgs& args, Index row) noexcept {
  using V = Vec<Isa>;
  const Index n = args.classes;
  const Index target = args.targets[row];
  const float* x = args.logits + row * n;
  float* dx = args.d_logits + row * n;
  if (target < 0) {
    for (Index i = 0; i < n; ++i) {
      dx[i] = 0.0F;
    }
    args.losses[row] = 0.0;
    args.correct[row] = false;
    return;
  }
  args.correct[row] = is_first_greatest(x, n, target);
  const auto smoothing = static_cast<double>(args.smoothing);
  double expected = (1.0 - smoothing) * static_cast<double>(x[target]);
  if (smoothing > 0.0) {
    expected += smoothing * sum_of(x, n) / static_cast<double>(n);
  }
  const SoftmaxTotals of = exponentials_of_row<Isa>(x, dx, n, kLog2E);
  args.losses[row] = (static_cast<double>(of.largest) - expected) + natural_log(of.total);
  const V inverse(static_cast<float>(1.0 / of.total));
  const V even(static_cast<float>(smoothing / static_cast<double>(n)));
  const V factor(args.factor);
  const float p = dx[target] * inverse.get(0);
  transform<Isa>(dx, dx, n, 0.0F, [&](Index, V e) { return (e * inverse - even) * factor; });
  // By itself, so that p - q keeps the accuracy of float where both are near 1.
  dx[target] = ((p - (1.0F - args.smoothing)) - even.get(0)) * args.factor;
}

template <class Isa>
void cross_entropy(const CrossEntropyArgs& args) noexcept {
  for (Index row = 0; row < args.rows; ++row) {
    cross_entropy_row<Isa>(args, row);
  }
}

/// dx = y (dy - sum y dy) / temperature along the middle axis; the sum in double.
template <class Isa>
void softmax_backward(const SoftmaxBackwardArgs& args) noexcept {
  const float inverse = 1.0F / args.temperature;
  for (Index row = 0; row < args.outer; ++row) {
    for (Index c = 0; c < args.inner; ++c) {
      const Index at = row * args.n * args.inner + c;
      double sum = 0.0;
      for (Index i = 0; i < args.n; ++i) {
        sum += static_cast<double>(args.out[at + i * args.inner]) *
               static_cast<double>(args.d_out[at + i * args.inner]);
      }
      for (Index i = 0; i < args.n; ++i) {
        const Index element = at + i * args.inner;
        const double from_mean = static_cast<double>(args.d_out[element]) - sum;
        args.dx[element] = args.out[element] * static_cast<float>(from_mean) * inverse;
      }
    }
  }
}

}  // namespace qkv::kernels
