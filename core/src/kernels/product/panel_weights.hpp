// Weights of one column into a panel and out of it, in each number format.
//
// What is no template over an Isa is static: every unit compiles its own.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/kernel_table.hpp"
#include "kernels/number_conversion.hpp"
#include "kernels/product/byte_dot.hpp"
#include "kernels/product/panel_fill.hpp"
#include "kernels/product/panels.hpp"

namespace qkv::kernels {

// --------------------------------------------------------------------- float32, bfloat16, binary16

template <class Isa>
bool write_f32(const PanelPart& to, const float* weights) noexcept {
  for (Index i = 0; i < to.count; ++i) {
    const Index place = float_place(to.first + i, to.column, kPanel<Isa>);
    std::memcpy(to.panel + 4 * place, weights + i, sizeof(float));
  }
  return true;
}

template <class Isa>
void read_f32(const PanelPart& from, float* weights) noexcept {
  for (Index i = 0; i < from.count; ++i) {
    const Index place = float_place(from.first + i, from.column, kPanel<Isa>);
    std::memcpy(weights + i, from.panel + 4 * place, sizeof(float));
  }
}

template <class Isa>
bool write_bf16(const PanelPart& to, const float* weights) noexcept {
  for (Index i = 0; i < to.count; ++i) {
    const std::uint16_t half = to_bf16(weights[i]);
    std::memcpy(to.panel + 2 * half_place(to.first + i, to.column, kPanel<Isa>), &half,
                sizeof half);
  }
  return true;
}

template <class Isa>
void read_bf16(const PanelPart& from, float* weights) noexcept {
  for (Index i = 0; i < from.count; ++i) {
    weights[i] =
        from_bf16(read_half(from.panel + 2 * half_place(from.first + i, from.column, kPanel<Isa>)));
  }
}

template <class Isa>
bool write_f16(const PanelPart& to, const float* weights) noexcept {
  bool finite = true;
  for (Index i = 0; i < to.count; ++i) {
    const std::uint16_t half = to_f16(weights[i]);
    finite &= is_finite_f16(half);
    std::memcpy(to.panel + 2 * half_place(to.first + i, to.column, kPanel<Isa>), &half,
                sizeof half);
  }
  return finite;
}

/// A number of a raised matrix: one of them may have the exponent field that from_f16() takes for infinity.
static inline float from_raised(std::uint16_t half) noexcept {
  const std::uint32_t bits = half;
  return kRaisedUnit * std::bit_cast<float>((bits & 0x8000U) << 16U | (bits & 0x7fffU) << 13U);
}

template <class Isa>
void read_f16(const PanelPart& from, float* weights) noexcept {
  for (Index i = 0; i < from.count; ++i) {
    const std::uint16_t half =
        read_half(from.panel + 2 * half_place(from.first + i, from.column, kPanel<Isa>));
    weights[i] = from.raised ? from_raised(half) : from_f16(half);
  }
}

// ------------------------------------------------------------------------------------------- 8 bits

/// x to the nearest whole number, ties to even, as a byte; |x| is small. Added to a number whose last bit counts ones, it is in
/// the lowest bits of the sum.
static inline std::int8_t nearest_byte(float x) noexcept {
  constexpr float kRound = 0x1.8p23F;
  return static_cast<std::int8_t>(std::bit_cast<std::uint32_t>(x + kRound) & 0xffU);
}

/// Calls write(part, block) for each block of weights. One that ends early has its first weight in the places of others.
template <class Write>
bool write_blocks(const PanelPart& to, const float* weights, const Write& write) noexcept {
  bool finite = true;
  PanelPart part = to;
  for (Index left = to.count; left > 0; left -= kInt8Block, weights += kInt8Block) {
    float whole[kInt8Block];
    part.count = left < kInt8Block ? left : kInt8Block;
    for (Index i = 0; part.count < kInt8Block && i < kInt8Block; ++i) {
      whole[i] = weights[i < part.count ? i : 0];
    }
    finite &= write(part, part.count < kInt8Block ? whole : weights);
    part.first += kInt8Block;
  }
  return finite;
}

/// The scale of weights of at most this size. Below 2^-14, where steps between halves are large, it is rounded up: rounded down
/// it would cut the largest weights, by 1.6 % at 1e-4, and make all of less than 3.8e-6 zeros.
static inline std::uint16_t int8_scale(float most) noexcept {
  const std::uint16_t near = to_f16(most / 127.0F);
  const bool subnormal = near < 0x400U;
  return static_cast<std::uint16_t>(subnormal && from_f16(near) * 127.0F < most ? near + 1U : near);
}

/// kInt8Block weights by the formula of fill_matrix(); `count` of them are kept, and zeros.
static inline CodedBlock quantized_int8(const float* weights, Index count) noexcept {
  // As whole numbers, among which NaN is the largest: floats would pass it over.
  std::uint32_t most = 0;
  for (Index i = 0; i < kInt8Block; ++i) {
    const std::uint32_t size = std::bit_cast<std::uint32_t>(weights[i]) & 0x7fffffffU;
    most = size > most ? size : most;
  }
  CodedBlock to{};
  to.scale = int8_scale(std::bit_cast<float>(most));
  const float scale = from_f16(to.scale);
  if (scale > 0.0F && is_finite_f16(to.scale)) {
    for (Index i = 0; i < kInt8Block; ++i) {
      const float q = weights[i] / scale;
      const float high = q < 127.0F ? q : 127.0F;
      to.numbers[i] = nearest_byte(high > -127.0F ? high : -127.0F);
    }
  }
  for (Index i = count; i < kInt8Block; ++i) {
    to.numbers[i] = 0;
  }
  return to;
}

template <class Isa>
bool write_int8(const PanelPart& to, const float* weights) noexcept {
  return write_blocks(to, weights, [](const PanelPart& part, const float* block) noexcept {
    const CodedBlock coded = quantized_int8(block, part.count);
    return keep_int8<Isa>(part, &coded);
  });
}

template <class Isa>
void take_int8(const PanelPart& from, CodedBlock& to) noexcept {
  using D = DotOf<Isa>;
  const std::byte* block = from.panel + from.first / kInt8Block * int8_block_bytes(kPanel<Isa>);
  to.scale = read_half(block + int8_scale_place(from.column, kPanel<Isa>));
  const std::byte* weights = block + int8_weights(kPanel<Isa>);
  const std::uint8_t flip = D::unsigned_weights() ? 0x80 : 0;
  for (Index i = 0; i < kInt8Block; ++i) {
    const Index place = int8_place(i, from.column, kPanel<Isa>, D::kGroup);
    const auto bits = std::to_integer<std::uint8_t>(weights[place]);
    to.numbers[i] = static_cast<std::int8_t>(bits ^ flip);
  }
}

// ------------------------------------------------------------------------------------------- 4 bits

/// kInt8Block weights by the formula of fill_matrix(); `count` of them are kept, and zeros.
static inline CodedBlock quantized_int4(const float* weights, Index count) noexcept {
  CodedBlock to{};
  float low = weights[0];
  float high = weights[0];
  bool finite = true;
  for (Index i = 0; i < kInt8Block; ++i) {
    low = weights[i] < low ? weights[i] : low;
    high = weights[i] > high ? weights[i] : high;
    finite &= (std::bit_cast<std::uint32_t>(weights[i]) & 0x7f800000U) != 0x7f800000U;
  }
  to.offset = to_f16(low);
  const float offset = from_f16(to.offset);
  const float span = high - offset;
  const std::uint16_t near = to_f16(span > 0.0F ? span / 15.0F : 0.0F);
  const bool cuts = near < 0x400U && from_f16(near) * 15.0F < span;  // as int8_scale() has it
  to.scale = finite ? static_cast<std::uint16_t>(cuts ? near + 1U : near) : std::uint16_t{0x7e00};
  const float scale = from_f16(to.scale);
  std::int8_t numbers[kInt8Block] = {};
  if (scale > 0.0F && is_finite_f16(to.scale) && is_finite_f16(to.offset)) {
    for (Index i = 0; i < kInt8Block; ++i) {
      const float q = (weights[i] - offset) / scale;
      const float least = q > 0.0F ? q : 0.0F;
      numbers[i] = nearest_byte(least < 15.0F ? least : 15.0F);
    }
  }
  for (Index i = count; i < kInt8Block; ++i) {
    numbers[i] = 0;
  }
  for (Index i = 0; i < kInt8Block / 2; ++i) {
    to.numbers[i] = static_cast<std::int8_t>(numbers[i] | numbers[i + kInt8Block / 2] << 4);
  }
  return to;
}

template <class Isa>
bool write_int4(const PanelPart& to, const float* weights) noexcept {
  return write_blocks(to, weights, [](const PanelPart& part, const float* block) noexcept {
    const CodedBlock coded = quantized_int4(block, part.count);
    return keep_int4<Isa>(part, &coded);
  });
}

template <class Isa>
void take_int4(const PanelPart& from, CodedBlock& to) noexcept {
  const std::byte* block = from.panel + from.first / kInt8Block * int4_block_bytes(kPanel<Isa>);
  const Index place = int8_scale_place(from.column, kPanel<Isa>);
  to.scale = read_half(block + place);
  to.offset = read_half(block + int4_offsets(kPanel<Isa>) + place);
  const CodeColumn<Isa> column{from.column};
  const std::byte* codes = block + int4_weights(kPanel<Isa>);
  for (Index i = 0; i < kInt8Block / 2; ++i) {
    to.numbers[i] = static_cast<std::int8_t>(column.read(codes, i) |
                                             column.read(codes, i + kInt8Block / 2) << 4);
  }
}

// --------------------------------------------------------------------------------------------- Q4_K

// A block of GGUF: scale d, offset dmin (which is subtracted), 12 bytes with six bits of two factors for each of eight blocks, and
// codes, of which 32 bytes have those of two blocks.
inline constexpr Index kQ4kOffset = 2;
inline constexpr Index kQ4kFactors = 4;
inline constexpr Index kQ4kCodes = 16;
inline constexpr Index kQ4kFileBytes = kQ4kCodes + kQ4kInputs / 2;
inline constexpr std::uint16_t kHalfSign = 0x8000;

/// A factor of block b: of scales for kind 0, of offsets for kind 1. Of the last four blocks two bits are above those of the first.
static inline unsigned q4k_factor(const std::byte* file, Index b, Index kind) noexcept {
  const auto at = [&](Index i) { return std::to_integer<unsigned>(file[kQ4kFactors + i]); };
  return b < 4 ? at(b + 4 * kind) & 63U
               : (at(b + 4) >> 4 * kind & 15U) | at(b - 4 + 4 * kind) >> 6U << 4U;
}

/// Adds a factor to bytes that are zero.
static inline void add_q4k_factor(std::byte* file, Index b, Index kind, unsigned factor) noexcept {
  const auto add = [&](Index i, unsigned bits) {
    file[kQ4kFactors + i] |= static_cast<std::byte>(bits);
  };
  if (b < 4) {
    add(b + 4 * kind, factor);
  } else {
    add(b + 4, (factor & 15U) << 4 * kind);
    add(b - 4 + 4 * kind, factor >> 4U << 6U);
  }
}

/// Where the file has code i of block b, with that of another block.
static constexpr Index q4k_file_code(Index b, Index i) noexcept {
  return kQ4kCodes + b / 2 * kInt8Block + i;
}

template <class Isa>
bool keep_q4k(const PanelPart& to, const std::byte* file) noexcept {
  std::byte* large = to.panel + to.first / kQ4kInputs * q4k_block_bytes(kPanel<Isa>);
  const Index place = int8_scale_place(to.column, kPanel<Isa>);
  const std::uint16_t scale = read_half(file);
  const std::uint16_t offset = read_half(file + kQ4kOffset) ^ kHalfSign;
  std::memcpy(large + place, &scale, sizeof scale);
  std::memcpy(large + int4_offsets(kPanel<Isa>) + place, &offset, sizeof offset);
  for (Index b = 0; b < kQ4kBlocks; ++b) {
    std::byte* small = large + q4k_small(b, kPanel<Isa>);
    for (Index kind = 0; kind < 2; ++kind) {
      small[to.column + kind * kPanel<Isa>] = static_cast<std::byte>(q4k_factor(file, b, kind));
    }
    for (Index i = 0; i < kInt8Block; i += DotOf<Isa>::kGroup) {
      GroupBits<Isa> step = 0;
      std::memcpy(&step, file + q4k_file_code(b, i), DotOf<Isa>::kGroup);
      CodeColumn<Isa>{to.column}.write(small + q4k_codes(kPanel<Isa>), i, step >> 4 * (b % 2));
    }
  }
  return is_finite_f16(scale) && is_finite_f16(offset);
}

template <class Isa>
void take_q4k(const PanelPart& from, std::byte* file) noexcept {
  const std::byte* large = from.panel + from.first / kQ4kInputs * q4k_block_bytes(kPanel<Isa>);
  const Index place = int8_scale_place(from.column, kPanel<Isa>);
  const std::uint16_t scale = read_half(large + place);
  const std::uint16_t offset = read_half(large + int4_offsets(kPanel<Isa>) + place) ^ kHalfSign;
  std::memset(file, 0, kQ4kFileBytes);
  std::memcpy(file, &scale, sizeof scale);
  std::memcpy(file + kQ4kOffset, &offset, sizeof offset);
  for (Index b = 0; b < kQ4kBlocks; ++b) {
    const std::byte* small = large + q4k_small(b, kPanel<Isa>);
    for (Index kind = 0; kind < 2; ++kind) {
      add_q4k_factor(file, b, kind,
                     std::to_integer<unsigned>(small[from.column + kind * kPanel<Isa>]));
    }
    for (Index i = 0; i < kInt8Block; ++i) {
      const int code = CodeColumn<Isa>{from.column}.read(small + q4k_codes(kPanel<Isa>), i);
      file[q4k_file_code(b, i)] |= static_cast<std::byte>(code << 4 * (b % 2));
    }
  }
}

}  // namespace qkv::kernels
