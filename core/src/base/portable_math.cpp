#include "base/portable_math.hpp"

#include <bit>
#include <cstdint>

namespace qkv {
namespace {

constexpr double kLog2E = 0x1.71547652b82fep+0;

/// 1 / n! for n up to 18, whose factorials are exact.
struct InverseFactorials {
  double of[19];
  constexpr InverseFactorials() noexcept : of{} {
    double factorial = 1.0;
    of[0] = 1.0;
    for (int n = 1; n < 19; ++n) {
      factorial *= n;
      of[n] = 1.0 / factorial;
    }
  }
};
constexpr InverseFactorials kInverse;

/// The nearest integer, half to even: 1.5 * 2^52 leaves no room for a fraction. |x| below 2^51.
double nearest(double x) noexcept {
  constexpr double kNoFraction = 0x1.8p52;
  return (x + kNoFraction) - kNoFraction;
}

/// Taylor series of sin(r) / r, or with kFirst = 0 of cos(r), in z = r^2 for |r| <= pi / 4. The first term left
/// out is below 1e-19.
template <int kFirst>
double series(double z) noexcept {
  double sum = 0.0;
  for (int n = 16 + kFirst; n >= kFirst; n -= 2) {
    sum = sum * -z + kInverse.of[n];
  }
  return sum;
}

/// 2^n as a number; n from -1022 to 1023.
double two_to(int n) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52U);
}

}  // namespace

// angle = n pi / 2 + r. pi / 2 is taken in three parts, the first two so short that their products with n,
// which is below 2^21, are exact; the third is rounded in its 53rd bit, 2^-122.
Rotation rotation(double angle) noexcept {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
  const double n = nearest(angle * kTwoOverPi);
  const double r = ((angle - n * kHalfPi[0]) - n * kHalfPi[1]) - n * kHalfPi[2];
  const double z = r * r;
  const double s = r * series<1>(z);
  const double c = series<0>(z);
  switch (static_cast<std::int64_t>(n) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double power_of_two(double x) noexcept {
  if (x < -1100.0) {
    return 0.0;
  }
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const double n = nearest(x);
  const double y = (x - n) * kLn2;
  double sum = 0.0;
  for (int k = 15; k >= 0; --k) {
    sum = sum * y + kInverse.of[k];
  }
  const int e = static_cast<int>(n);
  return e < -1000 ? sum * two_to(e + 500) * two_to(-500) : sum * two_to(e);
}

double natural_power(double x) noexcept { return x == x ? power_of_two(kLog2E * x) : x; }

double power(double base, double exponent) noexcept {
  return power_of_two(exponent * (natural_log(base) * kLog2E));
}

}  // namespace qkv
