// Sizes at the end of what an Index holds. On 32 bits two extents of 2^16 have no product, so what overflows
// there is overflown here too, with extents twice as long. Arrays may be that long if they have no elements,
// or one element in the place of all; every other is refused.
#include <catch2/catch_test_macros.hpp>

#include <limits>

#include "block.hpp"
#include "refusal.hpp"
#include "rotary_problem.hpp"

namespace qkv::test::sizes_test {
namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();
/// Its square is 0 in as many bits as an Index has.
constexpr Index kSide = Index{1} << (std::numeric_limits<Index>::digits + 1) / 2;

/// The element of arrays that claim to be larger than they are; nothing may read or write it.
struct Claimed {
  float element = kUntouched;
  TensorView<float> operator()(std::initializer_list<Index> shape) { return {&element, shape}; }
  ~Claimed() { CHECK(element == kUntouched); }
};

TEST_CASE("sizes: a view counts its elements, or as many as there can be", "[sizes]") {
  using View = TensorView<const float>;
  CHECK(View(nullptr, {kSide, kSide}).size() == kMost);
  CHECK(View(nullptr, {kMost, 2}).size() == kMost);
  CHECK(View(nullptr, {kMost, 1}).size() == kMost);
  CHECK(View(nullptr, {kSide, kSide, 0}).size() == 0);
  CHECK(View(nullptr, {0, kSide, kSide, kSide}).size() == 0);
  CHECK(View(nullptr, {2, kMost, kMost}).stride(0) == kMost);
  CHECK(split_heads<const float>(nullptr, 1, kSide, kSide, 2).stride(0) == kMost);
}

TEST_CASE("sizes: arrays whose number of elements is 0 in too few bits are not empty", "[sizes]") {
  // Each of these was taken for an array without elements, and written where it is not.
  Claimed claimed;
  Workspace workspace;
  std::vector<float> q(4, 1.0F);
  AttentionArgs args;
  args.q = args.k = args.v = {q.data(), {1, 1, kSide, 1}};
  args.q.strides[2] = args.k.strides[2] = args.v.strides[2] = 0;
  args.out = claimed({1, 1, kSide, 1});
  args.extras.weights = TensorView<float>(nullptr, {1, 1, kSide, kSide});
  require_refused(attention(args, workspace), "attention",
                  {kInvalid, "weights has no data", std::to_string(kSide).c_str(), "elements"});
  args.extras = {};
  args.options.mask = {nullptr, {kSide}};
  require_refused(attention(args, workspace), "attention",
                  {kInvalid, "mask has no data", std::to_string(kSide).c_str(), "elements"});
  const TensorView<float> square(nullptr, {kSide, kSide});
  require_refused(softmax(square, claimed({kSide, kSide}), {}), "softmax",
                  {kInvalid, "x has no data", "", "elements"});
  require_refused(sinusoidal_encoding(square, 0, {}), "sinusoidal_encoding",
                  {kInvalid, "table has no data", "", "elements"});
  require_refused(attention_rollout(TensorView<float>(nullptr, {kSide, kSide, 1, 1}),
                                    claimed({1, 1}), workspace),
                  "attention_rollout", {kInvalid, "weights has no data", "", "elements"});
}

TEST_CASE("sizes: outputs are apart by their strides, however long these are", "[sizes]") {
  Claimed claimed;
  Workspace workspace;
  // Two rows kMost apart would lie beside each other if their distance wrapped around.
  AttentionArgs args;
  std::vector<float> q(8, 1.0F);
  args.q = args.k = args.v = {q.data(), {1, 1, 2, 2}};
  args.out = claimed({1, 1, 2, 2});
  args.out.shape = {2, 1, 2, 2};
  args.q.shape = args.k.shape = args.v.shape = {2, 1, 2, 2};
  args.q.strides = args.k.strides = args.v.strides = {0, 0, 2, 1};
  args.out.strides = {kMost, kMost, kMost, 1};
  require_refused(attention(args, workspace), "attention",
                  {kInvalid, "out has strides", "for [2,1,2,2]", "no two elements overlap"});
}

TEST_CASE("sizes: one key in the place of more than memory has is refused", "[sizes][memory]") {
  for (const Index keys : {kMost, kMost - 1, kMost / 2, kSide * 2}) {
    CAPTURE(keys);
    Problem p({.tq = 2, .tk = 1, .dk = 256, .dv = 1}, 1);
    AttentionArgs args = p.args();
    args.extras = {};
    args.k.shape[2] = args.v.shape[2] = keys;
    args.k.strides[2] = args.v.strides[2] = 0;
    const std::size_t floats = attention_scratch_bytes(args) / sizeof(float);
    CHECK(floats >= static_cast<std::size_t>(keys) / 2);
    // A machine may have memory for the last of them.
    if (keys >= kMost / 2) {
      CHECK(attention(args, p.workspace).code() == StatusCode::kOutOfMemory);
      CHECK(p.result.out == std::vector<float>(2, kUntouched));
    } else {
      // Values are packed too: keys are so much wider that these cannot stand in for them.
      CHECK(floats >= static_cast<std::size_t>(keys * args.k.extent(3)));
    }
  }
}

TEST_CASE("sizes: 2^20 queries, and 2^20 keys", "[sizes]") {
  // The values are 1, so each row is 1 whatever its weights are.
  const Index tokens = Index{1} << 20;
  const float one = 1.0F;
  std::vector<float> out(static_cast<std::size_t>(tokens), kUntouched);
  Workspace workspace;
  const auto repeated = [&](Index count) {
    TensorView<const float> view(&one, {1, 1, count, 1});
    view.strides[2] = 0;
    return view;
  };
  for (const auto& [tq, tk] : {std::pair{tokens, Index{1}}, {Index{1}, tokens}}) {
    CAPTURE(tq, tk);
    std::fill(out.begin(), out.end(), kUntouched);
    require_ok(attention({.q = repeated(tq),
                          .k = repeated(tk),
                          .v = repeated(tk),
                          .out = {out.data(), {1, 1, tq, 1}},
                          .options = {},
                          .extras = {}},
                         workspace));
    // Of 2^20 keys the bound is a fifth: the ceilings say more.
    const double bound = bounds::kU * (3 * static_cast<double>(tk) + 40 + 2 * 17);
    Quantity error("attention out", tk > 1 ? ", 2^20 keys" : ", 2^20 queries");
    for (Index i = 0; i < tq; ++i) {
      error.add(out[static_cast<std::size_t>(i)], 1.0, bound);
    }
    require_within(error);
  }
}

TEST_CASE("sizes: arrays without elements may have any other extent", "[sizes][empty]") {
  // Whoever walked along these would never return.
  Workspace workspace;
  const TensorView<float> none(nullptr, {kMost, 0, kMost, 4});
  const TensorView<float> headless(nullptr, {kMost, 0, 9, 4});
  require_ok(rotary_embedding(headless, headless, {}, workspace));
  require_ok(row_entropy(none, {nullptr, {kMost, 0, kMost}}));
  HeadStatistics statistics;
  statistics.entropy = {nullptr, {kMost, 0}};
  require_ok(head_statistics(none, statistics, kMost));
  require_ok(head_statistics({nullptr, {kMost, kMost, 0, 1}}, {}, 0));
  require_ok(learned_encoding({nullptr, {1, 0}}, {nullptr, {kMost, 0}}, 0, OutOfRange::kClamp));
  require_ok(softmax(none, none, {.axis = 1}));
  require_ok(softmax(none, none, {.axis = 2}));
  require_ok(layer_norm(none, none, {.axis = 1}));
  require_ok(sinusoidal_encoding({nullptr, {0, kMost}}, 5, {}));
  require_ok(attention({.q = {nullptr, {0, 1, kMost, 4}},
                        .k = {nullptr, {0, 1, 1, 4}},
                        .v = {nullptr, {0, 1, 1, 4}},
                        .out = {nullptr, {0, 1, kMost, 4}},
                        .options = {},
                        .extras = {}},
                       workspace));

  MultiHeadAttentionConfig config{.d_model = 8, .num_heads = 2};
  config.rotary = RotaryOptions{};
  LayerProblem p(config, {.tq = 1}, 2);
  p.create(p.weights());
  require_ok(
      p.layer.forward({.x = {nullptr, {kMost, 0, 8}}, .y = {nullptr, {kMost, 0, 8}}}, p.workspace));
}

TEST_CASE("sizes: positions past the last that a number holds are refused", "[sizes][bad-input]") {
  Claimed claimed;
  Workspace workspace;
  require_refused(
      sinusoidal_encoding(claimed({kMost, 1}), 7, {}), "sinusoidal_encoding",
      {kRange, "offset + length reaches", std::to_string(kMost - 1).c_str(), "at most 1048576"});
  require_refused(sinusoidal_shift_blocks(claimed({1, 2, 2}), 0, kMost, {}),
                  "sinusoidal_shift_blocks",
                  {kShapeError, "blocks is", "[1,2,2]", std::to_string(kMost / 2 + 1).c_str()});
  const TensorView<float> none(nullptr, {1, 0, kMost, 4});
  require_refused(rotary_embedding(none, none, {.offset = 9}, workspace), "rotary_embedding",
                  {kRange, "offset + tokens - 1", std::to_string(kMost).c_str(), "1048576"});
  require_refused(
      transformer_xl_bias(TensorView<float>(nullptr, {0, kSide, kMost, kSide}), claimed({1, 1}),
                          claimed({1, 1}), {nullptr, {0, kSide, kMost, kMost}}),
      "transformer_xl_bias", {kShapeError, "r is", "[1,1]", std::to_string(kMost).c_str()});

  // A layer's own offset, and the length of a cache on top.
  MultiHeadAttentionConfig config{.d_model = 4, .num_heads = 1};
  config.rotary = RotaryOptions{.offset = kMost};
  LayerProblem p(config, {.tq = 1}, 3);
  p.create(p.weights());
  KvCache cache;
  require_ok(KvCache::create({.num_kv_heads = 1, .capacity = 4, .d_k = 4}, cache));
  const std::vector<float> token(4, 0.5F);
  require_ok(cache.append({token.data(), {1, 1, 1, 4}}, {token.data(), {1, 1, 1, 4}}));
  auto args = p.args();
  args.extras = {};
  args.cache = &cache;
  require_refused(p.layer.forward(args, p.workspace), "MultiHeadAttention::forward",
                  {kRange, "offset is", std::to_string(kMost).c_str(), "1048576"});
}

TEST_CASE("sizes: a rank that no view has is not followed in a layer's positions",
          "[sizes][bad-input]") {
  MultiHeadAttentionConfig config{.d_model = 4, .num_heads = 1};
  const std::int32_t position = 1;
  config.rotary = RotaryOptions{};
  config.rotary->positions = {&position, {1}};
  config.rotary->positions.rank = 1000;
  LayerProblem p(config, {.tq = 1}, 4);
  require_refused(MultiHeadAttention::create(p.config, p.weights(), p.layer),
                  "MultiHeadAttention::create",
                  {kShapeError, "rotary.positions is", "of rank 1000", "[*,*,*]"});
}

TEST_CASE("sizes: positions without elements are copied by no one", "[sizes][empty]") {
  MultiHeadAttentionConfig config{.d_model = 4, .num_heads = 1};
  config.rotary = RotaryOptions{};
  config.rotary->positions = {nullptr, {0}};
  LayerProblem p(config, {.tq = 0}, 5);
  p.create(p.weights());
  auto args = p.args();
  args.extras = {};
  require_ok(p.layer.forward(args, p.workspace));
}

TEST_CASE("sizes: what a block takes is counted in full", "[sizes][block]") {
  BlockProblem p({.attention = {.d_model = 8, .num_heads = 2}, .d_feed_forward = 8}, {.tq = 1}, 6);
  p.create(p.weights());
  auto args = p.args();
  args.x.shape[1] = args.y.shape[1] = kMost / 8;
  CHECK(p.block.forward_scratch_bytes(args) >= std::numeric_limits<std::size_t>::max() / 8 * 7);
  CHECK(p.block.forward(args, p.workspace).code() == StatusCode::kOutOfMemory);
  CHECK(p.y == std::vector<float>(p.y.size(), kUntouched));
}

TEST_CASE("sizes: a cache without room may have any number of heads", "[sizes][empty]") {
  KvCache cache;
  const Index heads = kMost / 16;
  require_ok(KvCache::create({.num_kv_heads = heads, .capacity = 0, .d_k = 1}, cache));
  require_ok(cache.append({nullptr, {1, heads, 0, 1}}, {nullptr, {1, heads, 0, 1}}));
  CHECK(cache.length() == 0);
}

#if defined(__EMSCRIPTEN__)
TEST_CASE("sizes: the hidden layer of 192 tokens is counted in full on 32 bits",
          "[sizes][memory]") {
  // 2 * 192 * 11184811 floats are 2^32 + 128: a wrapped product made room for 128 and wrote 17 GB there.
  const Index wide = 11184811;
  const std::vector<float> row(static_cast<std::size_t>(wide), 0.0F);
  const float one = 1.0F;
  FeedForwardWeights w;
  w.w1 = w.w_gate = {&one, {wide, 1}};
  w.w1.strides[0] = w.w_gate.strides[0] = 0;
  w.w2 = {row.data(), {1, wide}};
  FeedForward layer;
  require_ok(FeedForward::create({.d_model = 1,
                                  .d_feed_forward = wide,
                                  .activation = FeedForwardActivation::kSwiglu,
                                  .weight_layout = WeightLayout::kOutIn},
                                 w, layer));
  std::vector<float> x(192, 1.0F);
  std::vector<float> y(192, kUntouched);
  const FeedForward::ForwardArgs args{.x = {x.data(), {1, 192, 1}}, .y = {y.data(), {1, 192, 1}}};
  CHECK(layer.forward_scratch_bytes(args) >= 0xFFFFFFFC);
  Workspace workspace;
  CHECK(layer.forward(args, workspace).code() == StatusCode::kOutOfMemory);
  CHECK(y == std::vector<float>(192, kUntouched));
}
#endif

}  // namespace
}  // namespace qkv::test::sizes_test
