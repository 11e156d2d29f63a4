// Gradients of all kinds: whatever shapes, options and numbers they are given.
#include <algorithm>

#include "judge.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/additive_attention.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/embedding.hpp"
#include "qkv/train/gru.hpp"
#include "qkv/train/linear.hpp"
#include "qkv/train/norm.hpp"
#include "qkv/train/relative_bias.hpp"
#include "qkv/train/softmax.hpp"

namespace qkv::fuzz {
namespace {

constexpr Needs kDense{.dense = true};

/// A few tokens, or more than any tile has.
Index length(Input& in) { return in.chance(10) ? in.in(0, 70) : in.in(0, 9); }
/// A width of at least 1, and at times of none.
Index width(Input& in) { return in.chance(5) ? 0 : in.chance(10) ? in.in(1, 70) : in.in(1, 9); }

/// A gradient that may be left out.
TensorView<float> wanted(Input& in, Arena& arena, std::initializer_list<Index> shape,
                         const Needs& needs = {}) {
  return in.chance(75) ? arena.out(shape, needs) : TensorView<float>{};
}

// ------------------------------------------------------------------------------------------ attention

void attention_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 2);
  const Index kv = in.in(0, 2);
  const Index heads = kv * in.in(1, 3);
  const Index tq = length(in);
  const Index tk = length(in);
  const Index dk = width(in);
  const Index dv = width(in);
  train::AttentionBackwardArgs args;
  args.options.causal = in.chance(50);
  if (in.chance(80)) {
    args.options.causal_offset = in.in(-9, 9);
  }
  args.options.softcap = in.chance(20) ? in.real() : 0.0F;
  args.options.temperature = in.chance(20) ? in.real() : 1.0F;
  if (in.chance(20)) {
    args.options.dropout = {.rate = 0.25F, .seed = in.long_word()};
  }
  args.d_out = arena.in({batch, heads, tq, dv});
  args.q = arena.in({batch, heads, tq, dk});
  args.k = arena.in({batch, kv, tk, dk});
  args.v = arena.in({batch, kv, tk, dv});
  args.out = arena.in({batch, heads, tq, dv});
  args.lse = arena.in({batch, heads, tq});
  args.dq = arena.out({batch, heads, tq, dk});
  args.dk = arena.out({batch, kv, tk, dk});
  args.dv = arena.out({batch, kv, tk, dv});
  if (in.chance(30)) {
    args.options.bias = arena.in({heads, tq, tk});
    args.d_bias = wanted(in, arena, {heads, tq, tk});
  }
  if (in.chance(30)) {
    args.options.key_lengths = arena.integers({batch}, 0, tk);
  }
  Workspace workspace;
  judge(arena, {.function = "attention_backward",
                .arguments = {"q ", "k ", "v ", "d_out", "out ", "lse", "dq", "dk", "dv", "bias",
                              "key_lengths", "causal_offset", "softcap", "temperature"},
                .run = [&] { return train::attention_backward(args, workspace); }});
}

void additive_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 3);
  const Index tq = length(in);
  const Index tk = length(in);
  const Index da = width(in);
  const Index dv = width(in);
  const TensorView<const float> q = arena.in({batch, tq, da});
  const TensorView<const float> k = arena.in({batch, tk, da});
  const TensorView<const float> v = arena.in({da});
  const TensorView<const float> values = arena.in({batch, tk, dv});
  TensorView<const std::int32_t> lengths;
  if (in.chance(50)) {
    lengths = arena.integers({batch}, 0, tk);
  }
  Workspace workspace;
  if (in.chance(50)) {
    const train::ProjectedAdditiveArgs args{
        q, k, v, values, lengths, arena.out({batch, tq, dv}), arena.out({batch, tq, tk})};
    judge(arena, {.function = "projected_additive_attention",
                  .arguments = {"q ", "k ", "v ", "values", "key_lengths", "context", "weights"},
                  .run = [&] { return train::projected_additive_attention(args, workspace); }});
    return;
  }
  train::ProjectedAdditiveBackwardArgs args{arena.in({batch, tq, dv}), q, k, v, values, lengths,
                                            arena.in({batch, tq, tk})};
  args.dq = wanted(in, arena, {batch, tq, da});
  args.dk = wanted(in, arena, {batch, tk, da});
  args.dv = wanted(in, arena, {da});
  args.d_values = wanted(in, arena, {batch, tk, dv});
  judge(arena,
        {.function = "projected_additive_attention_backward",
         .arguments = {"q ", "k ", "v ", "values", "key_lengths", "d_context", "weights", "dq",
                       "dk", "dv", "d_values"},
         .run = [&] { return train::projected_additive_attention_backward(args, workspace); }});
}

