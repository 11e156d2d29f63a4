// byte_dot.hpp for NEON. Bytes have a sign, and so have those with two codes.
#pragma once

#include <arm_neon.h>

#include "kernels/product/dot_defaults.hpp"

namespace qkv::kernels {

/// What both kinds share.
template <class Isa>
struct NeonDot : DotDefaults<Isa> {
  static bool signed_codes() noexcept { return true; }

  [[gnu::always_inline]] static void widen(const std::byte* at, Ints<Isa>* to) noexcept {
    const uint16x8_t all = vmovl_u8(vld1_u8(reinterpret_cast<const std::uint8_t*>(at)));
    to[0] = Ints<Isa>(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(all))));
    to[1] = Ints<Isa>(vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(all))));
  }
};

/// Two inputs of the four columns of a vector in a load; smull and sadalp.
template <class Isa>
struct Dot<Isa, ByteDot::kWidePairs> : NeonDot<Isa> {
  static constexpr Index kGroup = 2;
  using Weights = int8x8_t;
  using Factor = int8x8_t;

  [[gnu::always_inline]] static Weights load_codes(const std::byte* at) noexcept {
    return vld1_s8(reinterpret_cast<const std::int8_t*>(at));
  }
  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = load_codes(at);
    w[1] = load_codes(at + 8);
  }
  [[gnu::always_inline]] static Weights low(Weights both) noexcept {
    return vand_s8(both, vdup_n_s8(15));
  }
  [[gnu::always_inline]] static void unpack(const std::byte* codes, bool /*is_signed*/,
                                            std::byte* to) noexcept {
    const uint8x8_t both = vld1_u8(reinterpret_cast<const std::uint8_t*>(codes));
    vst1_u8(reinterpret_cast<std::uint8_t*>(to), vand_u8(both, vdup_n_u8(15)));
    vst1_u8(reinterpret_cast<std::uint8_t*>(to) + 8, veor_u8(vshr_n_u8(both, 4), vdup_n_u8(8)));
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    std::int16_t two = 0;
    std::memcpy(&two, at, sizeof two);
    return vreinterpret_s8_s16(vdup_n_s16(two));
  }
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(vpadalq_s16(sum, vmull_s8(w, x)));
  }
  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return add(sum, w, x);
  }
};

#if defined(__ARM_FEATURE_DOTPROD)
/// sdot: four inputs of the four columns of a vector.
template <class Isa>
struct Dot<Isa, ByteDot::kSdot> : NeonDot<Isa> {
  using Weights = int8x16_t;
  using Factor = int8x16_t;

  [[gnu::always_inline]] static Weights load_codes(const std::byte* at) noexcept {
    return vld1q_s8(reinterpret_cast<const std::int8_t*>(at));
  }
  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = load_codes(at);
    w[1] = load_codes(at + 16);
  }
  [[gnu::always_inline]] static Weights low(Weights both) noexcept {
    return vandq_s8(both, vdupq_n_s8(15));
  }
  [[gnu::always_inline]] static void unpack(const std::byte* codes, bool /*is_signed*/,
                                            std::byte* to) noexcept {
    const uint8x16_t both = vld1q_u8(reinterpret_cast<const std::uint8_t*>(codes));
    vst1q_u8(reinterpret_cast<std::uint8_t*>(to), vandq_u8(both, vdupq_n_u8(15)));
    vst1q_u8(reinterpret_cast<std::uint8_t*>(to) + 16,
             veorq_u8(vshrq_n_u8(both, 4), vdupq_n_u8(8)));
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    return vreinterpretq_s8_s32(vdupq_n_s32(four_bytes(at)));
  }
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(vdotq_s32(sum, w, x));
  }
  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return add(sum, w, x);
  }
};
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8)
/// smmla: eight inputs of two rows and of two columns, a vector of each. One row has sdot for it, whose two sums of a column are added.
template <class Isa>
struct Dot<Isa, ByteDot::kSmmla> : NeonDot<Isa> {
  static constexpr Index kGroup = 8;
  static constexpr bool kRowPairs = true;
  /// Two columns in each.
  struct Weights {
    int8x16_t first, second;
  };
  using Factor = int8x16_t;

  [[gnu::always_inline]] static Weights load_codes(const std::byte* at) noexcept {
    const auto* bytes = reinterpret_cast<const std::int8_t*>(at);
    return {vld1q_s8(bytes), vld1q_s8(bytes + 16)};
  }
  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = load_codes(at);
    w[1] = load_codes(at + 32);
  }
  [[gnu::always_inline]] static Weights low(const Weights& both) noexcept {
    const int8x16_t mask = vdupq_n_s8(15);
    return {vandq_s8(both.first, mask), vandq_s8(both.second, mask)};
  }
  [[gnu::always_inline]] static void unpack(const std::byte* codes, bool /*is_signed*/,
                                            std::byte* to) noexcept {
    auto* out = reinterpret_cast<std::uint8_t*>(to);
    for (int i = 0; i < 32; i += 16) {
      const uint8x16_t both = vld1q_u8(reinterpret_cast<const std::uint8_t*>(codes) + i);
      vst1q_u8(out + i, vandq_u8(both, vdupq_n_u8(15)));
      vst1q_u8(out + i + 32, veorq_u8(vshrq_n_u8(both, 4), vdupq_n_u8(8)));
    }
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    const int8x8_t eight = vld1_s8(reinterpret_cast<const std::int8_t*>(at));
    return vcombine_s8(eight, eight);
  }
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, const Weights& w, Factor x) noexcept {
    const int32x4_t none = vdupq_n_s32(0);
    const int32x4_t products =
        vpaddq_s32(vdotq_s32(none, w.first, x), vdotq_s32(none, w.second, x));
    return Ints<Isa>(vaddq_s32(sum, products));
  }
  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, const Weights& w,
                                                    Factor x) noexcept {
    return add(sum, w, x);
  }

  [[gnu::always_inline]] static Factor pair(const std::byte* a, const std::byte* b) noexcept {
    return vcombine_s8(vld1_s8(reinterpret_cast<const std::int8_t*>(a)),
                       vld1_s8(reinterpret_cast<const std::int8_t*>(b)));
  }
  [[gnu::always_inline]] static void add_pair(const Weights* w, Factor rows,
                                              Ints<Isa> (*sums)[2]) noexcept {
    sums[0][0] = Ints<Isa>(vmmlaq_s32(sums[0][0], rows, w[0].first));
    sums[0][1] = Ints<Isa>(vmmlaq_s32(sums[0][1], rows, w[0].second));
    sums[1][0] = Ints<Isa>(vmmlaq_s32(sums[1][0], rows, w[1].first));
    sums[1][1] = Ints<Isa>(vmmlaq_s32(sums[1][1], rows, w[1].second));
  }
  /// A vector has the sums of two columns with the first row, then those with the second.
  [[gnu::always_inline]] static void split_pair(Ints<Isa> (*sums)[2]) noexcept {
    const auto halves = [&](int i, int j) { return vreinterpretq_s64_s32(sums[i][j]); };
    const int64x2_t rows[2][2] = {
        {vtrn1q_s64(halves(0, 0), halves(0, 1)), vtrn1q_s64(halves(1, 0), halves(1, 1))},
        {vtrn2q_s64(halves(0, 0), halves(0, 1)), vtrn2q_s64(halves(1, 0), halves(1, 1))}};
    for (int r = 0; r < 2; ++r) {
      for (int v = 0; v < 2; ++v) {
        sums[r][v] = Ints<Isa>(vreinterpretq_s32_s64(rows[r][v]));
      }
    }
  }
};
#endif

}  // namespace qkv::kernels
