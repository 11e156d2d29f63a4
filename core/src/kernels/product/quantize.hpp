// Rows of x as products with weights of 8 bits read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/product/byte_dot.hpp"

namespace qkv::kernels {

/// Below it a block of a row counts as zeros: 63 / max would overflow.
inline constexpr float kLeastOfRow = 0x1p-120F;

/// s = max |x| / 63 and q = round(x / s), ties to even; NaN for s where an x is NaN or infinite. Adding 1.5 * 2^23
/// rounds, and leaves the whole number in the low bits.
template <class Isa>
inline void quantize_block(const float* x, std::byte* to) noexcept {
  using V = Vec<Isa>;
  using Number = typename RowBlock<Isa>::Number;
  static_assert(kInt8Block % kWidth<Isa> == 0);
  Ints<Isa> largest(0);
  for (Index i = 0; i < kInt8Block; i += kWidth<Isa>) {
    const auto size = xsimd::bitwise_cast<std::int32_t>(V::load_unaligned(x + i)) &
                      Ints<Isa>(std::numeric_limits<std::int32_t>::max());
    largest = xsimd::max(largest, size);
  }
  alignas(64) std::int32_t whole[kInt8Block];
  largest.store_aligned(whole);
  std::int32_t most = 0;
  for (Index i = 0; i < kWidth<Isa>; ++i) {
    most = whole[i] > most ? whole[i] : most;
  }
  float max = 0.0F;
  std::memcpy(&max, &most, sizeof max);
  float scale = max / static_cast<float>(kRowMost);
  float factor = static_cast<float>(kRowMost) / max;
  const bool finite = most < 0x7f800000;
  const bool counts = finite && max >= kLeastOfRow;
  if (!counts) {
    scale = finite ? 0.0F : std::numeric_limits<float>::quiet_NaN();
    factor = 0.0F;
  }
  constexpr float kRound = 0x1.8p23F;
  for (Index i = 0; i < kInt8Block; i += kWidth<Isa>) {
    const V rounded = V::load_unaligned(x + i) * V(factor) + V(kRound);
    const auto q =
        xsimd::bitwise_cast<std::int32_t>(rounded) - xsimd::bitwise_cast<std::int32_t>(V(kRound));
    q.store_aligned(whole + i);
  }
  Number numbers[kInt8Block];
  std::int32_t sum = 0;
  for (Index i = 0; i < kInt8Block; ++i) {
    const std::int32_t q = finite ? whole[i] : 0;
    sum += q;
    numbers[i] = static_cast<Number>(q + DotOf<Isa>::kRowOffset);
  }
  const std::int32_t start = -128 * sum;
  std::memcpy(to, &scale, sizeof scale);
  std::memcpy(to + sizeof scale, &start, sizeof start);
  std::memcpy(to + RowBlock<Isa>::kNumbers, numbers, sizeof numbers);
}

template <class Isa>
void quantize(const QuantizeArgs& args) noexcept {
  auto* to = reinterpret_cast<std::byte*>(args.to);
  const float* x = args.x;
  for (Index row = 0; row < args.rows; ++row) {
    Index left = args.k;
    for (; left >= kInt8Block; left -= kInt8Block) {
      quantize_block<Isa>(x, to);
      x += kInt8Block;
      to += RowBlock<Isa>::kBytes;
    }
    if (left > 0) {
      float last[kInt8Block] = {};
      for (Index i = 0; i < left; ++i) {
        last[i] = x[i];
      }
      quantize_block<Isa>(last, to);
      x += left;
      to += RowBlock<Isa>::kBytes;
    }
  }
}

}  // namespace qkv::kernels
