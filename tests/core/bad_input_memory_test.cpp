// Where arrays lie: strides that go backwards, outputs with two elements in one place, outputs in the
// memory of what is read, ranks that no view has; and values that are none of their enumeration.
#include <catch2/catch_test_macros.hpp>

#include <utility>

#include "block.hpp"
#include "layer.hpp"
#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

constexpr const char* kOwn = "memory of its own";

/// Memory for all arrays of a call, at places counted in floats, 42 everywhere before the call.
class Memory {
 public:
  [[nodiscard]] TensorView<float> at(Index place, std::initializer_list<Index> shape) {
    return {floats_.data() + place, shape};
  }
  /// The call is refused and has written nothing.
  void refuse(const Status& status, const char* function, const Refusal& refusal) const {
    require_refused(status, function, refusal);
    CHECK(floats_ == std::vector<float>(floats_.size(), 42.0F));
  }

 private:
  std::vector<float> floats_ = std::vector<float>(4096, 42.0F);
};

template <class T>
TensorView<T> with_stride(TensorView<T> view, std::size_t axis, Index stride) {
  view.strides[axis] = stride;
  return view;
}

/// q, k and v of [1, 2, 3, 4] at 0, 24 and 48, and an output at 100.
AttentionArgs attention_args(Memory& m) {
  return {.q = m.at(0, {1, 2, 3, 4}),
          .k = m.at(24, {1, 2, 3, 4}),
          .v = m.at(48, {1, 2, 3, 4}),
          .out = m.at(100, {1, 2, 3, 4}),
          .options = {},
          .extras = {}};
}

struct Case {
  const char* what;
  Spoil<Memory&, AttentionArgs&> spoil;
  Refusal refusal;
};

void require_all_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.what);
    Memory m;
    Workspace workspace;
    AttentionArgs args = attention_args(m);
    c.spoil(m, args);
    m.refuse(attention(args, workspace), "attention", c.refusal);
  }
}

TEST_CASE("attention: strides that go backwards are refused", "[attention][bad-input]") {
  const auto stride = [](auto field, std::size_t axis, Index value) {
    return [=](Memory&, AttentionArgs& a) { (a.*field).strides[axis] = value; };
  };
  using A = AttentionArgs;
  require_all_refused({
      {"q", stride(&A::q, 1, -12), {kInvalid, "axis 1 of q", "stride -12", "at least 0"}},
      {"k", stride(&A::k, 2, -4), {kInvalid, "axis 2 of k", "stride -4", "at least 0"}},
      {"v", stride(&A::v, 1, -1), {kInvalid, "axis 1 of v", "stride -1", "at least 0"}},
      {"out", stride(&A::out, 2, -4), {kInvalid, "axis 2 of out", "stride -4", "at least 0"}},
      {"bias",
       [](Memory& m, AttentionArgs& a) {
         a.options.bias = with_stride<const float>(m.at(200, {3, 3}), 0, -3);
       },
       {kInvalid, "axis 0 of bias", "stride -3", "at least 0"}},
      {"mask",
       [](Memory&, AttentionArgs& a) {
         static constexpr std::uint8_t kBytes[3] = {1, 1, 1};
         a.options.mask = with_stride<const std::uint8_t>({kBytes, {3}}, 0, -1);
       },
       {kInvalid, "axis 0 of mask", "stride -1", "at least 0"}},
  });
}

