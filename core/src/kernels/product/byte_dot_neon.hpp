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

}  // namespace qkv::kernels
