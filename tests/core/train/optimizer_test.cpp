// AdamW, clipping, schedules and initial weights.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "problem.hpp"
#include "qkv/train/optimizer.hpp"
#include "refusal.hpp"

namespace qkv::test::optimizer_test {
namespace {

/// AdamW in double precision.
struct ExactAdamW {
  std::vector<double> w, m, v;
  void step(const std::vector<float>& g, const train::AdamWOptions& o, int t, bool decays) {
    const double b1 = o.beta1;
    const double b2 = o.beta2;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double own = static_cast<double>(g[i]) * static_cast<double>(o.gradient_factor);
      m[i] = b1 * m[i] + (1 - b1) * own;
      v[i] = b2 * v[i] + (1 - b2) * own * own;
      m[i] = std::abs(m[i]) < 0x1p-120 ? 0.0 : m[i];
      v[i] = v[i] < 0x1p-120 ? 0.0 : v[i];
      const double rate = o.learning_rate;
      w[i] *= decays ? 1 - rate * static_cast<double>(o.weight_decay) : 1.0;
      w[i] -= rate * (m[i] / (1 - std::pow(b1, t))) /
              (std::sqrt(v[i] / (1 - std::pow(b2, t))) + static_cast<double>(o.epsilon));
    }
  }
};

TEST_CASE("adamw_step: a hundred steps stay beside double precision", "[train]") {
  for (const bool decays : {true, false}) {
    CAPTURE(decays);
    constexpr Index kCount = 37;
    Random random(1);
    std::vector<float> w = random_floats(random, kCount);
    std::vector<float> m(kCount, 0.0F);
    std::vector<float> v(kCount, 0.0F);
    ExactAdamW exact{
        {w.begin(), w.end()}, std::vector<double>(kCount), std::vector<double>(kCount)};
    train::AdamWOptions options;
    options.learning_rate = 3e-3F;
    options.weight_decay = 0.1F;
    options.gradient_factor = 0.5F;
    for (int t = 1; t <= 100; ++t) {
      std::vector<float> g = random_floats(random, kCount);
      const std::array<train::Parameter, 1> all = {
          train::Parameter{w.data(), g.data(), m.data(), v.data(), kCount, decays}};
      require_ok(train::adamw_step(all, options, t));
      exact.step(g, options, t, decays);
    }
    Quantity quantity("adamw_step after 100 steps");
    for (std::size_t i = 0; i < w.size(); ++i) {
      // Each step rounds w, and moves it by at most about the rate with some ten roundings of its own; beta2
      // as a float changes the bias correction of early steps by up to 2^-25 / 1e-3.
      const double bound = 100 * (bounds::kU * (2.0 + std::abs(exact.w[i])) + 3e-3 * 4e-5);
      quantity.add(static_cast<double>(w[i]), exact.w[i], bound, 1.0);
    }
    require_within(quantity);
  }
}

TEST_CASE("adamw_step: the first step is the learning rate in the direction of the sign",
          "[train]") {
  std::vector<float> w = {1.0F, 1.0F};
  std::vector<float> g = {100.0F, -1e-3F};
  std::vector<float> m(2, 0.0F);
  std::vector<float> v(2, 0.0F);
  const std::array<train::Parameter, 1> all = {
      train::Parameter{w.data(), g.data(), m.data(), v.data(), 2, true}};
  train::AdamWOptions options;
  options.learning_rate = 0.125F;
  options.weight_decay = 0.0F;
  require_ok(train::adamw_step(all, options, 1));
  CHECK(std::abs(w[0] - 0.875F) < 1e-6F);
  CHECK(std::abs(w[1] - 1.125F) < 1e-5F);
}

TEST_CASE("adamw_step: moments of a gradient that stays 0 vanish, and are never subnormal",
          "[train]") {
  float w = 1.0F;
  float g = 1.0F;
  float m = 0.0F;
  float v = 0.0F;
  const std::array<train::Parameter, 1> all = {train::Parameter{&w, &g, &m, &v, 1, false}};
  train::AdamWOptions options;
  options.beta2 = 0.9F;  // 0.999 takes 83,000 steps
  int vanished = 0;
  for (int t = 1; t <= 1200; ++t) {
    require_ok(train::adamw_step(all, options, t));
    g = 0.0F;
    REQUIRE((m == 0.0F || m >= 0x1p-120F));
    REQUIRE((v == 0.0F || v >= 0x1p-120F));
    vanished = vanished == 0 && m == 0.0F && v == 0.0F ? t : vanished;
  }
  // 0.1 * 0.9^n is below 2^-120 from n = 768 on.
  CHECK(vanished == 769);
  const float before = w;
  require_ok(train::adamw_step(all, options, 1201));
  CHECK(w == before);
}

TEST_CASE("adamw_step: moments that are tiny but normal move the weight as far as any", "[train]") {
  float w = 0.0F;
  float g = 1e-16F;
  float m = 0.0F;
  float v = 0.0F;
  const std::array<train::Parameter, 1> all = {train::Parameter{&w, &g, &m, &v, 1, false}};
  train::AdamWOptions options;
  options.epsilon = 1e-30F;
  require_ok(train::adamw_step(all, options, 1));
  CHECK(std::abs(w + options.learning_rate) < 1e-6F);
}

TEST_CASE("adamw_step: refuses numbers outside their ranges and changes nothing", "[train]") {
  std::vector<float> w = {1.0F};
  std::vector<float> g = {1.0F};
  std::vector<float> m = {0.0F};
  std::vector<float> v = {0.0F};
  const std::array<train::Parameter, 1> all = {
      train::Parameter{w.data(), g.data(), m.data(), v.data(), 1, true}};
  struct Row {
    float train::AdamWOptions::* field;
    const char* name;
    std::vector<float> wrong;
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Row> rows = {
      {&train::AdamWOptions::learning_rate, "learning_rate", {-1.0F, INFINITY, kNan}},
      {&train::AdamWOptions::beta1, "beta1", {-0.1F, 1.0F, kNan}},
      {&train::AdamWOptions::beta2, "beta2", {-0.1F, 1.0F, kNan}},
      {&train::AdamWOptions::epsilon, "epsilon", {0.0F, -1.0F, kNan}},
      {&train::AdamWOptions::weight_decay, "weight_decay", {-1.0F, INFINITY}},
      {&train::AdamWOptions::gradient_factor, "gradient_factor", {-1.0F, INFINITY, kNan}},
  };
  for (const Row& row : rows) {
    for (const float wrong : row.wrong) {
      CAPTURE(row.name, wrong);
      train::AdamWOptions options;
      options.*row.field = wrong;
      require_refused(train::adamw_step(all, options, 1), "adamw_step",
                      {kInvalid, row.name, "is", "expected"});
    }
  }
  require_refused(train::adamw_step(all, {}, 0), "adamw_step",
                  {kInvalid, "step", "0", "at least 1"});
  CHECK(w[0] == 1.0F);
  CHECK(m[0] == 0.0F);
}

TEST_CASE("global_norm, clip_factor: as PyTorch clips", "[train]") {
  std::vector<float> a(1000, 0.5F);
  std::vector<float> b = {3.0F, 4.0F};
  const std::array<train::Parameter, 2> all = {
      train::Parameter{nullptr, a.data(), nullptr, nullptr, 1000, true},
      train::Parameter{nullptr, b.data(), nullptr, nullptr, 2, true}};
  double norm = 0.0;
  require_ok(train::global_norm(all, norm));
  CHECK(std::abs(norm - std::sqrt(275.0)) < 1e-6);
  CHECK(train::clip_factor(norm, 0.0F) == 1.0F);
  CHECK(train::clip_factor(0.5, 1.0F) == 1.0F);
  CHECK(train::clip_factor(4.0, 1.0F) == static_cast<float>(1.0 / (4.0 + 1e-6)));
  for (const float size : {2e19F, 3e38F, 1e-22F, 1e-30F, 1e-45F}) {  // whose squares no float holds
    CAPTURE(size);
    std::fill(a.begin(), a.end(), size);
    std::fill(b.begin(), b.end(), 0.0F);
    require_ok(train::global_norm(all, norm));
    const double expected = std::sqrt(1000.0) * static_cast<double>(size);
    CHECK(std::abs(norm - expected) <= 1e-7 * expected);
  }
  for (const float wrong : {NAN, INFINITY, -INFINITY}) {
    b[0] = wrong;
    require_ok(train::global_norm(all, norm));
    CHECK_FALSE(std::isfinite(norm));
  }
}

TEST_CASE("learning_rate_at: rises linearly, falls along a cosine, and stays", "[train]") {
  const train::Schedule schedule{.peak = 1.0F, .warmup = 10, .steps = 110, .last = 0.1F};
  CHECK(train::learning_rate_at(schedule, 1) == 0.1F);
  CHECK(train::learning_rate_at(schedule, 10) == 1.0F);
  CHECK(std::abs(train::learning_rate_at(schedule, 60) - 0.55F) < 1e-6F);
  CHECK(std::abs(train::learning_rate_at(schedule, 110) - 0.1F) < 1e-6F);
  CHECK(train::learning_rate_at(schedule, 5000) == train::learning_rate_at(schedule, 110));
  CHECK(train::learning_rate_at({.peak = 0.5F}, 7) == 0.5F);
}

TEST_CASE("fill_normal: mean, deviation and tails are those of a normal distribution", "[train]") {
  constexpr Index kCount = 100001;
  std::vector<float> x(kCount);
  train::fill_normal(x.data(), kCount, 0.02F, 7, 3);
  double sum = 0.0;
  double squares = 0.0;
  Index beyond_two = 0;
  for (const float value : x) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
    beyond_two += std::abs(value) > 0.04F ? 1 : 0;
  }
  const auto n = static_cast<double>(kCount);
  CHECK(std::abs(sum / n) < 5 * 0.02 / std::sqrt(n));
  CHECK(std::abs(std::sqrt(squares / n) / 0.02 - 1) < 5 / std::sqrt(2 * n));
  CHECK(std::abs(static_cast<double>(beyond_two) / n - 0.0455) < 5 * std::sqrt(0.0455 / n));
  std::vector<float> part(10);
  train::fill_normal(part.data(), 10, 0.02F, 7, 3);
  CHECK(std::vector<float>(x.begin(), x.begin() + 10) == part);
  train::fill_normal(part.data(), 10, 0.02F, 8, 2);
  CHECK(std::vector<float>(x.begin(), x.begin() + 10) != part);
}

TEST_CASE("fill_normal: as many numbers as were asked for, and none behind them", "[train]") {
  for (Index n = 0; n < 6; ++n) {
    CAPTURE(n);
    std::vector<float> x(8, kUntouched);
    train::fill_normal(x.data(), n, 0.02F, 7, 3);
    for (Index i = 0; i < 8; ++i) {
      CHECK((x[static_cast<std::size_t>(i)] == kUntouched) == (i >= n));
    }
  }
}

}  // namespace
}  // namespace qkv::test::optimizer_test
