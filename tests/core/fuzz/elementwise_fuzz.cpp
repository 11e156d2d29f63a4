// Operators that stand around attention: softmax, norms, activations, rows of tables.
#include <algorithm>

#include "judge.hpp"

namespace qkv::fuzz {
namespace {

/// An array of any rank, and one of its shape, which is at times the array itself.
struct Pair {
  TensorView<const float> x;
  TensorView<float> out;
};

Pair pair(Input& in, Arena& arena) {
  const auto extent = [&] { return in.chance(20) ? in.in(0, 80) : in.in(0, 9); };
  const Index a = in.in(0, 3);
  const Index b = in.in(0, 5);
  const Index c = extent();
  const Index d = extent();
  const bool in_place = in.chance(20);
  const auto both = [&](std::initializer_list<Index> shape) {
    const auto x = arena.in(shape, {.dense = true, .unconstrained = in_place ? 15U : 0U});
    return Pair{x, in_place ? arena.same(x) : arena.out(shape, {.dense = true})};
  };
  switch (in.in(1, 4)) {
    case 1:
      return both({d});
    case 2:
      return both({c, d});
    case 3:
      return both({b, c, d});
    default:
      return both({a, b, c, d});
  }
}

int axis(Input& in) {
  return static_cast<int>(in.chance(10) ? in.pick<Index>({4, -5, 1 << 30, -(1 << 30)})
                                        : in.in(-4, 3));
}

void softmax_call(Input& in) {
  Arena arena(in);
  SoftmaxOptions options;
  options.axis = axis(in);
  options.temperature = in.chance(50) ? in.real() : 1.0F;
  const auto [x, out] = pair(in, arena);
  judge(arena, {.function = "softmax",
                .arguments = {"x ", "out ", "axis", "temperature"},
                .run = [&] { return softmax(x, out, options); }});
}

void norm_call(Input& in) {
  Arena arena(in);
  const bool centre = in.chance(50);
  NormOptions options;
  options.axis = axis(in);
  options.epsilon = in.chance(50) ? in.real() : 1e-5F;
  const auto [x, out] = pair(in, arena);
  Index n = 1;
  const int first = options.axis + (options.axis < 0 ? x.rank : 0);
  for (int i = std::max(first, 0); i < std::min(x.rank, 4); ++i) {
    n = detail::saturated_product(n, x.extent(i));
  }
  const Index width = n > 1 << 18 || n < 0 ? 1 : n;  // of a spoiled array
  const unsigned which = in.byte();
  if ((which & 1U) != 0) {
    options.gamma = arena.in({width}, {.dense = true});
  }
  if ((which & 2U) != 0) {
    options.beta = arena.in({width}, {.dense = true});
  }
  judge(arena,
        {.function = centre ? "layer_norm" : "rms_norm",
         .arguments = {"x ", "out ", "axis", "gamma", "beta", "epsilon"},
         .run = [&] { return centre ? layer_norm(x, out, options) : rms_norm(x, out, options); }});
}

void activation_call(Input& in) {
  Arena arena(in);
  const auto f = static_cast<Activation>(in.in(0, in.chance(5) ? 255 : 3));
  const auto [x, out] = pair(in, arena);
  judge(arena, {.function = "activate", .arguments = {"x ", "out ", "activation"}, .run = [&] {
                  return activate(x, out, f);
                }});
}

void embedding_call(Input& in) {
  Arena arena(in);
  const Index rows = in.in(0, 9);
  const Index width = in.in(0, 20);
  const Index n = in.in(0, 12);
  const auto table = arena.in({rows, width}, {.dense = true, .unconstrained = 1});
  const auto ids = arena.integers({n}, 0, std::max<Index>(rows - 1, 0), {.dense = true});
  const auto out = arena.out({n, width}, {.dense = true});
  judge(arena, {.function = "embedding", .arguments = {"table", "ids", "out "}, .run = [&] {
                  return embedding(table, ids, out);
                }});
}

void learned_call(Input& in) {
  Arena arena(in);
  const Index rows = in.in(0, 9);
  const Index width = in.in(0, 20);
  const Index offset = in.chance(20) ? in.extreme() : in.in(0, 9);
  const auto beyond = static_cast<OutOfRange>(in.in(0, in.chance(5) ? 255 : 1));
  const auto table = arena.in({rows, width}, {.dense = true, .unconstrained = 1});
  const auto out = arena.out({in.in(0, 9), width}, {.dense = true, .unconstrained = 1});
  judge(arena, {.function = "learned_encoding",
                .arguments = {"table", "out ", "offset", "out_of_range"},
                .run = [&] { return learned_encoding(table, out, offset, beyond); }});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({softmax_call, norm_call, activation_call, embedding_call, learned_call}, data,
                     size);
}
