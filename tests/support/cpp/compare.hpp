// Comparing results: with the oracle within the stated bounds, or with each other bit for bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "bounds.hpp"
#include "layer_oracle.hpp"
#include "qkv/qkv.hpp"

namespace qkv::test {

/// The worst error of a set of values in units of its bound, and whether the bounds say anything.
class Quantity {
 public:
  /// `family`, ", 64 keys or more" say, is for inputs of a kind, which have a ceiling of their own.
  explicit Quantity(std::string name, std::string family = "")
      : name_(std::move(name)), family_(std::move(family)) {}

  /// `scale` is the size of what is measured; 0 leaves the bound unjudged.
  void add(double computed, double exact, double bound, double scale = 0.0);
  /// For values that must be hit exactly.
  void add_exact(double computed, double exact) {
    add(computed, exact, std::numeric_limits<double>::min());
  }
  /// Says that there may be nothing to compare, which is a failure otherwise.
  Quantity& may_be_empty() {
    may_be_empty_ = true;
    return *this;
  }

  /// Greatest error / bound. Infinite when a value is not finite and should be, and when a bound is
  /// negative, infinite or not a number.
  [[nodiscard]] double ratio() const { return ratio_; }
  /// Greatest bound / scale.
  [[nodiscard]] double vacuity() const { return vacuity_; }
  /// What stood where the ratio was greatest.
  [[nodiscard]] const std::string& worst() const { return worst_; }
  [[nodiscard]] std::string name() const { return name_ + family_; }
  void set_family(std::string family) { family_ = std::move(family); }
  /// Nothing was compared that should have been.
  [[nodiscard]] bool lacks_values() const { return count_ == 0 && !may_be_empty_; }

 private:
  std::string name_, family_;
  double ratio_ = 0.0;
  double vacuity_ = 0.0;
  std::string worst_ = "nothing compared";
  std::size_t count_ = 0;
  bool may_be_empty_ = false;
};

struct Comparison {
  std::vector<Quantity> quantities;
};

/// `args` as it was passed to attention(), its outputs with what came back.
Comparison compare_attention(const AttentionArgs& args);

/// The same for a layer; extras as they were passed to forward().
struct LayerOutputs {
  TensorView<const float> y;
  AttentionExtras extras;
};
Comparison compare_layer(const oracle::LayerInputs& in, const LayerOutputs& computed);
/// `exact` instead of what the oracle makes of `in`.
Comparison compare_layer(const oracle::LayerInputs& in, const LayerOutputs& computed,
                         const oracle::Layer& exact);

enum class Bounds {
  kMeaningful,  ///< every bound must be far below the size of the values
  kAny,         ///< inputs so extreme that float32 logits have no such bound
};
/// What is wrong with a quantity: "" or a sentence that names it. `ceiling` is the ratio that it may
/// not exceed (ceilings.def), or null when it has none, which is wrong too.
std::string problem_with(const Quantity& quantity, Bounds bounds, const double* ceiling);

/// Asserts that each quantity is within its bound and its ceiling, and that the bounds are worth
/// something. Where bounds may be of any size, the family of every quantity is ", extreme".
void require_within(const Comparison& comparison, Bounds bounds = Bounds::kMeaningful);
void require_within(const Quantity& quantity);

/// "" when all bits agree, else where they first differ and how.
std::string first_difference(const std::vector<float>& a, const std::vector<float>& b);

/// Arrays one after another.
inline std::vector<float> joined(std::initializer_list<const std::vector<float>*> arrays) {
  std::vector<float> all;
  for (const auto* array : arrays) {
    all.insert(all.end(), array->begin(), array->end());
  }
  return all;
}

/// The elements of a view in row-major order.
std::vector<float> values_of(const TensorView<const float>& view);

}  // namespace qkv::test
