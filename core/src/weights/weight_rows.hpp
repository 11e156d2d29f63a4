// Rows of a matrix as they lie in the file of a model, and what fills a packed matrix with them.
#pragma once

#include <cstddef>

#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/number_format.hpp"
#include "qkv/parallel.hpp"
#include "qkv/tensor_view.hpp"
#include "weights/number_blocks.hpp"

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
  /// A number x of the file stands for (x + plus) factor, in double precision, rounded once.
  double plus = 0.0, factor = 1.0;

  /// Whether numbers are kept as they are.
  [[nodiscard]] bool as_they_are() const noexcept { return plus == 0.0 && factor == 1.0; }
};

/// Fills a part of a reserved matrix. Numbers that keep their type keep their bits. Blocks of the layout kOutIn go as they are
/// to a format with numbers of as many bits: kQ8_0, kQ5_0, kIq4Nl and kInt8 to WeightFormat::kInt8, kQ4_0, kQ4_1 and kQ4K to
/// WeightFormat::kInt4, kQ4K to WeightFormat::kQ4K, which takes nothing else; so does kInt8 of either layout. All others are turned into float32, exactly, and rounded:
/// - kBf16, kF16: to the nearest, ties to even; NaN stays NaN in bfloat16;
/// - kInt8: in blocks of 32 inputs to q d with d = max |w| / 127 as binary16, rounded up below 2^-14, and q = w / d as a whole
///   number of at most 127: within d / 2;
/// - kInt4: in blocks of 32 inputs to o + q d with o = min w and d = (max w - o) / 15 as binary16, d rounded up below 2^-14, and
///   q = (w - o) / d as a whole number from 0 to 15: within 0.51 d + 2^-11 |o| + 2^-24.
/// Scale and offset of kQ4K are products of binary16 and 6 bits, each rounded to binary16 in kInt4: a number q d + o is off by at most
/// 2^-11 (15 |d| + |o|) + 2^-21. kQ4_0 and kQ4_1 are exact.
/// False when a scale is NaN or infinite, or would be (a weight that is, or is too large for the format), and when a weight is no
/// finite binary16: then the matrix is of no use.
/// With kInOut and blocks, `first` and `rows` are multiples of 32, but for the matrix's end.
/// Shared by the threads of `pool`, if there is one, by panels.
[[nodiscard]] bool fill_matrix(const kernels::KernelTable& table, const FileRows& from,
                               PackedLinear& packed, ThreadPool* pool = nullptr) noexcept;

/// `from.rows` rows of `width` numbers as float32, one after another, for arrays that are no matrices; blocks lie along the
/// rows. False as fill_matrix().
[[nodiscard]] bool read_rows(const FileRows& from, Index width, float* to) noexcept;

/// The `in` weights of output `column`, as the product reads them.
void read_column(const kernels::KernelTable& table, const PackedLinear& packed, Index column,
                 float* to) noexcept;

/// Inputs [first, first + count) of a column; `first` a multiple of 32.
struct ColumnPart {
  Index column, first, count;
};
/// The weights of a part of an output, as read_column() has them.
void read_inputs(const kernels::KernelTable& table, const PackedLinear& packed,
                 const ColumnPart& of, float* to) noexcept;

/// The same as they are kept, in the type that kStoredTypes has for the format: row_bytes() of `in` numbers.
void store_column(const kernels::KernelTable& table, const PackedLinear& packed, Index column,
                  std::byte* to) noexcept;

}  // namespace qkv
