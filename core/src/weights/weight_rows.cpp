// Weights of a file into a packed matrix: some blocks of 32 inputs of one output, and of the other outputs of its panel, and on.
#include "weights/weight_rows.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "base/share.hpp"
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

/// Inputs of an output that are filled at a time: what they take of a panel stays in a first cache, 32 kB at most.
constexpr Index kSpan = 8 * kBlock;

static_assert(kSpan == kernels::kQ4kInputs, "a span is one large block");

static_assert(kBlock == kRunInputs);

/// Where run `run` of a row is, and which one of its block that is. Blocks have one run or eight.
struct RunPlace {
  const std::byte* block;
  Index run;
};
RunPlace place_of(const BlockType& type, const std::byte* row, Index run) noexcept {
  constexpr Index kRuns = 8;
  return type.inputs == kRunInputs ? RunPlace{row + run * type.bytes, 0}
                                   : RunPlace{row + run / kRuns * type.bytes, run % kRuns};
}

/// Block `block` of row r, of which `count` numbers exist, of numbers that have scales.
NumberRun read_run(const FileRows& from, Index r, Index block, Index count) noexcept {
  NumberRun run{};
  const std::byte* row = from.data + r * from.row_bytes;
  if (const BlockType* type = block_type(from.type)) {
    const RunPlace place = place_of(*type, row, block);
    type->read(place.block, place.run, run);
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

/// Blocks of row r as they are kept, those of `count` numbers from number `first` on.
void read_coded(const FileRows& from, Index r, const PanelPart& part, CodedBlock* to) noexcept {
  const std::byte* row = from.data + r * from.row_bytes;
  const BlockType* type = block_type(from.type);
  for (Index i = 0; i < part.count; i += kBlock, ++to) {
    const Index block = (part.first + i) / kBlock;
    if (type) {
      const RunPlace place = place_of(*type, row, block);
      type->keep(place.block, place.run, *to);
      continue;
    }
    *to = {};
    to->scale = read_half(from.scales + 2 * (r * from.scale_stride + block));
    std::memcpy(to->numbers, row + block * kBlock,
                static_cast<std::size_t>(std::min(kBlock, part.count - i)));
  }
}

bool is_finite(float x) noexcept {
  return (std::bit_cast<std::uint32_t>(x) & 0x7f800000U) != 0x7f800000U;
}

/// False when a scale is not finite.
bool to_floats(const NumberRun& run, float* __restrict to) noexcept {
  bool finite = true;
  for (Index half = 0; half < 2; ++half) {
    const std::int8_t* codes = run.codes + half * (kBlock / 2);
    for (Index i = 0; i < kBlock / 2; ++i) {
      *to++ = run.scale[half] * static_cast<float>(codes[i]) + run.offset[half];
    }
    finite &= is_finite(run.scale[half]) && is_finite(run.offset[half]);
  }
  return finite;
}

[[gnu::noinline]] void change(const FileRows& from, Index count, float* numbers) noexcept {
  for (Index i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>((static_cast<double>(numbers[i]) + from.plus) * from.factor);
  }
}

/// kBlock numbers of 16 bits as float32.
void read_halves(NumberType type, const std::byte* __restrict at, float* __restrict to) noexcept {
  // Two loops, and of known length, for compilers that take several numbers at a time.
  if (type == NumberType::kF16) {
    for (Index i = 0; i < kBlock; ++i) {
      to[i] = from_f16(read_half(at + 2 * i));
    }
    return;
  }
  for (Index i = 0; i < kBlock; ++i) {
    to[i] = from_bf16(read_half(at + 2 * i));
  }
}

/// A whole block of numbers without scales, as float32.
void read_plain(NumberType type, const std::byte* at, float* to) noexcept {
  if (type == NumberType::kF32) {
    std::memcpy(to, at, kBlock * sizeof(float));
  } else {
    read_halves(type, at, to);
  }
}

/// Block `block` of row r as float32, unchanged; all of it, whose bytes the file has. False when a scale is not finite.
bool read_whole(const FileRows& from, Index r, Index block, float* to) noexcept {
  if (has_scales(from.type)) {
    return to_floats(read_run(from, r, block, kBlock), to);
  }
  const auto size = static_cast<Index>(row_bytes(from.type, 1));
  read_plain(from.type, from.data + r * from.row_bytes + block * kBlock * size, to);
  return true;
}

/// The first `count` of block `block` of row r as float32, changed. False when a scale is not finite.
bool read_block(const FileRows& from, Index r, Index block, Index count, float* to) noexcept {
  bool finite = true;
  if (count == kBlock) {
    finite = read_whole(from, r, block, to);
  } else {
    float whole[kBlock];
    const std::byte* row = from.data + r * from.row_bytes;
    if (has_scales(from.type)) {
      finite = to_floats(read_run(from, r, block, count), whole);
    } else {
      // The file may end here.
      std::byte bytes[4 * kBlock] = {};
      const auto size = row_bytes(from.type, 1);
      std::memcpy(bytes, row + block * kBlock * static_cast<Index>(size),
                  static_cast<std::size_t>(count) * size);
      read_plain(from.type, bytes, whole);
    }
    std::copy_n(whole, count, to);
  }
  if (!from.as_they_are()) {
    change(from, count, to);
  }
  return finite;
}

/// A column of a packed matrix, without inputs as yet.
PanelPart part_of(const KernelTable& table, const PackedLinear& packed, Index column) noexcept {
  const auto floats = static_cast<Index>(panel_floats(format_of(table, packed.format), packed.in));
  float* panel = packed.panels.data() + column / table.panel * floats;
  return {reinterpret_cast<std::byte*>(panel), column % table.panel, 0, 0, packed.raised};
}

/// How numbers of a file go into a format.
enum class Way : std::uint8_t {
  kKeep,   ///< blocks, as they are
  kCopy,   ///< numbers of 16 bits, as they are
  kLarge,  ///< large blocks, of which the format has those of one type of files
  kWrite,  ///< as float32, which the format rounds
};

Way way_of(const FileRows& from, const PanelFormat& format, WeightFormat kind) noexcept {
  if (format.keep_large) {
    return Way::kLarge;
  }
  if (!from.as_they_are()) {
    return Way::kWrite;
  }
  if (format.bits > 0) {
    return format.bits == kept_bits(from.type) ? Way::kKeep : Way::kWrite;
  }
  const bool same = from.type == stored_type(kind);
  return same && format.copy ? Way::kCopy : Way::kWrite;
}

/// At most kSpan inputs of row r, which are those of one output.
bool fill_span(const FileRows& from, Index r, Way way, const PanelFormat& format,
               const PanelPart& part) noexcept {
  if (way == Way::kCopy) {
    return format.copy(part, from.data + r * from.row_bytes + 2 * part.first, 2);
  }
  if (way == Way::kLarge) {
    const BlockType& type = *block_type(from.type);
    return format.keep_large(
        part, from.data + r * from.row_bytes + part.first / type.inputs * type.bytes);
  }
  if (way == Way::kKeep) {
    CodedBlock blocks[kSpan / kBlock];
    read_coded(from, r, part, blocks);
    return format.keep(part, blocks);
  }
  float weights[kSpan];
  bool finite = true;
  for (Index i = 0; i < part.count; i += kBlock) {
    finite &= read_block(from, r, (part.first + i) / kBlock, std::min(kBlock, part.count - i),
                         weights + i);
  }
  return format.write(part, weights) && finite;
}

/// A matrix that is filled, and the rows that it gets.
struct Filling {
  const KernelTable& table;
  const FileRows& from;
  PackedLinear& packed;
  const PanelFormat& format;
  Way way;
};

/// Rows of outputs that are in one panel; their blocks are those of the matrix. All get some inputs, then the next ones.
bool fill_outputs(const Filling& f, Index begin, Index end) noexcept {
  bool finite = true;
  for (Index i = 0; i < f.packed.in; i += kSpan) {
    for (Index r = begin; r < end; ++r) {
      PanelPart part = part_of(f.table, f.packed, f.from.first + r);
      part.first = i;
      part.count = std::min(kSpan, f.packed.in - i);
      finite &= fill_span(f.from, r, f.way, f.format, part);
    }
  }
  return finite;
}

/// Weights of 8 bits of one output, from row r of inputs on. False when their scale is not finite.
bool fill_int8(const FileRows& from, Index r, Index output, const PanelFormat& format,
               const PanelPart& part) noexcept {
  CodedBlock block{};
  block.scale = read_half(from.scales + 2 * (r / kBlock * from.scale_stride + output));
  for (Index i = 0; i < part.count; ++i) {
    std::memcpy(block.numbers + i, from.data + (r + i) * from.row_bytes + output, 1);
  }
  if (format.bits == 8 && from.as_they_are()) {
    return format.keep(part, &block);
  }
  float weights[kBlock];
  for (Index i = 0; i < part.count; ++i) {
    weights[i] = from_f16(block.scale) * static_cast<float>(block.numbers[i]);
  }
  if (!from.as_they_are()) {
    change(from, part.count, weights);
  }
  return format.write(part, weights) && is_finite_f16(block.scale);
}

/// The inputs [r, r + inputs) and outputs [j, j + outputs) of a matrix, kBlock of each at most.
struct Square {
  Index r, j, inputs, outputs;
};

/// Numbers of a square as float32, which the format rounds.
bool write_square(const Filling& f, const Square& of) noexcept {
  float square[kBlock][kBlock];
  bool finite = true;
  for (Index i = 0; i < of.inputs; ++i) {
    finite &= read_block(f.from, of.r + i, of.j / kBlock, of.outputs, square[i]);
  }
  for (Index o = 0; o < of.outputs; ++o) {
    PanelPart part = part_of(f.table, f.packed, of.j + o);
    part.first = f.from.first + of.r;
    part.count = of.inputs;
    float weights[kBlock];
    for (Index i = 0; i < of.inputs; ++i) {
      weights[i] = square[i][o];
    }
    finite &= f.format.write(part, weights);
  }
  return finite;
}

/// Numbers of a square that need no float32.
bool keep_square(const Filling& f, const Square& of) noexcept {
  bool finite = true;
  for (Index output = of.j; output < of.j + of.outputs; ++output) {
    PanelPart part = part_of(f.table, f.packed, output);
    part.first = f.from.first + of.r;
    part.count = of.inputs;
    finite &= f.from.type == NumberType::kInt8
                  ? fill_int8(f.from, of.r, output, f.format, part)
                  : f.format.copy(part, f.from.data + of.r * f.from.row_bytes + 2 * output,
                                  f.from.row_bytes);
  }
  return finite;
}

/// Rows of inputs, of kBlock outputs from j on, by squares.
bool fill_inputs(const Filling& f, Index j) noexcept {
  const bool keeps = f.from.type == NumberType::kInt8 || f.way == Way::kCopy;
  bool finite = true;
  for (Index r = 0; r < f.from.rows; r += kBlock) {
    const Square of{r, j, std::min(kBlock, f.from.rows - r), std::min(kBlock, f.packed.out - j)};
    finite &= (keeps ? keep_square : write_square)(f, of);
  }
  return finite;
}

/// Calls fill(i) for i in [0, count), on the threads of the pool where that is worth it. Whether all said yes.
template <class Fill>
bool fill_each(ThreadPool* pool, Index count, double bytes, const Fill& fill) noexcept {
  // A byte takes as long as some multiplications.
  constexpr double kWork = 8.0;
  ThreadPool* const helpers = worth_sharing(pool, kWork * bytes) ? pool : nullptr;
  const Index grain = helpers ? 1 + count / (Index{4} * helpers->threads()) : count;
  std::atomic<bool> finite{true};
  share(helpers, count, grain, [&](Index begin, Index end) noexcept {
    for (Index i = begin; i < end; ++i) {
      if (!fill(i)) {
        finite.store(false, std::memory_order_relaxed);
      }
    }
  });
  return finite.load(std::memory_order_relaxed);
}

/// Rows of outputs, by panels.
bool fill_panels(const Filling& f, ThreadPool* pool, double bytes) noexcept {
  const Index panel = f.table.panel;
  const Index before = f.from.first % panel;  // rows of the first panel that came earlier
  const Index panels = (before + f.from.rows + panel - 1) / panel;
  return fill_each(pool, panels, bytes, [&](Index i) noexcept {
    const Index begin = i * panel - before;
    return fill_outputs(f, std::max(Index{0}, begin), std::min(f.from.rows, begin + panel));
  });
}

}  // namespace

bool fill_matrix(const KernelTable& table, const FileRows& from, PackedLinear& packed,
                 ThreadPool* pool) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  const Filling f{table, from, packed, format, way_of(from, format, packed.format)};
  const double bytes = static_cast<double>(from.rows) * static_cast<double>(from.row_bytes);
  return from.layout == WeightLayout::kOutIn
             ? fill_panels(f, pool, bytes)
             : fill_each(pool, (packed.out + kBlock - 1) / kBlock, bytes,
                         [&](Index i) noexcept { return fill_inputs(f, i * kBlock); });
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

/// Inputs [part.first, part.first + part.count) of a column of large blocks.
void read_large(const PanelFormat& format, NumberType type, PanelPart part, float* to) noexcept {
  const BlockType& blocks = *block_type(type);
  const Index begin = part.first;
  const Index end = begin + part.count;
  for (Index first = begin; first < end;) {
    part.first = first / blocks.inputs * blocks.inputs;
    std::byte block[kLargeBytes];
    format.take_large(part, block);
    const Index last = std::min(end, part.first + blocks.inputs);
    for (; first < last; first += kRunInputs) {
      NumberRun run{};
      blocks.read(block, (first - part.first) / kRunInputs, run);
      // What was kept is finite.
      float whole[kRunInputs];
      static_cast<void>(to_floats(run, whole));
      std::copy_n(whole, std::min(kRunInputs, last - first), to + (first - begin));
    }
  }
}

}  // namespace

