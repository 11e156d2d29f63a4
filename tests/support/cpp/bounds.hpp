// The error bounds of the public headers, with their constants.
#pragma once

#include <algorithm>
#include <cmath>

#include "oracle.hpp"

namespace qkv::test::bounds {

/// Unit roundoff of float32.
inline constexpr double kU = 0x1p-24;
/// Of a sinusoidal encoding, and of one shifted by M_k (qkv/positional.hpp).
inline constexpr double kSinusoid = 1.2e-7;
inline constexpr double kShift = 2.4e-7;
/// A bound says something when it is below this part of the values it is about.
inline constexpr double kMeaningful = 1.0 / 32;

/// |computed - exact| for one row of attention() (qkv/attention.hpp).
struct AttentionBound {
  double dk, tk, logit_size, value_size;

  [[nodiscard]] double out() const { return kU * value_size * (2 * rounding() + 3 * tk + 40); }
  [[nodiscard]] double weight(double w) const {
    // Past e^64 it is above 1 for every weight that a double holds, and says nothing.
    const double turn = kU * (2 * rounding() + tk + 40);
    return turn > 64 ? 1.0 : w * std::expm1(turn) + 0x1p-126;
  }
  [[nodiscard]] double lse(double exact) const {
    return kU * (rounding() + tk + 40 + std::abs(exact));
  }
  [[nodiscard]] double entropy() const {
    return kU * (2 * rounding() + 2 * tk + 80) * (std::log(tk) + 2);
  }

 private:
  [[nodiscard]] double rounding() const { return (dk + 16) * logit_size; }
};

inline AttentionBound attention(const oracle::Row& row, Index dk, Index tk) {
  return {static_cast<double>(dk), static_cast<double>(tk), row.logit_size, row.value_size};
}

/// A product with inner size n, `size` = sum |a| |b| + |bias| (qkv/multi_head_attention.hpp).
inline double product(Index n, double size) { return kU * static_cast<double>(n + 2) * size; }

/// How far the multi-head layer may be from exact arithmetic.
///
/// Write q, k, v for the exact projections and q', k', v' for the computed ones, which differ by at
/// most eq, ek, ev = product(n, size) per element, or where q and k are normalised by what qkv/norm.hpp
/// makes of that (oracle::normalized). attention() computes, up to its own bound, the
/// exact attention of q', k', v'. Against the attention of q, k, v
///
///   logits:   |x'_j - x_j| <= D = max over allowed j of
///                             |scale| sum_d (|q| ek + eq |k| + eq ek) / temperature
///   weights:  both the numerator and the sum move by a factor within exp(+-D), so
///             |p'_j - p_j| <= r p_j   with r = exp(2 D) - 1
///   output:   |sum p' v' - sum p v| <= sum p' |v' - v| + sum |p' - p| |v| <= max ev + r V
///   lse:      moves by at most D
///   entropy:  ln p' = ln p + e with |e| <= 2 D, hence |H' - H| <= sum |p' - p| |ln p| + 2 D
///             <= r H + 2 D
///
/// To these come the kernel's own bounds, taken at A + D, V + max ev and weights up to (1 + r) p.
/// The output projection maps the error of o linearly, sum |eo| |Wo|, and adds
/// product(n, |o'| |Wo| + |bo|) with |o'| <= |o| + eo.
struct LayerRowBound {
  AttentionBound kernel;  ///< at the sizes of the computed projections
  double logit_shift;     ///< D
  double value_shift;     ///< max ev over allowed keys
  double value_size;      ///< V of the exact projections

  [[nodiscard]] double ratio() const { return std::expm1(2 * logit_shift); }
  [[nodiscard]] double out() const {
    // Whatever the logits are, the sum of |p' - p| is at most 2.
    return value_shift + std::min(ratio(), 2.0) * value_size + kernel.out();
  }
  [[nodiscard]] double weight(double w) const {
    return turned() ? 1.0 : ratio() * w + kernel.weight((1 + ratio()) * w);
  }
  [[nodiscard]] double lse(double exact) const {
    return logit_shift + kernel.lse(std::abs(exact) + logit_shift);
  }
  [[nodiscard]] double entropy(double exact) const {
    return (turned() ? std::log(kernel.tk) : ratio() * exact + 2 * logit_shift) + kernel.entropy();
  }

 private:
  /// The factor says nothing any more, and would soon be infinite.
  [[nodiscard]] bool turned() const { return logit_shift > 32; }
};

}  // namespace qkv::test::bounds
