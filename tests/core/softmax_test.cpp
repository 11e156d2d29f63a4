// softmax() against the oracle over every axis, and what the header says beside the formula.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <numeric>

#include "blocks_oracle.hpp"
#include "guarded.hpp"
#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::softmax_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

/// [outer, n, inner], over the middle axis; the three axes there are to a softmax.
struct Sizes {
  Index outer, n, inner;

  [[nodiscard]] Index count() const { return outer * n * inner; }
  /// Where element i of row `row` stands; rows count through outer, then inner.
  [[nodiscard]] std::size_t at(Index row, Index i) const {
    return static_cast<std::size_t>((row / inner * n + i) * inner + row % inner);
  }
};

std::vector<float> weights(const Sizes& s, const std::vector<float>& x, float temperature = 1.0F) {
  std::vector<float> out(x.size(), kUntouched);
  require_ok(softmax({x.data(), {s.outer, s.n, s.inner}}, {out.data(), {s.outer, s.n, s.inner}},
                     {.axis = 1, .temperature = temperature}));
  return out;
}

std::vector<double> row_of(const Sizes& s, const std::vector<float>& x, Index row) {
  std::vector<double> values;
  for (Index i = 0; i < s.n; ++i) {
    values.push_back(static_cast<double>(x[s.at(row, i)]));
  }
  return values;
}

/// Every element within its bound, and the bound far below it where it is not about to vanish.
void check(const Sizes& s, const std::vector<float>& x, float temperature = 1.0F) {
  const std::vector<float> out = weights(s, x, temperature);
  Quantity quantity("softmax");
  for (Index row = 0; row < s.outer * s.inner; ++row) {
    const oracle::Bounded exact =
        oracle::softmax(row_of(s, x, row), static_cast<double>(temperature));
    for (Index i = 0; i < s.n; ++i) {
      const auto e = static_cast<std::size_t>(i);
      quantity.add(static_cast<double>(out[s.at(row, i)]), exact.value[e], exact.error[e],
                   exact.value[e] > 0x1p-100 ? exact.value[e] : 0.0);
    }
  }
  CHECK(quantity.vacuity() < 3e-5);
  require_within(quantity);
}

std::vector<float> scores(const Sizes& s, std::uint64_t seed, float limit = 6.0F) {
  Random random(seed);
  return random_floats(random, s.count(), limit);
}

TEST_CASE("softmax: within the bound for every length, along every axis", "[softmax]") {
  for (Index n = 1; n <= 150; ++n) {
    for (const Sizes& s : {Sizes{2, n, 1}, Sizes{2, n, 3}, Sizes{1, n, 67}}) {
      CAPTURE(s.outer, n, s.inner);
      check(s, scores(s, static_cast<std::uint64_t>(n)));
    }
  }
  for (Index n : {255, 256, 257, 511, 512, 513, 1023, 1025, 5000}) {
    for (const Sizes& s : {Sizes{2, n, 1}, Sizes{1, n, 5}}) {
      CAPTURE(n, s.inner);
      check(s, scores(s, static_cast<std::uint64_t>(n)));
    }
  }
}

TEST_CASE("softmax: every number of neighbouring rows", "[softmax]") {
  for (Index inner = 1; inner <= 140; ++inner) {
    CAPTURE(inner);
    const Sizes s{2, 19, inner};
    check(s, scores(s, static_cast<std::uint64_t>(inner)));
  }
}

TEST_CASE("softmax: within the bound where weights vanish", "[softmax][extremes]") {
  for (float limit : {20.0F, 90.0F, 200.0F, 1e4F, 1e30F}) {
    for (float offset : {0.0F, 50.0F, -1000.0F}) {
      for (const Sizes& s : {Sizes{5, 65, 1}, Sizes{1, 65, 5}}) {
        CAPTURE(limit, offset, s.inner);
        std::vector<float> x = scores(s, 7, limit);
        for (float& value : x) {
          value += offset;
        }
        check(s, x);
      }
    }
  }
}

TEST_CASE("softmax: within the bound at every temperature", "[softmax][temperature]") {
  for (float temperature : {0.1F, 0.7F, 1.0F, 2.5F, 1e3F, 0x1p-40F, 0x1p64F, 0x1p65F, 1e30F, 1e37F,
                            kMax, std::numeric_limits<float>::min()}) {
    for (float spread : {0.5F, 3.0F, 60.0F}) {
      for (const Sizes& s : {Sizes{3, 33, 1}, Sizes{1, 33, 3}}) {
        // So that differences are up to 2 * spread temperatures, as far as float goes.
        const float limit = std::min(spread * temperature, kMax / 2);
        CAPTURE(temperature, spread, s.inner);
        check(s, scores(s, 11, limit), temperature);
      }
    }
  }
}

