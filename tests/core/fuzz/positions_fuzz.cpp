// Where tokens are: sinusoids and their shifts, rotations, and biases that depend on distances.
#include <algorithm>
#include <cmath>

#include "judge.hpp"
#include "oracle.hpp"
#include "position_oracle.hpp"

namespace qkv::fuzz {
namespace {

namespace bounds = test::bounds;
namespace oracle = test::oracle;

Index position(Input& in) {
  return in.chance(20)   ? in.extreme()
         : in.chance(50) ? static_cast<Index>(in.word() % (1U << 21U)) - (Index{1} << 20)
                         : in.in(-9, 9);
}

SinusoidOptions sinusoids(Input& in) {
  return {.base = in.chance(20) ? in.real64() : in.pick({10000.0, 1.0, 2.5, 1e6, 1e300}),
          .layout = static_cast<SinusoidLayout>(in.in(0, in.chance(5) ? 255 : 1))};
}

constexpr Needs kFree{.dense = true, .unconstrained = 15};

void sinusoid_call(Input& in) {
  Arena arena(in);
  const SinusoidOptions options = sinusoids(in);
  const Index offset = position(in);
  const auto table = arena.out({in.in(0, 140), in.in(0, 70)}, kFree);
  const auto compare = [&] {
    for (Index t = 0; t < table.extent(0); t += 1 + t / 4) {
      for (Index c = 0; table.size() > 0 && c < table.extent(1); ++c) {
        const auto p = static_cast<double>(offset + t);
        require_near("sinusoidal_encoding", static_cast<double>(*table.at(t, c)),
                     oracle::sinusoid(p, c, table.extent(1), options), bounds::kSinusoid);
      }
    }
  };
  judge(arena, {.function = "sinusoidal_encoding",
                .arguments = {"table", "offset", "base", "layout", "d_model"},
                .run = [&] { return sinusoidal_encoding(table, offset, options); },
                .compare = compare});
}

/// A rotation by k w_i, wherever it stands.
void require_rotation(double angle, const float (&block)[4]) {
  const double exact[4] = {std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle)};
  for (int i = 0; i < 4; ++i) {
    require_near("a shift", static_cast<double>(block[i]), exact[i], bounds::kSinusoid);
  }
}
double angle_of(Index k, Index pair, Index d, double base) {
  return static_cast<double>(k) *
         std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(d));
}

void blocks_call(Input& in) {
  Arena arena(in);
  const SinusoidOptions options = sinusoids(in);
  const Index k = position(in);
  const Index d = in.in(0, 40);
  const Index told = in.chance(20) ? in.extreme() : d;
  const auto blocks = arena.out({(d + 1) / 2, 2, 2}, {.dense = true});
  const auto compare = [&] {
    for (Index i = 0; 2 * i < told; ++i) {
      require_rotation(angle_of(k, i, told, options.base),
                       {*blocks.at(i), *blocks.at(i, 0, 1), *blocks.at(i, 1), *blocks.at(i, 1, 1)});
    }
  };
  judge(arena, {.function = "sinusoidal_shift_blocks",
                .arguments = {"blocks", "k ", "d_model", "base", "layout"},
                .run = [&] { return sinusoidal_shift_blocks(blocks, k, told, options); },
                .compare = compare});
}

void matrix_call(Input& in) {
  Arena arena(in);
  const SinusoidOptions options = sinusoids(in);
  const Index k = position(in);
  const Index d = in.in(0, 40);
  const auto matrix = arena.out({d, d}, {.dense = true});
  const auto compare = [&] {
    const bool interleaved = options.layout == SinusoidLayout::kInterleaved;
    for (Index i = 0; 2 * i < d; ++i) {
      const Index s = interleaved ? 2 * i : i;
      const Index c = interleaved ? 2 * i + 1 : d / 2 + i;
      require_rotation(angle_of(k, i, d, options.base),
                       {*matrix.at(s, s), *matrix.at(s, c), *matrix.at(c, s), *matrix.at(c, c)});
    }
  };
  judge(arena, {.function = "sinusoidal_shift_matrix",
                .arguments = {"matrix", "k ", "d_model", "base", "layout"},
                .run = [&] { return sinusoidal_shift_matrix(matrix, k, options); },
                .compare = compare});
}

