// Layers and blocks: configurations and weights of all kinds, created and run.
#include <algorithm>

#include "judge.hpp"

namespace qkv::fuzz {
namespace {

/// A weight as its layout stores it.
TensorView<const float> matrix(Arena& arena, WeightLayout layout, Index in, Index out) {
  return layout == WeightLayout::kOutIn ? arena.in({out, in}) : arena.in({in, out});
}
TensorView<const float> perhaps(Input& in, Arena& arena, Index n) {
  return in.chance(50) ? arena.in({n}) : TensorView<const float>();
}
WeightLayout layout(Input& in) {
  return static_cast<WeightLayout>(in.in(0, in.chance(4) ? 255 : 1));
}

/// linear(), and Linear of the same arrays.
void linear_call(Input& in) {
  Arena arena(in);
  const auto width = [&] { return in.chance(20) ? in.in(0, 80) : in.in(1, 9); };
  const Index from = width();
  const Index to = width();
  LinearArgs args;
  args.layout = layout(in);
  args.w = matrix(arena, args.layout, from, to);
  args.bias = perhaps(in, arena, to);
  const Index rows = in.chance(20) ? in.in(0, 80) : in.in(0, 9);
  args.x = arena.in({rows, from}, {.dense = true, .unconstrained = 1});
  args.out = arena.out({rows, to}, {.dense = true, .unconstrained = 1});
  const auto run = [&] {
    Workspace workspace;
    Linear map;
    const Status status = linear(args, workspace);
    // Of a spoiled array the output may lie in the gaps of w, or across them: then w has changed.
    if (status.ok() && !arena.spoiled() &&
        (!Linear::create({args.w, args.bias, args.layout}, map).ok() ||
         (args.out.size() > 0 && !map.forward(args.x, args.out, workspace).ok()))) {
      fail("Linear: refuses what linear() takes");
    }
    return status;
  };
  judge(arena,
        {.function = "linear", .arguments = {"x ", "w ", "bias", "layout", "out "}, .run = run});
}

struct Attention {
  MultiHeadAttentionConfig c;         ///< as given
  MultiHeadAttentionConfig resolved;  ///< with every size filled in
  MultiHeadAttentionWeights w;
};

void resolve(Attention& a) {
  MultiHeadAttentionConfig& r = a.resolved = a.c;
  r.num_kv_heads = r.num_kv_heads == 0 ? r.num_heads : r.num_kv_heads;
  r.d_k = r.d_k == 0 ? r.d_model / std::max<Index>(r.num_heads, 1) : r.d_k;
  r.d_v = r.d_v == 0 ? r.d_k : r.d_v;
  r.d_context = r.d_context == 0 ? r.d_model : r.d_context;
}

MultiHeadAttentionWeights weights(Input& in, Arena& arena, const MultiHeadAttentionConfig& r,
                                  bool fused) {
  MultiHeadAttentionWeights w;
  const Index q = r.num_heads * r.d_k;
  const Index k = r.num_kv_heads * r.d_k;
  const Index v = r.num_kv_heads * r.d_v;
  if (fused) {
    w.wqkv = matrix(arena, r.weight_layout, r.d_model, q + k + v);
    w.bqkv = perhaps(in, arena, q + k + v);
  } else {
    w.wq = matrix(arena, r.weight_layout, r.d_model, q);
    w.wk = matrix(arena, r.weight_layout, r.d_context, k);
    w.wv = matrix(arena, r.weight_layout, r.d_context, v);
    w.bq = perhaps(in, arena, q);
    w.bk = perhaps(in, arena, k);
    w.bv = perhaps(in, arena, v);
  }
  w.wo = matrix(arena, r.weight_layout, r.num_heads * r.d_v, r.d_model);
  w.bo = perhaps(in, arena, r.d_model);
  return w;
}

Attention attention_layer(Input& in, Arena& arena, bool cross) {
  Attention a;
  const Index kv = in.in(1, 3);
  a.c.num_heads = kv * in.in(1, 2);
  a.c.num_kv_heads = in.chance(50) ? kv : 0;
  a.c.d_model = in.chance(20) ? in.in(0, 40) : a.c.num_heads * in.in(1, 6);
  a.c.d_k = in.chance(50) ? in.in(0, 9) : 0;
  a.c.d_v = in.chance(30) ? in.in(0, 9) : 0;
  a.c.d_context = cross && in.chance(50) ? in.in(1, 12) : 0;
  a.c.weight_layout = layout(in);
  if (in.chance(30)) {
    RotaryOptions rotary;
    rotary.offset = in.chance(30) ? in.extreme() : in.in(-9, 9);
    rotary.interleaved = in.chance(50);
    rotary.rotary_dim = in.chance(30) ? in.in(0, 6) : 0;
    if (in.chance(20)) {
      rotary.positions = arena.integers({in.in(0, 9)}, -9, 9, {.dense = true, .unconstrained = 1});
    }
    a.c.rotary = rotary;
  }
  resolve(a);
  const bool fused = in.chance(30);
  a.w = weights(in, arena, a.resolved, fused);
  if (in.chance(4)) {
    const Index extreme = in.extreme();
    (in.chance(50) ? a.c.num_heads : in.chance(50) ? a.c.d_k : a.c.d_model) = extreme;
  }
  return a;
}

void options(Input& in, AttentionOptions& o) {
  o.causal = in.chance(50);
  if (in.chance(20)) {
    o.causal_offset = in.chance(20) ? in.extreme() : in.in(-9, 9);
  }
  o.window_left = in.chance(20) ? in.in(0, 9) : -1;
  o.softcap = in.chance(10) ? in.real() : 0.0F;
  o.temperature = in.chance(10) ? in.real() : 1.0F;
}

constexpr auto kAttentionNames = {"wq",      "wk",  "wv",  "wo",        "bq",
                                  "bk",      "bv",  "bo",  "num_heads", "num_kv_heads",
                                  "d_model", "d_k", "d_v", "d_context", "weight_layout",
                                  "rotary"};
constexpr auto kForwardNames = {
    "x ",   "y ",  "context", "causal", "window", "softcap", "temperature", "weights", "logit",
    "rows", "lse", "entropy", "rotary", "layer",  "block",   "key_lengths", "cache"};

/// Creates with `create` apart from the call that is judged, so that each has its own names.
template <class Layer>
bool created(Arena& arena, const char* function, std::initializer_list<const char*> names,
             const std::function<Status(Layer&)>& create) {
  bool ok = false;
  judge(arena, {.function = function, .arguments = names, .run = [&] {
                  Layer layer;
                  const Status status = create(layer);
                  ok = status.ok();
                  return status;
                }});
  return ok;
}

void attention_call(Input& in) {
  Arena arena(in);
  const bool cross = in.chance(40);
  const Attention a = attention_layer(in, arena, cross);
  const Index batch = in.in(0, 2);
  const Index tq = in.in(0, 9);
  const Index tk = cross ? in.in(0, 9) : tq;
  MultiHeadAttention::ForwardArgs args;
  options(in, args.options);
  const Needs dense{.dense = true};
  args.x = arena.in({batch, tq, a.resolved.d_model}, dense);
  if (cross) {
    args.context = arena.in({batch, tk, a.resolved.d_context}, dense);
  }
  args.y = arena.out({batch, tq, a.resolved.d_model}, dense);
  if (in.chance(30)) {
    args.extras.lse = arena.out({batch, a.resolved.num_heads, tq});
    args.extras.weights = arena.out({batch, a.resolved.num_heads, tq, tk});
  }
  const bool seen = created<MultiHeadAttention>(
      arena, "MultiHeadAttention::create", kAttentionNames,
      [&](MultiHeadAttention& layer) { return MultiHeadAttention::create(a.c, a.w, layer); });
  if (seen) {
    judge(arena,
          {.function = "MultiHeadAttention::forward", .arguments = kForwardNames, .run = [&] {
             MultiHeadAttention layer;
             Workspace workspace;
             const Status status = MultiHeadAttention::create(a.c, a.w, layer);
             return status.ok() ? layer.forward(args, workspace) : status;
           }});
  }
}

struct Inner {
  FeedForwardConfig c;
  FeedForwardWeights w;
};

Inner feed_forward_layer(Input& in, Arena& arena, Index d_model, WeightLayout stored) {
  Inner f;
  f.c = {.d_model = d_model,
         .d_feed_forward = in.chance(20) ? in.in(0, 80) : in.in(1, 12),
         .activation = static_cast<FeedForwardActivation>(in.in(0, in.chance(4) ? 255 : 4)),
         .weight_layout = stored};
  const Index n = f.c.d_feed_forward;
  f.w.w1 = matrix(arena, stored, d_model, n);
  f.w.b1 = perhaps(in, arena, n);
  f.w.w2 = matrix(arena, stored, n, d_model);
  f.w.b2 = perhaps(in, arena, d_model);
  if ((f.c.activation == FeedForwardActivation::kSwiglu) != in.chance(4)) {
    f.w.w_gate = matrix(arena, stored, d_model, n);
    f.w.b_gate = perhaps(in, arena, n);
  }
  return f;
}

constexpr auto kInnerNames = {"w1",         "b1",           "w2",      "b2",
                              "w_gate",     "b_gate",       "d_model", "d_feed_forward",
                              "activation", "weight_layout"};

void feed_forward_call(Input& in) {
  Arena arena(in);
  const Inner f = feed_forward_layer(in, arena, in.in(0, 20), layout(in));
  FeedForward::ForwardArgs args;
  const Index batch = in.in(0, 2);
  const Index tokens = in.chance(10) ? in.in(0, 200) : in.in(0, 9);
  args.x = arena.in({batch, tokens, f.c.d_model}, {.dense = true, .unconstrained = 15});
  args.y =
      in.chance(20) ? arena.same(args.x) : arena.out({batch, tokens, f.c.d_model}, {.dense = true});
  const bool seen = created<FeedForward>(
      arena, "FeedForward::create", kInnerNames,
      [&](FeedForward& layer) { return FeedForward::create(f.c, f.w, layer); });
  if (seen) {
    judge(arena, {.function = "FeedForward::forward", .arguments = kForwardNames, .run = [&] {
                    FeedForward layer;
                    Workspace workspace;
                    const Status status = FeedForward::create(f.c, f.w, layer);
                    return status.ok() ? layer.forward(args, workspace) : status;
                  }});
  }
}

void block_call(Input& in) {
  Arena arena(in);
  TransformerBlockConfig c;
  TransformerBlockWeights w;
  c.cross_attention = in.chance(30);
  c.norm = static_cast<NormPlacement>(in.in(0, in.chance(4) ? 255 : 1));
  c.norm_type = static_cast<NormType>(in.in(0, in.chance(4) ? 255 : 1));
  c.epsilon = in.chance(10) ? in.real() : 1e-5F;
  const Attention a = attention_layer(in, arena, c.cross_attention);
  c.attention = a.c;
  w.attention = a.w;
  const Index d = a.resolved.d_model;
  if (c.cross_attention) {
    MultiHeadAttentionConfig self = a.resolved;
    self.d_context = self.d_model;
    w.attention = weights(in, arena, self, false);
    w.cross = weights(in, arena, a.resolved, false);
    w.norm_cross = {arena.in({d}), perhaps(in, arena, d)};
  }
  const Inner f = feed_forward_layer(in, arena, d, c.attention.weight_layout);
  c.d_feed_forward = f.c.d_feed_forward;
  c.activation = f.c.activation;
  w.feed_forward = f.w;
  w.norm1 = {arena.in({d}), perhaps(in, arena, d)};
  w.norm2 = {arena.in({d}), perhaps(in, arena, d)};
  TransformerBlock::ForwardArgs args;
  options(in, args.options);
  const Index batch = in.in(0, 2);
  const Index tokens = in.in(0, 9);
  args.x = arena.in({batch, tokens, d}, {.dense = true, .unconstrained = 15});
  args.y = in.chance(30) ? arena.same(args.x) : arena.out({batch, tokens, d}, {.dense = true});
  if (c.cross_attention) {
    const Index keys = in.in(0, 9);
    args.context = arena.in({batch, keys, a.resolved.d_context}, {.dense = true});
    if (in.chance(40)) {
      args.context_key_lengths = arena.integers({batch}, 0, keys);
    }
  }
  const auto create = [&](TransformerBlock& block) {
    return TransformerBlock::create(c, w, block);
  };
  const bool seen = created<TransformerBlock>(arena, "TransformerBlock::create", {"wq",
                                                                                  "wk",
                                                                                  "wv",
                                                                                  "wo",
                                                                                  "bq",
                                                                                  "bk",
                                                                                  "bv",
                                                                                  "bo",
                                                                                  "num_",
                                                                                  "d_",
                                                                                  "weight_layout",
                                                                                  "rotary",
                                                                                  "w1",
                                                                                  "b1",
                                                                                  "w2",
                                                                                  "b2",
                                                                                  "gate",
                                                                                  "activation",
                                                                                  "norm",
                                                                                  "epsilon",
                                                                                  "cross"},
                                              create);
  if (seen) {
    judge(arena, {.function = "TransformerBlock::forward", .arguments = kForwardNames, .run = [&] {
                    TransformerBlock block;
                    Workspace workspace;
                    const Status status = create(block);
                    return status.ok() ? block.forward(args, workspace) : status;
                  }});
  }
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of({attention_call, feed_forward_call, block_call, block_call, linear_call}, data,
                     size);
}
