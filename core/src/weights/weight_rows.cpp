// Weights of a file into a packed matrix, a block of 32 inputs of one output at a time.
#include "weights/weight_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/number_conversion.hpp"
#include "weights/packed_linear.hpp"

namespace qkv {

using kernels::KernelTable;

namespace {

constexpr Index kBlock = kernels::kInt8Block;

/// Bytes of a Q8_0 block: a scale and 32 numbers.
constexpr Index kQ8Bytes = 2 + kBlock;

/// A scale and 32 numbers, as they are.
struct Int8Block {
  std::uint16_t scale;
  std::int8_t numbers[kBlock];
};

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

/// x to the nearest whole number, ties to even; |x| is small.
float rounded(float x) noexcept {
  constexpr float kRound = 0x1.8p23F;
  return x + kRound - kRound;
}

/// The scale of weights of at most this size. Below 2^-14, where steps between halves are large, it is rounded up: rounded down
/// it would cut the largest weights, by 1.6 % at 1e-4, and make all of less than 3.8e-6 zeros.
std::uint16_t int8_scale(float most) noexcept {
  const std::uint16_t near = to_f16(most / 127.0F);
  const bool subnormal = near < 0x400U;
  return static_cast<std::uint16_t>(subnormal && from_f16(near) * 127.0F < most ? near + 1U : near);
}

/// 32 weights by the formula of fill_matrix().
Int8Block quantized(const float* weights, Index count) noexcept {
  // As whole numbers, among which NaN is the largest: floats would pass it over.
  std::uint32_t most = 0;
  for (Index i = 0; i < count; ++i) {
    most = std::max(most, std::bit_cast<std::uint32_t>(weights[i]) & 0x7fffffffU);
  }
  Int8Block to{};
  to.scale = int8_scale(std::bit_cast<float>(most));
  const float scale = from_f16(to.scale);
  if (scale > 0.0F && is_finite_f16(to.scale)) {
    for (Index i = 0; i < count; ++i) {
      const float q = weights[i] / scale;
      const float high = q < 127.0F ? q : 127.0F;
      to.numbers[i] = static_cast<std::int8_t>(
          static_cast<std::int32_t>(rounded(high > -127.0F ? high : -127.0F)));
    }
  }
  return to;
}

/// Where a packed matrix keeps the weights of one output.
class Column {
 public:
  Column(const KernelTable& table, const PackedLinear& packed, Index column) noexcept
      : table_(table), in_(packed.in), format_(packed.format), column_(column % table.panel) {
    const auto panel = static_cast<Index>(panel_floats(table, packed.format, packed.in));
    at_ = reinterpret_cast<std::byte*>(packed.panels.data() + column / table.panel * panel);
  }

  /// Weights of inputs [first, first + count). False when their scale is not finite.
  bool write(Index first, Index count, const float* weights) const noexcept {
    switch (format_) {
      case WeightFormat::kInt8:
        return write_block(first / kBlock, quantized(weights, count));
      case WeightFormat::kBf16:
        for (Index i = 0; i < count; ++i) {
          const std::uint16_t half = to_bf16(weights[i]);
          std::memcpy(half_at(first + i), &half, sizeof half);
        }
        return true;
      default:
        for (Index i = 0; i < count; ++i) {
          std::memcpy(float_at(first + i), weights + i, sizeof(float));
        }
        return true;
    }
  }

  [[nodiscard]] bool is_int8() const noexcept { return format_ == WeightFormat::kInt8; }

  bool write_block(Index block, const Int8Block& from) const noexcept {
    std::byte* to = block_at(block);
    std::memcpy(to + scale_offset(), &from.scale, sizeof from.scale);
    std::uint8_t bits[kBlock];
    for (Index i = 0; i < kBlock; ++i) {
      bits[i] = static_cast<std::uint8_t>(from.numbers[i]) ^ table_.int8.flip;
    }
    // Two or four at a time, a number that the compiler knows.
    const auto copy = [&](auto group) {
      for (Index i = 0; i < kBlock; i += group) {
        std::memcpy(to + number_offset(i), bits + i, group);
      }
    };
    if (table_.int8.group == 4) {
      copy(std::integral_constant<std::size_t, 4>{});
    } else {
      copy(std::integral_constant<std::size_t, 2>{});
    }
    return is_finite_f16(from.scale);
  }

