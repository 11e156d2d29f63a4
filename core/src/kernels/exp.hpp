// 2^x for x <= 0, all a softmax needs once the maximum is subtracted, and exp(x) made from it.
#pragma once

#include <cstdint>

#include "kernels/simd.hpp"

namespace qkv::kernels {

inline constexpr float kLog2E = 1.44269504F;
inline constexpr float kLn2 = 0.693147181F;

/// A factor of a polynomial's coefficients, exact and without effect on any other bit.
enum class Power : std::uint8_t { k0, k64 };

/// 2^r for |r| <= 1/2, times 2^0 or 2^64: a minimax polynomial with constant term 1 and relative error
/// 1.6e-8.
template <class Isa, Power kPower = Power::k0>
[[gnu::always_inline]] inline Vec<Isa> exp2_fraction(Vec<Isa> r) noexcept {
  using V = Vec<Isa>;
  constexpr float kFactor = kPower == Power::k64 ? 0x1p64F : 1.0F;
  V p = madd<Isa>(r, V(1.5353362e-4F * kFactor), V(1.3398874e-3F * kFactor));
  p = madd<Isa>(r, p, V(9.6184369e-3F * kFactor));
  p = madd<Isa>(r, p, V(5.5503324e-2F * kFactor));
  p = madd<Isa>(r, p, V(2.4022648e-1F * kFactor));
  p = madd<Isa>(r, p, V(6.9314718e-1F * kFactor));
  return madd<Isa>(r, p, V(kFactor));
}

/// Adding it to n leaves n + 127 in the low bits of the sum, ready to be shifted into an exponent.
inline constexpr float kExponentShifter = 12582912.0F + 127.0F;

/// 2^n from n + kExponentShifter, for -127 <= n <= 0, where 2^-127 counts as 0. From n + kWeightShifter
/// it is 2^(n - 64), for -63 <= n <= 0, where 2^-127 counts as 0 again.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp2_whole(Vec<Isa> shifted) noexcept {
  return xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::uint32_t>(shifted) << 23);
}

/// 2^x for least <= x <= 0, and 2^least for smaller x: the whole part as `shifter` makes it, times the
/// fraction with the factor of kPower.
template <class Isa, Power kPower>
[[gnu::always_inline]] inline Vec<Isa> exp2_from(Vec<Isa> x, float least, float shifter) noexcept {
  using V = Vec<Isa>;
  const V bounded = larger<Isa>(x, V(least));
  const V shifted = bounded + V(shifter);
  const V r = bounded - (shifted - V(shifter));
  return exp2_fraction<Isa, kPower>(r) * exp2_whole<Isa>(shifted);
}

/// 2^x, x <= 0. At most 2 ulp from exact down to 2^-126; below, the result is 0 at the latest from
/// 2^-126.5, and 2^-inf = 0. NaN gives NaN.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp2_nonpositive(Vec<Isa> x) noexcept {
  return exp2_from<Isa, Power::k0>(x, -127.0F, kExponentShifter);
}

/// Adding it to n leaves n + 63 in the low bits of the sum. Odd as the 127 above, so that halves are
/// rounded to the same n.
inline constexpr float kWeightShifter = 12582912.0F + 63.0F;

/// 2^x, x <= 0, for weights that are going to be multiplied: the bits of exp2_nonpositive() for
/// x > -62.5, and 0 for x <= -62.5. Products of smaller weights may be subnormal, which costs x86
/// processors up to 150 cycles each, and WebAssembly cannot flush them to zero: with one key 84 nats
/// above the rest a whole call was 13 times slower.
///
/// The whole part is 2^(n - 64), whose exponent bits are 0 for n = -63, and the fraction has the
/// factor 2^64: the cut takes no operation of its own.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp2_weight(Vec<Isa> x) noexcept {
  return exp2_from<Isa, Power::k64>(x, -63.0F, kWeightShifter);
}

/// exp(x), x <= 0. At most 2 ulp from exact down to exp(-87.33); below, the result is 0 at the latest
/// from exp(-87.7), and exp(-inf) = 0. NaN gives NaN.
///
/// x = n ln2 + r with n whole and |r| <= ln2 / 2; ln2 is split in two so that n * ln2_high is exact.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp_nonpositive(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V bounded = larger<Isa>(x, V(-88.0F));
  const V shifted = madd<Isa>(bounded, V(kLog2E), V(kExponentShifter));
  const V n = shifted - V(kExponentShifter);
  V r = madd<Isa>(n, V(-0.693359375F), bounded);
  r = madd<Isa>(n, V(2.12194440e-4F), r);
  return exp2_fraction<Isa>(r * V(kLog2E)) * exp2_whole<Isa>(shifted);
}

}  // namespace qkv::kernels
