// Layouts: ggml's structs block_q4_0 and so on (https://github.com/ggml-org/ggml, src/ggml-common.h). Little-endian; d and
// dmin are binary16; the name of a function is that of the type. Products of scales are rounded as ggml rounds them.
#include "weights/number_blocks.hpp"

#include <cstdint>
#include <cstring>

#include "kernels/number_conversion.hpp"

namespace qkv {

using kernels::CodedBlock;

namespace {

constexpr Index kHalf = kRunInputs / 2;

/// Eight bytes at a time, in one number: a function of all of them is one of that number, as long as no byte carries into the next.
using Bytes = std::uint64_t;
constexpr Index kBytes = sizeof(Bytes);

/// The same byte eight times.
constexpr Bytes all_of(unsigned byte) noexcept { return byte * Bytes{0x0101010101010101}; }

Bytes bytes_at(const void* from) noexcept {
  Bytes bytes = 0;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

/// A byte as a whole number.
int at(const std::byte* block, Index i) noexcept { return std::to_integer<int>(block[i]); }

float half_at(const std::byte* block, Index i) noexcept { return from_f16(read_half(block + i)); }

/// Codes [8 i, 8 i + 8) of a run.
Bytes codes_at(const NumberRun& run, Index i) noexcept { return bytes_at(run.codes + kBytes * i); }
void set_codes(Bytes bytes, Index i, NumberRun& to) noexcept {
  std::memcpy(to.codes + kBytes * i, &bytes, sizeof bytes);
}

/// A scale for all 32, and no offset.
void set_scale(NumberRun& to, float scale) noexcept {
  to.scale[0] = to.scale[1] = scale;
  to.offset[0] = to.offset[1] = -0.0F;
}
void set_scale(NumberRun& to, float scale, float offset) noexcept {
  to.scale[0] = to.scale[1] = scale;
  to.offset[0] = to.offset[1] = offset;
}

/// Bits [low, low + width) of each of 32 bytes.
void read_bits(const std::byte* from, Index low, int width, NumberRun& to) noexcept {
  for (Index i = 0; i < kRunInputs / kBytes; ++i) {
    set_codes(bytes_at(from + kBytes * i) >> low & all_of((1U << width) - 1), i, to);
  }
}

/// Codes of 4 bits of which byte i has number i in its low half and number i + 16 in its high one.
void read_nibbles(const std::byte* bytes, NumberRun& to) noexcept {
  for (Index i = 0; i < kHalf / kBytes; ++i) {
    const Bytes both = bytes_at(bytes + kBytes * i);
    set_codes(both & all_of(15), i, to);
    set_codes(both >> 4 & all_of(15), i + kHalf / kBytes, to);
  }
}

/// More bits above those that were read: bits [low, low + width) of each of 32 bytes become bits [to_bit, to_bit + width).
void add_bits(const std::byte* from, Index low, int width, int to_bit, NumberRun& to) noexcept {
  for (Index i = 0; i < kRunInputs / kBytes; ++i) {
    const Bytes bits = bytes_at(from + kBytes * i) >> low & all_of((1U << width) - 1);
    set_codes(codes_at(to, i) | bits << to_bit, i, to);
  }
}

/// A fifth bit, number i's bit i of four bytes.
void add_fifth_bits(const std::byte* bytes, NumberRun& to) noexcept {
  for (Index i = 0; i < kRunInputs; ++i) {
    to.codes[i] = static_cast<std::int8_t>(to.codes[i] | (at(bytes, i / 8) >> i % 8 & 1) << 4);
  }
}

/// Codes less `what`, both at least 0. The highest bit keeps a byte from borrowing of the next.
void subtract(unsigned what, NumberRun& to) noexcept {
  constexpr Bytes kHighest = all_of(128);
  for (Index i = 0; i < kRunInputs / kBytes; ++i) {
    set_codes(((codes_at(to, i) | kHighest) - all_of(what)) ^ kHighest, i, to);
  }
}

void q8_0(const std::byte* block, Index /*run*/, NumberRun& to) noexcept {
  set_scale(to, half_at(block, 0));
  std::memcpy(to.codes, block + 2, sizeof to.codes);
}

void q4_0(const std::byte* block, Index /*run*/, NumberRun& to) noexcept {
  set_scale(to, half_at(block, 0));
  read_nibbles(block + 2, to);
  subtract(8, to);
}

void q4_1(const std::byte* block, Index /*run*/, NumberRun& to) noexcept {
  set_scale(to, half_at(block, 0), half_at(block, 2));
  read_nibbles(block + 4, to);
}

void q5_0(const std::byte* block, Index /*run*/, NumberRun& to) noexcept {
  set_scale(to, half_at(block, 0));
  read_nibbles(block + 6, to);
  add_fifth_bits(block + 2, to);
  subtract(16, to);
}

void q5_1(const std::byte* block, Index /*run*/, NumberRun& to) noexcept {
  set_scale(to, half_at(block, 0), half_at(block, 2));
  read_nibbles(block + 8, to);
  add_fifth_bits(block + 4, to);
}

/// Two bits of each number of a run; four runs share 32 bytes.
void read_pairs(const std::byte* bytes, Index run, NumberRun& to) noexcept {
  read_bits(bytes + run / 4 * kRunInputs, 2 * (run % 4), 2, to);
}

void q2_k(const std::byte* block, Index run, NumberRun& to) noexcept {
  const float d = half_at(block, 80);
  const float least = half_at(block, 82);
  for (Index half = 0; half < 2; ++half) {
    const int both = at(block, 2 * run + half);
    to.scale[half] = d * static_cast<float>(both & 15);
    to.offset[half] = -(least * static_cast<float>(both >> 4));
  }
  read_pairs(block + 16, run, to);
}

void q3_k(const std::byte* block, Index run, NumberRun& to) noexcept {
  const float d = half_at(block, 108);
  const std::byte* scales = block + 96;
  set_scale(to, 0.0F);
  for (Index half = 0; half < 2; ++half) {
    // Four bits of scale k, those of k + 8 above them; then two bits of each, of k, k + 4, k + 8 and k + 12 in a byte.
    const Index k = 2 * run + half;
    const int low = at(scales, k % 8) >> 4 * (k / 8) & 15;
    const int high = at(scales, 8 + k % 4) >> 2 * (k / 4) & 3;
    to.scale[half] = d * static_cast<float>((low | high << 4) - 32);
  }
  read_pairs(block + 32, run, to);
  add_bits(block, run, 1, 2, to);
  subtract(4, to);
}

/// Scale and least number of a run of Q4_K and Q5_K: 12 bytes have 6 bits of each for eight runs.
void set_scale_k(const std::byte* block, Index run, NumberRun& to) noexcept {
  const std::byte* bytes = block + 4;
  int scale = 0;
  int least = 0;
  if (run < 4) {
    scale = at(bytes, run) & 63;
    least = at(bytes, run + 4) & 63;
  } else {
    scale = (at(bytes, run + 4) & 15) | at(bytes, run - 4) >> 6 << 4;
    least = at(bytes, run + 4) >> 4 | at(bytes, run) >> 6 << 4;
  }
  set_scale(to, half_at(block, 0) * static_cast<float>(scale),
            -(half_at(block, 2) * static_cast<float>(least)));
}

/// Four bits of each number of a run; two runs share 32 bytes.
void read_nibbles_k(const std::byte* bytes, Index run, NumberRun& to) noexcept {
  read_bits(bytes + run / 2 * kRunInputs, 4 * (run % 2), 4, to);
}

void q4_k(const std::byte* block, Index run, NumberRun& to) noexcept {
  set_scale_k(block, run, to);
  read_nibbles_k(block + 16, run, to);
}

void q5_k(const std::byte* block, Index run, NumberRun& to) noexcept {
  set_scale_k(block, run, to);
  read_nibbles_k(block + 48, run, to);
  add_bits(block + 16, run, 1, 4, to);
}

void q6_k(const std::byte* block, Index run, NumberRun& to) noexcept {
  const float d = half_at(block, 208);
  set_scale(to, 0.0F);
  for (Index half = 0; half < 2; ++half) {
    const auto scale = std::to_integer<std::int8_t>(block[192 + 2 * run + half]);
    to.scale[half] = d * static_cast<float>(scale);
  }
  // Of each half of a block 64 bytes have the low bits of runs 0 and 2, 1 and 3, and 32 bytes the high bits of all four.
  read_bits(block + run / 4 * 64 + run % 2 * kRunInputs, 4 * (run % 4 / 2), 4, to);
  add_bits(block + 128 + run / 4 * kRunInputs, 2 * (run % 4), 2, 4, to);
  subtract(32, to);
}

/// What codes of IQ4_NL and IQ4_XS stand for: ggml's kvalues_iq4nl.
void look_up(NumberRun& to) noexcept {
  static constexpr std::int8_t kTable[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};
  for (std::int8_t& code : to.codes) {
    code = kTable[code];
  }
}

void iq4_nl(const std::byte* block, Index /*run*/, NumberRun& to) noexcept {
  set_scale(to, half_at(block, 0));
  read_nibbles(block + 2, to);
  look_up(to);
}

void iq4_xs(const std::byte* block, Index run, NumberRun& to) noexcept {
  const int low = at(block, 4 + run / 2) >> 4 * (run % 2) & 15;
  const int high = read_half(block + 2) >> 2 * run & 3;
  set_scale(to, half_at(block, 0) * static_cast<float>((low | high << 4) - 32));
  read_nibbles(block + 8 + run * kHalf, to);
  look_up(to);
}

// ------------------------------------------------------------------- as packed matrices keep them

void keep_q8_0(const std::byte* block, Index /*run*/, CodedBlock& to) noexcept {
  to.scale = read_half(block);
  std::memcpy(to.numbers, block + 2, kRunInputs);
}

/// Codes of fewer bits, one by one as bytes, with the scale that the block begins with.
template <auto kRead>
void keep_bytes(const std::byte* block, Index run, CodedBlock& to) noexcept {
  NumberRun numbers;
  kRead(block, run, numbers);
  to.scale = read_half(block);
  std::memcpy(to.numbers, numbers.codes, sizeof to.numbers);
}

void keep_q4_0(const std::byte* block, Index /*run*/, CodedBlock& to) noexcept {
  to.scale = read_half(block);
  to.offset = to_f16(-8.0F * from_f16(to.scale));
  std::memcpy(to.numbers, block + 2, kHalf);
}

void keep_q4_1(const std::byte* block, Index /*run*/, CodedBlock& to) noexcept {
  to.scale = read_half(block);
  to.offset = read_half(block + 2);
  std::memcpy(to.numbers, block + 4, kHalf);
}

void keep_q4_k(const std::byte* block, Index run, CodedBlock& to) noexcept {
  NumberRun scales;
  set_scale_k(block, run, scales);
  to.scale = to_f16(scales.scale[0]);
  to.offset = to_f16(scales.offset[0]);
  const std::byte* from = block + 16 + run / 2 * kRunInputs;
  const Index low = 4 * (run % 2);
  for (Index i = 0; i < kHalf; i += kBytes) {
    const Bytes first = bytes_at(from + i) >> low & all_of(15);
    const Bytes both = first | (bytes_at(from + kHalf + i) >> low & all_of(15)) << 4;
    std::memcpy(to.numbers + i, &both, sizeof both);
  }
}

/// In the order of NumberType, from kQ4_0 on.
constexpr BlockType kTypes[] = {
    {.inputs = 32, .bytes = 18, .read = q4_0, .kept_bits = 4, .keep = keep_q4_0},
    {.inputs = 32, .bytes = 20, .read = q4_1, .kept_bits = 4, .keep = keep_q4_1},
    {.inputs = 32, .bytes = 22, .read = q5_0, .kept_bits = 8, .keep = keep_bytes<q5_0>},
    {.inputs = 32, .bytes = 24, .read = q5_1},
    {.inputs = 256, .bytes = 84, .read = q2_k},
    {.inputs = 256, .bytes = 110, .read = q3_k},
    {.inputs = 256, .bytes = 144, .read = q4_k, .kept_bits = 4, .keep = keep_q4_k},
    {.inputs = 256, .bytes = 176, .read = q5_k},
    {.inputs = 256, .bytes = 210, .read = q6_k},
    {.inputs = 32, .bytes = 18, .read = iq4_nl, .kept_bits = 8, .keep = keep_bytes<iq4_nl>},
    {.inputs = 256, .bytes = 136, .read = iq4_xs},
};
constexpr BlockType kQ8 = {
    .inputs = 32, .bytes = 34, .read = q8_0, .kept_bits = 8, .keep = keep_q8_0};

constexpr auto kFirst = static_cast<std::size_t>(NumberType::kQ4_0);
constexpr std::size_t kCount = sizeof kTypes / sizeof kTypes[0];
static_assert(kFirst + kCount == static_cast<std::size_t>(NumberType::kIq4Xs) + 1);

}  // namespace

const BlockType* block_type(NumberType type) noexcept {
  if (type == NumberType::kQ8_0) {
    return &kQ8;
  }
  const auto number = static_cast<std::size_t>(type);
  return number >= kFirst && is_number_type(type) ? &kTypes[number - kFirst] : nullptr;
}

bool is_number_type(NumberType type) noexcept { return type <= NumberType::kIq4Xs; }

bool has_scales(NumberType type) noexcept {
  return type == NumberType::kInt8 || block_type(type) != nullptr;
}

std::size_t row_bytes(NumberType type, Index count) noexcept {
  const auto n = static_cast<std::size_t>(count);
  if (const BlockType* blocks = block_type(type)) {
    const auto inputs = static_cast<std::size_t>(blocks->inputs);
    return (n + inputs - 1) / inputs * static_cast<std::size_t>(blocks->bytes);
  }
  return type == NumberType::kF32 ? 4 * n : type == NumberType::kInt8 ? n : 2 * n;
}

}  // namespace qkv
