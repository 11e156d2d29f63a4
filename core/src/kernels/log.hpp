// ln x in double precision from additions, multiplications and divisions alone, so that it has the same
// bits on every machine and engine; the C libraries' differ in the last place.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace qkv::kernels {

/// ln x for x = 0, every positive float, infinity and NaN: relative error at most 2^-50, exact at 0, 1
/// and infinity; NaN for negative numbers. Subnormal doubles are not for it.
///
/// x = 2^n m with sqrt(1/2) <= m < sqrt(2), and ln m = 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...)
/// with s = (m - 1) / (m + 1), |s| < 0.1716: what is left out after s^21 / 21 is below 2^-57 of it.
static inline double natural_log(double x) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(x > 0.0)) {
    return x == 0.0 ? -kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
  if (x == kInfinity) {
    return x;
  }
  constexpr std::uint64_t kRootOfHalf = 0x3FE6A09E667F3BCDU;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // Counts octaves from sqrt(1/2) on, so that numbers around 1 are in one.
  const auto n = static_cast<std::int64_t>(bits - kRootOfHalf) >> 52;
  const auto m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(n) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double series = 1.0 / 21.0;
  for (int k = 19; k > 1; k -= 2) {
    series = series * z + 1.0 / k;
  }
  constexpr double kLn2Double = 0.69314718055994530942;
  return static_cast<double>(n) * kLn2Double + 2.0 * (s + s * (z * series));
}

}  // namespace qkv::kernels
