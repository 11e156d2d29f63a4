// How a packed matrix [k, n] lies in memory: in panels of `panel` columns, one panel after another, zeros past column n.
// This header alone knows where in a panel a number is; kernels, caches and what fills a matrix ask it.
//
// - float32: row after row.
// - bfloat16, binary16: row after row, in the order of half_column().
// - 8 bits: block after block of kInt8Block inputs. A block has the binary16 scales of the columns in the order of
//   half_column(), then the weights of the first `group` inputs of each column, those of the next inputs, and so on.
// - 4 bits: the same, with the offsets after the scales, and two weights in a byte: in the low bits one of the first half of the
//   block, in the high bits the one that, as a byte, would be 16 inputs further on. So whole vectors of bytes are split.
#pragma once

#include <cstddef>

namespace qkv::kernels {

using Index = std::ptrdiff_t;

/// Floats from the start of a panel to input i of a column.
static constexpr Index float_place(Index i, Index column, Index panel) noexcept {
  return i * panel + column;
}

/// Where a row of a panel keeps the number of a column, in numbers of 16 bits: two are in one lane, of a column of the
/// first vector and of one of the second.
static constexpr Index half_column(Index column, Index panel) noexcept {
  const Index width = panel / 2;
  return column < width ? 2 * column : 2 * (column - width) + 1;
}

/// Numbers of 16 bits from the start of a panel to input i of a column.
static constexpr Index half_place(Index i, Index column, Index panel) noexcept {
  return i * panel + half_column(column, panel);
}

/// Weights of 8 bits that share a scale, along k.
inline constexpr Index kInt8Block = 32;

/// Bytes of a block of a panel: a scale and kInt8Block weights for each column.
static constexpr Index int8_block_bytes(Index panel) noexcept { return (2 + kInt8Block) * panel; }

/// Bytes from the start of a block to the scale of a column.
static constexpr Index int8_scale_place(Index column, Index panel) noexcept {
  return 2 * half_column(column, panel);
}

/// Bytes from the start of a block to its weights.
static constexpr Index int8_weights(Index panel) noexcept { return 2 * panel; }

/// Bytes of a block of 4 bits: a scale, an offset and kInt8Block weights for each column.
static constexpr Index int4_block_bytes(Index panel) noexcept {
  return (4 + kInt8Block / 2) * panel;
}

/// Bytes from the start of a block of 4 bits to its offsets, which lie as the scales do, and to its weights.
static constexpr Index int4_offsets(Index panel) noexcept { return 2 * panel; }
static constexpr Index int4_weights(Index panel) noexcept { return 4 * panel; }

/// Bytes from the weights of a block to the weight of input i of the block: `group` inputs of a column lie side by side.
static constexpr Index int8_place(Index i, Index column, Index panel, Index group) noexcept {
  return (i - i % group) * panel + column * group + i % group;
}

}  // namespace qkv::kernels
