// Weights that keep their numbers, from a file into one column of a panel: whole blocks and numbers of 16 bits, as they are.
//
// Inputs of a column that lie side by side are stored in one piece. Who fills a matrix goes through the columns of a panel
// for some blocks and then on to the next blocks, so that a line of the panel is in a cache until all of its columns are there.
//
// What is no template over an Isa is static: every unit compiles its own.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/kernel_table.hpp"
#include "kernels/number_conversion.hpp"
#include "kernels/product/byte_dot.hpp"
#include "kernels/product/panels.hpp"

namespace qkv::kernels {

/// As many bits as the inputs of a step that lie side by side, of 4 bytes at least.
template <class Isa>
using GroupBits = std::conditional_t<(DotOf<Isa>::kGroup > 4), std::uint64_t, std::uint32_t>;

/// The same in every byte.
template <class Bits>
static constexpr Bits each_byte(unsigned byte) noexcept {
  return byte * static_cast<Bits>(0x0101010101010101U);
}

/// Blocks that `count` inputs make.
static constexpr Index coded_blocks(Index count) noexcept {
  return (count + kInt8Block - 1) / kInt8Block;
}

template <class Isa>
bool keep_int8(const PanelPart& to, const CodedBlock* from) noexcept {
  constexpr Index kBytes = int8_block_bytes(kPanel<Isa>);
  constexpr Index kGroup = DotOf<Isa>::kGroup;
  using Group = GroupBits<Isa>;
  const Group flip = DotOf<Isa>::unsigned_weights() ? each_byte<Group>(0x80) : 0U;
  std::byte* block = to.panel + to.first / kInt8Block * kBytes;
  bool finite = true;
  for (Index b = 0; b < coded_blocks(to.count); ++b, block += kBytes) {
    std::memcpy(block + int8_scale_place(to.column, kPanel<Isa>), &from[b].scale, 2);
    std::byte* weights = block + int8_weights(kPanel<Isa>);
    for (Index i = 0; i < kInt8Block; i += kGroup) {
      Group group = 0;
      std::memcpy(&group, from[b].numbers + i, kGroup);
      group ^= flip;
      std::memcpy(weights + int8_place(i, to.column, kPanel<Isa>, kGroup), &group, kGroup);
    }
    finite &= is_finite_f16(from[b].scale);
  }
  return finite;
}

/// Where the codes of a column are in the codes of a block.
template <class Isa>
struct CodeColumn {
  Index column;
  [[nodiscard]] Index place(Index i) const noexcept {
    return code_place(i, column, kPanel<Isa>, DotOf<Isa>::kGroup);
  }
  [[nodiscard]] bool high() const noexcept { return column >= kWidth<Isa>; }
  /// What is changed in the high half.
  [[nodiscard]] static unsigned flip() noexcept { return DotOf<Isa>::signed_codes() ? 8 : 0; }

  /// The codes of a step that begins with input i, one in the low half of each byte of `step`.
  void write(std::byte* codes, Index i, GroupBits<Isa> step) const noexcept {
    using Group = GroupBits<Isa>;
    constexpr auto kLow = each_byte<Group>(15);
    std::byte* const at = codes + place(i);
    Group both = 0;
    std::memcpy(&both, at, DotOf<Isa>::kGroup);
    both = high() ? (both & kLow) | ((step & kLow) ^ each_byte<Group>(flip())) << 4U
                  : (both & ~kLow) | (step & kLow);
    std::memcpy(at, &both, DotOf<Isa>::kGroup);
  }
  [[nodiscard]] int read(const std::byte* codes, Index i) const noexcept {
    const auto both = std::to_integer<unsigned>(codes[place(i)]);
    return static_cast<int>(high() ? both >> 4U ^ flip() : both & 15U);
  }
};

template <class Isa>
bool keep_int4(const PanelPart& to, const CodedBlock* from) noexcept {
  constexpr Index kBytes = int4_block_bytes(kPanel<Isa>);
  constexpr Index kGroup = DotOf<Isa>::kGroup;
  const Index place = int8_scale_place(to.column, kPanel<Isa>);
  const CodeColumn<Isa> column{to.column};
  std::byte* block = to.panel + to.first / kInt8Block * kBytes;
  bool finite = true;
  for (Index b = 0; b < coded_blocks(to.count); ++b, block += kBytes) {
    std::memcpy(block + place, &from[b].scale, 2);
    std::memcpy(block + int4_offsets(kPanel<Isa>) + place, &from[b].offset, 2);
    for (Index i = 0; i < kInt8Block / 2; i += kGroup) {
      GroupBits<Isa> both = 0;
      std::memcpy(&both, from[b].numbers + i, kGroup);
      column.write(block + int4_weights(kPanel<Isa>), i, both);
      column.write(block + int4_weights(kPanel<Isa>), i + kInt8Block / 2, both >> 4U);
    }
    finite &= is_finite_f16(from[b].scale) && is_finite_f16(from[b].offset);
  }
  return finite;
}

/// Numbers of 16 bits of a file, `stride` bytes apart, after `change`, which also says whether they are numbers.
template <class Isa, class Change>
[[gnu::always_inline]] inline bool copy_halves(const PanelPart& to, const std::byte* from,
                                               Index stride, const Change& change) noexcept {
  std::byte* at = to.panel + 2 * half_place(to.first, to.column, kPanel<Isa>);
  bool finite = true;
  for (Index i = 0; i < to.count; ++i, at += 2 * kPanel<Isa>, from += stride) {
    std::uint16_t half = read_half(from);
    finite &= change(half);
    std::memcpy(at, &half, sizeof half);
  }
  return finite;
}

template <class Isa>
bool copy_f16(const PanelPart& to, const std::byte* from, Index stride) noexcept {
  return copy_halves<Isa>(to, from, stride,
                          [](std::uint16_t half) noexcept { return is_finite_f16(half); });
}

/// NaN becomes a quiet one, as to_bf16() makes it.
template <class Isa>
bool copy_bf16(const PanelPart& to, const std::byte* from, Index stride) noexcept {
  return copy_halves<Isa>(to, from, stride, [](std::uint16_t& half) noexcept {
    const bool nan = (half & 0x7fffU) > 0x7f80U;
    half = static_cast<std::uint16_t>(half | (nan ? 0x40U : 0U));
    return true;
  });
}

}  // namespace qkv::kernels
