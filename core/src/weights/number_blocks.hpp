// The blocks in which files keep quantised numbers: how many numbers a block has, in how many bytes, and what they are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_table.hpp"
#include "qkv/number_format.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// Numbers that are read at a time: a block of every type has so many, or several times as many.
inline constexpr Index kRunInputs = 32;

/// 32 numbers of a file: number i is scale[i / 16] codes[i] + offset[i / 16], rounded twice.
struct NumberRun {
  std::int8_t codes[kRunInputs];
  float scale[2];
  float offset
      [2];  ///< -0 where the type has none: to add that changes no bit, not even the sign of a zero
};

/// A type of blocks.
struct BlockType {
  Index inputs;  ///< numbers of a block
  Index bytes;
  /// Numbers [32 run, 32 run + 32) of a block.
  void (*read)(const std::byte* block, Index run, NumberRun& to) noexcept;
  /// Bits of the codes where all 32 of a run share a scale and an offset, so that packed weights keep them; otherwise 0.
  int kept_bits = 0;
  /// The same numbers as packed weights keep them. Exact but for products of scales, which are rounded.
  void (*keep)(const std::byte* block, Index run, kernels::CodedBlock& to) noexcept = nullptr;
};

/// Null for types without blocks, and for kInt8, whose scales are elsewhere.
[[nodiscard]] const BlockType* block_type(NumberType type) noexcept;

/// Whether there is such a type.
[[nodiscard]] bool is_number_type(NumberType type) noexcept;

/// Whether numbers of this type have scales.
[[nodiscard]] bool has_scales(NumberType type) noexcept;

/// Bytes of a row of `count` numbers, whole blocks.
[[nodiscard]] std::size_t row_bytes(NumberType type, Index count) noexcept;

}  // namespace qkv
