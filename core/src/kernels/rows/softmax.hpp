// Softmax in three passes: the largest element, the exponentials and their sum, the division. Of rows
// that are contiguous, lanes are elements of a row; of others, lanes are neighbouring rows.
//
// Nothing looks for NaN or infinity: x - max is NaN where there is no softmax, and one NaN makes the sum
// NaN.
#pragma once

#include "kernels/exp.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"
#include "kernels/tail.hpp"

namespace qkv::kernels {

/// Exponentials that a lane adds in float before its sum goes to double: the error of a sum is that of
/// 15 additions however many terms there are.
inline constexpr Index kSoftmaxChunk = 16;

/// Rows side by side that are computed together. Their statistics, 1 kB, stay in the first-level cache;
/// as many as fit registers would read half a cache line of each step.
inline constexpr Index kSoftmaxColumns = 64;

/// The largest number of a row; NaN is passed over.
template <class Isa>
[[gnu::noinline]] float largest_of(const float* x, Index n) noexcept {
  using V = Vec<Isa>;
  constexpr float kLeast = -__builtin_inff();
  // Four, so that no comparison waits for the one before.
  V most[4] = {V(kLeast), V(kLeast), V(kLeast), V(kLeast)};
  Index i = 0;
  for (; i + 4 * kWidth<Isa> <= n; i += 4 * kWidth<Isa>) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      most[v] = larger<Isa>(most[v], V::load_unaligned(x + i + v * kWidth<Isa>));
    }
  }
  visit<Isa>(x + i, n - i, kLeast, [&](Index, V some) { most[0] = larger<Isa>(most[0], some); });
  return xsimd::reduce_max(
      larger<Isa>(larger<Isa>(most[0], most[1]), larger<Isa>(most[2], most[3])));
}

/// The largest element of a row, and the sum of its exponentials relative to that one.
struct SoftmaxTotals {
  float largest;
  double total;
};

/// 2^(scale (x - largest)) of one row of contiguous elements.
template <class Isa>
inline SoftmaxTotals exponentials_of_row(const float* x, float* out, Index n,
                                         float scale) noexcept {
  using V = Vec<Isa>;
  const float largest = largest_of<Isa>(x, n);
  const V base(largest);
  constexpr Index kChunk = kSoftmaxChunk * kWidth<Isa>;
  double total = 0.0;
  for (Index i = 0; i < n; i += kChunk) {
    V sum(0.0F);
    // What a tail is filled up with counts 2^-inf = 0.
    transform<Isa>(x + i, out + i, n - i < kChunk ? n - i : kChunk, -__builtin_inff(),
                   [&](Index, V some) {
                     const V e = exp2_nonpositive<Isa>((some - base) * V(scale));
                     sum = sum + e;
                     return e;
                   });
    alignas(64) float lanes[kWidth<Isa>];
    sum.store_aligned(lanes);
    for (Index lane = 0; lane < kWidth<Isa>; ++lane) {
      total += static_cast<double>(lanes[lane]);
    }
  }
  return {largest, total};
}

/// One row of contiguous elements; `scale` makes powers of two of differences.
template <class Isa>
inline void softmax_row(const float* x, float* out, Index n, float scale) noexcept {
  using V = Vec<Isa>;
  const double total = exponentials_of_row<Isa>(x, out, n, scale).total;
  const V inverse(static_cast<float>(1.0 / total));
  transform<Isa>(out, out, n, 0.0F, [&](Index, V e) { return e * inverse; });
}

/// At most kSoftmaxColumns rows, neighbours in memory, whose elements are `stride` apart.
template <class Isa>
inline void softmax_columns(const SoftmaxArgs& args, const float* x, float* out, Index columns,
                            float scale) noexcept {
  using V = Vec<Isa>;
  const Index stride = args.inner;
  alignas(64) float most[kSoftmaxColumns];
  alignas(64) float sum[kSoftmaxColumns];
  double total[kSoftmaxColumns];
  for (Index c = 0; c < kSoftmaxColumns; ++c) {
    most[c] = -__builtin_inff();
    sum[c] = 0.0F;
    total[c] = 0.0;
  }
  for (Index i = 0; i < args.n; ++i) {
    visit<Isa>(x + i * stride, columns, 0.0F, [&](Index c, V some) {
      larger<Isa>(V::load_aligned(most + c), some).store_aligned(most + c);
    });
  }
  for (Index i = 0; i < args.n; ++i) {
    transform<Isa>(x + i * stride, out + i * stride, columns, 0.0F, [&](Index c, V some) {
      const V e = exp2_nonpositive<Isa>((some - V::load_aligned(most + c)) * V(scale));
      (V::load_aligned(sum + c) + e).store_aligned(sum + c);
      return e;
    });
    if (i % kSoftmaxChunk == kSoftmaxChunk - 1 || i + 1 == args.n) {
      for (Index c = 0; c < columns; ++c) {
        total[c] += static_cast<double>(sum[c]);
        sum[c] = 0.0F;
      }
    }
  }
  for (Index c = 0; c < columns; ++c) {
    sum[c] = static_cast<float>(1.0 / total[c]);
  }
  for (Index i = 0; i < args.n; ++i) {
    transform<Isa>(out + i * stride, out + i * stride, columns, 0.0F,
                   [&](Index c, V e) { return e * V::load_aligned(sum + c); });
  }
}

/// Elements are first made smaller, in `out`, for temperatures so large that a difference may overflow
/// and still count.
template <class Isa>
void softmax(const SoftmaxArgs& args) noexcept {
  const float* from = args.x;
  double temperature = static_cast<double>(args.temperature);
  if (temperature > 0x1p64) {
    for (Index i = 0; i < args.outer * args.n * args.inner; ++i) {
      args.out[i] = args.x[i] * 0x1p-8F;
    }
    from = args.out;
    temperature *= 0x1p-8;
  }
  const auto scale = static_cast<float>(1.4426950408889634 / temperature);
  for (Index row = 0; row < args.outer; ++row) {
    const Index at = row * args.n * args.inner;
    if (args.inner == 1) {
      softmax_row<Isa>(from + at, args.out + at, args.n, scale);
      continue;
    }
    for (Index c = 0; c < args.inner; c += kSoftmaxColumns) {
      const Index left = args.inner - c;
      softmax_columns<Isa>(args, from + at + c, args.out + at + c,
                           left < kSoftmaxColumns ? left : kSoftmaxColumns, scale);
    }
  }
}

}  // namespace qkv::kernels
