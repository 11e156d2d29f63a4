// Rows of a matrix as they lie in the file of a model, and what fills a packed matrix with them.
#pragma once

#include <cstddef>

#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/number_format.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

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
[[nodiscard]] bool fill_matrix(const kernels::KernelTable& table, const FileRows& from,
                               PackedLinear& packed) noexcept;

/// `from.rows` rows of `width` numbers as float32, one after another, for arrays that are no matrices; blocks lie along the
/// rows. False as fill_matrix().
[[nodiscard]] bool read_rows(const FileRows& from, Index width, float* to) noexcept;

/// The `in` weights of output `column`, as the product reads them.
void read_column(const kernels::KernelTable& table, const PackedLinear& packed, Index column,
                 float* to) noexcept;

}  // namespace qkv
