// What each head brings: products with the rows of W_O that are its own.
#pragma once

#include <algorithm>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/workspace.hpp"
#include "weights/weight_rows.hpp"

namespace qkv {

/// y[r, h, :] = x[r, h, :] W_O,h with rows [h d_k, (h + 1) d_k) of W_O, as the matrix keeps its numbers. Rows are not quantised,
/// whatever the format is, so that the sum over heads differs from the sub-layer's product by what that bound says.
class HeadProduct {
 public:
  /// `wo`: [num_heads d_k, d_model]. `memory`: floats() for the threads of `pool`.
  HeadProduct(const kernels::KernelTable& table, const PackedLinear& wo, Index d_k,
              ThreadPool* pool, float* memory) noexcept
      : table_(table), wo_(wo), d_k_(d_k), pool_(pool), memory_(memory) {}

  [[nodiscard]] static std::size_t floats(Index in, Index d_k, int threads) noexcept {
    return capped_product(threads, capped_sum({columns_floats(in), capped_product(kColumns, d_k)}));
  }

  /// Where the rows of a head are.
  struct Head {
    const float* x;  ///< [rows, d_k]
    Index x_stride;
    float* y;  ///< [rows, d_model]
    Index y_stride;
  };

  /// Of every head, each `rows` rows: head_of(h) says where.
  template <class HeadOf>
  void multiply(Index rows, const HeadOf& head_of) const noexcept {
    const Index blocks = (wo_.out + kColumns - 1) / kColumns;
    for_each_task(pool_, blocks, [&](Index block, int thread) noexcept {
      const Index first = block * kColumns;
      const Index count = std::min(kColumns, wo_.out - first);
      float* columns = memory_ + static_cast<std::size_t>(thread) * floats(wo_.in, d_k_, 1);
      float* panels = columns + columns_floats(wo_.in);
      for (Index j = 0; j < count; ++j) {
        read_column(table_, wo_, first + j, columns + j * wo_.in);
      }
      for (Index h = 0; h * d_k_ < wo_.in; ++h) {
        table_.pack({.b = columns + h * d_k_,
                     .row_stride = 1,
                     .column_stride = wo_.in,
                     .k = d_k_,
                     .n = count,
                     .panels = panels});
        const Head head = head_of(h);
        table_.gemm({.m = rows,
                     .n = count,
                     .k = d_k_,
                     .a = head.x,
                     .a_stride = head.x_stride,
                     .b_panels = panels,
                     .bias = nullptr,
                     .c = head.y + first,
                     .c_stride = head.y_stride});
      }
    });
  }

 private:
  /// Columns that are read at a time: whole panels of every instruction set.
  static constexpr Index kColumns = 64;
  [[nodiscard]] static std::size_t columns_floats(Index in) noexcept {
    return capped_product(kColumns, in);
  }

  const kernels::KernelTable& table_;
  const PackedLinear& wo_;
  Index d_k_;
  ThreadPool* pool_;
  float* memory_;
};

}  // namespace qkv
