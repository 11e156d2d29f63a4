// Comparing results: with the oracle within the stated bounds, or with each other bit for bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bounds.hpp"
#include "qkv/qkv.hpp"

namespace qkv::test {

/// The worst error of a set of values in units of its bound, and whether the bounds say anything.
class Quantity {
 public:
  explicit Quantity(const char* name) : name_(name) {}

  /// `scale` is the size of what is measured; 0 leaves the bound unjudged.
  void add(double computed, double exact, double bound, double scale = 0.0);
  /// For values that must be hit exactly.
  void add_exact(double computed, double exact) {
    add(computed, exact, std::numeric_limits<double>::min());
  }

  /// Greatest error / bound. Infinite when a value is not finite and should be.
  [[nodiscard]] double ratio() const { return ratio_; }
  /// Greatest bound / scale.
  [[nodiscard]] double vacuity() const { return vacuity_; }
  /// What stood where the ratio was greatest.
  [[nodiscard]] const std::string& worst() const { return worst_; }
  [[nodiscard]] const char* name() const { return name_; }

 private:
  const char* name_;
  double ratio_ = 0.0;
  double vacuity_ = 0.0;
  std::string worst_ = "nothing compared";
  std::size_t count_ = 0;
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
/// Asserts that each quantity is within its bound, and that the bounds are worth something.
void require_within(const Comparison& comparison, Bounds bounds = Bounds::kMeaningful);

/// "" when all bits agree, else where they first differ and how.
std::string first_difference(const std::vector<float>& a, const std::vector<float>& b);

/// The elements of a view in row-major order.
std::vector<float> values_of(const TensorView<const float>& view);

/// For the summary at the end of a run (QKV_REPORT=1): remembers the worst ratio of each name.
void note_ratio(const char* name, double ratio);

}  // namespace qkv::test