TEST_CASE("attention: an output with two elements in one place is refused",
          "[attention][bad-input]") {
  const char* apart = "every element in a place of its own";
  require_all_refused({
      {"rows on rows",
       [](Memory&, AttentionArgs& a) { a.out.strides[2] = 0; },
       {kInvalid, "out has strides", "[24,12,0,1] for [1,2,3,4]", apart}},
      {"rows that overlap",
       [](Memory&, AttentionArgs& a) { a.out.strides[2] = 3; },
       {kInvalid, "out has strides", "[24,12,3,1]", apart}},
      {"heads that overlap",
       [](Memory&, AttentionArgs& a) { a.out.strides[1] = 11; },
       {kInvalid, "out has strides", "[24,11,4,1]", apart}},
      {"weights",
       [](Memory& m, AttentionArgs& a) {
         a.extras.weights = with_stride(m.at(200, {1, 2, 3, 3}), 1, 0);
       },
       {kInvalid, "weights has strides", "[18,0,3,1]", apart}},
      {"logits",
       [](Memory& m, AttentionArgs& a) {
         a.extras.logits = with_stride(m.at(200, {1, 2, 3, 3}), 2, 2);
       },
       {kInvalid, "logits has strides", "[18,9,2,1]", apart}},
      {"lse",
       [](Memory& m, AttentionArgs& a) { a.extras.lse = with_stride(m.at(200, {1, 2, 3}), 1, 1); },
       {kInvalid, "lse has strides", "[6,1,1]", apart}},
      {"entropy",
       [](Memory& m, AttentionArgs& a) {
         a.extras.entropy = with_stride(m.at(200, {1, 2, 3}), 1, 0);
       },
       {kInvalid, "entropy has strides", "[6,0,1]", apart}},
  });
}

TEST_CASE("attention: outputs in the memory of what is read are refused",
          "[attention][bad-input]") {
  const auto out_at = [](Index place) {
    return [place](Memory& m, AttentionArgs& a) { a.out = m.at(place, {1, 2, 3, 4}); };
  };
  static float bytes[64];
  require_all_refused({
      {"q itself", out_at(0), {kInvalid, "out is in", "the memory of q", kOwn}},
      {"the end of v", out_at(71), {kInvalid, "out is in", "the memory of v", kOwn}},
      {"between q and k", out_at(12), {kInvalid, "out is in", "the memory of q", kOwn}},
      {"k", out_at(24), {kInvalid, "out is in", "the memory of k", kOwn}},
      {"heads side by side",
       [](Memory& m, AttentionArgs& a) { a.out = split_heads(m.at(0, {1}).data, 1, 3, 2, 4); },
       {kInvalid, "out is in", "the memory of q", kOwn}},
      {"bias",
       [](Memory& m, AttentionArgs& a) { a.options.bias = m.at(120, {3, 3}); },
       {kInvalid, "out is in", "the memory of bias", kOwn}},
      {"additive mask",
       [](Memory& m, AttentionArgs& a) { a.options.additive_mask = m.at(95, {3, 3}); },
       {kInvalid, "out is in", "the memory of additive_mask", kOwn}},
      {"mask",
       [](Memory&, AttentionArgs& a) {
         a.options.mask = {reinterpret_cast<std::uint8_t*>(bytes), {3, 3}};
         a.extras.lse = {bytes, {1, 2, 3}};
       },
       {kInvalid, "lse is in", "the memory of mask", kOwn}},
      {"sinks",
       [](Memory& m, AttentionArgs& a) { a.options.sinks = m.at(101, {2}); },
       {kInvalid, "out is in", "the memory of sinks", kOwn}},
      {"slopes",
       [](Memory& m, AttentionArgs& a) {
         a.options.alibi_slopes = m.at(300, {2});
         a.extras.entropy = m.at(299, {1, 2, 3});
       },
       {kInvalid, "entropy is in", "the memory of alibi_slopes", kOwn}},
      {"key lengths",
       [](Memory&, AttentionArgs& a) {
         a.options.key_lengths = {reinterpret_cast<std::int32_t*>(bytes), {1}};
         a.extras.lse = {bytes, {1, 2, 3}};
       },
       {kInvalid, "lse is in", "the memory of key_lengths", kOwn}},
      {"offsets",
       [](Memory&, AttentionArgs& a) {
         a.options.causal = true;
         a.options.causal_offsets = {reinterpret_cast<std::int32_t*>(bytes) + 5, {1}};
         a.extras.lse = {bytes, {1, 2, 3}};
       },
       {kInvalid, "lse is in", "the memory of causal_offsets", kOwn}},
      {"weights on the output",
       [](Memory& m, AttentionArgs& a) { a.extras.weights = m.at(110, {1, 2, 3, 3}); },
       {kInvalid, "weights is in", "the memory of out", kOwn}},
      {"logits on the weights",
       [](Memory& m, AttentionArgs& a) {
         a.extras.weights = a.extras.logits = m.at(200, {1, 2, 3, 3});
       },
       {kInvalid, "logits is in", "the memory of weights", kOwn}},
  });
}

