// Weights of a file into a packed matrix, a block of 32 inputs of one output at a time.
#include "weights/weight_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/number_conversion.hpp"
#include "weights/formats.hpp"

namespace qkv {

using kernels::CodedBlock;
using kernels::KernelTable;
using kernels::PanelFormat;
using kernels::PanelPart;

static_assert(std::endian::native == std::endian::little,
              "numbers of files are little-endian, and are read as they lie in memory");

namespace {

constexpr Index kBlock = kernels::kInt8Block;

static_assert(kBlock == kRunInputs);

/// Block `block` of row r, of which `count` numbers exist, of numbers that have scales.
NumberRun read_run(const FileRows& from, Index r, Index block, Index count) noexcept {
  NumberRun run{};
  const std::byte* row = from.data + r * from.row_bytes;
  if (const BlockType* type = block_type(from.type)) {
    const Index runs = type->inputs / kRunInputs;
    type->read(row + block / runs * type->bytes, block % runs, run);
    return run;
  }
  run.scale[0] = from_f16(read_half(from.scales + 2 * (r * from.scale_stride + block)));
  run.scale[1] = run.scale[0];
  run.offset[0] = run.offset[1] = -0.0F;
  std::memcpy(run.codes, row + block * kBlock, static_cast<std::size_t>(count));
  return run;
}

/// Bits of the numbers of such blocks where they can be kept as they are.
int kept_bits(NumberType type) noexcept {
  const BlockType* blocks = block_type(type);
  return type == NumberType::kInt8 ? 8 : blocks ? blocks->kept_bits : 0;
}

/// The run as it is kept. Exact but for products of scales, which are rounded.
CodedBlock coded(const NumberRun& run, NumberType type) noexcept {
  const BlockType* blocks = block_type(type);
  const int least = blocks ? blocks->least : 0;
  CodedBlock to{};
  to.scale = to_f16(run.scale[0]);
  const float shift = least == 0 ? -0.0F : static_cast<float>(least) * run.scale[0];
  to.offset = to_f16(run.offset[0] + shift);
  for (Index i = 0; i < kBlock; ++i) {
    to.numbers[i] = static_cast<std::int8_t>(run.codes[i] - least);
  }
  return to;
}

bool is_finite(float x) noexcept {
  return (std::bit_cast<std::uint32_t>(x) & 0x7f800000U) != 0x7f800000U;
}

/// False when a scale is not finite.
bool to_floats(const NumberRun& run, Index count, float* to) noexcept {
  for (Index i = 0; i < count; ++i) {
    const Index half = i / (kBlock / 2);
    to[i] = run.scale[half] * static_cast<float>(run.codes[i]) + run.offset[half];
  }
  return is_finite(run.scale[0]) && is_finite(run.scale[1]) && is_finite(run.offset[0]) &&
         is_finite(run.offset[1]);
}

void change(const FileRows& from, Index count, float* numbers) noexcept {
  for (Index i = 0; !from.as_they_are() && i < count; ++i) {
    numbers[i] = static_cast<float>((static_cast<double>(numbers[i]) + from.plus) * from.factor);
  }
}

/// 16-bit numbers as float32.
void read_halves(const FileRows& from, const std::byte* at, Index count, float* to) noexcept {
  std::uint16_t halves[kBlock] = {};
  std::memcpy(halves, at, static_cast<std::size_t>(count) * 2);
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
}

/// Block `block` of row r as float32, changed. False when a scale is not finite.
bool read_block(const FileRows& from, Index r, Index block, Index count, float* to) noexcept {
  const std::byte* row = from.data + r * from.row_bytes;
  bool finite = true;
  if (has_scales(from.type)) {
    finite = to_floats(read_run(from, r, block, count), count, to);
  } else if (from.type == NumberType::kF32) {
    std::memcpy(to, row + block * kBlock * 4, static_cast<std::size_t>(count) * sizeof(float));
  } else {
    read_halves(from, row + block * kBlock * 2, count, to);
  }
  change(from, count, to);
  return finite;
}

/// A column of a packed matrix, without inputs as yet.
PanelPart part_of(const KernelTable& table, const PackedLinear& packed, Index column) noexcept {
  const auto floats = static_cast<Index>(panel_floats(format_of(table, packed.format), packed.in));
  float* panel = packed.panels.data() + column / table.panel * floats;
  return {reinterpret_cast<std::byte*>(panel), column % table.panel, 0, 0};
}

/// Rows whose large blocks are those that the format keeps.
bool fill_large(const KernelTable& table, const FileRows& from, PackedLinear& packed) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  const Index bytes = block_type(from.type)->bytes;
  bool finite = true;
  for (Index r = 0; r < from.rows; ++r) {
    PanelPart part = part_of(table, packed, from.first + r);
    const std::byte* block = from.data + r * from.row_bytes;
    for (; part.first < packed.in; part.first += format.block_inputs) {
      finite &= format.keep_large(part, block);
      block += bytes;
    }
  }
  return finite;
}

/// Rows of outputs: the blocks of a row are those of the matrix.
bool fill_outputs(const KernelTable& table, const FileRows& from, PackedLinear& packed) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  const bool as_it_is =
      format.bits > 0 && format.bits == kept_bits(from.type) && from.as_they_are();
  bool finite = true;
  for (Index r = 0; r < from.rows; ++r) {
    PanelPart part = part_of(table, packed, from.first + r);
    for (; part.first < packed.in; part.first += kBlock) {
      part.count = std::min(kBlock, packed.in - part.first);
      const Index block = part.first / kBlock;
      if (as_it_is) {
        finite &= format.keep(part, coded(read_run(from, r, block, part.count), from.type));
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
  CodedBlock block{};
  block.scale = read_half(from.scales + 2 * (r / kBlock * from.scale_stride + output));
  float weights[kBlock];
  for (Index i = 0; i < part.count; ++i) {
    std::memcpy(block.numbers + i, from.data + (r + i) * from.row_bytes + output, 1);
    weights[i] = from_f16(block.scale) * static_cast<float>(block.numbers[i]);
  }
  if (format.bits == 8 && from.as_they_are()) {
    return format.keep(part, block);
  }
  change(from, part.count, weights);
  return format.write(part, weights) && is_finite_f16(block.scale);
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
  if (format_of(table, packed.format).keep_large) {
    return fill_large(table, from, packed);
  }
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

namespace {

/// Large blocks of every format fit in.
constexpr std::size_t kLargeBytes = 256;

struct Floats {
  float* at;
  Index count;
};

/// A column of large blocks, from its beginning.
void read_large(const PanelFormat& format, NumberType type, PanelPart part,
                const Floats& to) noexcept {
  const BlockType& blocks = *block_type(type);
  for (; part.first < to.count; part.first += blocks.inputs) {
    std::byte block[kLargeBytes];
    format.take_large(part, block);
    const Index end = std::min(to.count, part.first + blocks.inputs);
    for (Index first = part.first; first < end; first += kRunInputs) {
      NumberRun run{};
      blocks.read(block, (first - part.first) / kRunInputs, run);
      // What was kept is finite.
      static_cast<void>(to_floats(run, std::min(kRunInputs, end - first), to.at + first));
    }
  }
}

}  // namespace

void read_column(const KernelTable& table, const PackedLinear& packed, Index column,
                 float* to) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  PanelPart part = part_of(table, packed, column);
  if (format.keep_large) {
    return read_large(format, stored_type(packed.format), part, {to, packed.in});
  }
  if (format.bits == 0) {
    part.count = packed.in;
    format.read(part, to);
    return;
  }
  for (; part.first < packed.in; part.first += kBlock) {
    CodedBlock block{};
    format.take(part, block);
    const float scale = from_f16(block.scale);
    const float offset = format.bits == 8 ? -0.0F : from_f16(block.offset);
    const Index count = std::min(kBlock, packed.in - part.first);
    for (Index i = 0; i < count; ++i) {
      to[part.first + i] = scale * static_cast<float>(block.numbers[i]) + offset;
    }
  }
}

namespace {

/// A block as GGUF has it: the scale, of 4 bits the offset, and the numbers.
std::byte* store_block(const CodedBlock& block, int bits, std::byte* to) noexcept {
  std::memcpy(to, &block.scale, sizeof block.scale);
  to += sizeof block.scale;
  if (bits == 8) {
    std::memcpy(to, block.numbers, sizeof block.numbers);
    return to + sizeof block.numbers;
  }
  std::memcpy(to, &block.offset, sizeof block.offset);
  to += sizeof block.offset;
  for (Index i = 0; i < kBlock / 2; ++i) {
    *to++ = static_cast<std::byte>(block.numbers[i] | block.numbers[i + kBlock / 2] << 4);
  }
  return to;
}

/// Numbers without blocks, which are exact in this type.
std::byte* store_numbers(const float* numbers, Index count, NumberType type,
                         std::byte* to) noexcept {
  for (Index i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(numbers[i]);
    const std::uint16_t half =
        type == NumberType::kF16 ? to_f16(numbers[i]) : static_cast<std::uint16_t>(bits >> 16U);
    const std::size_t size = type == NumberType::kF32 ? sizeof bits : sizeof half;
    std::memcpy(to, type == NumberType::kF32 ? static_cast<const void*>(&bits) : &half, size);
    to += size;
  }
  return to;
}

}  // namespace

void store_column(const KernelTable& table, const PackedLinear& packed, Index column,
                  std::byte* to) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  const NumberType type = stored_type(packed.format);
  PanelPart part = part_of(table, packed, column);
  for (; format.take_large && part.first < packed.in; part.first += format.block_inputs) {
    format.take_large(part, to);
    to += block_type(type)->bytes;
  }
  for (; part.first < packed.in; part.first += kBlock) {
    part.count = std::min(kBlock, packed.in - part.first);
    if (format.bits > 0) {
      CodedBlock block{};
      format.take(part, block);
      to = store_block(block, format.bits, to);
    } else {
      float numbers[kBlock];
      format.read(part, numbers);
      to = store_numbers(numbers, part.count, type, to);
    }
  }
}

}  // namespace qkv
