// activate() against erf, tanh and exp in double precision, over all magnitudes of float.
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstdint>
#include <limits>

#include "blocks_oracle.hpp"
#include "guarded.hpp"
#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::activation_test {
namespace {

constexpr Activation kAll[] = {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
                               Activation::kSilu};
constexpr const char* kNames[] = {"relu", "gelu", "gelu_tanh", "silu"};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> activated(Activation f, const std::vector<float>& x) {
  std::vector<float> out(x.size(), kUntouched);
  const auto n = static_cast<Index>(x.size());
  require_ok(activate({x.data(), {n}}, {out.data(), {n}}, f));
  return out;
}

void check(Activation f, const std::vector<float>& x) {
  const std::vector<float> out = activated(f, x);
  Quantity quantity(kNames[static_cast<int>(f)]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = oracle::activation(f, static_cast<double>(x[i]));
    quantity.add(static_cast<double>(out[i]), exact,
                 oracle::activation_bound(f, static_cast<double>(x[i])));
  }
  require_within(quantity);
}

TEST_CASE("activation: within the bounds from -20 to 20, densely", "[activation]") {
  std::vector<float> x;
  for (int i = -200000; i <= 200000; ++i) {
    x.push_back(static_cast<float>(i) * 1e-4F);
  }
  for (Activation f : kAll) {
    CAPTURE(kNames[static_cast<int>(f)]);
    check(f, x);
  }
}

TEST_CASE("activation: within the bounds where the exponentials end", "[activation]") {
  for (float end :
       {-13.2163F, -13.4F, -14.0F, -10.0F, -10.1F, -32.0F, -87.3365F, -88.0F, -103.0F, -128.0F}) {
    std::vector<float> x;
    for (std::int32_t step = -3000; step <= 3000; ++step) {
      x.push_back(std::bit_cast<float>(std::bit_cast<std::int32_t>(end) + step));
    }
    for (Activation f : kAll) {
      CAPTURE(kNames[static_cast<int>(f)], end);
      check(f, x);
    }
  }
}

TEST_CASE("activation: within the bounds for every exponent", "[activation]") {
  std::vector<float> x;
  Random random(1);
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (int i = 0; i < 200; ++i) {
      const auto mantissa = static_cast<std::uint32_t>(random.next() >> 41U);
      const float value = std::bit_cast<float>((exponent << 23U) + mantissa);
      x.push_back(value);
      x.push_back(-value);
    }
  }
  for (Activation f : kAll) {
    CAPTURE(kNames[static_cast<int>(f)]);
    check(f, x);
  }
}

TEST_CASE("activation: infinity, NaN and the far ends", "[activation][extremes]") {
  constexpr float kMax = std::numeric_limits<float>::max();
  for (Activation f : kAll) {
    for (std::size_t padding : {0U, 1U, 3U, 7U, 16U}) {
      CAPTURE(kNames[static_cast<int>(f)], padding);
      std::vector<float> x(padding, 1.0F);
      x.insert(x.end(), {kInf, -kInf, kNan, 1e4F, -1e4F, kMax, -kMax, 0.0F, -0.0F});
      const std::vector<float> all = activated(f, x);
      const float* y = all.data() + padding;
      CHECK(y[0] == kInf);
      CHECK(y[1] == 0.0F);
      CHECK(std::isnan(y[2]));
      CHECK(y[3] == 1e4F);
      CHECK(y[4] == 0.0F);
      CHECK(y[5] == kMax);
      CHECK(y[6] == 0.0F);
      CHECK(y[7] == 0.0F);
      CHECK(y[8] == 0.0F);
    }
  }
}

TEST_CASE("activation: the smallest numbers", "[activation][extremes]") {
  std::vector<float> x;
  for (std::uint32_t bits = 1; bits < 2000; ++bits) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  for (Activation f : kAll) {
    CAPTURE(kNames[static_cast<int>(f)]);
    const std::vector<float> y = activated(f, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = oracle::activation(f, static_cast<double>(x[i]));
      REQUIRE(std::abs(static_cast<double>(y[i]) - exact) <= 0x1p-149);
    }
  }
}

TEST_CASE("activation: every length, and each element by itself", "[activation]") {
  for (Activation f : kAll) {
    const std::vector<float> whole = [&] {
      Random random(2);
      return random_floats(random, 129, 5.0F);
    }();
    const std::vector<float> expected = activated(f, whole);
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      const std::vector<float> part(whole.begin(), whole.begin() + static_cast<Index>(n));
      REQUIRE(first_difference({expected.begin(), expected.begin() + static_cast<Index>(n)},
                               activated(f, part)) == "");
    }
  }
}

TEST_CASE("activation: any rank, in place or not", "[activation][alias]") {
  Random random(3);
  const std::vector<float> x = random_floats(random, 120, 4.0F);
  const std::vector<std::vector<Index>> shapes{{120}, {8, 15}, {2, 4, 15}, {2, 4, 3, 5}};
  for (Activation f : kAll) {
    const std::vector<float> expected = activated(f, x);
    for (const auto& shape : shapes) {
      std::vector<float> out = x;
      require_ok(
          activate(view_of<const float>(out.data(), shape), view_of<float>(out.data(), shape), f));
      CHECK(first_difference(expected, out) == "");
    }
  }
}

TEST_CASE("activation: nothing outside the arrays is touched", "[activation][memory][guard]") {
  for (Activation f : kAll) {
    for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
      for (Index n : {1, 2, 3, 5, 7, 8, 15, 16, 17, 63, 64, 65, 127, 129}) {
        CAPTURE(kNames[static_cast<int>(f)], static_cast<int>(edge), n);
        Random random(4);
        const std::vector<float> values = random_floats(random, n, 3.0F);
        const Guarded x(values, edge);
        const Guarded<float> out(values.size(), edge);
        const std::size_t allocations = allocation_count();
        require_ok(activate({x.data(), {n}}, {out.data(), {n}}, f));
        REQUIRE(allocation_count() == allocations);
        REQUIRE((x.intact() && out.intact()));
        REQUIRE(first_difference(activated(f, values), out.values()) == "");
      }
    }
  }
}

TEST_CASE("activation: arrays without elements", "[activation][empty]") {
  for (Activation f : kAll) {
    require_ok(activate({nullptr, {0}}, {nullptr, {0}}, f));
    require_ok(activate({nullptr, {3, 0, 2}}, {nullptr, {3, 0, 2}}, f));
  }
}

TEST_CASE("activation: a kind that is none is refused", "[activation][bad-input]") {
  const std::vector<float> values(15, 1.0F);
  std::vector<float> written(15, kUntouched);
  require_refused(
      activate({values.data(), {3, 5}}, {written.data(), {3, 5}}, static_cast<Activation>(4)),
      "activate", {kInvalid, "activation is", "4", "a value of Activation"});
  CHECK(written == std::vector<float>(15, kUntouched));
}

}  // namespace
}  // namespace qkv::test::activation_test
