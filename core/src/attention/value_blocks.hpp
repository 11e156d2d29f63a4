// V as attention reads it: blocks of kKeyBlock rows, one after the other, each in panels. All that a block of keys needs of
// it lies side by side. In panels that went through all rows it was as many pieces as there are panels, each too short
// for the processor to read ahead, and decoding through a cache waited for memory most of the time.
#pragma once

#include <algorithm>

#include "base/float_count.hpp"
#include "kernels/attention/args.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// Blocks with room for `rows` rows of d_v columns; the last one is as short as what is left.
struct ValueBlocks {
  Index rows, d_v, panel;

  [[nodiscard]] Index width() const noexcept {
    return static_cast<Index>(whole_panels(d_v, panel));
  }
  [[nodiscard]] Index rows_of_block(Index first) const noexcept {
    return std::min(kernels::kKeyBlock, rows - first);
  }
  /// Where the row of the column's panel is.
  [[nodiscard]] Index row_at(Index row, Index column) const noexcept {
    const Index first = row - row % kernels::kKeyBlock;
    const Index of_panel = column / panel * rows_of_block(first) + row - first;
    return first * width() + of_panel * panel;
  }

  /// Where an element is.
  [[nodiscard]] Index at(Index row, Index column) const noexcept {
    return row_at(row, column) + column % panel;
  }
};

/// Rows of V, `stride` floats apart, that go to rows [first, first + count).
struct ValueRows {
  const float* v;
  Index stride, first, count;
};

/// Whole blocks at once; rows of blocks that are begun or not filled panel by panel.
inline void pack_values(const kernels::KernelTable& table, const ValueRows& from,
                        const ValueBlocks& blocks, float* to) noexcept {
  const Index end = from.first + from.count;
  for (Index at = from.first; at < end;) {
    const Index first = at - at % kernels::kKeyBlock;
    const Index rows = blocks.rows_of_block(first);
    const Index stop = std::min(end, first + rows);
    const Index step = stop - at == rows ? blocks.width() : blocks.panel;
    for (Index column = 0; column < blocks.d_v; column += step) {
      table.pack({.b = from.v + (at - from.first) * from.stride + column,
                  .row_stride = from.stride,
                  .column_stride = 1,
                  .k = stop - at,
                  .n = std::min(step, blocks.d_v - column),
                  .panels = to + blocks.at(at, column)});
    }
    at = stop;
  }
}

}  // namespace qkv
