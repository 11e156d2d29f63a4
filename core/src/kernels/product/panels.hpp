// How a packed matrix [k, n] lies in memory: in panels of `panel` columns, one panel after another, zeros past column n.
// This header alone knows where in a panel a number is; kernels, caches and what fills a matrix ask it.
//
// - float32: row after row.
// - bfloat16, binary16: row after row, in the order of half_column().
// - 8 bits: block after block of kInt8Block inputs. A block has the binary16 scales of the columns in the order of
//   half_column(), then the weights of the first `group` inputs of each column, those of the next inputs, and so on.
// - 4 bits: block after block of as many inputs. A block has the scales of the columns, their offsets in the same order, and the
//   codes: two in a byte, that of a column of the first vector in the low half and that of the same lane of the second vector in the
//   high half; the bytes of the first `group` inputs of each lane, those of the next inputs, and so on.
// - Q4_K: large block after large block of kQ4kInputs inputs. One has scales and offsets as above, of all its blocks; then for each
//   block a whole number of a byte for each column in their order, by which its scale is multiplied, one for its offset, and the
//   codes.
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

/// Bytes of a block of 4 bits: a scale, an offset and kInt8Block codes for each column.
static constexpr Index int4_block_bytes(Index panel) noexcept {
  return (4 + kInt8Block / 2) * panel;
}

/// Bytes from the start of a block of 4 bits, or of a large block, to its offsets, which lie as the scales do, and to what follows.
static constexpr Index int4_offsets(Index panel) noexcept { return 2 * panel; }
static constexpr Index int4_weights(Index panel) noexcept { return 4 * panel; }

/// Inputs and blocks of a large block.
inline constexpr Index kQ4kInputs = 256;
inline constexpr Index kQ4kBlocks = kQ4kInputs / kInt8Block;

/// Bytes of a block in a large block: two factors and kInt8Block codes for each column.
static constexpr Index q4k_small_bytes(Index panel) noexcept {
  return (2 + kInt8Block / 2) * panel;
}

/// Bytes of a large block.
static constexpr Index q4k_block_bytes(Index panel) noexcept {
  return 4 * panel + kQ4kBlocks * q4k_small_bytes(panel);
}

/// Bytes from the start of a large block to a block in it.
static constexpr Index q4k_small(Index block, Index panel) noexcept {
  return 4 * panel + block * q4k_small_bytes(panel);
}

/// Bytes from the start of a block in a large block to its codes.
static constexpr Index q4k_codes(Index panel) noexcept { return 2 * panel; }

/// Bytes from the weights of a block to the weight of input i of the block: `group` inputs of a column lie side by side.
static constexpr Index int8_place(Index i, Index column, Index panel, Index group) noexcept {
  return (i - i % group) * panel + column * group + i % group;
}

/// Bytes from the codes of a block to that of input i, which is in the high half of the byte for a column of the second vector.
static constexpr Index code_place(Index i, Index column, Index panel, Index group) noexcept {
  return (i - i % group) * (panel / 2) + column % (panel / 2) * group + i % group;
}

}  // namespace qkv::kernels
