// layer_norm() and rms_norm() against the oracle, and what the header says beside the formula.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <numeric>

#include "blocks_oracle.hpp"
#include "guarded.hpp"
#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::norm_test {
namespace {

constexpr Index kSizes[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 63, 64, 65, 127, 129};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

enum class Norm { kLayer, kRms };
constexpr Norm kBoth[] = {Norm::kLayer, Norm::kRms};

Status apply(Norm norm, TensorView<const float> x, TensorView<float> out,
             const NormOptions& options) {
  return norm == Norm::kLayer ? layer_norm(x, out, options) : rms_norm(x, out, options);
}

/// A call over the last axis that owns its arrays.
struct NormProblem {
  NormProblem(Norm which, Index row_count, Index row_size, std::uint64_t seed)
      : norm(which), rows(row_count), n(row_size) {
    Random random(seed);
    x = random_floats(random, rows * n);
    gamma = random_floats(random, n, 2.0F);
    if (norm == Norm::kLayer) {
      beta = random_floats(random, n, 2.0F);
    }
    out.assign(x.size(), kUntouched);
  }

  [[nodiscard]] NormOptions options() const {
    NormOptions o;
    o.epsilon = epsilon;
    if (!gamma.empty()) {
      o.gamma = {gamma.data(), {n}};
    }
    if (!beta.empty()) {
      o.beta = {beta.data(), {n}};
    }
    return o;
  }
  const std::vector<float>& run() & {
    require_ok(apply(norm, {x.data(), {rows, n}}, {out.data(), {rows, n}}, options()));
    return out;
  }
  void check() {
    run();
    Quantity quantity(norm == Norm::kLayer ? "layer_norm" : "rms_norm");
    const oracle::Bounded exact = oracle::normalized(
        {norm == Norm::kLayer, static_cast<double>(epsilon), gamma, beta}, n, oracle::exactly(x));
    for (std::size_t i = 0; i < out.size(); ++i) {
      quantity.add(static_cast<double>(out[i]), exact.value[i], exact.error[i]);
    }
    require_within(quantity);
  }

