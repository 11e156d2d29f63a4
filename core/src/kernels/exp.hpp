// 2^x for x <= 0, all a softmax needs once the maximum is subtracted, and exp(x) made from it.
#pragma once

#include <cstdint>

#include "kernels/simd.hpp"

namespace qkv::kernels {

inline constexpr float kLog2E = 1.44269504F;
inline constexpr float kLn2 = 0.693147181F;

/// 2^(r + kPower) for |r| <= 1/2 and kPower of 0 to 63: a minimax polynomial with constant term 1 and
/// relative error 1.6e-8, its coefficients times 2^kPower, which is exact and changes no other bit.
template <class Isa, int kPower = 0>
[[gnu::always_inline]] inline Vec<Isa> exp2_fraction(Vec<Isa> r) noexcept {
  using V = Vec<Isa>;
  constexpr auto kFactor = static_cast<float>(std::uint64_t{1} << kPower);
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
/// it is 2^(n - 63), for -64 <= n <= 0, where 2^-127 counts as 0 again.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp2_whole(Vec<Isa> shifted) noexcept {
  return xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::uint32_t>(shifted) << 23);
}

/// 2^x, x <= 0. At most 2 ulp from exact down to 2^-126; below, the result is 0 at the latest from
/// 2^-126.5, and 2^-inf = 0. NaN gives NaN.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp2_nonpositive(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V bounded = larger<Isa>(x, V(-127.0F));
  const V shifted = bounded + V(kExponentShifter);
  const V r = bounded - (shifted - V(kExponentShifter));
  return exp2_fraction<Isa>(r) * exp2_whole<Isa>(shifted);
}

/// Adding it to n leaves n + 64 in the low bits of the sum.
inline constexpr float kWeightShifter = 12582912.0F + 64.0F;

/// 2^x, x <= 0, for weights that are going to be multiplied: the bits of exp2_nonpositive() for
/// x > -63.5, and 0 for x <= -63.5. Products of smaller weights are subnormal, which costs x86
/// processors some 150 cycles each, and WebAssembly cannot flush them to zero: with one key 84 nats
/// above the rest a whole call was 13 times slower.
///
/// The whole part is 2^(n - 63), whose exponent bits are 0 for n = -64, and the fraction has the
/// factor 2^63: the cut takes no operation of its own.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp2_weight(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V bounded = larger<Isa>(x, V(-64.0F));
  const V shifted = bounded + V(kWeightShifter);
  const V r = bounded - (shifted - V(kWeightShifter));
  return exp2_fraction<Isa, 63>(r) * exp2_whole<Isa>(shifted);
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
