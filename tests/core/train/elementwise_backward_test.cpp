// Derivatives of activations and softmax, and cross-entropy, against the formulas in double precision.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "blocks_oracle.hpp"
#include "problem.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/softmax.hpp"

namespace qkv::test::elementwise_backward_test {
namespace {

constexpr double kU = bounds::kU;
constexpr Activation kAll[] = {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
                               Activation::kSilu};
constexpr const char* kNames[] = {"relu_backward", "gelu_backward", "gelu_tanh_backward",
                                  "silu_backward"};

/// Those of gates.
constexpr Activation kGates[] = {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh};

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// f'(x).
double slope(Activation f, double x) {
  const double pi = std::acos(-1.0);
  switch (f) {
    case Activation::kRelu:
      return x > 0 ? 1.0 : 0.0;
    case Activation::kGelu:
      return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
    case Activation::kGeluTanh: {
      const double c = 2 * std::sqrt(2 / pi);
      const double s = c * (x + 0.044715 * x * x * x);
      const double ds = c * (1 + 3 * 0.044715 * x * x);
      return sigmoid(s) + x * ds * sigmoid(s) * sigmoid(-s);
    }
    case Activation::kSilu:
      return sigmoid(x) + x * sigmoid(x) * sigmoid(-x);
  }
  return NAN;
}

std::vector<float> differentiated(Activation f, const std::vector<float>& x,
                                  const std::vector<float>& d_out) {
  std::vector<float> dx(x.size(), kUntouched);
  const auto n = static_cast<Index>(x.size());
  require_ok(train::activate_backward({d_out.data(), {n}}, {x.data(), {n}}, {dx.data(), {n}}, f));
  return dx;
}

TEST_CASE("activate_backward: within the bounds from -20 to 20, densely", "[train]") {
  std::vector<float> x;
  for (int i = -20000; i <= 20003; ++i) {
    x.push_back(static_cast<float>(i) * 1e-3F);
  }
  Random random(1);
  const std::vector<float> d_out = random_floats(random, static_cast<Index>(x.size()));
  for (const Activation f : kAll) {
    const std::vector<float> dx = differentiated(f, x, d_out);
    Quantity quantity(kNames[static_cast<int>(f)]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<double>(x[i]);
      const double exact = slope(f, at);
      const double tail =
          f == Activation::kSilu ? std::exp(-std::abs(at) / 2) : std::exp(-at * at / 4);
      const auto dy = static_cast<double>(d_out[i]);
      quantity.add(
          static_cast<double>(dx[i]), dy * exact,
          kU * std::abs(dy) * (6 + 2 * std::abs(at)) * (std::abs(exact) + tail) + 0x1p-126);
    }
    require_within(quantity);
  }
}

TEST_CASE("activate_backward: infinity has the slope of the limit, NaN stays, relu'(0) is 0",
          "[train][nan]") {
  const std::vector<float> x = {-INFINITY, INFINITY, NAN, 0.0F, -0.0F};
  for (const Activation f : kAll) {
    CAPTURE(kNames[static_cast<int>(f)]);
    const std::vector<float> dx = differentiated(f, x, std::vector<float>(5, 1.0F));
    CHECK(dx[0] == 0.0F);
    CHECK(dx[1] == 1.0F);
    CHECK(std::isnan(dx[2]));
    CHECK(dx[3] == (f == Activation::kRelu ? 0.0F : 0.5F));
  }
}

TEST_CASE("gate_backward: gradients of both factors, swiglu and both forms of geglu", "[train]") {
  constexpr Index kCount = 1003;
  Random random(5);
  const std::vector<float> x = random_floats(random, kCount, 6.0F);
  const std::vector<float> y = random_floats(random, kCount);
  const std::vector<float> d_out = random_floats(random, kCount);
  for (const Activation f : kGates) {
    std::vector<float> dx(kCount, kUntouched);
    std::vector<float> dy(kCount, kUntouched);
    require_ok(train::gate_backward({.d_out = {d_out.data(), {kCount}},
                                     .x = {x.data(), {kCount}},
                                     .y = {y.data(), {kCount}},
                                     .dx = {dx.data(), {kCount}},
                                     .dy = {dy.data(), {kCount}}},
                                    f));
    const std::string name = kNames[static_cast<int>(f)];
    Quantity of_x(name + ", gate dx");
    Quantity of_y(name + ", gate dy");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<double>(x[i]);
      const auto g = static_cast<double>(d_out[i]);
      const auto other = static_cast<double>(y[i]);
      const double exact = g * other * slope(f, at);
      const double tail =
          f == Activation::kSilu ? std::exp(-std::abs(at) / 2) : std::exp(-at * at / 4);
      of_x.add(
          static_cast<double>(dx[i]), exact,
          kU * (std::abs(g * other) * (6 + 2 * std::abs(at)) * (std::abs(slope(f, at)) + tail) +
                2 * std::abs(exact)) +
              0x1p-126);
      const double value = oracle::activation(f, at);
      of_y.add(static_cast<double>(dy[i]), g * value,
               std::abs(g) * oracle::activation_bound(f, at) + kU * std::abs(g * value) + 0x1p-126);
    }
    require_within(Comparison{{of_x, of_y}});
  }
}

TEST_CASE("gate_backward: each gradient may lie where any of the arrays does", "[train]") {
  constexpr Index kCount = 37;
  Random random(6);
  // d_out, x and y; where a gradient goes is one of these, or the fourth or fifth, which are its own.
  const std::vector<float> in = random_floats(random, 3 * kCount, 4.0F);
  const auto run = [&](Activation f, Index dx_at, Index dy_at) {
    std::vector<float> memory = in;
    memory.resize(5 * kCount, kUntouched);
    const auto view = [&](Index i) { return memory.data() + i * kCount; };
    CAPTURE(dx_at, dy_at);
    require_ok(train::gate_backward({.d_out = {view(0), {kCount}},
                                     .x = {view(1), {kCount}},
                                     .y = {view(2), {kCount}},
                                     .dx = {view(dx_at), {kCount}},
                                     .dy = {view(dy_at), {kCount}}},
                                    f));
    std::vector<float> found(view(dx_at), view(dx_at) + kCount);
    found.insert(found.end(), view(dy_at), view(dy_at) + kCount);
    return found;
  };
  for (const Activation f : kGates) {
    const std::vector<float> apart = run(f, 3, 4);
    for (Index dx_at = 0; dx_at < 4; ++dx_at) {
      for (const Index dy_at : {0, 1, 2, 4}) {
        if (dx_at != dy_at) {
          CHECK(first_difference(apart, run(f, dx_at, dy_at)) == "");
        }
      }
    }
  }
}

TEST_CASE("softmax_backward: every axis and temperature is within the bound", "[train]") {
  for (const int axis : {0, 1, 2, -1}) {
    for (const float temperature : {0.5F, 1.0F, 3.0F}) {
      CAPTURE(axis, temperature);
      Random random(10);
      const std::vector<float> x = random_floats(random, 3 * 5 * 7);
      const std::vector<float> d_out = random_floats(random, 3 * 5 * 7);
      std::vector<float> y(x.size());
      std::vector<float> dx(x.size(), kUntouched);
      const SoftmaxOptions options{.axis = axis, .temperature = temperature};
      require_ok(softmax({x.data(), {3, 5, 7}}, {y.data(), {3, 5, 7}}, options));
      require_ok(train::softmax_backward({d_out.data(), {3, 5, 7}}, {y.data(), {3, 5, 7}},
                                         {dx.data(), {3, 5, 7}}, options));
      const Index extents[] = {3, 5, 7};
      const Index strides[] = {35, 7, 1};
      const int at = axis < 0 ? 2 : axis;
      Quantity quantity("softmax_backward");
      for (Index e = 0; e < 105; ++e) {
        const Index first = e - e / strides[at] % extents[at] * strides[at];
        double sum = 0.0;
        double size = 0.0;
        for (Index i = 0; i < extents[at]; ++i) {
          const auto n = static_cast<std::size_t>(first + i * strides[at]);
          sum += static_cast<double>(y[n]) * static_cast<double>(d_out[n]);
          size += static_cast<double>(y[n]) * std::abs(static_cast<double>(d_out[n]));
        }
        const auto n = static_cast<std::size_t>(e);
        const auto dy = static_cast<double>(d_out[n]);
        const double factor = static_cast<double>(y[n]) / static_cast<double>(temperature);
        quantity.add(static_cast<double>(dx[n]), factor * (dy - sum),
                     4 * kU * factor * (std::abs(dy) + size), factor);
      }
      require_within(quantity);
    }
  }
}

// --------------------------------------------------------------------------------- cross-entropy

struct Loss {
  double loss = 0.0;
  std::vector<double> p, q;  ///< the gradient is p - q
};

/// Of one row.
Loss cross_entropy_of(const std::vector<double>& x, std::size_t target, double smoothing) {
  const double most = *std::max_element(x.begin(), x.end());
  double total = 0.0;
  for (const double value : x) {
    total += std::exp(value - most);
  }
  Loss of;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double log_p = x[i] - most - std::log(total);
    const double q =
        (i == target ? 1 - smoothing : 0.0) + smoothing / static_cast<double>(x.size());
    of.loss -= q * log_p;
    of.p.push_back(std::exp(log_p));
    of.q.push_back(q);
  }
  return of;
}

