// Rows of x as products with bytes read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/product/row_block.hpp"

namespace qkv::kernels {

/// Below it a block of a row counts as zeros: 127 / max would overflow.
inline constexpr float kLeastOfRow = 0x1p-120F;

/// s = max |x| / most and q = round(x / s), ties to even; NaN for s where an x is NaN or infinite. Adding 1.5 * 2^23
/// rounds, and leaves the whole number in the low bits.
template <class Isa, RowKind kKind>
inline void quantize_block(const float* x, std::byte* to) noexcept {
  using V = Vec<Isa>;
  using Block = RowBlock<Isa, kKind>;
  using Number = typename Block::Number;
  constexpr auto kMost = static_cast<float>(Block::kMost);
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
  float scale = max / kMost;
  float factor = kMost / max;
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
    numbers[i] = static_cast<Number>(q + Block::kOffset);
  }
  const typename Block::Head head = {
      .scale = scale,
      .total = static_cast<float>(sum) * scale,
      .start = DotOf<Isa>::unsigned_weights() ? -128 * sum : 0,
      .whole_start = DotOf<Isa>::signed_codes() ? 128 * sum : 0,
  };
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + Block::kNumbers, numbers, sizeof numbers);
}

template <class Isa, RowKind kKind>
void quantize(const QuantizeArgs& args) noexcept {
  constexpr Index kBytes = RowBlock<Isa, kKind>::kBytesOfBlock;
  auto* to = reinterpret_cast<std::byte*>(args.to);
  const float* x = args.x;
  for (Index row = 0; row < args.rows; ++row) {
    Index left = args.k;
    for (; left >= kInt8Block; left -= kInt8Block) {
      quantize_block<Isa, kKind>(x, to);
      x += kInt8Block;
      to += kBytes;
    }
    if (left > 0) {
      float last[kInt8Block] = {};
      for (Index i = 0; i < left; ++i) {
        last[i] = x[i];
      }
      quantize_block<Isa, kKind>(last, to);
      x += left;
      to += kBytes;
    }
  }
}

}  // namespace qkv::kernels