namespace {

/// The numbers of a block, in loops of known length, for compilers that take several at a time.
void read_codes(const CodedBlock& block, int bits, float* __restrict to) noexcept {
  const float scale = from_f16(block.scale);
  if (bits == 8) {
    for (Index i = 0; i < kBlock; ++i) {
      to[i] = scale * static_cast<float>(kernels::number_of(block, i, 8)) + -0.0F;
    }
    return;
  }
  const float offset = from_f16(block.offset);
  for (Index i = 0; i < kBlock / 2; ++i) {
    const Index j = i + kBlock / 2;  // in the same byte
    to[i] = scale * static_cast<float>(kernels::number_of(block, i, 4)) + offset;
    to[j] = scale * static_cast<float>(kernels::number_of(block, j, 4)) + offset;
  }
}

}  // namespace

void read_inputs(const KernelTable& table, const PackedLinear& packed, const ColumnPart& of,
                 float* to) noexcept {
  const PanelFormat& format = format_of(table, packed.format);
  PanelPart part = part_of(table, packed, of.column);
  part.first = of.first;
  part.count = of.count;
  if (format.keep_large) {
    return read_large(format, stored_type(packed.format), part, to);
  }
  if (format.bits == 0) {
    format.read(part, to);
    return;
  }
  for (; part.first < of.first + of.count; part.first += kBlock, to += kBlock) {
    CodedBlock block{};
    format.take(part, block);
    float whole[kBlock];
    read_codes(block, format.bits, whole);
    std::copy_n(whole, std::min(kBlock, of.first + of.count - part.first), to);
  }
}

void read_column(const KernelTable& table, const PackedLinear& packed, Index column,
                 float* to) noexcept {
  read_inputs(table, packed, {column, 0, packed.in}, to);
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
  std::memcpy(to, block.numbers, kBlock / 2);
  return to + kBlock / 2;
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
