// What each head brings: products with the rows of W_O that are its own.
#pragma once

#include "base/float_count.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/parallel.hpp"

namespace qkv {

/// y[r, h, :] = x[r, h, :] W_O,h with rows [h d_k, (h + 1) d_k) of W_O, as the matrix keeps its numbers. Rows are not quantised,
/// whatever the format is, so that the sum over heads differs from the sub-layer's product by what that bound says.
struct HeadProduct {
  const PackedLinear& wo;  ///< [num_heads d_k, d_model]
  Index d_k;
  ThreadPool* pool;
  float* memory;  ///< floats() for the threads of the pool

  [[nodiscard]] static std::size_t floats(Index in, Index d_k, int threads) noexcept {
    return capped_product(threads, capped_sum({columns_floats(in), capped_product(kColumns, d_k)}));
  }

  /// Where the rows of heads are.
  struct Rows {
    Index rows;
    const float* x;  ///< of head 0, [rows, d_k]
    Index x_stride;
    Index group;  ///< heads that share an x, which follow one another
    float* y;     ///< of head 0, [rows, d_model]
    Index y_stride;
    Index y_head_stride;
  };
  void multiply(const kernels::KernelTable& table, const Rows& of) const noexcept;

 private:
  /// Columns that are read at a time: whole panels of every instruction set.
  static constexpr Index kColumns = 64;
  [[nodiscard]] static std::size_t columns_floats(Index in) noexcept {
    return capped_product(kColumns, in);
  }
};

}  // namespace qkv