TEST_CASE("cross_entropy: losses and gradients are within the bounds", "[train]") {
  for (const float smoothing : {0.0F, 0.1F, 1.0F}) {
    for (const Index classes : {1, 2, 7, 64, 65, 257, 4000}) {
      for (const float width : {1.0F, 30.0F, 100.0F}) {
        CAPTURE(smoothing, classes, width);
        constexpr Index kRows = 9;
        Random random(20 + static_cast<std::uint64_t>(classes));
        std::vector<float> logits = random_floats(random, kRows * classes, width);
        std::vector<std::int32_t> targets;
        for (Index i = 0; i < kRows; ++i) {
          targets.push_back(i == 3 ? -1 : static_cast<std::int32_t>(random.below(classes)));
        }
        if (classes == 2) {
          logits[0] = 0.0F;
          logits[1] = -100.0F;  // whose share is above 0 and below the least float that is normal
          targets[0] = 0;
        }
        std::vector<float> d_logits(logits.size(), kUntouched);
        train::CrossEntropy found;
        Workspace workspace;
        require_ok(train::cross_entropy({.logits = {logits.data(), {kRows, classes}},
                                         .targets = {targets.data(), {kRows}},
                                         .label_smoothing = smoothing,
                                         .d_logits = {d_logits.data(), {kRows, classes}}},
                                        found, workspace));
        Quantity loss("cross_entropy loss");
        Quantity gradient("cross_entropy d_logits");
        double mean = 0.0;
        double mean_bound = 0.0;
        Index correct = 0;
        const double counted = kRows - 1;
        const double log_classes = std::log(static_cast<double>(classes));
        for (Index r = 0; r < kRows; ++r) {
          const auto first = static_cast<std::size_t>(r * classes);
          if (r == 3) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(classes); ++i) {
              gradient.add_exact(static_cast<double>(d_logits[first + i]), 0.0);
            }
            continue;
          }
          const std::vector<double> x(logits.begin() + r * classes,
                                      logits.begin() + (r + 1) * classes);
          const auto target = static_cast<std::size_t>(targets[static_cast<std::size_t>(r)]);
          double largest = 0.0;
          for (const double value : x) {
            largest = std::max(largest, std::abs(value));
          }
          const double most = *std::max_element(x.begin(), x.end());
          const Loss of = cross_entropy_of(x, target, static_cast<double>(smoothing));
          mean += of.loss / counted;
          mean_bound += kU * (3 * log_classes + 20 + largest / 16) / counted;
          correct += std::max_element(x.begin(), x.end()) - x.begin() ==
                             static_cast<std::ptrdiff_t>(target)
                         ? 1
                         : 0;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const double bound = of.p[i] * (3 * (most - x[i] + log_classes) + 30) + 6 * of.q[i];
            gradient.add(static_cast<double>(d_logits[first + i]), (of.p[i] - of.q[i]) / counted,
                         kU * bound / counted + 0x1p-125);
          }
        }
        loss.add(found.loss, mean, mean_bound);
        require_within(Comparison{{loss, gradient}});
        CHECK(found.counted == kRows - 1);
        CHECK(found.correct == correct);
      }
    }
  }
}