TEST_CASE("attention: arrays that take turns in one memory are apart", "[attention][bad-input]") {
  // The output of a fused projection, [T, 3 H d], with a fourth part for the result.
  std::vector<float> fused(3 * 32, 0.5F);
  const auto part = [&](Index n) {
    TensorView<float> view = split_heads(fused.data() + n * 8, 1, 3, 2, 4);
    view.strides = {96, 4, 32, 1};
    return view;
  };
  Workspace workspace;
  const AttentionArgs args{
      .q = part(0), .k = part(1), .v = part(2), .out = part(3), .options = {}, .extras = {}};
  require_ok(attention(args, workspace));
  CHECK(fused[24] == 0.5F);
  AttentionArgs on_q = args;
  on_q.out = part(0);
  require_refused(attention(on_q, workspace), "attention",
                  {kInvalid, "out is in", "the memory of q", kOwn});
  // Without elements there is nothing to share.
  AttentionArgs none = args;
  none.q.shape[2] = none.out.shape[2] = 0;
  none.out.data = fused.data();
  require_ok(attention(none, workspace));
}

TEST_CASE("attention: a rank that no view has is named and not followed",
          "[attention][bad-input]") {
  require_all_refused({
      {"q",
       [](Memory&, AttentionArgs& a) { a.q.rank = 5; },
       {kShapeError, "q is", "of rank 5", "[*,*,*,*]"}},
      {"out",
       [](Memory&, AttentionArgs& a) { a.out.rank = 1000; },
       {kShapeError, "out is", "of rank 1000", "[1,2,3,4]"}},
      {"v",
       [](Memory&, AttentionArgs& a) { a.v.rank = -1; },
       {kShapeError, "v is", "of rank -1", "[1,2,3,*]"}},
  });
}

TEST_CASE("layers: y in the memory of what is read is refused", "[layer][block][bad-input]") {
  LayerProblem layer({.d_model = 8, .num_heads = 2}, {.batch = 1, .tq = 4, .tk = 4}, 1);
  layer.create(layer.weights());
  const LayerResult untouched = layer.result;
  const auto refuse = [&](const MultiHeadAttention::ForwardArgs& args, const Refusal& refusal) {
    const std::vector<float> x = layer.x;
    require_refused(layer.layer.forward(args, layer.workspace), "MultiHeadAttention::forward",
                    refusal);
    CHECK(layer.x == x);
    CHECK(layer.result.y == untouched.y);
    CHECK(layer.result.lse == untouched.lse);
  };
  auto args = layer.args();
  args.y.data = layer.x.data();
  refuse(args, {kInvalid, "y is in", "the memory of x", kOwn});
  args.y.data = layer.context.data();
  refuse(args, {kInvalid, "y is in", "the memory of context", kOwn});
  args = layer.args();
  args.extras.weights.data = layer.x.data();
  refuse(args, {kInvalid, "weights is in", "the memory of x", kOwn});
  args = layer.args();
  args.extras.lse.data = layer.result.y.data();
  refuse(args, {kInvalid, "lse is in", "the memory of y", kOwn});

  BlockProblem block(
      {.attention = {.d_model = 8, .num_heads = 2}, .d_feed_forward = 12, .cross_attention = true},
      {.batch = 1, .tq = 4, .tk = 4}, 2);
  block.create(block.weights());
  auto of_block = block.args();
  of_block.y.data = block.context.data();
  require_refused(block.block.forward(of_block, block.workspace), "TransformerBlock::forward",
                  {kInvalid, "y is in", "the memory of context", kOwn});
  block.x.resize(64);
  of_block = block.args();
  of_block.y.data = block.x.data() + 8;
  require_refused(block.block.forward(of_block, block.workspace), "TransformerBlock::forward",
                  {kInvalid, "y is in", "the memory of x", kOwn});
}

