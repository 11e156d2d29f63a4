// y = x W + b with a packed matrix, which all layers share.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/parallel.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// Rows of x as products with quantised weights read them: made once, for all products with these rows.
struct QuantizedRows {
  /// By RowKind; null where it was not made.
  struct Kind {
    const float* at = nullptr;
    Index stride = 0;  ///< floats from one row to the next
  };
  Kind kinds[kernels::kQuantizedKinds];
};

/// Which kinds of quantised rows are wanted, by RowKind.
struct RowKinds {
  bool wanted[kernels::kQuantizedKinds] = {};

  /// Adds what products with this matrix read.
  void add(const kernels::KernelTable& table, const PackedLinear& map) noexcept;
  /// Whether any is.
  [[nodiscard]] bool any() const noexcept { return wanted[0] || wanted[1]; }
};

/// Rows of numbers, one after another.
struct DenseRows {
  const float* x;  ///< [rows, width]
  Index rows, width;
};

/// Whether products with this matrix read quantised rows.
[[nodiscard]] bool reads_quantized_rows(const kernels::KernelTable& table,
                                        const PackedLinear& map) noexcept;

/// Floats of memory for quantize_rows() of all kinds.
[[nodiscard]] std::size_t quantized_floats(const kernels::KernelTable& table, Index rows,
                                           Index width) noexcept;

/// In each block of 32 numbers of a row, s = max |x| / m and q = x / s as whole numbers, with m = 127, or 63 for rows that meet
/// weights of 8 bits where DotOf<Isa>::kRowMost says so; a block with NaN or infinity is NaN. `memory` has room for
/// quantized_floats().
[[nodiscard]] QuantizedRows quantize_rows(const kernels::KernelTable& table, ThreadPool* pool,
                                          const DenseRows& rows, const RowKinds& kinds,
                                          float* memory) noexcept;

/// What a product reads and writes.
struct LinearRows {
  const float* x;  ///< [rows, in]; not read by products with quantised weights
  Index rows;
  float* y;                                  ///< [rows, out]
  const QuantizedRows* quantized = nullptr;  ///< what these read instead
};

/// y = x W + b, on the threads of `pool` if there is one.
///
/// Error bounds, beside that of linear() with the weights as they are kept. kF32, kBf16, kF16: none. kInt8, W being q d:
///
///     |y_j - sum_k x_k W_kj - b_j| <= sum_k |W_kj| M_k / 2m + 2^-24 (n + 5) (sum_k |W_kj| (|x_k| + M_k / 2m) + |b_j|)
///
/// to first order, with M_k the largest |x| in k's block of 32, m as quantize_rows() has it and n the number of blocks: a number of a
/// row is off by half of s = M / m, sums of a block are exact, and each of n + 1 terms takes part in at most n additions after five
/// roundings of s, m / M, q, d s and its product. Blocks of x whose largest number is below 2^-120 count as zeros.
/// kInt4, W being q d + o: the same with 2 n in place of n and, in the last sum, |q d| + |o| in place of |W|: the two parts are
/// multiplied and added one by one. kQ4K, W being f q d + g o: the same with |f q d| + |g o|, of which eight are added, and multiplied,
/// before the sum.
void apply(const kernels::KernelTable& table, ThreadPool* pool, const PackedLinear& l,
           const LinearRows& to) noexcept;

/// One of several maps of the same rows, and its y.
struct LinearOutput {
  const PackedLinear* map;
  float* y;
};

/// Most maps of apply_all().
inline constexpr std::size_t kMostMaps = 3;

/// apply() for each of these maps, which have inputs in common; `from` has quantised rows if one of them reads those, and `x` if
/// one does not. Threads wait for each other once, not once for each of them.
void apply_all(const kernels::KernelTable& table, ThreadPool* pool,
               std::span<const LinearOutput> maps, const LinearRows& from) noexcept;

/// Floats that apply_linear() takes of a workspace; args are those of linear(), checked.
[[nodiscard]] std::size_t linear_scratch(const kernels::KernelTable& table,
                                         const LinearArgs& args) noexcept;

/// linear() of checked arguments, in a workspace that has begun with room for linear_scratch(), which it gives back. For
/// functions of several products, which find the memory for all before anything is written.
void apply_linear(const kernels::KernelTable& table, const LinearArgs& args,
                  Workspace& workspace) noexcept;

/// Some columns of a product: `out` of them, written to rows of y that are `y_stride` apart.
struct LinearColumns {
  const float* panels;
  const float* bias;  ///< null, or padded to whole panels
  Index in, out;
  Index y_stride;
  WeightFormat format = WeightFormat::kF32;
  bool raised = false;  ///< of binary16
};

/// All columns of a packed matrix.
[[nodiscard]] inline LinearColumns columns_of(const PackedLinear& map) noexcept {
  return {map.panels.data(), map.bias.data(), map.in, map.out, map.out, map.format, map.raised};
}

/// Floats that pack_whole() takes of a workspace.
[[nodiscard]] std::size_t packed_scratch(const kernels::KernelTable& table,
                                         const LinearArgs& args) noexcept;

/// The map of linear(), checked, packed once for products with many x: args.x is not read. For apply_columns(), as long as the
/// workspace keeps what this takes.
[[nodiscard]] LinearColumns pack_whole(const kernels::KernelTable& table, const LinearArgs& args,
                                       Workspace& workspace) noexcept;

/// apply() to these columns; to.y is that of the first of them.
void apply_columns(const kernels::KernelTable& table, ThreadPool* pool, const LinearColumns& l,
                   const LinearRows& to) noexcept;

}  // namespace qkv
