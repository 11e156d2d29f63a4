// Statistics of weights.
#include <algorithm>
#include <cmath>

#include "judge.hpp"
#include "position_oracle.hpp"
#include "qkv/circuits.hpp"

namespace qkv::fuzz {
namespace {

namespace bounds = test::bounds;
namespace oracle = test::oracle;

/// Weights as operators expect them; what they hold may be anything.
bool proper(const TensorView<const float>& weights) {
  for (const float w : weights.size() > 0 ? test::values_of(weights) : std::vector<float>()) {
    if (!(w >= 0.0F && w <= 0x1p40F)) {
      return false;
    }
  }
  return true;
}

void entropy_call(Input& in) {
  Arena arena(in);
  const Index a = in.in(0, 3);
  const Index b = in.in(0, 3);
  const Index c = in.in(0, 5);
  const Index t = in.in(0, 40);
  TensorView<const float> weights;
  TensorView<float> out;
  const Needs any{.unconstrained = 8};
  switch (in.in(1, 4)) {
    case 1:
      weights = arena.in({t}, {.unconstrained = 1});
      out = arena.out({1});
      break;
    case 2:
      weights = arena.in({c, t}, {.unconstrained = 2});
      out = arena.out({c});
      break;
    case 3:
      weights = arena.in({b, c, t}, {.unconstrained = 4});
      out = arena.out({b, c});
      break;
    default:
      weights = arena.in({a, b, c, t}, any);
      out = arena.out({a, b, c});
      break;
  }
  const auto compare = [&] {
    const std::vector<float> rows = out.size() > 0 ? test::values_of(out) : std::vector<float>();
    const std::vector<float> all =
        weights.size() > 0 ? test::values_of(weights) : std::vector<float>();
    const Index n = weights.extent(weights.rank - 1);
    for (std::size_t row = 0; proper(weights) && row < rows.size(); ++row) {
      const oracle::Sum exact = oracle::entropy(all.data() + static_cast<Index>(row) * n, n);
      require_near("row_entropy", static_cast<double>(rows[row]), exact.value,
                   bounds::row_entropy(n, exact.value, exact.size));
    }
  };
  judge(arena, {.function = "row_entropy",
                .arguments = {"weights", "out "},
                .run = [&] { return row_entropy(weights, out); },
                .compare = compare});
}

void statistics_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 2);
  const Index heads = in.in(0, 3);
  const Index offset = in.chance(20) ? in.extreme() : in.in(-9, 9);
  const auto weights = arena.in({batch, heads, in.in(0, 9), in.in(0, 20)}, {.unconstrained = 12});
  HeadStatistics out;
  const unsigned which = in.byte();
  const auto part = [&](unsigned bit) {
    return (which & bit) != 0 ? arena.out({batch, heads}) : TensorView<float>();
  };
  out.entropy = part(1);
  out.distance = part(2);
  out.max_weight = part(4);
  out.first_key = part(8);
  const auto compare = [&] {
    if (!proper(weights) || weights.size() == 0 || offset < -1000000 || offset > 1000000) {
      return;
    }
    for (Index b = 0; b < batch; ++b) {
      for (Index h = 0; h < heads; ++h) {
        const oracle::Statistics exact = oracle::head_statistics(weights, b, h, offset);
        const auto near = [&](const TensorView<float>& view, const oracle::Sum& sum) {
          if (!view.absent()) {
            require_near("head_statistics", static_cast<double>(*view.at(b, h)), sum.value,
                         bounds::head_statistic(weights.extent(2), weights.extent(3), sum.size));
          }
        };
        near(out.entropy, exact.entropy);
        near(out.distance, exact.distance);
        near(out.max_weight, exact.max_weight);
        near(out.first_key, exact.first_key);
      }
    }
  };
  judge(arena, {.function = "head_statistics",
                .arguments = {"weights", "entropy", "distance", "max_weight", "first_key"},
                .run = [&] { return head_statistics(weights, out, offset); },
                .compare = compare});
}

void rollout_call(Input& in) {
  Arena arena(in);
  const Index t = in.in(0, 12);
  const auto weights = arena.in({in.in(0, 3), in.in(0, 3), t, t}, {.unconstrained = 3});
  const auto out = arena.out({t, t});
  const auto compare = [&] {
    if (!proper(weights) || t == 0) {
      return;
    }
    const std::vector<double> exact = oracle::rollout(weights);
    const std::vector<float> computed = test::values_of(out);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      require_near("attention_rollout", static_cast<double>(computed[i]), exact[i],
                   bounds::rollout(weights.extent(0), weights.extent(1), t, exact[i]));
    }
  };
  judge(arena, {.function = "attention_rollout",
                .arguments = {"weights", "out "},
                .run =
                    [&] {
                      Workspace workspace;
                      return attention_rollout(weights, out, workspace);
                    },
                .compare = compare});
}

void rank_call(Input& in) {
  Arena arena(in);
  const Index matrices = in.in(0, 3);
  const Index k = in.in(0, 9);
  const auto left = arena.in({matrices, in.in(0, 9), k}, {.unconstrained = 2});
  const auto right = arena.in({matrices, k, in.in(0, 9)}, {.unconstrained = 4});
  const auto out = arena.out({matrices});
  const auto compare = [&] {
    const Index most = std::min({left.extent(1), left.extent(2), right.extent(2)});
    for (const float rank : test::values_of(out)) {
      // Numbers of any size: what is not finite has no rank, and none is above that of the matrix.
      if (!std::isnan(rank) && (rank < 0.0F || rank > static_cast<float>(most) * 1.001F)) {
        fail("effective_rank: %g for at most %lld", static_cast<double>(rank),
             static_cast<long long>(most));
      }
    }
  };
  judge(arena, {.function = "effective_rank",
                .arguments = {"left", "right", "out "},
                .run =
                    [&] {
                      Workspace workspace;
                      return effective_rank(left, right, out, workspace);
                    },
                .compare = compare});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({entropy_call, statistics_call, rollout_call, rank_call}, data, size);
}
