// ln x in double precision from additions, multiplications and divisions alone, so that it has the same
// bits on every machine and engine; the C libraries' differ in the last place.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace qkv::kernels {

/// ln x for x = 0, every normal x > 0, infinity and NaN: relative error at most 2^-50, exact at 0, 1 and
/// infinity; NaN for negative numbers. Subnormal doubles are not for it.
///
/// x = 2^e m with m between 0.7 and 1.42, and ln m = 2 artanh(t) with t = (m - 1) / (m + 1), a series in
/// t^2 <= 0.03. ln 2 is split in two so that e times the first part is exact.
static inline double natural_log(double x) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(x > 0.0)) {
    return x == 0.0 ? -kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
  if (x == kInfinity) {
    return x;
  }
  constexpr double kLn2Parts[] = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int e = static_cast<int>(bits >> 52U) - 1023;
  double m = std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52U));
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double t = (m - 1.0) / (m + 1.0);
  double sum = 0.0;
  for (int n = 25; n >= 3; n -= 2) {
    sum = (sum + 1.0 / n) * (t * t);
  }
  return e * kLn2Parts[0] + (2.0 * t + (2.0 * t * sum + e * kLn2Parts[1]));
}

}  // namespace qkv::kernels
