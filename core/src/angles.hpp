// Sines and cosines of whole multiples of a frequency, in double precision: what every positional
// encoding with rotations is made of.
#pragma once

#include <cstdint>

#include "portable_math.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// w_i = base^(-2i / width): how far pair i of an encoding turns from one position to the next.
inline double frequency(Index i, double width, double base) noexcept {
  return power(base, -2.0 * static_cast<double>(i) / width);
}

/// First one rotation, then the other.
inline Rotation turn(const Rotation& a, const Rotation& b) noexcept {
  return {a.sine * b.cosine + a.cosine * b.sine, a.cosine * b.cosine - a.sine * b.sine};
}

/// Positions that share an anchor.
inline constexpr Index kAnchorRows = 64;

/// The rotations by p w for one frequency w and any positions p = anchor + step, where step is p modulo
/// 64. Position p is taken apart into multiples of 1, 8, 64, 512 and 4096, whose rotations, each formed
/// when it is first needed, are turned by one another. So a run of T positions takes T / 4096 + 32
/// sines instead of T, and one position takes five. The steps and the latest anchor are kept, so that most
/// positions of a run take one turn. A turn costs 3 ulp in double precision; the four of
/// a position 1.4e-15, of the 6e-8 that rounding to float costs. The bits of a position do not depend
/// on which others are asked for.
class AngleColumn {
 public:
  explicit AngleColumn(double w = 0.0) noexcept : w_(w) {}

  /// By p - anchor(p), 0 to 63.
  [[nodiscard]] const Rotation& step(Index p) noexcept {
    const Index n = p & (kAnchorRows - 1);
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(n);
    Rotation& known = steps_[n];
    if ((known_steps_ & bit) == 0) {
      known_steps_ |= bit;
      known = turn(digit(0, n & 7), digit(1, n >> 3));
    }
    return known;
  }

  /// By the greatest multiple of 64 that is not above p.
  [[nodiscard]] const Rotation& anchor(Index p) noexcept {
    const Index at = p & ~(kAnchorRows - 1);  // not above p, for negative p too
    if (at != anchor_at_) {
      anchor_at_ = at;
      const Index base = p & ~Index{4095};
      if (base != base_at_) {
        base_at_ = base;
        base_ = rotation(static_cast<double>(base) * w_);
      }
      anchor_ = turn(base_, turn(digit(2, (p >> 6) & 7), digit(3, (p >> 9) & 7)));
    }
    return anchor_;
  }

  [[nodiscard]] Rotation at(Index p) noexcept { return turn(anchor(p), step(p)); }

 private:
  static constexpr Index kNowhere = 1;  ///< no multiple of 64

  /// By n 8^place w.
  const Rotation& digit(int place, Index n) noexcept {
    const auto bit = 1U << static_cast<unsigned>(8 * place + static_cast<int>(n));
    Rotation& known = digits_[place][n];
    if ((known_ & bit) == 0) {
      known_ |= bit;
      known = rotation(static_cast<double>(n << (3 * place)) * w_);
    }
    return known;
  }

  double w_;
  unsigned known_ = 0;
  std::uint64_t known_steps_ = 0;
  Index base_at_ = kNowhere;
  Index anchor_at_ = kNowhere;
  Rotation base_{}, anchor_{};
  Rotation digits_[4][8], steps_[kAnchorRows];
};

}  // namespace qkv
