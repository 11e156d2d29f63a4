// Statistics of attention weights.
#include <catch2/catch_test_macros.hpp>

#include <limits>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "problem.hpp"
#include "qkv/analysis.hpp"
#include "refusal.hpp"

namespace qkv::test::analysis_test {
namespace {

/// Rows that sum to about 1, some of their weights 0, some rows all zeros, some peaked.
std::vector<float> random_weights(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> weights;
  for (Index i = 0; i < rows; ++i) {
    std::vector<double> row;
    double sum = 0.0;
    const double sharpness = random.pick({0.0, 1.0, 4.0, 30.0});
    for (Index j = 0; j < columns; ++j) {
      row.push_back(
          random.chance(0.2) ? 0.0 : std::exp(sharpness * static_cast<double>(random.uniform())));
      sum += row.back();
    }
    const bool none = random.chance(0.1) || sum == 0.0;
    for (double w : row) {
      weights.push_back(none ? 0.0F : static_cast<float>(w / sum));
    }
  }
  return weights;
}

TEST_CASE("entropy: rows of every length are within the bound", "[analysis][any-isa]") {
  Quantity error("row_entropy");
  for (Index t : {1, 2, 3, 7, 64, 65, 1000}) {
    const std::vector<float> weights = random_weights(40, t, 1);
    std::vector<float> out(40, kUntouched);
    require_ok(row_entropy({weights.data(), {40, t}}, {out.data(), {40}}));
    for (Index i = 0; i < 40; ++i) {
      const auto exact = oracle::entropy(weights.data() + i * t, t);
      error.add(out[static_cast<std::size_t>(i)], exact.value,
                bounds::row_entropy(t, exact.value, exact.size), exact.size);
    }
  }
  require_within(error);
}

float entropy_of(const std::vector<float>& row) {
  float out = kUntouched;
  require_ok(row_entropy({row.data(), {static_cast<Index>(row.size())}}, {&out, {1}}));
  return out;
}

TEST_CASE("entropy: known rows", "[analysis][any-isa]") {
  CHECK(entropy_of({1}) == 0.0F);
  CHECK(entropy_of({0, 1, 0}) == 0.0F);
  CHECK(!std::signbit(entropy_of({0, 1, 0})));
  CHECK(entropy_of({0, 0}) == 0.0F);
  CHECK(entropy_of({0.5F, 0.5F}) == std::log(2.0F));
  CHECK(entropy_of(std::vector<float>(64, 0x1p-6F)) == static_cast<float>(std::log(64.0)));
  CHECK(entropy_of({}) == 0.0F);
  CHECK(entropy_of({1e-40F, 1.0F}) > 0.0F);
  CHECK(std::isnan(entropy_of({0.5F, NAN})));
  CHECK(std::isnan(entropy_of({1.5F, -0.5F})));
}

TEST_CASE("entropy: every rank, with strides", "[analysis][strides][any-isa]") {
  const std::vector<float> weights = random_weights(24, 5, 2);
  std::vector<float> expected(24);
  require_ok(row_entropy({weights.data(), {24, 5}}, {expected.data(), {24}}));
  std::vector<float> out(24, kUntouched);
  require_ok(row_entropy({weights.data(), {4, 6, 5}}, {out.data(), {4, 6}}));
  CHECK(first_difference(expected, out) == "");
  out.assign(24, kUntouched);
  require_ok(row_entropy({weights.data(), {2, 3, 4, 5}}, {out.data(), {2, 3, 4}}));
  CHECK(first_difference(expected, out) == "");
  for (std::size_t i = 0; i < 24; ++i) {
    const auto from = weights.begin() + static_cast<Index>(i) * 5;
    REQUIRE(entropy_of({from, from + 5}) == expected[i]);
  }
  // Gaps on both sides.
  std::vector<float> wide(2 * 3 * (4 * 7 + 1), NAN);
  TensorView<float> padded(wide.data(), {2, 3, 4, 5});
  padded.strides = {3 * 29, 29, 7, 1};
  for (std::size_t i = 0; i < 24; ++i) {
    std::copy_n(weights.begin() + static_cast<Index>(i) * 5, 5,
                padded.at(i / 12, i / 4 % 3, i % 4));
  }
  std::vector<float> wide_out(60, kUntouched);
  TensorView<float> out_view(wide_out.data(), {2, 3, 4});
  out_view.strides = {30, 9, 1, 0};
  require_ok(row_entropy(padded, out_view));
  CHECK(first_difference(expected, values_of(out_view)) == "");
  std::size_t touched = 0;
  for (float value : wide_out) {
    touched += value == kUntouched ? 0U : 1U;
  }
  CHECK(touched == 24);
}

TEST_CASE("entropy: nothing to do", "[analysis][empty][any-isa]") {
  require_ok(row_entropy({nullptr, {0, 5}}, {nullptr, {0}}));
  require_ok(row_entropy({nullptr, {2, 0, 5}}, {nullptr, {2, 0}}));
  std::vector<float> out(3, kUntouched);
  require_ok(row_entropy({nullptr, {3, 0}}, {out.data(), {3}}));
  CHECK(out == std::vector<float>(3, 0.0F));
}

/// head_statistics() and where it writes.
struct Statistics {
  Statistics(Index batch, Index heads)
      : shape{batch, heads},
        entropy(static_cast<std::size_t>(batch * heads), kUntouched),
        distance(entropy),
        max_weight(entropy),
        first_key(entropy) {}
  [[nodiscard]] HeadStatistics views() {
    const auto view = [&](std::vector<float>& of) {
      return TensorView<float>(of.data(), {shape[0], shape[1]});
    };
    HeadStatistics all;
    all.entropy = view(entropy);
    all.distance = view(distance);
    all.max_weight = view(max_weight);
    all.first_key = view(first_key);
    return all;
  }
  std::array<Index, 2> shape;
  std::vector<float> entropy, distance, max_weight, first_key;
};

TEST_CASE("statistics: every shape and offset is within the bound", "[analysis][any-isa]") {
  Quantity entropy("head_statistics entropy");
  Quantity distance("head_statistics distance");
  Quantity max_weight("head_statistics max_weight");
  Quantity first_key("head_statistics first_key");
  std::uint64_t seed = 3;
  for (const auto& [tq, tk] :
       {std::pair<Index, Index>{1, 1}, {1, 30}, {30, 1}, {64, 65}, {9, 400}}) {
    for (Index offset : {Index{0}, Index{5}, Index{-20}, kMaxPosition}) {
      const std::vector<float> memory = random_weights(2 * 3 * tq, tk, seed++);
      const TensorView<const float> weights(memory.data(), {2, 3, tq, tk});
      Statistics s(2, 3);
      require_ok(head_statistics(weights, s.views(), offset));
      for (Index b = 0; b < 2; ++b) {
        for (Index h = 0; h < 3; ++h) {
          const auto exact = oracle::head_statistics(weights, b, h, offset);
          const auto at = static_cast<std::size_t>(b * 3 + h);
          const auto add = [&, q = tq, k = tk](Quantity& to, const std::vector<float>& computed,
                                               const oracle::Sum& sum) {
            to.add(computed[at], sum.value, bounds::head_statistic(q, k, sum.size), sum.size);
          };
          add(entropy, s.entropy, exact.entropy);
          add(distance, s.distance, exact.distance);
          add(max_weight, s.max_weight, exact.max_weight);
          add(first_key, s.first_key, exact.first_key);
        }
      }
    }
  }
  require_within(entropy);
  require_within(distance);
  require_within(max_weight);
  require_within(first_key);
}

TEST_CASE("statistics: known heads", "[analysis][any-isa]") {
  constexpr std::size_t kT = 8;
  // Itself, the key before, the first key, and everything alike.
  std::vector<float> memory(4 * kT * kT, 0.0F);
  for (std::size_t i = 0; i < kT; ++i) {
    memory[i * kT + i] = 1.0F;
    memory[(kT + i) * kT + (i == 0 ? 0 : i - 1)] = 1.0F;
    memory[(2 * kT + i) * kT] = 1.0F;
    std::fill_n(memory.begin() + static_cast<Index>((3 * kT + i) * kT), kT, 0.125F);
  }
  Statistics s(1, 4);
  require_ok(head_statistics({memory.data(), {1, 4, kT, kT}}, s.views()));
  CHECK(s.entropy == std::vector<float>{0, 0, 0, static_cast<float>(std::log(8.0))});
  CHECK(s.distance == std::vector<float>{0, 0.875F, 3.5F, 2.625F});
  CHECK(s.max_weight == std::vector<float>{1, 1, 1, 0.125F});
  CHECK(s.first_key == std::vector<float>{0.125F, 0.25F, 1, 0.125F});
  // As if 100 keys stood before.
  require_ok(head_statistics({memory.data(), {1, 4, kT, kT}}, s.views(), 100));
  CHECK(s.distance == std::vector<float>{100, 100.875F, 103.5F, 100});
}

TEST_CASE("statistics: only what is asked for is written", "[analysis][any-isa]") {
  const std::vector<float> memory = random_weights(2 * 3 * 6, 7, 4);
  const TensorView<const float> weights(memory.data(), {2, 3, 6, 7});
  Statistics all(2, 3);
  require_ok(head_statistics(weights, all.views()));
  const std::vector<float> untouched(6, kUntouched);
  for (int part = 0; part < 4; ++part) {
    CAPTURE(part);
    Statistics s(2, 3);
    HeadStatistics views;
    (part == 0   ? views.entropy
     : part == 1 ? views.distance
     : part == 2 ? views.max_weight
                 : views.first_key) = part == 0   ? s.views().entropy
                                      : part == 1 ? s.views().distance
                                      : part == 2 ? s.views().max_weight
                                                  : s.views().first_key;
    require_ok(head_statistics(weights, views));
    CHECK(s.entropy == (part == 0 ? all.entropy : untouched));
    CHECK(s.distance == (part == 1 ? all.distance : untouched));
    CHECK(s.max_weight == (part == 2 ? all.max_weight : untouched));
    CHECK(s.first_key == (part == 3 ? all.first_key : untouched));
  }
  require_ok(head_statistics(weights, {}));
}

TEST_CASE("statistics: NaN reaches its own head alone", "[analysis][any-isa]") {
  for (std::size_t at : {0U, 6U, 17U}) {
    CAPTURE(at);
    std::vector<float> memory(3 * 6 * 7, 0x1p-3F);
    memory[42 + at] = NAN;
    Statistics s(1, 3);
    require_ok(head_statistics({memory.data(), {1, 3, 6, 7}}, s.views()));
    for (const auto* values : {&s.entropy, &s.distance, &s.max_weight}) {
      CHECK(!std::isnan((*values)[0]));
      CHECK(std::isnan((*values)[1]));
      CHECK(!std::isnan((*values)[2]));
    }
    CHECK(std::isnan(s.first_key[1]) == (at % 7 == 0));
  }
}

TEST_CASE("statistics: without rows or keys everything is 0", "[analysis][empty][any-isa]") {
  for (const auto& [tq, tk] : {std::pair<Index, Index>{0, 5}, {5, 0}, {0, 0}}) {
    Statistics s(2, 2);
    require_ok(head_statistics({nullptr, {2, 2, tq, tk}}, s.views()));
    const std::vector<float> zeros(4, 0.0F);
    CHECK(s.entropy == zeros);
    CHECK(s.distance == zeros);
    CHECK(s.max_weight == zeros);
    CHECK(s.first_key == zeros);
  }
  Statistics none(0, 3);
  require_ok(head_statistics({nullptr, {0, 3, 5, 5}}, none.views()));
}

TEST_CASE("rollout: layers, heads and lengths are within the bound",
          "[analysis][rollout][any-isa]") {
  Quantity error("attention_rollout");
  Workspace workspace;
  for (Index layers : {0, 1, 2, 5, 12}) {
    for (Index heads : {1, 3}) {
      for (Index t : {1, 2, 17, 40}) {
        const std::vector<float> memory = random_weights(layers * heads * t, t, 6);
        const TensorView<const float> weights(memory.data(), {layers, heads, t, t});
        std::vector<float> out(static_cast<std::size_t>(t * t), kUntouched);
        require_ok(attention_rollout(weights, {out.data(), {t, t}}, workspace));
        const std::vector<double> exact = oracle::rollout(weights);
        for (std::size_t i = 0; i < out.size(); ++i) {
          error.add(out[i], exact[i], bounds::rollout(layers, heads, t, exact[i]),
                    exact[i] < 0x1p-100 ? 0.0 : exact[i]);  // there the absolute part rules
        }
      }
    }
  }
  require_within(error);
}

TEST_CASE("rollout: known layers", "[analysis][rollout][any-isa]") {
  Workspace workspace;
  // Each token looks at the one before it: half stays, half moves on.
  std::vector<float> memory(2 * 9, 0.0F);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    memory[layer * 9] = memory[layer * 9 + 3] = memory[layer * 9 + 7] = 1.0F;
  }
  std::vector<float> out(9, kUntouched);
  require_ok(attention_rollout({memory.data(), {2, 1, 3, 3}}, {out.data(), {3, 3}}, workspace));
  CHECK(out == std::vector<float>{1, 0, 0, 0.75F, 0.25F, 0, 0.25F, 0.5F, 0.25F});
  // A layer in which nobody looks anywhere passes on what it got.
  const std::vector<float> nothing(9, 0.0F);
  require_ok(attention_rollout({nothing.data(), {1, 1, 3, 3}}, {out.data(), {3, 3}}, workspace));
  CHECK(out == std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1});
}