TEST_CASE("cross_entropy: of equal logits the first is the prediction", "[train]") {
  const std::vector<float> logits = {1.0F, 2.0F, 2.0F, 1.0F, 2.0F, 2.0F};
  const std::vector<std::int32_t> targets = {1, 2};
  std::vector<float> d_logits(6);
  train::CrossEntropy found;
  Workspace workspace;
  require_ok(train::cross_entropy({.logits = {logits.data(), {2, 3}},
                                   .targets = {targets.data(), {2}},
                                   .d_logits = {d_logits.data(), {2, 3}}},
                                  found, workspace));
  CHECK(found.correct == 1);
}

TEST_CASE("cross_entropy: of a single target that counts the mean is its own loss", "[train]") {
  const std::vector<float> logits = {0.0F, 0.0F, 0.0F, 0.0F};
  const std::vector<std::int32_t> one = {7, 1};
  std::vector<float> d_logits(4);
  train::CrossEntropy found;
  Workspace workspace;
  require_ok(train::cross_entropy({.logits = {logits.data(), {2, 2}},
                                   .targets = {one.data(), {2}},
                                   .ignore_index = 7,
                                   .d_logits = {d_logits.data(), {2, 2}}},
                                  found, workspace));
  CHECK(found.counted == 1);
  CHECK(std::abs(found.loss - std::log(2.0)) < 1e-6);
  CHECK(d_logits == std::vector<float>{0.0F, 0.0F, 0.5F, -0.5F});
}

TEST_CASE("cross_entropy: no target that counts gives 0, and d_logits may be logits", "[train]") {
  std::vector<float> logits = {1.0F, 2.0F, 3.0F, 4.0F};
  const std::vector<std::int32_t> none = {7, 7};
  train::CrossEntropy found;
  Workspace workspace;
  require_ok(train::cross_entropy({.logits = {logits.data(), {2, 2}},
                                   .targets = {none.data(), {2}},
                                   .ignore_index = 7,
                                   .d_logits = {logits.data(), {2, 2}}},
                                  found, workspace));
  CHECK(found.loss == 0.0);
  CHECK(found.counted == 0);
  CHECK(logits == std::vector<float>(4, 0.0F));
}

}  // namespace
}  // namespace qkv::test::elementwise_backward_test