/// The same with its projections.
void additive_layer_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 3);
  const Index tq = length(in);
  const Index tk = length(in);
  const Index ds = width(in);
  const Index dh = width(in);
  const Index da = width(in);
  const bool apart = in.chance(50);
  const Index dv = apart ? width(in) : dh;
  train::AdditiveAttentionBackwardArgs args;
  args.s = arena.in({batch, tq, ds}, kDense);
  args.h = arena.in({batch, tk, dh}, kDense);
  args.score = {arena.in({ds, da}, kDense), arena.in({dh, da}, kDense), arena.in({da})};
  args.values = apart ? arena.in({batch, tk, dv}) : TensorView<const float>{};
  if (in.chance(50)) {
    args.key_lengths = arena.integers({batch}, 0, tk);
  }
  Workspace workspace;
  if (in.chance(50)) {
    const train::AdditiveAttentionArgs forward{args.s,
                                               args.h,
                                               args.score,
                                               args.values,
                                               args.key_lengths,
                                               arena.out({batch, tq, dv}),
                                               arena.out({batch, tq, tk})};
    judge(arena, {.function = "additive_attention",
                  .arguments = {"s ", "h ", "w ", "u ", "v ", "values", "key_lengths", "context",
                                "weights"},
                  .run = [&] { return train::additive_attention(forward, workspace); }});
    return;
  }
  args.d_context = arena.in({batch, tq, dv});
  args.weights = arena.in({batch, tq, tk});
  args.ds = wanted(in, arena, {batch, tq, ds}, kDense);
  args.dh = wanted(in, arena, {batch, tk, dh}, kDense);
  args.dw = wanted(in, arena, {ds, da}, kDense);
  args.du = wanted(in, arena, {dh, da}, kDense);
  args.dv = wanted(in, arena, {da}, kDense);
  if (apart || in.chance(10)) {
    args.d_values = wanted(in, arena, {batch, tk, dv});
  }
  judge(arena, {.function = "additive_attention_backward",
                .arguments = {"s ", "h ", "w ", "u ", "v ", "values", "key_lengths", "d_context",
                              "weights", "ds", "dh", "dw", "du", "dv"},
                .run = [&] { return train::additive_attention_backward(args, workspace); }});
}

// --------------------------------------------------------------------------------------------- layers

void linear_call(Input& in) {
  Arena arena(in);
  const Index rows = length(in);
  const Index from = width(in);
  const Index to = width(in);
  train::LinearBackwardArgs args;
  args.layout = static_cast<WeightLayout>(in.in(0, in.chance(5) ? 255 : 1));
  const bool in_out = args.layout == WeightLayout::kInOut;
  args.d_out = arena.in({rows, to}, kDense);
  args.x = arena.in({rows, from}, kDense);
  args.w = arena.in({in_out ? from : to, in_out ? to : from});
  args.dx = wanted(in, arena, {rows, from}, kDense);
  args.dw = wanted(in, arena, {in_out ? from : to, in_out ? to : from}, kDense);
  args.d_bias = wanted(in, arena, {to}, kDense);
  Workspace workspace;
  judge(arena, {.function = "linear_backward",
                .arguments = {"d_out", "x ", "w ", "layout", "dx", "dw", "d_bias"},
                .run = [&] { return train::linear_backward(args, workspace); }});
}