  void read(float* to) const noexcept {
    switch (format_) {
      case WeightFormat::kInt8:
        for (Index i = 0; i < in_; ++i) {
          const std::byte* block = block_at(i / kBlock);
          const auto bits = std::to_integer<std::uint8_t>(block[number_offset(i % kBlock)]);
          const auto number = static_cast<std::int8_t>(bits ^ table_.int8.flip);
          to[i] = from_f16(read_half(block + scale_offset())) * static_cast<float>(number);
        }
        return;
      case WeightFormat::kBf16:
        for (Index i = 0; i < in_; ++i) {
          to[i] = from_bf16(read_half(half_at(i)));
        }
        return;
      default:
        for (Index i = 0; i < in_; ++i) {
          std::memcpy(to + i, float_at(i), sizeof(float));
        }
    }
  }

 private:
  [[nodiscard]] Index half_index() const noexcept {
    return kernels::half_place(column_, table_.panel);
  }
  [[nodiscard]] std::byte* float_at(Index i) const noexcept {
    return at_ + 4 * (i * table_.panel + column_);
  }
  [[nodiscard]] std::byte* half_at(Index i) const noexcept {
    return at_ + 2 * (i * table_.panel + half_index());
  }
  [[nodiscard]] std::byte* block_at(Index block) const noexcept {
    return at_ + block * kQ8Bytes * table_.panel;
  }
  [[nodiscard]] Index scale_offset() const noexcept { return 2 * half_index(); }
  [[nodiscard]] Index number_offset(Index i) const noexcept {
    const Index group = table_.int8.group;
    return 2 * table_.panel + (i - i % group) * table_.panel + column_ * group + i % group;
  }

  const KernelTable& table_;
  Index in_;
  WeightFormat format_;
  Index column_;  ///< within its panel
  std::byte* at_;
};

/// Rows of outputs: the blocks of a row are those of the matrix.
bool fill_outputs(const KernelTable& table, const FileRows& from, PackedLinear& packed) noexcept {
  const bool as_it_is = packed.format == WeightFormat::kInt8 && has_scales(from.type);
  bool finite = true;
  for (Index r = 0; r < from.rows; ++r) {
    const Column column(table, packed, from.first + r);
    for (Index i = 0; i < packed.in; i += kBlock) {
      const Index count = std::min(kBlock, packed.in - i);
      if (as_it_is) {
        finite &= column.write_block(i / kBlock, int8_block(from, r, i / kBlock, count));
        continue;
      }
      float weights[kBlock];
      finite &= read_block(from, r, i / kBlock, count, weights);
      finite &= column.write(i, count, weights);
    }
  }
  return finite;
}

/// Weights of 8 bits of one output, from rows r to r + count of inputs. False when their scale is not finite.
bool fill_int8(const FileRows& from, Index r, Index count, Index output,
               const Column& column) noexcept {
  Int8Block block{};
  block.scale = read_half(from.scales + 2 * (r / kBlock * from.scale_stride + output));
  float weights[kBlock];
  for (Index i = 0; i < count; ++i) {
    std::memcpy(block.numbers + i, from.data + (r + i) * from.row_bytes + output, 1);
    weights[i] = from_f16(block.scale) * static_cast<float>(block.numbers[i]);
  }
  const Index first = from.first + r;
  return column.is_int8() ? column.write_block(first / kBlock, block)
                          : column.write(first, count, weights) && is_finite_f16(block.scale);
}

/// Rows of inputs, by squares of 32 inputs and 32 outputs.
bool fill_inputs(const KernelTable& table, const FileRows& from, PackedLinear& packed) noexcept {
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
        const Column column(table, packed, j + o);
        if (from.type == NumberType::kInt8) {
          finite &= fill_int8(from, r, inputs, j + o, column);
          continue;
        }
        float weights[kBlock];
        for (Index i = 0; i < inputs; ++i) {
          weights[i] = square[i][o];
        }
        finite &= column.write(from.first + r, inputs, weights);
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
  Column(table, packed, column).read(to);
}

}  // namespace qkv
