// 2^x for x <= 0, all a softmax needs once the maximum is subtracted, and exp(x) made from it.
#pragma once

#include <cstdint>

#include "kernels/simd.hpp"

namespace qkv::kernels {

inline constexpr float kLog2E = 1.44269504F;
inline constexpr float kLn2 = 0.693147181F;

/// 2^r for |r| <= 1/2: a minimax polynomial with constant term 1 and relative error 1.6e-8.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp2_fraction(Vec<Isa> r) noexcept {
  using V = Vec<Isa>;
  V p = madd<Isa>(r, V(1.5353362e-4F), V(1.3398874e-3F));
  p = madd<Isa>(r, p, V(9.6184369e-3F));
  p = madd<Isa>(r, p, V(5.5503324e-2F));
  p = madd<Isa>(r, p, V(2.4022648e-1F));
  p = madd<Isa>(r, p, V(6.9314718e-1F));
  return madd<Isa>(r, p, V(1.0F));
}

/// Adding it to n leaves n + 127 in the low bits of the sum, ready to be shifted into an exponent.
inline constexpr float kExponentShifter = 12582912.0F + 127.0F;

/// 2^n from n + kExponentShifter, for -127 <= n <= 0, where 2^-127 counts as 0.
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
