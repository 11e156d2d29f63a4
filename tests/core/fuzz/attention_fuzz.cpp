// attention(): shapes, options, extras and caches of all kinds.
#include <algorithm>
#include <cmath>
#include <optional>

#include "judge.hpp"

namespace qkv::fuzz {
namespace {

/// Masks broadcast: each extent is that of the scores or 1, and leading ones may be left out.
template <class T>
TensorView<const T> mask(Input& in, Arena& arena, const std::array<Index, 4>& scores) {
  std::array<Index, 4> s = scores;
  for (Index& extent : s) {
    extent = in.chance(30) ? 1 : extent;
  }
  const Needs needs{.free_last = true};
  switch (in.in(1, 4)) {
    case 1:
      return arena.array<const T>({s[3]}, needs);
    case 2:
      return arena.array<const T>({s[2], s[3]}, needs);
    case 3:
      return arena.array<const T>({s[1], s[2], s[3]}, needs);
    default:
      return arena.array<const T>({s[0], s[1], s[2], s[3]}, needs);
  }
}

void numbers(Input& in, AttentionOptions& o) {
  if (in.chance(40)) {
    o.scale = in.real();
  }
  o.softcap = in.chance(30) ? in.real() : 0.0F;
  o.temperature = in.chance(30) ? in.real() : 1.0F;
  o.causal = in.chance(50);
  if (in.chance(50)) {
    o.causal_offset = in.chance(20) ? in.extreme() : in.in(-9, 9);
  }
  o.window_left = in.chance(30) ? (in.chance(20) ? in.extreme() : in.in(-1, 9)) : -1;
  o.window_right = in.chance(30) ? (in.chance(20) ? in.extreme() : in.in(-1, 9)) : -1;
  if (in.chance(20)) {
    o.dropout = {.rate = in.chance(80) ? 0.25F : in.real(), .seed = in.long_word()};
  }
}

struct Sizes {
  Index batch, heads, kv_heads, tq, tk, dk, dv;
};

Sizes sizes(Input& in) {
  const Index kv = in.in(0, 3);
  // Around the tiles of every instruction set, and the rows of a task.
  const auto length = [&] { return in.chance(6) ? in.in(0, 140) : in.in(0, 18); };
  const auto width = [&] { return in.chance(6) ? in.in(0, 70) : in.in(0, 9); };
  Sizes s{in.in(0, 2), kv * in.in(1, 3), kv, length(), length(), width(), width()};
  if (in.chance(30)) {
    s.tk = s.tq;
  }
  return s;
}

void arrays(Input& in, Arena& arena, const Sizes& s, Index keys, AttentionArgs& a) {
  a.q = arena.in({s.batch, s.heads, s.tq, s.dk});
  a.k = arena.in({s.batch, s.kv_heads, s.tk, s.dk}, {.unconstrained = 4});
  a.v = arena.in({s.batch, s.kv_heads, s.tk, s.dv});
  a.out = arena.out({s.batch, s.heads, s.tq, s.dv});
  const std::array<Index, 4> scores{s.batch, s.heads, s.tq, keys};
  AttentionOptions& o = a.options;
  const unsigned which = in.byte();
  if ((which & 1U) != 0) {
    o.mask = mask<std::uint8_t>(in, arena, scores);
  }
  if ((which & 2U) != 0) {
    o.additive_mask = mask<float>(in, arena, scores);
  }
  if ((which & 4U) != 0) {
    o.bias = mask<float>(in, arena, scores);
  }
  if ((which & 8U) != 0) {
    o.key_lengths = arena.integers({s.batch}, 0, std::min<Index>(keys, 255));
  }
  if ((which & 16U) != 0) {
    o.causal_offsets = arena.integers({s.batch}, -9, 9);
  }
  if ((which & 32U) != 0) {
    o.alibi_slopes = arena.in({s.heads});
  }
  if ((which & 64U) != 0) {
    o.sinks = arena.in({s.heads});
  }
}

void extras(Input& in, Arena& arena, const Sizes& s, Index keys, AttentionExtras& e) {
  const unsigned which = in.byte();
  if ((which & 16U) != 0) {
    e.row_begin = in.in(0, 9);
    e.row_end = in.in(-1, 20);
  }
  const Index end = e.row_end < 0 ? s.tq : e.row_end;
  const Index rows = std::max<Index>(0, end - e.row_begin);
  if ((which & 1U) != 0) {
    e.weights = arena.out({s.batch, s.heads, rows, keys});
  }
  if ((which & 2U) != 0) {
    e.logits = arena.out({s.batch, s.heads, rows, keys});
    e.logit_stage = static_cast<LogitStage>(in.in(0, in.chance(5) ? 255 : 2));
  }
  if ((which & 4U) != 0) {
    e.lse = arena.out({s.batch, s.heads, s.tq});
  }
  if ((which & 8U) != 0) {
    e.entropy = arena.out({s.batch, s.heads, s.tq});
  }
}

/// Whether the header states a bound: "as long as nothing leaves the range of float on the way".
bool bounded(const AttentionArgs& a) {
  const AttentionOptions& o = a.options;
  const auto fits = [](float x) {
    return x == 0.0F || (std::abs(x) > 1e-3F && std::abs(x) < 1e3F);
  };
  return o.dropout.rate == 0.0F && fits(o.scale.value_or(1.0F)) && fits(o.softcap) &&
         fits(o.temperature) && all_moderate({a.q, a.k, a.v, o.alibi_slopes, o.sinks});
}

/// Biases may be -inf, which excludes; else they have to be moderate.
bool biases_bounded(const AttentionOptions& o) {
  for (const auto& bias : {o.bias, o.additive_mask}) {
    if (!bias.absent() && bias.size() > 0) {
      for (const float x : test::values_of(bias)) {
        if (x != -INFINITY && !(std::abs(x) < 0x1p40F)) {
          return false;
        }
      }
    }
  }
  return true;
}

/// A cache for the call, with room that may not suffice, and `held` tokens in it.
struct Cache {
  KvCacheConfig config;
  std::vector<float> keys, values;
  Index held = 0;

