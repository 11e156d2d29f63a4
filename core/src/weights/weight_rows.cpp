// Weights of a file into a packed matrix, a block of 32 inputs of one output at a time.
#include "weights/weight_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/number_conversion.hpp"
#include "weights/formats.hpp"

namespace qkv {

using kernels::Int8Block;
using kernels::KernelTable;
using kernels::PanelFormat;
using kernels::PanelPart;

static_assert(std::endian::native == std::endian::little,
              "numbers of files are little-endian, and are read as they lie in memory");

namespace {

constexpr Index kBlock = kernels::kInt8Block;

/// Bytes of a Q8_0 block: a scale and 32 numbers.
constexpr Index kQ8Bytes = 2 + kBlock;

/// Block `block` of row r of rows with numbers of 8 bits, of which `count` exist.
Int8Block int8_block(const FileRows& from, Index r, Index block, Index count) noexcept {
  Int8Block to{};
  const std::byte* row = from.data + r * from.row_bytes;
  if (from.type == NumberType::kQ8_0) {
    to.scale = read_half(row + block * kQ8Bytes);
    row += block * kQ8Bytes + 2;
  } else {
    to.scale = read_half(from.scales + 2 * (r * from.scale_stride + block));
    row += block * kBlock;
  }
  std::memcpy(to.numbers, row, static_cast<std::size_t>(count));
  return to;
}

/// The same as float32. False when the scale is not finite.
bool read_block(const FileRows& from, Index r, Index block, Index count, float* to) noexcept {
  if (has_scales(from.type)) {
    const Int8Block q = int8_block(from, r, block, count);
    const float scale = from_f16(q.scale);
    for (Index i = 0; i < count; ++i) {
      to[i] = scale * static_cast<float>(q.numbers[i]);
    }
    return is_finite_f16(q.scale);
  }
  const std::byte* row = from.data + r * from.row_bytes;
  if (from.type == NumberType::kF32) {
    std::memcpy(to, row + block * kBlock * 4, static_cast<std::size_t>(count) * sizeof(float));
    return true;
  }
  std::uint16_t halves[kBlock] = {};
  std::memcpy(halves, row + block * kBlock * 2, static_cast<std::size_t>(count) * 2);
  float all[kBlock];
  // Two loops, and of known length, for compilers that take several numbers at a time.
  if (from.type == NumberType::kF16) {
    for (Index i = 0; i < kBlock; ++i) {
      all[i] = from_f16(halves[i]);
    }
  } else {
    for (Index i = 0; i < kBlock; ++i) {
      all[i] = from_bf16(halves[i]);
    }
  }
  std::copy_n(all, count, to);
  return true;
}

/// A column of a packed matrix, without inputs as yet.
PanelPart part_of(const KernelTable& table, const PackedLinear& packed, Index column) noexcept {
  const auto floats = static_cast<Index>(panel_floats(format_of(table, packed.format), packed.in));
  float* panel = packed.panels.data() + column / table.panel * floats;
  return {reinterpret_cast<std::byte*>(panel), column % table.panel, 0, 0};
}

/// Rows of outputs: the blocks of a row are those of the matrix.
bool fill_outputs(const KernelTable& table, const FileRows& from, PackedLinear& packed) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  const bool as_it_is = format.keep && has_scales(from.type);
  bool finite = true;
  for (Index r = 0; r < from.rows; ++r) {
    PanelPart part = part_of(table, packed, from.first + r);
    for (; part.first < packed.in; part.first += kBlock) {
      part.count = std::min(kBlock, packed.in - part.first);
      const Index block = part.first / kBlock;
      if (as_it_is) {
        finite &= format.keep(part, int8_block(from, r, block, part.count));
        continue;
      }
      float weights[kBlock];
      finite &= read_block(from, r, block, part.count, weights);
      finite &= format.write(part, weights);
    }
  }
  return finite;
}

/// Weights of 8 bits of one output, from row r of inputs on. False when their scale is not finite.
bool fill_int8(const FileRows& from, Index r, Index output, const PanelFormat& format,
               const PanelPart& part) noexcept {
  Int8Block block{};
  block.scale = read_half(from.scales + 2 * (r / kBlock * from.scale_stride + output));
  float weights[kBlock];
  for (Index i = 0; i < part.count; ++i) {
    std::memcpy(block.numbers + i, from.data + (r + i) * from.row_bytes + output, 1);
    weights[i] = from_f16(block.scale) * static_cast<float>(block.numbers[i]);
  }
  return format.keep ? format.keep(part, block)
                     : format.write(part, weights) && is_finite_f16(block.scale);
}

/// Rows of inputs, by squares of 32 inputs and 32 outputs.
bool fill_inputs(const KernelTable& table, const FileRows& from, PackedLinear& packed) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  bool finite = true;
  for (Index r = 0; r < from.rows; r += kBlock) {
    const Index inputs = std::min(kBlock, from.rows - r);
    for (Index j = 0; j < packed.out; j += kBlock) {
      const Index outputs = std::min(kBlock, packed.out - j);
      float square[kBlock][kBlock];
      for (Index i = 0; from.type != NumberType::kInt8 && i < inputs; ++i) {
        finite &= read_block(from, r + i, j / kBlock, outputs, square[i]);
      }
      for (Index o = 0; o < outputs; ++o) {
        PanelPart part = part_of(table, packed, j + o);
        part.first = from.first + r;
        part.count = inputs;
        if (from.type == NumberType::kInt8) {
          finite &= fill_int8(from, r, j + o, format, part);
          continue;
        }
        float weights[kBlock];
        for (Index i = 0; i < inputs; ++i) {
          weights[i] = square[i][o];
        }
        finite &= format.write(part, weights);
      }
    }
  }
  return finite;
}

}  // namespace

bool fill_matrix(const KernelTable& table, const FileRows& from, PackedLinear& packed) noexcept {
  return from.layout == WeightLayout::kOutIn ? fill_outputs(table, from, packed)
                                             : fill_inputs(table, from, packed);
}

bool read_rows(const FileRows& from, Index width, float* to) noexcept {
  bool finite = true;
  for (Index r = 0; r < from.rows; ++r) {
    for (Index i = 0; i < width; i += kBlock) {
      finite &= read_block(from, r, i / kBlock, std::min(kBlock, width - i), to + r * width + i);
    }
  }
  return finite;
}

void read_column(const KernelTable& table, const PackedLinear& packed, Index column,
                 float* to) noexcept {
  PanelPart part = part_of(table, packed, column);
  part.count = packed.in;
  format_of(table, packed.format).read(part, to);
}

}  // namespace qkv