  Norm norm;
  Index rows, n;
  float epsilon = 1e-5F;
  std::vector<float> x, gamma, beta, out;
};

TEST_CASE("norm: within the bounds for every size", "[norm]") {
  std::uint64_t seed = 1;
  for (Norm norm : kBoth) {
    for (Index n : kSizes) {
      for (Index rows : {1, 2, 5}) {
        CAPTURE(static_cast<int>(norm), n, rows);
        NormProblem(norm, rows, n, seed++).check();
      }
    }
    for (Index n : {255, 256, 257, 511, 512, 513, 768, 1023, 1024, 1025, 2049, 5000}) {
      CAPTURE(static_cast<int>(norm), n);
      NormProblem(norm, 2, n, seed++).check();
    }
  }
}

TEST_CASE("norm: every row size up to two chunks", "[norm]") {
  for (Norm norm : kBoth) {
    for (Index n = 1; n <= 300; ++n) {
      CAPTURE(static_cast<int>(norm), n);
      NormProblem(norm, 1, n, 100 + static_cast<std::uint64_t>(n)).check();
    }
  }
}

TEST_CASE("norm: long rows are as accurate as short ones", "[norm]") {
  for (Norm norm : kBoth) {
    for (float offset : {0.0F, 1.0F, 1000.0F}) {
      CAPTURE(static_cast<int>(norm), offset);
      NormProblem p(norm, 1, 1 << 18, 200);
      for (float& x : p.x) {
        x += offset;
      }
      p.check();
    }
  }
}

TEST_CASE("norm: rounding errors that all point one way do not add up", "[norm]") {
  // Sums of equal squares round the same way again and again.
  for (Norm norm : kBoth) {
    for (float value : {1.1F, 1.7F}) {
      CAPTURE(static_cast<int>(norm), value);
      NormProblem p(norm, 1, 1 << 18, 250);
      for (std::size_t i = 0; i < p.x.size(); ++i) {
        p.x[i] = i % 2 == 0 ? value : -value;
      }
      p.check();
    }
  }
}

TEST_CASE("norm: a mean of 1e4 with a deviation of 1 keeps its accuracy", "[norm]") {
  for (Index n : kSizes) {
    for (float offset : {1e4F, -1e4F, 1e6F}) {
      CAPTURE(n, offset);
      NormProblem p(Norm::kLayer, 4, n, 400);
      for (float& x : p.x) {
        x += offset;
      }
      p.check();
    }
  }
}

TEST_CASE("norm: constant rows give beta, to the bit", "[norm]") {
  for (Index n : kSizes) {
    for (float value : {0.0F, -0.0F, 0.1F, 1.0F, -3.3F, 1e4F, 1e-30F, 1e30F, 3e38F, 1e-40F}) {
      for (float epsilon : {1e-5F, 0.0F, 1e-40F}) {
        CAPTURE(n, value, epsilon);
        NormProblem p(Norm::kLayer, 2, n, 600);
        std::fill(p.x.begin(), p.x.end(), value);
        p.epsilon = epsilon;
        const std::vector<float>& out = p.run();
        for (std::size_t i = 0; i < out.size(); ++i) {
          REQUIRE(out[i] == p.beta[i % p.beta.size()]);
        }
        p.beta.clear();
        REQUIRE(p.run() == std::vector<float>(p.x.size(), 0.0F));
      }
    }
  }
}

TEST_CASE("norm: rows of zeros have no RMS and give zeros", "[norm]") {
  for (float epsilon : {1e-5F, 0.0F}) {
    NormProblem p(Norm::kRms, 2, 19, 700);
    std::fill(p.x.begin(), p.x.end(), 0.0F);
    p.epsilon = epsilon;
    CHECK(p.run() == std::vector<float>(p.x.size(), 0.0F));
  }
}

TEST_CASE("norm: rows whose squares leave the range of float", "[norm][extremes]") {
  for (Norm norm : kBoth) {
    for (Index n : {2, 7, 64, 129, 1025}) {
      for (float scale : {1e-44F, 1e-40F, 1e-30F, 1e-20F, 1e-12F, 1e12F, 1e19F, 1e25F, 1.9e38F}) {
        for (float epsilon : {0.0F, 1e-40F, 1e-25F, 1e-5F}) {
          CAPTURE(static_cast<int>(norm), n, scale, epsilon);
          NormProblem p(norm, 2, n, 800);
          for (float& x : p.x) {
            x *= scale;
          }
          p.epsilon = epsilon;
          p.check();
        }
      }
    }
  }
}

TEST_CASE("norm: NaN and infinity stay in their row", "[norm][extremes]") {
  for (float bad : {kNan, kInf, -kInf}) {
    for (Index n : {1, 7, 64, 65, 300}) {
      for (Index at : {Index{0}, n / 2, n - 1}) {
        CAPTURE(bad, n, at);
        NormProblem p(Norm::kLayer, 3, n, 1000);
        const std::vector<float> before = p.run();
        p.x[static_cast<std::size_t>(n + at)] = bad;
        const std::vector<float>& after = p.run();
        for (std::size_t i = 0; i < after.size(); ++i) {
          const bool same_row = static_cast<Index>(i) / n == 1;
          REQUIRE((same_row ? std::isnan(after[i]) : after[i] == before[i]));
        }
      }
    }
  }
}

TEST_CASE("norm: an infinity leaves zeros in an RMS row", "[norm][extremes]") {
  NormProblem p(Norm::kRms, 1, 21, 1100);
  p.x[5] = -kInf;
  const std::vector<float>& out = p.run();
  for (std::size_t i = 0; i < out.size(); ++i) {
    CHECK((i == 5 ? std::isnan(out[i]) : out[i] == 0.0F));
  }
  p.x[5] = kNan;
  for (float y : p.run()) {
    CHECK(std::isnan(y));
  }
}

TEST_CASE("norm: x itself may be out", "[norm][alias]") {
  for (Norm norm : kBoth) {
    for (Index n : kSizes) {
      for (float scale : {1.0F, 1e25F}) {
        CAPTURE(static_cast<int>(norm), n, scale);
        NormProblem p(norm, 3, n, 1200);
        for (float& x : p.x) {
          x *= scale;
        }
        const std::vector<float> apart = p.run();
        require_ok(apply(norm, {p.x.data(), {3, n}}, {p.x.data(), {3, n}}, p.options()));
        REQUIRE(first_difference(apart, p.x) == "");
      }
    }
  }
}

TEST_CASE("norm: rows are independent, bit for bit", "[norm]") {
  for (Norm norm : kBoth) {
    for (Index n : {5, 16, 129}) {
      CAPTURE(static_cast<int>(norm), n);
      NormProblem all(norm, 6, n, 1300);
      all.run();
      for (Index row = 0; row < 6; ++row) {
        NormProblem one(norm, 1, n, 1300);
        one.gamma = all.gamma;
        one.beta = all.beta;
        one.x.assign(all.x.begin() + row * n, all.x.begin() + (row + 1) * n);
        REQUIRE(first_difference({all.out.begin() + row * n, all.out.begin() + (row + 1) * n},
                                 one.run()) == "");
      }
    }
  }
}

TEST_CASE("norm: an axis stands for itself and all after it", "[norm][axis]") {
  constexpr Index kShape[] = {2, 3, 4, 5};
  for (Norm norm : kBoth) {
    for (int rank = 1; rank <= 4; ++rank) {
      for (int axis = 0; axis < rank; ++axis) {
        for (bool from_end : {false, true}) {
          for (bool flat : {false, true}) {
            CAPTURE(static_cast<int>(norm), rank, axis, from_end, flat);
            const std::vector<Index> shape(kShape, kShape + rank);
            const std::vector<Index> axes(kShape + axis, kShape + rank);
            const Index n =
                std::accumulate(axes.begin(), axes.end(), Index{1}, std::multiplies<>());
            const Index rows =
                std::accumulate(kShape, kShape + axis, Index{1}, std::multiplies<>());
            NormProblem p(norm, rows, n, 1400);
            const std::vector<float> expected = p.run();
            NormOptions o = p.options();
            o.axis = from_end ? axis - rank : axis;
            if (!flat) {
              o.gamma = view_of<const float>(p.gamma.data(), axes);
              o.beta = norm == Norm::kRms ? TensorView<const float>{}
                                          : view_of<const float>(p.beta.data(), axes);
            }
            std::fill(p.out.begin(), p.out.end(), kUntouched);
            require_ok(apply(norm, view_of<const float>(p.x.data(), shape),
                             view_of<float>(p.out.data(), shape), o));
            REQUIRE(first_difference(expected, p.out) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("norm: nothing outside the arrays is touched", "[norm][memory][guard]") {
  for (Norm norm : kBoth) {
    for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
      for (Index n : kSizes) {
        CAPTURE(static_cast<int>(norm), static_cast<int>(edge), n);
        NormProblem p(norm, 2, n, 1500);
        const std::vector<float> expected = p.run();
        const Guarded x(p.x, edge);
        const Guarded gamma(p.gamma, edge);
        const Guarded beta(p.beta, edge);
        const Guarded<float> out(p.out.size(), edge);
        NormOptions o = p.options();
        o.gamma.data = gamma.data();
        o.beta.data = norm == Norm::kRms ? nullptr : beta.data();
        const std::size_t allocations = allocation_count();
        require_ok(apply(norm, {x.data(), {2, n}}, {out.data(), {2, n}}, o));
        REQUIRE(allocation_count() == allocations);
        REQUIRE(first_difference(expected, out.values()) == "");
        REQUIRE((x.intact() && gamma.intact() && beta.intact() && out.intact()));
      }
    }
  }
}

TEST_CASE("norm: arrays without elements", "[norm][empty]") {
  for (Norm norm : kBoth) {
    require_ok(apply(norm, {nullptr, {0, 5}}, {nullptr, {0, 5}}, {}));
    require_ok(apply(norm, {nullptr, {5, 0}}, {nullptr, {5, 0}}, {}));
    require_ok(apply(norm, {nullptr, {0}}, {nullptr, {0}}, {}));
    NormOptions o;
    o.gamma = {nullptr, {0}};
    o.axis = 1;
    require_ok(apply(norm, {nullptr, {3, 0, 4}}, {nullptr, {3, 0, 4}}, o));
  }
}

TEST_CASE("norm: options without meaning are refused", "[norm][bad-input]") {
  struct Case {
    Spoil<NormOptions&> spoil;
    Refusal refusal;
  };
  const Case cases[] = {
      {[](auto& o) { o.axis = 3; }, {kRange, "axis is", "3", "[-3, 3)"}},
      {[](auto& o) { o.axis = -4; }, {kRange, "axis is", "-4", "[-3, 3)"}},
      {[](auto& o) { o.axis = 1; }, {kShapeError, "gamma is", "[5]", "[3,5]"}},
      {[](auto& o) { o.epsilon = -1e-5F; }, {kInvalid, "epsilon is", "-1e-05", "at least 0"}},
      {[](auto& o) { o.epsilon = kNan; }, {kInvalid, "epsilon is", "NaN", "finite"}},
      {[](auto& o) { o.epsilon = kInf; }, {kInvalid, "epsilon is", "Infinity", "finite"}},
  };
  const auto require = [](Norm norm, const Case& c) {
    NormProblem p(norm, 6, 5, 1600);
    NormOptions options = p.options();
    c.spoil(options);
    require_refused(apply(norm, {p.x.data(), {2, 3, 5}}, {p.out.data(), {2, 3, 5}}, options),
                    norm == Norm::kLayer ? "layer_norm" : "rms_norm", c.refusal);
    CHECK(p.out == std::vector<float>(p.out.size(), kUntouched));
  };
  for (const Case& c : cases) {
    require(Norm::kLayer, c);
    require(Norm::kRms, c);
  }
  require(Norm::kRms,
          {[](auto& o) { o.beta = o.gamma; }, {kInvalid, "beta is", "[5]", "expected none"}});
}

}  // namespace
}  // namespace qkv::test::norm_test
