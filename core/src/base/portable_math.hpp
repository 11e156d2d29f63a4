// Sine, cosine, powers and the logarithm in double precision, from +, -, * and / alone. C
// libraries round theirs differently; these have the same bits natively and in every WebAssembly engine. Encodings,
// rotary tables and slopes are made of them.
#pragma once

namespace qkv {

struct Rotation {
  double sine, cosine;
};

/// sin and cos of an angle of at most 2^21 in size. Absolute error at most 3e-16 each.
[[nodiscard]] Rotation rotation(double angle) noexcept;

/// 2^x; 0 where that is below the subnormal numbers, for x up to 1023. Relative error at most 4e-16 where the
/// result is normal; none where x is an integer.
[[nodiscard]] double power_of_two(double x) noexcept;

/// e^x for x up to 709; 0 where that is below the subnormal numbers, and NaN stays NaN. Relative error at most
/// 4e-16 (1 + |x|).
[[nodiscard]] double natural_power(double x) noexcept;

/// ln x: natural_log() of kernels/log.hpp, for code that is no kernel.
[[nodiscard]] double natural_log(double x) noexcept;

/// -w ln w, with 0 ln 0 = 0; NaN below 0.
[[nodiscard]] double entropy_term(double w) noexcept;

/// base^exponent for a finite base of at least 1. Relative error at most 1e-15 (1 + |exponent ln base|).
[[nodiscard]] double power(double base, double exponent) noexcept;

}  // namespace qkv
