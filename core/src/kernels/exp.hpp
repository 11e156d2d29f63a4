// exp(x) for x <= 0, all a softmax needs once the maximum is subtracted.
#pragma once

#include <cstdint>

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// exp(x), x <= 0. At most 2 ulp from exact where the result is a normal float; below
/// ln(2^-126) = -87.3365 the result is 0, and exp(-inf) = 0. NaN gives NaN.
///
/// x = n ln2 + r with n whole and |r| <= ln2 / 2. n comes from adding 1.5 * 2^23, which leaves it
/// in the low bits of the sum, ready to be shifted into an exponent; ln2 is split in two so that
/// n * ln2_high is exact; exp(r) is a minimax polynomial with relative error 3.1e-9 on the
/// interval. Written with selects and no min/max, because their treatment of NaN differs between
/// machines.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> exp_nonpositive(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  using Bits = xsimd::batch<std::uint32_t, typename Isa::Arch>;
  const V shifter(12582912.0F);
  const V shifted = madd<Isa>(x, V(1.44269504F), shifter);
  const V n = shifted - shifter;
  V r = madd<Isa>(n, V(-0.693359375F), x);
  r = madd<Isa>(n, V(2.12194440e-4F), r);

  V p = madd<Isa>(r, V(1.3814467e-3F), V(8.3687808e-3F));
  p = madd<Isa>(r, p, V(4.1668393e-2F));
  p = madd<Isa>(r, p, V(1.6666520e-1F));
  p = madd<Isa>(r, p, V(4.9999994e-1F));
  p = madd<Isa>(r * r, p, r) + V(1.0F);

  const Bits exponent = (xsimd::bitwise_cast<std::uint32_t>(shifted) << 23) + Bits(0x3f800000U);
  return xsimd::select(x < V(-87.3365F), V(0.0F), p * xsimd::bitwise_cast<float>(exponent));
}

}  // namespace qkv::kernels
