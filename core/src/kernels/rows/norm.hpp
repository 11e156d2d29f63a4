// Rows brought to unit variance (layer norm) or unit mean square (RMS norm).
//
// The mean and the variance come from differences to a pivot: first x_0, which gives the mean, then
// the mean as rounded, which gives the variance and what the rounding took from the mean (the
// corrected two-pass algorithm, Chan, Golub & LeVeque 1983). So an offset common to the row costs
// nothing, and in a constant row every difference is exactly 0.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"
#include "kernels/tail.hpp"

namespace qkv::kernels {

/// Elements of one step: four accumulators, so that no addition waits for the one before.
template <class Isa>
inline constexpr Index kNormStep = 4 * kWidth<Isa>;

/// Elements summed in float before the sum goes to double. 16 steps: the error of a sum is that of
/// 18 roundings however long the row is.
template <class Isa>
inline constexpr Index kNormChunk = 16 * kNormStep<Isa>;

/// Sums over a row of x - pivot and of its square.
struct Moments {
  double sum, squares;
};

/// Sum of the lanes of four vectors.
template <class Isa>
[[gnu::always_inline]] inline double sum_four(const Vec<Isa> (&v)[4]) noexcept {
  alignas(64) float lanes[kWidth<Isa>];
  ((v[0] + v[1]) + (v[2] + v[3])).store_aligned(lanes);
  double sum = 0.0;
  for (Index i = 0; i < kWidth<Isa>; ++i) {
    sum += static_cast<double>(lanes[i]);
  }
  return sum;
}

/// `left` elements in a block that is filled up with `value`.
template <class Isa>
[[gnu::always_inline]] inline const float* padded_step(const float* x, Index left, float value,
                                                       float* block) noexcept {
  for (Index i = 0; i < kNormStep<Isa>; ++i) {
    block[i] = i < left ? x[i] : value;
  }
  return block;
}

/// Adds the moments of at most a chunk; the squares only where the caller needs them.
template <class Isa, bool kSquares>
inline void add_moments(const float* x, Index n, float pivot, Moments& to) noexcept {
  using V = Vec<Isa>;
  V sum[4] = {V(0.0F), V(0.0F), V(0.0F), V(0.0F)};
  V squares[4] = {V(0.0F), V(0.0F), V(0.0F), V(0.0F)};
  alignas(64) float block[kNormStep<Isa>];
  for (Index i = 0; i < n; i += kNormStep<Isa>) {
    const bool whole = n - i >= kNormStep<Isa>;
    const float* from = whole ? x + i : padded_step<Isa>(x + i, n - i, pivot, block);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const V d = V::load_unaligned(from + v * kWidth<Isa>) - V(pivot);
      sum[v] = sum[v] + d;
      if constexpr (kSquares) {
        squares[v] = madd<Isa>(d, d, squares[v]);
      }
    }
  }
  to.sum += sum_four<Isa>(sum);
  if constexpr (kSquares) {
    to.squares += sum_four<Isa>(squares);
  }
}

template <class Isa, bool kSquares>
inline Moments row_moments(const float* x, Index n, float pivot) noexcept {
  Moments moments{};
  for (Index i = 0; i < n; i += kNormChunk<Isa>) {
    add_moments<Isa, kSquares>(x + i, n - i < kNormChunk<Isa> ? n - i : kNormChunk<Isa>, pivot,
                               moments);
  }
  return moments;
}

/// What normalises a row: ((x - pivot) - correction) * inverse.
struct RowNorm {
  float pivot, correction, inverse;
  double size;  ///< variance or mean square, plus epsilon
};

template <class Isa>
inline RowNorm measure_row(const NormArgs& args, const float* x, double epsilon) noexcept {
  const auto n = static_cast<double>(args.n);
  float pivot = 0.0F;
  double shift = 0.0;
  if (args.centre) {
    pivot = static_cast<float>(static_cast<double>(x[0]) +
                               row_moments<Isa, false>(x, args.n, x[0]).sum / n);
  }
  const Moments moments = row_moments<Isa, true>(x, args.n, pivot);
  if (args.centre) {
    shift = moments.sum / n;
  }
  const double variance = moments.squares / n - shift * shift;
  const double size = (variance < 0.0 ? 0.0 : variance) + epsilon;
  // Rows near 1 whose variance is that small are constant: every difference is 0, and so is the
  // result, not 0 times infinity.
  const double inverse = size < 0x1p-200 ? 0.0 : 1.0 / __builtin_sqrt(size);
  return {pivot, static_cast<float>(shift), static_cast<float>(inverse), size};
}

/// The power of two that brings the largest element of x near 1; 1 when it is infinite.
template <class Isa>
inline float row_scale(const float* x, Index n) noexcept {
  std::uint32_t largest = 0;
  for (Index i = 0; i < n; ++i) {
    const std::uint32_t exponent = std::bit_cast<std::uint32_t>(x[i]) << 1U >> 24U;
    largest = exponent > largest ? exponent : largest;
  }
  if (largest == 255U) {
    return 1.0F;
  }
  return std::bit_cast<float>((largest < 253U ? 254U - largest : 1U) << 23U);
}

template <class Isa>
inline void write_row(const NormArgs& args, const RowNorm& norm, const float* x,
                      float* out) noexcept {
  using V = Vec<Isa>;
  // Without gamma or beta x is read in its place, and not used.
  const float* const in[] = {x, args.gamma ? args.gamma : x, args.beta ? args.beta : x};
  float* const to[] = {out};
  zip<Isa>(in, to, args.n, [&](const V(&from)[3], V(&row)[1]) {
    const V z = ((from[0] - V(norm.pivot)) - V(norm.correction)) * V(norm.inverse);
    row[0] = madd<Isa>(z, args.gamma ? from[1] : V(1.0F), args.beta ? from[2] : V(0.0F));
  });
}

/// A measured row: as it is, or brought near 1 where its squares leave the range of float.
struct MeasuredRow {
  RowNorm norm;
  const float* x;  ///< the row times the scale
  float scale;
};

/// A row that has to be brought near 1 is written to `room`; epsilon is brought with it, in double, where it
/// always fits.
template <class Isa>
inline MeasuredRow measure_any_row(const NormArgs& args, const float* x, float* room) noexcept {
  const RowNorm norm = measure_row<Isa>(args, x, args.epsilon);
  if (norm.size >= 0x1p-80 && norm.size <= 0x1p100) {
    return {norm, x, 1.0F};
  }
  const float scale = row_scale<Isa>(x, args.n);
  for (Index i = 0; i < args.n; ++i) {
    room[i] = x[i] * scale;
  }
  const double wide = scale;
  return {measure_row<Isa>(args, room, args.epsilon * wide * wide), room, scale};
}

template <class Isa>
void normalize(const NormArgs& args) noexcept {
  for (Index row = 0; row < args.rows; ++row) {
    float* out = args.out + row * args.n;
    const MeasuredRow of = measure_any_row<Isa>(args, args.x + row * args.n, out);
    write_row<Isa>(args, of.norm, of.x, out);
  }
}

}  // namespace qkv::kernels
