// How fast each pair of a rotation turns.
#pragma once

#include <cmath>
#include <numbers>

#include "base/portable_math.hpp"
#include "positions/angles.hpp"
#include "qkv/rotary.hpp"

namespace qkv {

/// The frequencies w_i of RotaryScaling.
class RotaryFrequencies {
 public:
  explicit RotaryFrequencies(const RotaryOptions& o) noexcept
      : scaling_(o.scaling), base_(o.base), r_(static_cast<double>(o.rotary_dim)) {
    if (scaling_.type == RotaryScaling::Type::kYarn) {
      low_ = std::fmax(std::floor(pair_with(scaling_.beta_fast)), 0.0);
      high_ = std::fmax(std::fmin(std::ceil(pair_with(scaling_.beta_slow)), r_ - 1.0), low_);
      high_ += high_ == low_ ? 0.001 : 0.0;
    }
  }

  [[nodiscard]] double at(Index pair) const noexcept {
    const double i = static_cast<double>(pair);
    const double w = frequency(pair, r_, base_);
    switch (scaling_.type) {
      case RotaryScaling::Type::kNone:
        return w;
      case RotaryScaling::Type::kLinear:
        return w / scaling_.factor;
      case RotaryScaling::Type::kNtk:  // r = 2 has pair 0 alone, which stays
        return pair == 0 ? w : w * power(scaling_.factor, -2.0 * i / (r_ - 2.0));
      case RotaryScaling::Type::kYarn: {
        const double ramp = std::fmin(std::fmax((i - low_) / (high_ - low_), 0.0), 1.0);
        return (1.0 - ramp) * w + ramp * (w / scaling_.factor);
      }
      case RotaryScaling::Type::kLlama3: {
        const double low = scaling_.low_frequency_factor;
        const double span = scaling_.high_frequency_factor - low;
        const double turns =
            static_cast<double>(scaling_.original_length) * w / (2.0 * std::numbers::pi);
        const double ramp = std::fmin(std::fmax((turns - low) / span, 0.0), 1.0);
        return (1.0 - ramp) * (w / scaling_.factor) + ramp * w;
      }
      case RotaryScaling::Type::kFactors:
        return w / static_cast<double>(*scaling_.factors.at(pair));
    }
    return w;  // check_scaling() refuses other types
  }

  /// What cos and sin are multiplied by.
  [[nodiscard]] double attention_factor() const noexcept {
    switch (scaling_.type) {
      case RotaryScaling::Type::kYarn:
        return scaling_.attention_factor.value_or(0.1 * natural_log(scaling_.factor) + 1.0);
      case RotaryScaling::Type::kFactors:
        return scaling_.attention_factor.value_or(1.0);
      default:
        return 1.0;
    }
  }

 private:
  /// The pair, as a real number, that turns so often within original_length.
  [[nodiscard]] double pair_with(double turns) const noexcept {
    const double length = static_cast<double>(scaling_.original_length);
    return r_ * natural_log(length / (2.0 * std::numbers::pi * turns)) / (2.0 * natural_log(base_));
  }

  RotaryScaling scaling_;
  double base_, r_;
  double low_ = 0.0, high_ = 0.0;
};

}  // namespace qkv
