// y = x W + b, the part that all layers share: a weight matrix's checks, packing and product.
#pragma once

#include <span>

#include "base/message.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/number_format.hpp"
#include "qkv/parallel.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// One matrix as a create() sees it, [in, out] or [out, in] as its layout says, and its bias, which
/// may be absent.
struct WeightMatrix {
  const char* name;
  const char* bias_name;
  TensorView<const float> weight;
  TensorView<const float> bias;
  Index in, out;
  WeightLayout layout;
};

/// Checks both arrays in the name of `caller`.
Status check_linear(const Caller& caller, const WeightMatrix& l) noexcept;

/// Rejects values outside the enum.
Status check_layout(const Caller& caller, const char* name, WeightLayout layout) noexcept;

/// Packs checked arrays; kOutOfMemory is all that can go wrong.
Status pack_linear(const kernels::KernelTable& table, const WeightMatrix& l,
                   PackedLinear& packed) noexcept;

/// Floats of memory that one panel takes.
[[nodiscard]] std::uint64_t panel_floats(const kernels::KernelTable& table, WeightFormat format,
                                         Index in) noexcept;

/// The sizes of a matrix, all at least 1, and how it keeps its weights.
struct LinearSize {
  Index in, out;
  WeightFormat format = WeightFormat::kF32;
  bool bias = false;
};

/// Memory for a matrix and its bias, zeroed: what is never filled is 0. kOutOfMemory is all that can go wrong, and leaves
/// `packed` as it was.
Status reserve_linear(const kernels::KernelTable& table, const LinearSize& size,
                      PackedLinear& packed) noexcept;

/// Rows of a matrix as they lie in a file, at any address.
struct FileRows {
  NumberType type = NumberType::kF32;
  const std::byte* data = nullptr;
  Index row_bytes = 0;  ///< from one row to the next
  /// kInt8: the binary16 scales of blocks of 32 inputs, as two bytes at any address. kOutIn: inputs [32 b, 32 b + 32) of
  /// row r have scales[r * scale_stride + b]. kInOut: those of rows [32 b, 32 b + 32), for output j,
  /// scales[b * scale_stride + j].
  const std::byte* scales = nullptr;
  Index scale_stride = 0;
  /// kOutIn: row r has the `in` weights of output first + r. kInOut: row r has the `out` weights of input first + r.
  WeightLayout layout = WeightLayout::kOutIn;
  Index first = 0, rows = 0;
};

/// Whether numbers of this type have scales.
inline bool has_scales(NumberType type) noexcept {
  return type == NumberType::kQ8_0 || type == NumberType::kInt8;
}

/// Fills a part of a reserved matrix. Numbers that keep their type keep their bits, and blocks of 32 inputs, kQ8_0 of layout
/// kOutIn and kInt8, go to WeightFormat::kInt8 as they are. All others are turned into float32, exactly, and rounded: to bfloat16 (nearest, ties to
/// even, NaN stays NaN), or in blocks of 32 inputs to q d with d = max |w| / 127 as binary16, rounded up below 2^-14, and q = w / d
/// as a whole number of at most 127: within d / 2.
/// False when a scale is NaN or infinite, or would be (a weight that is, or is above 8.3e6): then the matrix is of no use.
/// With kInOut and kInt8, `first` and `rows` are multiples of 32, but for the matrix's end.
[[nodiscard]] bool fill_rows(const kernels::KernelTable& table, const FileRows& from,
                             PackedLinear& packed) noexcept;

/// `from.rows` rows of `width` numbers as float32, one after another, for arrays that are no matrices; blocks lie along the
/// rows. False as fill_rows().
[[nodiscard]] bool read_rows(const FileRows& from, Index width, float* to) noexcept;

/// The `in` weights of output `column`, as the product reads them.
void read_column(const kernels::KernelTable& table, const PackedLinear& packed, Index column,
                 float* to) noexcept;

/// Rows of x as products with WeightFormat::kInt8 read them: made once, for all products with these rows.
struct QuantizedRows {
  const float* at;
  Index stride;  ///< floats from one row to the next
};

/// Rows of numbers, one after another.
struct DenseRows {
  const float* x;  ///< [rows, width]
  Index rows, width;
};

/// Floats of memory for quantize_rows().
[[nodiscard]] std::size_t quantized_floats(const kernels::KernelTable& table, Index rows,
                                           Index width) noexcept;

/// In each block of 32 numbers of a row, s = max |x| / 63 and q = x / s as whole numbers; a block with NaN or infinity is
/// NaN. `memory` has room for quantized_floats().
[[nodiscard]] QuantizedRows quantize_rows(const kernels::KernelTable& table, ThreadPool* pool,
                                          const DenseRows& rows, float* memory) noexcept;

/// What a product reads and writes.
struct LinearRows {
  const float* x;  ///< [rows, in]; not read when `quantized` is
  Index rows;
  float* y;                                  ///< [rows, out]
  const QuantizedRows* quantized = nullptr;  ///< for WeightFormat::kInt8, and only then
};

/// y = x W + b, on the threads of `pool` if there is one.
///
/// Error bounds, beside that of linear() with the weights as they are kept. kF32, kBf16: none. kInt8, W being q d:
///
///     |y_j - sum_k x_k W_kj - b_j| <= sum_k |W_kj| M_k / 126 + 2^-24 (n + 5) (sum_k |W_kj| (|x_k| + M_k / 126) + |b_j|)
///
/// to first order, with M_k the largest |x| in k's block of 32 and n the number of blocks: a number of a row is off by
/// half of s = M / 63, sums of a block are exact, and each of n + 1 terms takes part in at most n additions after five
/// roundings of s, 63 / M, q, d s and its product. Blocks of x whose largest number is below 2^-120 count as zeros.
void apply(const kernels::KernelTable& table, ThreadPool* pool, const PackedLinear& l,
           const LinearRows& to) noexcept;

/// One of several maps of the same rows, and its y.
struct LinearOutput {
  const PackedLinear* map;
  float* y;
};

/// Most maps of apply_all().
inline constexpr std::size_t kMostMaps = 3;

/// apply() for each of these maps, which have inputs and a format in common. Threads wait for each other once, not once for
/// each of them.
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
};

/// apply() to these columns; to.y is that of the first of them.
void apply_columns(const kernels::KernelTable& table, ThreadPool* pool, const LinearColumns& l,
                   const LinearRows& to) noexcept;

}  // namespace qkv