TEST_CASE("operators: outputs in the memory of what is read are refused", "[bad-input]") {
  Memory m;
  Workspace workspace;
  const auto on = [](const char* out, const char* input) {
    return Refusal{kInvalid, out, input, kOwn};
  };
  const TensorView<float> x = m.at(0, {6, 8});
  const TensorView<float> shifted = m.at(4, {6, 8});
  m.refuse(layer_norm(x, shifted, {}), "layer_norm", on("out is in", "the memory of x"));
  m.refuse(rms_norm(x, shifted, {}), "rms_norm", on("out is in", "the memory of x"));
  m.refuse(layer_norm(x, m.at(100, {6, 8}), {.gamma = m.at(147, {8}), .beta = {}}), "layer_norm",
           on("out is in", "the memory of gamma"));
  m.refuse(layer_norm(x, x, {.gamma = {}, .beta = m.at(40, {8})}), "layer_norm",
           on("out is in", "the memory of beta"));
  m.refuse(activate(x, shifted, Activation::kGelu), "activate", on("out is in", "the memory of x"));
  m.refuse(softmax(x, shifted, {}), "softmax", on("out is in", "the memory of x"));

  const std::int32_t ids[] = {1, 2};
  const TensorView<const std::int32_t> two(ids, {2});
  m.refuse(embedding(x, two, m.at(16, {2, 8})), "embedding",
           on("out is in", "the memory of table"));
  const TensorView<const std::int32_t> inside(
      reinterpret_cast<const std::int32_t*>(m.at(101, {1}).data), {0});
  require_ok(embedding(x, inside, m.at(100, {0, 8})));
  m.refuse(learned_encoding(x, m.at(40, {2, 8}), 0, OutOfRange::kError), "learned_encoding",
           on("out is in", "the memory of table"));

  m.refuse(t5_relative_bias(x, m.at(47, {8, 2, 2}), {}), "t5_relative_bias",
           on("bias is in", "the memory of table"));
  m.refuse(t5_relative_bias(x, with_stride(m.at(100, {8, 2, 2}), 1, 1), {}), "t5_relative_bias",
           {kInvalid, "bias has strides", "[4,1,1]", "a place of its own"});
  const auto q = m.at(0, {1, 2, 3, 4});
  const auto r = m.at(100, {5, 8});
  const auto v = m.at(200, {2, 4});
  for (const auto& [place, name] : {std::pair{20, "q"}, std::pair{90, "r"}, std::pair{207, "v"}}) {
    const std::string memory = std::string("the memory of ") + name;
    m.refuse(transformer_xl_bias(q, r, v, m.at(place, {1, 2, 3, 3})), "transformer_xl_bias",
             on("bias is in", memory.c_str()));
  }
  m.refuse(transformer_xl_bias(q, r, v, with_stride(m.at(300, {1, 2, 3, 3}), 2, 0)),
           "transformer_xl_bias", {kInvalid, "bias has strides", "[18,9,0,1]", "of its own"});

  m.refuse(row_entropy(x, m.at(47, {6})), "row_entropy", on("out is in", "the memory of weights"));
  m.refuse(row_entropy(m.at(0, {2, 3, 8}), with_stride(m.at(100, {2, 3}), 0, 2)), "row_entropy",
           {kInvalid, "out has strides", "[2,1] for [2,3]", "of its own"});
  HeadStatistics statistics;
  statistics.entropy = m.at(100, {1, 2});
  statistics.distance = m.at(101, {1, 2});
  m.refuse(head_statistics(q, statistics), "head_statistics",
           on("distance is in", "the memory of entropy"));
  statistics = {};
  statistics.first_key = m.at(3, {1, 2});
  m.refuse(head_statistics(q, statistics), "head_statistics",
           on("first_key is in", "the memory of weights"));
  statistics = {};
  statistics.max_weight = with_stride(m.at(100, {2, 2}), 0, 1);
  m.refuse(head_statistics(m.at(0, {2, 2, 3, 4}), statistics), "head_statistics",
           {kInvalid, "max_weight has strides", "[1,1]", "of its own"});
  m.refuse(attention_rollout(m.at(0, {1, 2, 4, 4}), m.at(31, {4, 4}), workspace),
           "attention_rollout", on("out is in", "the memory of weights"));
  m.refuse(
      attention_rollout(m.at(0, {1, 2, 4, 4}), with_stride(m.at(100, {4, 4}), 0, 3), workspace),
      "attention_rollout", {kInvalid, "out has strides", "[3,1]", "of its own"});

  m.refuse(rotary_embedding(q, m.at(8, {1, 2, 3, 4}), {}, workspace), "rotary_embedding",
           on("out is in", "the memory of x"));
  m.refuse(rotary_embedding(q, with_stride(m.at(100, {1, 2, 3, 4}), 1, 0), {}, workspace),
           "rotary_embedding", {kInvalid, "out has strides", "[24,0,4,1]", "of its own"});
  RotaryOptions tables;
  tables.cos = m.at(100, {3, 2});
  tables.sin = m.at(110, {3, 2});
  m.refuse(rotary_embedding(q, m.at(114, {1, 2, 3, 4}), tables, workspace), "rotary_embedding",
           on("out is in", "the memory of sin"));
  m.refuse(rotary_embedding(q, m.at(81, {1, 2, 3, 4}), tables, workspace), "rotary_embedding",
           on("out is in", "the memory of cos"));
  m.refuse(rotary_table(m.at(0, {3, 2}), m.at(5, {3, 2}), {}), "rotary_table",
           on("sin is in", "the memory of cos"));
}