void norm_call(Input& in) {
  Arena arena(in);
  const bool layer = in.chance(50);
  const Index rows = in.chance(10) ? in.in(60, 140) : in.in(0, 9);
  const Index n = width(in);
  train::NormBackwardArgs args;
  args.d_out = arena.in({rows, n}, kDense);
  args.x = arena.in({rows, n}, kDense);
  args.gamma = in.chance(50) ? arena.in({n}, kDense) : TensorView<const float>{};
  args.epsilon = in.chance(20) ? in.real() : 1e-5F;
  args.dx = arena.out({rows, n}, kDense);
  args.d_gamma = wanted(in, arena, {n}, kDense);
  if (layer || in.chance(10)) {
    args.d_beta = wanted(in, arena, {n}, kDense);
  }
  Workspace workspace;
  judge(arena, {.function = layer ? "layer_norm_backward" : "rms_norm_backward",
                .arguments = {"d_out", "x ", "gamma", "epsilon", "dx", "d_gamma", "d_beta"},
                .run = [&] {
                  return layer ? train::layer_norm_backward(args, workspace)
                               : train::rms_norm_backward(args, workspace);
                }});
}

void gru_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 3);
  const Index tokens = in.in(0, 5);
  const Index from = width(in);
  const Index hidden = width(in);
  const Index gates = 3 * hidden;
  train::GruBackwardArgs args;
  args.x = arena.in({batch, tokens, from}, kDense);
  args.weights = {arena.in({from, gates}, kDense), arena.in({hidden, gates}, kDense),
                  arena.in({gates}, kDense), arena.in({gates}, kDense)};
  args.h0 = in.chance(50) ? arena.in({batch, hidden}, kDense) : TensorView<const float>{};
  Workspace workspace;
  if (in.chance(50)) {
    const train::GruArgs forward{args.x, args.weights, args.h0,
                                 arena.out({batch, tokens, hidden}, kDense)};
    judge(arena, {.function = "gru",
                  .arguments = {"x ", "wx", "wh", "bx", "bh", "h0", "out "},
                  .run = [&] { return train::gru(forward, workspace); }});
    return;
  }
  args.d_out = arena.in({batch, tokens, hidden}, kDense);
  args.out = arena.in({batch, tokens, hidden}, kDense);
  args.dx = wanted(in, arena, {batch, tokens, from}, kDense);
  args.dh0 = wanted(in, arena, {batch, hidden}, kDense);
  args.dwx = arena.out({from, gates}, kDense);
  args.dwh = arena.out({hidden, gates}, kDense);
  args.dbx = arena.out({gates}, kDense);
  args.dbh = arena.out({gates}, kDense);
  judge(arena, {.function = "gru_backward",
                .arguments = {"x ", "wx", "wh", "bx", "bh", "h0", "out ", "d_out", "dx", "dh0",
                              "dwx", "dwh", "dbx", "dbh"},
                .run = [&] { return train::gru_backward(args, workspace); }});
}

// ---------------------------------------------------------------------------------------- elementwise

void softmax_call(Input& in) {
  Arena arena(in);
  const Index rows = length(in);
  const Index n = length(in);
  const SoftmaxOptions options{.axis = static_cast<int>(in.in(-3, 2)),
                               .temperature = in.chance(30) ? in.real() : 1.0F};
  const auto d_out = arena.in({rows, n}, kDense);
  const auto out = arena.in({rows, n}, kDense);
  const auto dx = arena.out({rows, n}, kDense);
  judge(arena, {.function = "softmax_backward",
                .arguments = {"d_out", "out ", "dx", "axis", "temperature"},
                .run = [&] { return train::softmax_backward(d_out, out, dx, options); }});
}

void activation_call(Input& in) {
  Arena arena(in);
  const auto f = static_cast<Activation>(in.in(0, in.chance(5) ? 255 : 3));
  const Index n = length(in);
  const auto d_out = arena.in({n}, kDense);
  const auto x = arena.in({n}, kDense);
  if (in.chance(50)) {
    const auto dx = arena.out({n}, kDense);
    judge(arena, {.function = "activate_backward",
                  .arguments = {"d_out", "x ", "dx", "activation"},
                  .run = [&] { return train::activate_backward(d_out, x, dx, f); }});
    return;
  }
  const train::GateBackwardArgs args{d_out, x, arena.in({n}, kDense), arena.out({n}, kDense),
                                     arena.out({n}, kDense)};
  judge(arena, {.function = "gate_backward",
                .arguments = {"d_out", "x ", "y ", "dx", "dy", "activation"},
                .run = [&] { return train::gate_backward(args, f); }});
}

