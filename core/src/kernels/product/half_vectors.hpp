// Vectors of float32 from numbers of 16 bits, two of which stand in one lane.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/simd.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace qkv::kernels {

/// float32 of binary16 numbers that stand in the upper halves of the lanes, finite ones. Without the multiplication by
/// 2^112 that would do it, too, because processors take long over subnormal numbers: a number with the smallest exponent field is
/// read as one of the next higher field less 2^-14, of any other that would be more than the number itself.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> from_halves(
    xsimd::batch<std::uint32_t, typename Isa::Arch> bits) noexcept {
  using U = decltype(bits);
  using V = Vec<Isa>;
  const V size = xsimd::bitwise_cast<float>(((bits >> 3) & U(0x0fffe000U)) + U(112U << 23U));
  const V magnitude = smaller<Isa>(size, size + (size - V(0x1p-14F)));
  return xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::uint32_t>(magnitude) |
                                    (bits & U(0x80000000U)));
}

/// Numbers of a panel's columns in the order of half_column().
template <class Isa>
[[gnu::always_inline]] inline void load_halves(const std::byte* at, Vec<Isa>* to) noexcept {
  static_assert(Isa::kTileVectors == 2);
#if defined(__AVX512BW__)
  if constexpr (kWidth<Isa> == 16) {
    // Those of the first vector into the lower half of a register.
    alignas(64) static constexpr std::uint16_t kOrder[32] = {
        0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
        1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    const __m512i sorted =
        _mm512_permutexvar_epi16(_mm512_load_si512(kOrder), _mm512_load_si512(at));
    to[0] = Vec<Isa>(_mm512_cvtph_ps(_mm512_castsi512_si256(sorted)));
    to[1] = Vec<Isa>(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(sorted, 1)));
    return;
  }
#endif
  const auto both = xsimd::bitwise_cast<std::uint32_t>(
      Vec<Isa>::load_aligned(reinterpret_cast<const float*>(at)));
  to[0] = from_halves<Isa>(both << 16);
  to[1] = from_halves<Isa>(both);
}

/// Whether load_halves() has an instruction that converts.
#if defined(__AVX512BW__)
template <class Isa>
inline constexpr bool kConvertsHalves = kWidth<Isa> == 16;
#else
template <class Isa>
inline constexpr bool kConvertsHalves = false;
#endif

/// load_halves() for raised numbers (weights/raised_halves.hpp), each divided by kRaisedUnit: the bits are moved to where a
/// float has them, and nothing is added to the exponent.
template <class Isa>
[[gnu::always_inline]] inline void load_raised(const std::byte* at, Vec<Isa>* to) noexcept {
  using Bits = xsimd::batch<std::int32_t, typename Isa::Arch>;
  const auto both =
      xsimd::bitwise_cast<std::int32_t>(Vec<Isa>::load_aligned(reinterpret_cast<const float*>(at)));
  // The shift repeats the sign in the three bits between it and the exponent.
  const Bits kept(std::bit_cast<std::int32_t>(0x8fffe000U));
  to[0] = xsimd::bitwise_cast<float>(((both << 16) >> 3) & kept);
  to[1] = xsimd::bitwise_cast<float>((both >> 3) & kept);
}

}  // namespace qkv::kernels