TEST_CASE("rollout: later layers stand on the left", "[analysis][rollout][any-isa]") {
  Workspace workspace;
  // First token 1 looks at 0, then 2 looks at 1: 0 is in 2. The other way round it is not.
  std::vector<float> memory(2 * 9, 0.0F);
  memory[3] = memory[9 + 7] = 1.0F;
  std::vector<float> out(9, kUntouched);
  require_ok(attention_rollout({memory.data(), {2, 1, 3, 3}}, {out.data(), {3, 3}}, workspace));
  CHECK(out[2 * 3] == 0.25F);
  std::swap_ranges(memory.begin(), memory.begin() + 9, memory.begin() + 9);
  require_ok(attention_rollout({memory.data(), {2, 1, 3, 3}}, {out.data(), {3, 3}}, workspace));
  CHECK(out[2 * 3] == 0.0F);
}

TEST_CASE("rollout: strided weights and out", "[analysis][rollout][strides][any-isa]") {
  Workspace workspace;
  const std::vector<float> memory = random_weights(3 * 2 * 4, 4, 7);
  std::vector<float> dense(16);
  require_ok(attention_rollout({memory.data(), {3, 2, 4, 4}}, {dense.data(), {4, 4}}, workspace));
  // One batch row of [L, B, H, T, T], with gaps, into rows with gaps.
  std::vector<float> wide(3 * 3 * 2 * 4 * 6, NAN);
  TensorView<float> weights(wide.data(), {3, 2, 4, 4});
  weights.strides = {3 * 48, 24, 6, 1};
  for (Index i = 0; i < 24; ++i) {
    std::copy_n(memory.begin() + i * 4, 4, weights.at(i / 8, i / 4 % 2, i % 4));
  }
  std::vector<float> rows(4 * 7, kUntouched);
  TensorView<float> out(rows.data(), {4, 4});
  out.strides[0] = 7;
  require_ok(attention_rollout(weights, out, workspace));
  CHECK(first_difference(dense, values_of(out)) == "");
  CHECK(rows[4] == kUntouched);
  CHECK(rows[27] == kUntouched);
}

