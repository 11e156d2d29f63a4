// Exponentials in double precision, with the same bits on every instruction set: eight numbers at a time, in as many vectors as
// that takes, from additions and multiplications with two roundings.
#pragma once

#include <array>

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// Terms of the Taylor series of 2^r, |r| <= 1/2: the first that is left out is 7e-15.
inline constexpr int kExponentialTerms = 12;

/// ln(2)^k / k!
inline constexpr std::array<double, kExponentialTerms> kExponentialFactors = [] {
  std::array<double, kExponentialTerms> factors{1.0};
  for (std::size_t k = 1; k < factors.size(); ++k) {
    factors[k] = factors[k - 1] * 0x1.62e42fefa39efp-1 / static_cast<double>(k);
  }
  return factors;
}();

/// 2^x, -1000 <= x <= 0: relative error at most 1e-14. 0 below and of NaN.
template <class Isa, class D = xsimd::batch<double, typename Isa::Arch>>
[[gnu::always_inline]] inline D exp2_double(D x) noexcept {
  constexpr double kNoFraction =
      0x1.8p52;  // leaves no room for one; in the sum whole numbers are the low bits
  const D shifted = x + D(kNoFraction);
  const D r = x - (shifted - D(kNoFraction));
  D sum(kExponentialFactors[kExponentialTerms - 1]);
#pragma GCC unroll 12
  for (int k = kExponentialTerms - 2; k >= 0; --k) {
    sum = sum * r + D(kExponentialFactors[static_cast<std::size_t>(k)]);
  }
  const auto power = (xsimd::bitwise_cast<std::uint64_t>(shifted) << 52) +
                     xsimd::bitwise_cast<std::uint64_t>(D(1.0));
  return xsimd::select(x >= D(-1000.0), sum * xsimd::bitwise_cast<double>(power), D(0.0));
}

/// Loops are not unrolled, which would be 0.5 kB of a .wasm: steps do not wait for each other, but for their sums.
template <class Isa>
double exponentials(const ExponentialsArgs& args) noexcept {
  using D = xsimd::batch<double, typename Isa::Arch>;
  constexpr auto kSize = static_cast<Index>(D::size);
  constexpr Index kLanes = ExponentialsArgs::kLanes;
  alignas(64) double sums[kLanes] = {};
#pragma GCC unroll 1
  for (Index i = 0; i < args.n; ++i) {
    args.to[i] = static_cast<double>(args.x[i]);
  }
  const Index end = round_up(args.n, kLanes);
#pragma GCC unroll 1
  for (Index i = args.n; i < end; ++i) {
    args.to[i] = -__builtin_inf();
  }
#pragma GCC unroll 1
  for (Index i = 0; i < end; i += kSize) {
    const D e = exp2_double<Isa>((D::load_aligned(args.to + i) - D(args.most)) * D(args.scale));
    e.store_aligned(args.to + i);
    double* const sum = sums + i % kLanes;
    (D::load_aligned(sum) + e).store_aligned(sum);
  }
  double sum = 0.0;
#pragma GCC unroll 1
  for (const double lane : sums) {
    sum += lane;
  }
  return sum;
}

}  // namespace qkv::kernels
