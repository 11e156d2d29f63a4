// A block of kInt8Block numbers of a row, as products with bytes read it.
#pragma once

#include <type_traits>

#include "kernels/product/byte_dot.hpp"

namespace qkv::kernels {

/// Whether the numbers that meet weights of 8 bits are those that meet codes.
template <class Isa>
inline constexpr bool kOneRowKind = DotOf<Isa>::kRowMost == 127 && DotOf<Isa>::kRowOffset == 0;

/// A block of a row: what it has once, and its numbers, which are x / scale as whole numbers.
template <class Isa, RowKind kKind = RowKind::kCodes>
struct RowBlock {
  static constexpr bool kBytes = kKind == RowKind::kBytes;
  static constexpr int kMost = kBytes ? DotOf<Isa>::kRowMost : 127;
  static constexpr int kOffset = kBytes ? DotOf<Isa>::kRowOffset : 0;  ///< added to each number
  using Number =
      std::conditional_t<kBytes, typename DotOf<Isa>::RowNumber, typename DotOf<Isa>::CodeNumber>;

  /// With S the sum of the numbers: what sums with weights of 8 bits start at (0 or -128 S), and those with whole bytes of codes
  /// (0 or 128 S).
  struct Head {
    float scale;
    float total;  ///< S scale
    std::int32_t start;
    std::int32_t whole_start;
  };
  static constexpr Index kNumbers = sizeof(Head);  ///< where they begin
  static constexpr Index kBytesOfBlock = kNumbers + kInt8Block * static_cast<Index>(sizeof(Number));
  /// Bytes of a row that a step multiplies with.
  static constexpr Index kStep = DotOf<Isa>::kGroup * static_cast<Index>(sizeof(Number));

  [[gnu::always_inline]] static Head head(const std::byte* block) noexcept {
    Head head;
    std::memcpy(&head, block, sizeof head);
    return head;
  }
};

}  // namespace qkv::kernels