TEST_CASE("a value that is none of its enumeration is refused", "[bad-input]") {
  Memory m;
  const auto layout = static_cast<SinusoidLayout>(2);
  const Refusal no_layout{kInvalid, "layout is", "2", "a value of SinusoidLayout"};
  m.refuse(sinusoidal_encoding(m.at(0, {3, 4}), 0, {.layout = layout}), "sinusoidal_encoding",
           no_layout);
  m.refuse(sinusoidal_shift_blocks(m.at(0, {2, 2, 2}), 1, 4, {.layout = layout}),
           "sinusoidal_shift_blocks", no_layout);
  m.refuse(sinusoidal_shift_matrix(m.at(0, {4, 4}), 1, {.layout = layout}),
           "sinusoidal_shift_matrix", no_layout);

  const auto weights = static_cast<WeightLayout>(7);
  LayerProblem layer({.d_model = 8, .num_heads = 2}, {.tq = 2}, 1);
  layer.config.weight_layout = weights;
  MultiHeadAttention made;
  require_refused(MultiHeadAttention::create(layer.config, layer.weights(), made),
                  "MultiHeadAttention::create",
                  {kInvalid, "weight_layout is", "7", "a value of WeightLayout"});
  FeedForward feed_forward;
  const FeedForwardWeights w{
      .w1 = m.at(0, {4, 4}), .b1 = {}, .w2 = m.at(0, {4, 4}), .b2 = {}, .w_gate = {}, .b_gate = {}};
  require_refused(FeedForward::create({.d_model = 4, .d_feed_forward = 4, .weight_layout = weights},
                                      w, feed_forward),
                  "FeedForward::create",
                  {kInvalid, "weight_layout is", "7", "a value of WeightLayout"});
}

TEST_CASE("feed-forward: y partly on x is refused", "[feed-forward][bad-input]") {
  std::vector<float> memory(64, 0.25F);
  const FeedForwardWeights w{.w1 = {memory.data(), {4, 4}},
                             .b1 = {},
                             .w2 = {memory.data(), {4, 4}},
                             .b2 = {},
                             .w_gate = {},
                             .b_gate = {}};
  FeedForward layer;
  require_ok(FeedForward::create({.d_model = 4, .d_feed_forward = 4}, w, layer));
  Workspace workspace;
  const std::vector<float> before = memory;
  const FeedForward::ForwardArgs partly{.x = {memory.data(), {1, 3, 4}},
                                        .y = {memory.data() + 4, {1, 3, 4}}};
  require_refused(layer.forward(partly, workspace), "FeedForward::forward",
                  {kInvalid, "y is in", "the memory of x", kOwn});
  CHECK(layer.forward_scratch_bytes(partly) == 0);
  CHECK(memory == before);
}

}  // namespace
}  // namespace qkv::test