RotaryScaling scaling(Input& in) {
  RotaryScaling s;
  s.type = static_cast<RotaryScaling::Type>(in.in(0, in.chance(5) ? 255 : 4));
  s.factor = in.chance(10)                          ? in.real64()
             : s.type == RotaryScaling::Type::kNone ? 1.0
                                                    : in.pick({1.0, 4.0, 16.0});
  s.original_length = in.chance(10) ? in.extreme() : in.pick<Index>({1, 128, 2048, 8192});
  if (in.chance(20)) {
    s.beta_fast = in.real64();
    s.beta_slow = in.real64();
  }
  if (in.chance(20)) {
    s.attention_factor = in.real64();
  }
  if (in.chance(20)) {
    s.low_frequency_factor = in.real64();
    s.high_frequency_factor = in.real64();
  }
  return s;
}

RotaryOptions rotations(Input& in, Arena& arena, Index batch, Index tokens, Index d) {
  RotaryOptions o;
  o.base = in.chance(20) ? in.real64() : in.pick({10000.0, 500000.0, 1.0, 2.0});
  o.rotary_dim = in.chance(30) ? in.in(-1, d + 1) : 0;
  o.interleaved = in.chance(50);
  o.scaling = in.chance(50) ? scaling(in) : RotaryScaling{};
  o.offset = in.chance(60) ? position(in) : 0;
  if (in.chance(30)) {
    o.offset = in.chance(20) ? o.offset : 0;
    const Index far = in.chance(30) ? 12 : 3;
    o.positions =
        in.chance(50) ? arena.integers({tokens}, 0, far) : arena.integers({batch, tokens}, 0, far);
  }
  if (in.chance(30)) {
    o.offset = in.chance(20) ? o.offset : 0;
    const Index pairs = (o.rotary_dim == 0 ? d : std::max<Index>(o.rotary_dim, 0)) / 2;
    const bool by_token = in.chance(40);
    const Index rows = tokens + in.in(0, 9);
    const auto table = [&] {
      return by_token ? arena.in({batch, tokens, pairs}) : arena.in({rows, pairs});
    };
    o.cos = table();
    o.sin = table();
    o.scaling = in.chance(90) ? RotaryScaling{} : o.scaling;
  }
  return o;
}

/// Whether the header states a bound, and float numbers have room for the oracle's.
bool bounded(const TensorView<const float>& x, const RotaryOptions& o) {
  return all_moderate({x, o.cos, o.sin}) && oracle::rotary_attention_factor(o) < 1e6 &&
         oracle::rotary_attention_factor(o) > 1e-6 && o.base < 1e12;
}

void rotary_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 2);
  const Index tokens = in.in(0, 40);
  const Index d = in.in(0, 20);
  const auto x = arena.in({batch, in.in(0, 3), tokens, d}, {.unconstrained = 15});
  const auto out = in.chance(20) ? arena.same(x) : arena.out({batch, x.extent(1), tokens, d}, {});
  const RotaryOptions options = rotations(in, arena, batch, tokens, d);
  const auto compare = [&] {
    const auto from = arena.before(x);
    if (x.size() == 0 || !bounded(from, options)) {
      return;
    }
    const double a = oracle::rotary_attention_factor(options);
    for (Index b = 0; b < batch; ++b) {
      for (Index h = 0; h < x.extent(1); ++h) {
        for (Index t = 0; t < tokens; ++t) {
          for (Index c = 0; c < d; ++c) {
            const oracle::Rotated exact = oracle::rotary(from, options, b, h, t, c);
            const double bound = exact.norm == 0.0      ? 0.0
                                 : options.cos.absent() ? bounds::rotary(a, exact.norm)
                                                        : bounds::rotary_given(exact.size);
            require_near("rotary_embedding", static_cast<double>(*out.at(b, h, t, c)), exact.value,
                         bound);
          }
        }
      }
    }
  };
  judge(arena, {.function = "rotary_embedding",
                .arguments = {"x ", "out ", "offset", "positions", "base", "rotary_dim", "scaling",
                              "cos", "sin"},
                .run =
                    [&] {
                      Workspace workspace;
                      return rotary_embedding(x, out, options, workspace);
                    },
                .compare = compare});
}

