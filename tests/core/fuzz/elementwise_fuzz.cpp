// Operators that stand around attention: softmax, norms, activations, rows of tables.
#include <algorithm>
#include <cmath>

#include "blocks_oracle.hpp"
#include "judge.hpp"

namespace qkv::fuzz {
namespace {

namespace oracle = test::oracle;

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

/// Elements before, along and after an axis.
struct Extents {
  Index outer = 1, n = 1, inner = 1;
};
Extents around(const TensorView<const float>& x, int axis) {
  axis += axis < 0 ? x.rank : 0;
  Extents e;
  for (int i = 0; i < x.rank; ++i) {
    (i < axis ? e.outer : i == axis ? e.n : e.inner) *= x.extent(i);
  }
  return e;
}

void compare_softmax(const TensorView<const float>& x, const TensorView<float>& out,
                     const SoftmaxOptions& options) {
  const auto [outer, n, inner] = around(x, options.axis);
  for (Index row = 0; n > 0 && row < outer * inner; ++row) {
    const Index at = row / inner * n * inner + row % inner;
    std::vector<double> values;
    bool defined = false;
    for (Index i = 0; i < n; ++i) {
      values.push_back(static_cast<double>(x.data[at + i * inner]));
      defined = defined || std::isfinite(values.back());
    }
    for (const double value : values) {
      defined = defined && !std::isnan(value) && value != INFINITY;
    }
    if (!defined) {
      for (Index i = 0; i < n; ++i) {
        require_equal("softmax, which there is none of,", out.data[at + i * inner], NAN);
      }
      continue;
    }
    const auto exact = oracle::softmax(values, static_cast<double>(options.temperature));
    for (Index i = 0; i < n; ++i) {
      const auto element = static_cast<std::size_t>(i);
      require_near("softmax", static_cast<double>(out.data[at + i * inner]), exact.value[element],
                   exact.error[element]);
    }
  }
}

void softmax_call(Input& in) {
  Arena arena(in);
  SoftmaxOptions options;
  options.axis = axis(in);
  options.temperature = in.chance(50) ? in.real() : 1.0F;
  const auto [x, out] = pair(in, arena);
  judge(arena, {.function = "softmax",
                .arguments = {"x ", "out ", "axis", "temperature"},
                .run = [&] { return softmax(x, out, options); },
                .compare = [&] { compare_softmax(arena.before(x), out, options); }});
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
  const auto compare = [&] {
    const TensorView<const float> from = arena.before(x);
    // The oracle squares in double, and rows that are constant to their last bits have a bound of their own.
    if (x.size() == 0 || !all_moderate({from, options.gamma, options.beta})) {
      return;
    }
    const auto values = [](const TensorView<const float>& view) {
      return view.absent() ? std::vector<float>() : test::values_of(view);
    };
    const oracle::NormParameters p{centre, static_cast<double>(options.epsilon),
                                   values(options.gamma), values(options.beta)};
    const auto exact = oracle::normalized(p, width, oracle::exactly(test::values_of(from)));
    const std::vector<float> computed = test::values_of(out);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      if (!std::isnan(exact.error[i])) {
        require_near("norm", static_cast<double>(computed[i]), exact.value[i], exact.error[i]);
      }
    }
  };
  judge(arena,
        {.function = centre ? "layer_norm" : "rms_norm",
         .arguments = {"x ", "out ", "axis", "gamma", "beta", "epsilon"},
         .run = [&] { return centre ? layer_norm(x, out, options) : rms_norm(x, out, options); },
         .compare = compare});
}

void activation_call(Input& in) {
  Arena arena(in);
  const auto f = static_cast<Activation>(in.in(0, in.chance(5) ? 255 : 3));
  const auto [x, out] = pair(in, arena);
  const auto compare = [&] {
    const std::vector<float> from = test::values_of(arena.before(x));
    const std::vector<float> to = test::values_of(out);
    for (std::size_t i = 0; i < (x.size() > 0 ? from.size() : 0); ++i) {
      const double value = static_cast<double>(from[i]);
      if (std::isnan(value)) {
        require_equal("an activation of NaN", to[i], NAN);
      } else if (std::isfinite(value)) {
        require_near("an activation", static_cast<double>(to[i]), oracle::activation(f, value),
                     oracle::activation_bound(f, value));
      }
    }
  };
  judge(arena, {.function = "activate",
                .arguments = {"x ", "out ", "activation"},
                .run = [&] { return activate(x, out, f); },
                .compare = compare});
}

void embedding_call(Input& in) {
  Arena arena(in);
  const Index rows = in.in(0, 9);
  const Index width = in.in(0, 20);
  const Index n = in.in(0, 12);
  const auto table = arena.in({rows, width}, {.dense = true, .unconstrained = 1});
  const auto ids = arena.integers({n}, 0, std::max<Index>(rows - 1, 0), {.dense = true});
  const auto out = arena.out({n, width}, {.dense = true});
  const auto compare = [&] {
    for (Index i = 0; out.size() > 0 && i < n; ++i) {
      for (Index c = 0; c < width; ++c) {
        require_equal("an embedding", *out.at(i, c), *table.at(*ids.at(i), c));
      }
    }
  };
  judge(arena, {.function = "embedding",
                .arguments = {"table", "ids", "out "},
                .run = [&] { return embedding(table, ids, out); },
                .compare = compare});
}

void learned_call(Input& in) {
  Arena arena(in);
  const Index rows = in.in(0, 9);
  const Index width = in.in(0, 20);
  const Index offset = in.chance(20) ? in.extreme() : in.in(0, 9);
  const auto beyond = static_cast<OutOfRange>(in.in(0, in.chance(5) ? 255 : 1));
  const auto table = arena.in({rows, width}, {.dense = true, .unconstrained = 1});
  const auto out = arena.out({in.in(0, 9), width}, {.dense = true, .unconstrained = 1});
  const auto compare = [&] {
    for (Index i = 0; out.size() > 0 && i < out.extent(0); ++i) {
      const Index row = std::min(offset, rows) + i;
      const Index last = table.extent(0) - 1;
      for (Index c = 0; c < width; ++c) {
        require_equal("a learned position", *out.at(i, c), *table.at(std::min(row, last), c));
      }
    }
  };
  judge(arena, {.function = "learned_encoding",
                .arguments = {"table", "out ", "offset", "out_of_range"},
                .run = [&] { return learned_encoding(table, out, offset, beyond); },
                .compare = compare});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({softmax_call, norm_call, activation_call, embedding_call, learned_call}, data,
                     size);
}