TEST_CASE("rollout: no tokens, nothing to do", "[analysis][rollout][empty][any-isa]") {
  Workspace workspace;
  require_ok(attention_rollout({nullptr, {2, 1, 0, 0}}, {nullptr, {0, 0}}, workspace));
  // However many layers there are, none is looked at.
  constexpr Index kMany = std::numeric_limits<Index>::max();
  require_ok(attention_rollout({nullptr, {kMany, 1, 0, 0}}, {nullptr, {0, 0}}, workspace));
}

TEST_CASE("attention_rollout: bad input is refused and nothing written",
          "[analysis][rollout][bad-input]") {
  Workspace workspace;
  std::vector<float> memory(16, kUntouched);
  const std::vector<float> numbers(100);
  const auto refuse = [&](TensorView<const float> weights, TensorView<float> out,
                          const Refusal& refusal) {
    require_refused(attention_rollout(weights, out, workspace), "attention_rollout", refusal);
    CHECK(memory == std::vector<float>(16, kUntouched));
    CHECK(workspace.capacity_bytes() == 0);
  };
  const TensorView<float> out(memory.data(), {4, 4});
  refuse({numbers.data(), {3, 2, 3, 4}}, out,
         {kShapeError, "weights is", "[3,2,3,4]", "[*,*,4,4]"});
  refuse({numbers.data(), {3, 0, 4, 4}}, out,
         {kShapeError, "weights is", "[3,0,4,4]", "at least 1 head"});
}

}  // namespace
}  // namespace qkv::test::analysis_test
