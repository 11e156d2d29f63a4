// Statistics of weights.
#include "judge.hpp"
#include "qkv/circuits.hpp"

namespace qkv::fuzz {
namespace {

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
  judge(arena, {.function = "row_entropy", .arguments = {"weights", "out "}, .run = [&] {
                  return row_entropy(weights, out);
                }});
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
  judge(arena, {.function = "head_statistics",
                .arguments = {"weights", "entropy", "distance", "max_weight", "first_key"},
                .run = [&] { return head_statistics(weights, out, offset); }});
}

void rollout_call(Input& in) {
  Arena arena(in);
  const Index t = in.in(0, 12);
  const auto weights = arena.in({in.in(0, 3), in.in(0, 3), t, t}, {.unconstrained = 3});
  const auto out = arena.out({t, t});
  judge(arena, {.function = "attention_rollout", .arguments = {"weights", "out "}, .run = [&] {
                  Workspace workspace;
                  return attention_rollout(weights, out, workspace);
                }});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({entropy_call, statistics_call, rollout_call}, data, size);
}