TEST_CASE("softmax: differences past the range of float count at large temperatures",
          "[softmax][temperature]") {
  for (const Sizes& s : {Sizes{1, 5, 1}, Sizes{1, 5, 2}}) {
    std::vector<float> x;
    for (float value : {kMax, -kMax, 0.0F, kMax / 2, -kMax}) {
      x.insert(x.end(), static_cast<std::size_t>(s.inner), value);
    }
    check(s, x, 1e38F);
    check(s, x, kMax);
    CHECK(weights(s, x, 1e38F)[s.at(0, 1)] > 1e-4F);  // exp(-6.8) and not 0
  }
}

TEST_CASE("softmax: rounding errors that all point one way do not add up", "[softmax]") {
  for (float value : {-0.1F, -1.7F}) {
    for (const Sizes& s : {Sizes{1, 1 << 18, 1}, Sizes{1, 1 << 17, 3}}) {
      CAPTURE(value, s.inner);
      std::vector<float> x(static_cast<std::size_t>(s.count()), value);
      x[0] = 0.0F;
      x[1] = 0.0F;
      x[2] = 0.0F;
      check(s, x);
    }
  }
}

TEST_CASE("softmax: towards temperature 0 the largest takes all, ties sharing it",
          "[softmax][temperature]") {
  for (Index inner : {1, 2}) {
    const Sizes s{1, 4, inner};
    std::vector<float> x;
    for (float value : {1.0F, 3.0F, 3.0F, 2.999999F}) {
      x.insert(x.end(), static_cast<std::size_t>(inner), value);
    }
    const std::vector<float> out = weights(s, x, std::numeric_limits<float>::min());
    CHECK(row_of(s, out, 0) == std::vector<double>{0.0, 0.5, 0.5, 0.0});
  }
}

TEST_CASE("softmax: infinity and NaN stay in their row", "[softmax][extremes]") {
  for (const Sizes& s : {Sizes{7, 21, 1}, Sizes{1, 21, 7}, Sizes{1, 3, 7}, Sizes{7, 3, 1}}) {
    for (Index at : {Index{0}, s.n / 2, s.n - 1}) {
      for (float temperature : {1.0F, 0x1p70F}) {
        CAPTURE(s.n, s.inner, at, temperature);
        std::vector<float> x = scores(s, 13);
        const std::vector<float> finite = weights(s, x, temperature);
        x[s.at(1, at)] = kNan;
        x[s.at(2, at)] = kInf;
        x[s.at(4, at)] = -kInf;
        for (Index i = 0; i < s.n; ++i) {
          x[s.at(3, i)] = -kInf;
          x[s.at(5, i)] = i == at ? kNan : kInf;
        }
        const std::vector<float> out = weights(s, x, temperature);
        for (Index i = 0; i < s.n; ++i) {
          for (Index row : {1, 2, 3, 5}) {
            REQUIRE(std::isnan(out[s.at(row, i)]));
          }
          for (Index row : {0, 6}) {
            REQUIRE(out[s.at(row, i)] == finite[s.at(row, i)]);
          }
          REQUIRE((i == at ? out[s.at(4, i)] == 0.0F : out[s.at(4, i)] > 0.0F));
        }
      }
    }
  }
}

TEST_CASE("softmax: minus infinity counts as if it were not there", "[softmax][extremes]") {
  const Sizes s{1, 9, 1};
  const std::vector<float> x{-kInf, 1.0F, -kInf, 2.0F, -kInf, -kInf, 0.5F, -kInf, -kInf};
  const std::vector<float> out = weights(s, x);
  const oracle::Bounded exact = oracle::softmax({1.0, 2.0, 0.5}, 1.0);
  Quantity error("softmax");
  std::size_t next = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == -kInf) {
      error.add_exact(out[i], 0.0);
    } else {
      error.add(out[i], exact.value[next], exact.error[next], exact.value[next]);
      ++next;
    }
  }
  require_within(error);
}

TEST_CASE("softmax: every axis of every rank", "[softmax][axis]") {
  const std::vector<std::vector<Index>> shapes{{120}, {8, 15}, {2, 4, 15}, {2, 4, 3, 5}};
  Random random(17);
  const std::vector<float> x = random_floats(random, 120, 4.0F);
  for (const auto& shape : shapes) {
    const auto rank = static_cast<int>(shape.size());
    for (int axis = 0; axis < rank; ++axis) {
      CAPTURE(rank, axis);
      const auto product = [](auto from, auto to) {
        return std::accumulate(from, to, Index{1}, std::multiplies<>());
      };
      const auto at = shape.begin() + axis;
      const Sizes s{product(shape.begin(), at), *at, product(at + 1, shape.end())};
      const std::vector<float> expected = weights(s, x);
      check(s, x);
      for (int given : {axis, axis - rank}) {
        std::vector<float> out(x.size(), kUntouched);
        require_ok(softmax(view_of(x.data(), shape), view_of(out.data(), shape),
                           {.axis = given, .temperature = 1.0F}));
        REQUIRE(first_difference(expected, out) == "");
      }
    }
  }
  std::vector<float> out(x.size());
  require_ok(softmax({x.data(), {8, 15}}, {out.data(), {8, 15}}, {}));
  CHECK(first_difference(weights({8, 15, 1}, x), out) == "");
}

