// Sines and cosines of whole multiples of a frequency, in double precision: what every positional
// encoding with rotations is made of.
#pragma once

#include <cstdint>

#include "base/portable_math.hpp"
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

/// Rotations by n 8^place w, n < 8, of two places, each formed when it is first needed.
class AngleDigits {
 public:
  AngleDigits(double w, int first) noexcept : w_(w), first_(first) {}

  /// The rotation by n at place first + `place`.
  [[nodiscard]] const Rotation& at(int place, Index n) noexcept {
    const auto bit = 1U << static_cast<unsigned>(8 * place + static_cast<int>(n));
    Rotation& known = digits_[place][n];
    if ((known_ & bit) == 0) {
      known_ |= bit;
      known = rotation(static_cast<double>(n << (3 * (first_ + place))) * w_);
    }
    return known;
  }

 private:
  double w_;
  int first_;
  unsigned known_ = 0;
  Rotation digits_[2][8];
};

/// Positions p are taken apart into multiples of 1, 8, 64, 512 and 4096, whose rotations, each formed
/// when it is first needed, are turned by one another. So a run of T positions takes T / 4096 + 32
/// sines instead of T, and one position takes five. A turn costs 3 ulp in double precision; the four of
/// a position cost 1.4e-15, beside the 6e-8 of rounding to float. The bits of a position do not depend on which others are
/// computed. This class has the rotations of anchors and keeps the latest.
class AngleAnchors {
 public:
  explicit AngleAnchors(double w = 0.0) noexcept : w_(w), digits_(w, 2) {}

  /// The rotation by the greatest multiple of 64 that is not above p.
  [[nodiscard]] const Rotation& anchor(Index p) noexcept {
    const Index at = p & ~(kAnchorRows - 1);  // not above p, for negative p too
    if (at != anchor_at_) {
      anchor_at_ = at;
      const Index base = p & ~Index{4095};
      if (base != base_at_) {
        base_at_ = base;
        base_ = rotation(static_cast<double>(base) * w_);
      }
      anchor_ = turn(base_, turn(digits_.at(0, (p >> 6) & 7), digits_.at(1, (p >> 9) & 7)));
    }
    return anchor_;
  }

 private:
  static constexpr Index kNowhere = 1;  ///< no multiple of 64

  double w_;
  Index base_at_ = kNowhere;
  Index anchor_at_ = kNowhere;
  Rotation base_{}, anchor_{};
  AngleDigits digits_;
};

/// The rotations of the steps from an anchor. All are kept, so that most positions of a run take one turn.
class AngleSteps {
 public:
  explicit AngleSteps(double w) noexcept : digits_(w, 0) {}

  /// The rotation by what p is above its anchor, 0 to 63.
  [[nodiscard]] const Rotation& step(Index p) noexcept {
    const Index n = p & (kAnchorRows - 1);
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(n);
    Rotation& known = steps_[n];
    if ((known_ & bit) == 0) {
      known_ |= bit;
      known = turn(digits_.at(0, n & 7), digits_.at(1, n >> 3));
    }
    return known;
  }

 private:
  std::uint64_t known_ = 0;
  AngleDigits digits_;
  Rotation steps_[kAnchorRows];
};

/// The rotations by p w for one frequency w and any positions p = anchor + step.
class AngleColumn {
 public:
  explicit AngleColumn(double w) noexcept : anchors_(w), steps_(w) {}

  [[nodiscard]] Rotation at(Index p) noexcept { return turn(anchors_.anchor(p), steps_.step(p)); }

 private:
  AngleAnchors anchors_;
  AngleSteps steps_;
};

}  // namespace qkv
