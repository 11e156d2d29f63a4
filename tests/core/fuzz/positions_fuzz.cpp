// Where tokens are: sinusoids and their shifts, rotations, and biases that depend on distances.
#include <algorithm>

#include "judge.hpp"

namespace qkv::fuzz {
namespace {

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
  judge(arena, {.function = "sinusoidal_encoding",
                .arguments = {"table", "offset", "base", "layout", "d_model"},
                .run = [&] { return sinusoidal_encoding(table, offset, options); }});
}

void blocks_call(Input& in) {
  Arena arena(in);
  const SinusoidOptions options = sinusoids(in);
  const Index k = position(in);
  const Index d = in.in(0, 40);
  const Index told = in.chance(20) ? in.extreme() : d;
  const auto blocks = arena.out({(d + 1) / 2, 2, 2}, {.dense = true});
  judge(arena, {.function = "sinusoidal_shift_blocks",
                .arguments = {"blocks", "k ", "d_model", "base", "layout"},
                .run = [&] { return sinusoidal_shift_blocks(blocks, k, told, options); }});
}

void matrix_call(Input& in) {
  Arena arena(in);
  const SinusoidOptions options = sinusoids(in);
  const Index k = position(in);
  const Index d = in.in(0, 40);
  const auto matrix = arena.out({d, d}, {.dense = true});
  judge(arena, {.function = "sinusoidal_shift_matrix",
                .arguments = {"matrix", "k ", "d_model", "base", "layout"},
                .run = [&] { return sinusoidal_shift_matrix(matrix, k, options); }});
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

void rotary_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 2);
  const Index tokens = in.in(0, 40);
  const Index d = in.in(0, 20);
  const auto x = arena.in({batch, in.in(0, 3), tokens, d}, {.unconstrained = 15});
  const auto out = in.chance(20) ? arena.same(x) : arena.out({batch, x.extent(1), tokens, d}, {});
  const RotaryOptions options = rotations(in, arena, batch, tokens, d);
  judge(arena, {.function = "rotary_embedding",
                .arguments = {"x ", "out ", "offset", "positions", "base", "rotary_dim", "scaling",
                              "cos", "sin"},
                .run = [&] {
                  Workspace workspace;
                  return rotary_embedding(x, out, options, workspace);
                }});
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
  judge(arena, {.function = "rotary_table",
                .arguments = {"cos", "sin", "offset", "positions", "base", "rotary_dim", "scaling"},
                .run = [&] { return rotary_table(cos, sin, options); }});
}

void alibi_call(Input& in) {
  Arena arena(in);
  const auto slopes = arena.out({in.in(0, 140)}, {.unconstrained = 1});
  judge(arena, {.function = "alibi_slopes", .arguments = {"slopes"}, .run = [&] {
                  return alibi_slopes(slopes);
                }});
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
  judge(arena, {.function = "t5_relative_bias",
                .arguments = {"table", "bias", "max_distance", "offset"},
                .run = [&] { return t5_relative_bias(table, bias, options); }});
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
  judge(arena, {.function = "transformer_xl_bias",
                .arguments = {"q ", "r ", "v ", "bias"},
                .run = [&] { return transformer_xl_bias(q, r, v, bias); }});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({sinusoid_call, blocks_call, matrix_call, rotary_call, table_call, alibi_call,
                      t5_call, xl_call},
                     data, size);
}