  [[nodiscard]] Status fill(KvCache& cache) const {
    QKV_RETURN_IF_ERROR(KvCache::create(config, cache));
    return cache.append({keys.data(), {config.batch, config.num_kv_heads, held, config.d_k}},
                        {values.data(), {config.batch, config.num_kv_heads, held, config.d_v}});
  }
};

std::optional<Cache> cache(Input& in, const Sizes& s) {
  if (!in.chance(25) || s.batch == 0 || s.kv_heads == 0 || s.dk == 0 || s.dv == 0) {
    return std::nullopt;
  }
  Cache c;
  c.config = {s.batch, s.kv_heads, in.in(0, 40), s.dk, s.dv};
  c.held = std::min(in.in(0, 20), c.config.capacity);
  const auto tokens = static_cast<std::size_t>(s.batch * s.kv_heads * c.held);
  c.keys = in.floats(tokens * static_cast<std::size_t>(s.dk));
  c.values = in.floats(tokens * static_cast<std::size_t>(s.dv));
  return c;
}

Status with_cache(const AttentionArgs& args, const Cache& given, Workspace& workspace) {
  KvCache kept;
  const Status filled = given.fill(kept);
  if (!filled.ok()) {
    fail("KvCache: refuses a cache that is fine: %s", filled.message());
  }
  AttentionArgs a = args;
  a.cache = &kept;
  const Status status = attention(a, workspace);
  const Index expected = given.held + (status.ok() ? a.k.extent(2) : 0);
  if (kept.length() != expected) {
    fail("attention: the cache holds %lld tokens, expected %lld",
         static_cast<long long>(kept.length()), static_cast<long long>(expected));
  }
  return status;
}

void run(Input& in) {
  Arena arena(in);
  const Sizes s = sizes(in);
  const std::optional<Cache> given = cache(in, s);
  const Index keys = s.tk + (given ? given->held : 0);
  AttentionArgs a;
  numbers(in, a.options);
  arrays(in, arena, s, keys, a);
  extras(in, arena, s, keys, a.extras);
  judge(arena,
        {.function = "attention",
         .arguments = {"q ",           "k ",      "v ",      "out ",        "scale", "softcap",
                       "temperature",  "causal",  "window",  "key_lengths", "mask",  "bias",
                       "alibi_slopes", "sinks",   "dropout", "weights",     "logit", "rows",
                       "lse",          "entropy", "cache",   "keys",        "values"},
         .run =
             [&] {
               Workspace workspace;
               return given ? with_cache(a, *given, workspace) : attention(a, workspace);
             },
         .compare =
             [&] {
               // The oracle takes its time, on each instruction set.
               const Index work = s.batch * s.heads * s.tq * s.tk * (s.dk + s.dv);
               if (!given && work < 1 << 20 && bounded(a) && biases_bounded(a.options)) {
                 AttentionArgs as_seen = a;
                 as_seen.options.causal_offset = a.options.causal_offset.value_or(0);
                 require_within(test::compare_attention(as_seen));
               }
             }});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  qkv::fuzz::Input input(data, size);
  qkv::fuzz::run(input);
  return 0;
}