void table_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 2);
  const Index tokens = in.in(0, 40);
  const Index pairs = in.in(0, 10);
  const bool by_row = in.chance(30);
  const auto array = [&] {
    return by_row ? arena.out({batch, tokens, pairs}, {.dense = true})
                  : arena.out({tokens, pairs}, {.dense = true});
  };
  const auto cos = array();
  const auto sin = array();
  const RotaryOptions options = rotations(in, arena, by_row ? batch : 1, tokens, 2 * pairs);
  const auto compare = [&] {
    if (!bounded({}, options)) {
      return;
    }
    const double a = oracle::rotary_attention_factor(options);
    const bool yarn = options.scaling.type == RotaryScaling::Type::kYarn;
    const double bound = yarn ? bounds::rotary_table_yarn(a) : bounds::kRotaryTable;
    for (Index b = 0; b < (by_row ? batch : 1); ++b) {
      for (Index t = 0; t < tokens; ++t) {
        for (Index i = 0; i < pairs; ++i) {
          const oracle::Turn exact = oracle::rotary_turn(options, 2 * pairs, b, t, i);
          const auto at = [&](const TensorView<float>& view) {
            return static_cast<double>(by_row ? *view.at(b, t, i) : *view.at(t, i));
          };
          require_near("a cosine of rotary_table", at(cos), exact.cosine, bound);
          require_near("a sine of rotary_table", at(sin), exact.sine, bound);
        }
      }
    }
  };
  judge(arena, {.function = "rotary_table",
                .arguments = {"cos", "sin", "offset", "positions", "base", "rotary_dim", "scaling"},
                .run = [&] { return rotary_table(cos, sin, options); },
                .compare = compare});
}

void alibi_call(Input& in) {
  Arena arena(in);
  const auto slopes = arena.out({in.in(0, 140)}, {.unconstrained = 1});
  const auto compare = [&] {
    const std::vector<double> exact =
        slopes.size() > 0 ? oracle::alibi_slopes(slopes.size()) : std::vector<double>();
    for (std::size_t h = 0; h < exact.size(); ++h) {
      require_near("alibi_slopes", static_cast<double>(*slopes.at(h)), exact[h],
                   bounds::alibi(exact[h]));
    }
  };
  judge(arena, {.function = "alibi_slopes",
                .arguments = {"slopes"},
                .run = [&] { return alibi_slopes(slopes); },
                .compare = compare});
}

void t5_call(Input& in) {
  Arena arena(in);
  T5Options options;
  options.bidirectional = in.chance(50);
  options.max_distance = in.chance(20) ? in.extreme() : in.in(1, 200);
  options.offset = in.chance(20) ? position(in) : in.in(-20, 20);
  const Index heads = in.in(0, 3);
  const auto table = arena.in({in.in(0, 40), heads}, {.unconstrained = 1});
  const auto bias = arena.out({heads, in.in(0, 12), in.in(0, 12)}, {.unconstrained = 6});
  const auto compare = [&] {
    for (Index i = 0; bias.size() > 0 && i < bias.extent(1); ++i) {
      for (Index j = 0; j < bias.extent(2); ++j) {
        const Index bucket = oracle::t5_bucket(j - i - options.offset, table.extent(0), options);
        for (Index h = 0; h < heads; ++h) {
          require_equal("t5_relative_bias", *bias.at(h, i, j), *table.at(bucket, h));
        }
      }
    }
  };
  judge(arena, {.function = "t5_relative_bias",
                .arguments = {"table", "bias", "max_distance", "offset"},
                .run = [&] { return t5_relative_bias(table, bias, options); },
                .compare = compare});
  const Index anywhere = in.extreme();
  const Index bucket = t5_bucket(anywhere, in.extreme(), options);
  if (bucket < -1 || bucket >= kMaxT5Buckets) {
    fail("t5_bucket: %lld for a distance of %lld", static_cast<long long>(bucket),
         static_cast<long long>(anywhere));
  }
}

void xl_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 2);
  const Index heads = in.in(0, 3);
  const Index tq = in.in(0, 9);
  const Index tk = in.in(0, 9);
  const Index d = in.chance(20) ? in.in(0, 140) : in.in(0, 12);
  const auto q = arena.in({batch, heads, tq, d});
  const auto r = arena.in({std::max<Index>(tk + tq - 1, 0), heads * d});
  const auto v = arena.in({heads, d});
  const auto bias = arena.out({batch, heads, tq, tk});
  const auto compare = [&] {
    if (bias.size() == 0 || !all_moderate({q, r, v})) {
      return;
    }
    for (Index b = 0; b < batch; ++b) {
      for (Index h = 0; h < heads; ++h) {
        for (Index i = 0; i < tq; ++i) {
          for (Index j = 0; j < tk; ++j) {
            const oracle::Sum exact = oracle::transformer_xl(q, r, v, tk, {b, h, i, j});
            require_near("transformer_xl_bias", static_cast<double>(*bias.at(b, h, i, j)),
                         exact.value, bounds::transformer_xl(d, exact.size));
          }
        }
      }
    }
  };
  judge(arena, {.function = "transformer_xl_bias",
                .arguments = {"q ", "r ", "v ", "bias"},
                .run = [&] { return transformer_xl_bias(q, r, v, bias); },
                .compare = compare});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({sinusoid_call, blocks_call, matrix_call, rotary_call, table_call, alibi_call,
                      t5_call, xl_call},
                     data, size);
}