TEST_CASE("softmax: a row's bits do not depend on its neighbours", "[softmax]") {
  for (Index inner : {1, 5, 130}) {
    for (Index n : {1, 7, 33}) {
      CAPTURE(inner, n);
      const Sizes s{3, n, inner};
      const std::vector<float> x = scores(s, 19);
      const std::vector<float> out = weights(s, x);
      for (Index row = 0; row < s.outer * inner; ++row) {
        // Beside one other, or alone where rows are contiguous.
        const Sizes alone{1, n, inner == 1 ? 1 : 2};
        std::vector<float> some(static_cast<std::size_t>(alone.count()), 3.0F);
        for (Index i = 0; i < n; ++i) {
          some[alone.at(0, i)] = x[s.at(row, i)];
        }
        const std::vector<float> same = weights(alone, some);
        REQUIRE(row_of(s, out, row) == row_of(alone, same, 0));
      }
    }
  }
}

TEST_CASE("softmax: in place", "[softmax][alias]") {
  for (float temperature : {1.0F, 0x1p70F}) {
    for (const Sizes& s : {Sizes{3, 77, 1}, Sizes{3, 7, 1}, Sizes{2, 37, 70}, Sizes{2, 5, 3}}) {
      CAPTURE(s.n, s.inner, temperature);
      std::vector<float> x = scores(s, 23);
      const std::vector<float> expected = weights(s, x, temperature);
      require_ok(softmax({x.data(), {s.outer, s.n, s.inner}}, {x.data(), {s.outer, s.n, s.inner}},
                         {.axis = 1, .temperature = temperature}));
      REQUIRE(first_difference(expected, x) == "");
    }
  }
}

TEST_CASE("softmax: nothing outside the arrays is touched", "[softmax][memory][guard]") {
  for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
    for (Index n : {1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 129}) {
      for (Index inner : {1, 2, 7, 16, 65}) {
        CAPTURE(static_cast<int>(edge), n, inner);
        const Sizes s{2, n, inner};
        const std::vector<float> values = scores(s, 29);
        const Guarded x(values, edge);
        const Guarded<float> out(values.size(), edge);
        const std::size_t allocations = allocation_count();
        require_ok(softmax({x.data(), {2, n, inner}}, {out.data(), {2, n, inner}}, {.axis = 1}));
        REQUIRE(allocation_count() == allocations);
        REQUIRE((x.intact() && out.intact()));
        REQUIRE(first_difference(weights(s, values), out.values()) == "");
      }
    }
  }
}

TEST_CASE("softmax: arrays without elements", "[softmax][empty]") {
  for (int axis : {0, 1, 2}) {
    require_ok(softmax({nullptr, {0, 5, 2}}, {nullptr, {0, 5, 2}}, {.axis = axis}));
    require_ok(softmax({nullptr, {5, 0, 2}}, {nullptr, {5, 0, 2}}, {.axis = axis}));
    require_ok(softmax({nullptr, {5, 2, 0}}, {nullptr, {5, 2, 0}}, {.axis = axis}));
  }
  require_ok(softmax({nullptr, {0}}, {nullptr, {0}}, {}));
}

struct Case {
  const char* what;
  Spoil<SoftmaxOptions&> spoil;
  Refusal refusal;
};

TEST_CASE("softmax: options without meaning are refused", "[softmax][bad-input]") {
  const auto temperature = [](float value) {
    return [value](SoftmaxOptions& o) { o.temperature = value; };
  };
  const std::vector<Case> cases{
      {"axis past the end",
       [](SoftmaxOptions& o) { o.axis = 2; },
       {kRange, "axis is", "2", "[-2, 2)"}},
      {"axis before the start",
       [](SoftmaxOptions& o) { o.axis = -3; },
       {kRange, "axis is", "-3", "[-2, 2)"}},
      {"temperature 0", temperature(0.0F), {kInvalid, "temperature is", "0", "at least 1.18e-38"}},
      {"temperature -1",
       temperature(-1.0F),
       {kInvalid, "temperature is", "-1", "at least 1.18e-38"}},
      {"temperature subnormal",
       temperature(1e-39F),
       {kInvalid, "temperature is", "1e-39", "at least 1.18e-38"}},
      {"temperature infinite",
       temperature(kInf),
       {kInvalid, "temperature is", "Infinity", "at least 1.18e-38"}},
      {"temperature NaN",
       temperature(kNan),
       {kInvalid, "temperature is", "NaN", "at least 1.18e-38"}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const std::vector<float> values(15, 1.0F);
    std::vector<float> written(18, kUntouched);
    SoftmaxOptions options;
    c.spoil(options);
    require_refused(softmax({values.data(), {3, 5}}, {written.data(), {3, 5}}, options), "softmax",
                    c.refusal);
    CHECK(written == std::vector<float>(18, kUntouched));
  }
}

}  // namespace
}  // namespace qkv::test::softmax_test