void cross_entropy_call(Input& in) {
  Arena arena(in);
  const Index rows = length(in);
  const Index classes = length(in);
  train::CrossEntropyArgs args;
  args.logits = arena.in({rows, classes}, kDense);
  args.targets =
      arena.integers({rows}, in.chance(50) ? -1 : 0, std::max<Index>(classes - 1, 0), kDense);
  args.label_smoothing = in.chance(30) ? in.real() : 0.0F;
  args.d_logits = in.chance(20) ? arena.same(args.logits) : arena.out({rows, classes}, kDense);
  train::CrossEntropy found;
  Workspace workspace;
  judge(arena, {.function = "cross_entropy",
                .arguments = {"logits", "targets", "label_smoothing"},
                .run = [&] { return train::cross_entropy(args, found, workspace); }});
}

// -------------------------------------------------------------------------------------------- positions

void embedding_call(Input& in) {
  Arena arena(in);
  const Index rows = in.in(0, 9);
  const Index n = in.in(0, 12);
  const Index columns = in.in(0, 20);
  const auto d_out = arena.in({n, columns}, kDense);
  const auto ids = arena.integers({n}, 0, std::max<Index>(rows - 1, 0), kDense);
  const auto d_table = arena.out({rows, columns}, {.dense = true, .unconstrained = 1});
  judge(arena, {.function = "embedding_backward",
                .arguments = {"d_out", "ids", "d_table"},
                .run = [&] { return train::embedding_backward(d_out, ids, d_table); }});
}

void t5_call(Input& in) {
  Arena arena(in);
  T5Options options;
  options.bidirectional = in.chance(50);
  options.max_distance = in.chance(20) ? in.extreme() : in.in(1, 200);
  options.offset = in.chance(20) ? in.extreme() : in.in(-20, 20);
  const Index heads = in.in(0, 3);
  const auto d_bias = arena.in({heads, in.in(0, 12), in.in(0, 12)}, {.unconstrained = 6});
  const auto d_table = arena.out({in.in(0, 40), heads}, {.unconstrained = 1});
  judge(arena, {.function = "t5_relative_bias_backward",
                .arguments = {"d_bias", "d_table", "max_distance", "offset"},
                .run = [&] { return train::t5_relative_bias_backward(d_bias, d_table, options); }});
}

void xl_call(Input& in) {
  Arena arena(in);
  const Index batch = in.in(0, 2);
  const Index heads = in.in(0, 3);
  const Index tq = in.in(0, 9);
  const Index tk = in.in(0, 9);
  const Index d = in.chance(20) ? in.in(0, 140) : in.in(0, 12);
  const Index distances = std::max<Index>(tk + tq - 1, 0);
  train::TransformerXlBackwardArgs args;
  args.d_bias = arena.in({batch, heads, tq, tk});
  args.q = arena.in({batch, heads, tq, d});
  args.r = arena.in({distances, heads * d});
  args.v = arena.in({heads, d});
  args.dq = wanted(in, arena, {batch, heads, tq, d});
  args.dr = wanted(in, arena, {distances, heads * d});
  args.dv = wanted(in, arena, {heads, d});
  judge(arena, {.function = "transformer_xl_bias_backward",
                .arguments = {"d_bias", "q ", "r ", "v ", "dq", "dr", "dv"},
                .run = [&] { return train::transformer_xl_bias_backward(args); }});
}

}  // namespace
}  // namespace qkv::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace qkv::fuzz;
  return call_one_of(
      {attention_call, additive_call, additive_layer_call, linear_call, norm_call, gru_call,
       softmax_call, activation_call, cross_entropy_call, embedding_call, t5_call, xl_call},
      data, size);
}
