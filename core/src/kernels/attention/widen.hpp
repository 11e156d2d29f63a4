// Keys and values of 8 bits as float32: a block of them at a time, into memory that stays in a first-level cache while
// all rows are multiplied with it. Numbers and scales are so short that their products are exact.
#pragma once

#include "kernels/attention/int8_places.hpp"
#include "kernels/number_conversion.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// What scales are multiplied by beforehand: a number in the upper byte of a lane, with zeros below, is converted as 2^24 times
/// what it is.
inline constexpr float kScaleFactor = 0x1p-24F;

/// Number i of each word times `scale`, exactly.
template <class Isa, int i>
[[gnu::always_inline]] inline Vec<Isa> widened(xsimd::batch<std::int32_t, typename Isa::Arch> words,
                                               Vec<Isa> scale) noexcept {
  using Words = decltype(words);
  const Words placed = i == 3 ? words : words << (24 - 8 * i);
  const Words upper = i == 0 ? placed : placed & Words(static_cast<std::int32_t>(0xff000000U));
  return xsimd::batch_cast<float>(upper) * scale;
}

/// to[i * kPanel...] = number i of each word times scales[i][vector], for the four numbers of kPanel words.
template <class Isa>
[[gnu::always_inline]] inline void widen_words(const float* from,
                                               const Vec<Isa> (&scales)[kWordNumbers][2], float* to,
                                               Index next) noexcept {
  for (Index i = 0; i < kPanel<Isa>; i += 16) {
    __builtin_prefetch(from + next + i);
  }
  static_assert(Isa::kTileVectors == 2);
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v, from += kWidth<Isa>, to += kWidth<Isa>) {
    const auto words = xsimd::bitwise_cast<std::int32_t>(Vec<Isa>::load_aligned(from));
    widened<Isa, 0>(words, scales[0][v]).store_aligned(to);
    widened<Isa, 1>(words, scales[1][v]).store_aligned(to + kPanel<Isa>);
    widened<Isa, 2>(words, scales[2][v]).store_aligned(to + 2 * kPanel<Isa>);
    widened<Isa, 3>(words, scales[3][v]).store_aligned(to + 3 * kPanel<Isa>);
  }
}

/// Floats from one panel of widened keys to the next.
template <class Isa>
constexpr Index wide_key_panel(Index d_k) noexcept {
  return key_words(d_k) * kWordNumbers * kPanel<Isa>;
}

/// Panels of keys from k0 on, as pack() has them but for zeros that fill up the last word.
template <class Isa>
[[gnu::noinline]] void widen_keys(const GroupArgs& args, Index k0, Index panels) noexcept {
  using V = Vec<Isa>;
  float* to = args.wide;
  const float* from = args.keys.k_panels + k0 / kPanel<Isa> * int8_key_panel(args.dk, kPanel<Isa>);
  const Index words = key_words(args.dk);
  for (Index panel = 0; panel < panels; ++panel) {
    V scales[kWordNumbers][2] = {};  // the first word sets them, which g++ does not see
    for (Index word = 0; word < words; ++word) {
      if (word % (kCacheGroup / kWordNumbers) == 0) {
        const auto both = xsimd::bitwise_cast<std::uint32_t>(V::load_aligned(from));
        from += int8_key_words(kPanel<Isa>);
        for (auto& scale : scales) {
          scale[0] = xsimd::bitwise_cast<float>(both << 16) * V(kScaleFactor);
          scale[1] =
              xsimd::bitwise_cast<float>(both & decltype(both)(0xffff0000U)) * V(kScaleFactor);
        }
      }
      widen_words<Isa>(from, scales, to, panels * int8_key_panel(args.dk, kPanel<Isa>));
      from += kPanel<Isa>;
      to += kWordNumbers * kPanel<Isa>;
    }
  }
}

/// Floats from one panel of widened values to the next.
template <class Isa>
inline constexpr Index kWideValuePanel = kKeyBlock * kPanel<Isa>;

/// The scales of one group of a block's values, one for each row, times kScaleFactor.
static inline void widen_scales(const float* block, Index group, float* scales) noexcept {
  std::uint16_t halves[kKeyBlock];
  __builtin_memcpy(halves, block + group * kKeyBlock / 2, sizeof halves);
  for (Index row = 0; row < kKeyBlock; ++row) {
    scales[row] = from_bf16(halves[row]) * kScaleFactor;
  }
}

/// The first `rows` values of the block at k0, and what fills up the last word.
template <class Isa>
[[gnu::noinline]] void widen_values(const GroupArgs& args, Index k0, Index rows) noexcept {
  using V = Vec<Isa>;
  const Index width = round_up(args.dv, kPanel<Isa>);
  const float* block = args.keys.v_blocks + k0 / kKeyBlock * int8_value_block(args.dv, width);
  const float* words = block + int8_value_words(args.dv);
  alignas(64) float of_rows[kKeyBlock];
  for (Index column = 0; column < width; column += kPanel<Isa>) {
    if (column % kCacheGroup == 0) {
      widen_scales(block, column / kCacheGroup, of_rows);
    }
    const Index panel = column / kPanel<Isa>;
    const float* from = words + panel * int8_value_panel(kPanel<Isa>);
    float* to = args.wide + panel * kWideValuePanel<Isa>;
    for (Index row = 0; row < rows; row += kWordNumbers) {
      V scales[kWordNumbers][2];
      for (int i = 0; i < kWordNumbers; ++i) {
        scales[i][0] = scales[i][1] = V(of_rows[row + i]);
      }
      widen_words<Isa>(from, scales, to, int8_value_block(args.dv, width));
      from += kPanel<Isa>;
      to += kWordNumbers * kPanel<Isa>;
    }
  }
}

}  // namespace qkv::kernels
