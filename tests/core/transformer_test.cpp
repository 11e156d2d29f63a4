// TransformerBlock against the oracle, against its parts put together by hand.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "block.hpp"
#include "guarded.hpp"
#include "refusal.hpp"

namespace qkv::test::transformer_test {
namespace {

using F = FeedForwardActivation;
constexpr NormPlacement kPlacements[] = {NormPlacement::kPre, NormPlacement::kPost};
constexpr NormType kTypes[] = {NormType::kLayer, NormType::kRms};
constexpr Index kSizes[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 63, 64, 65, 127, 129};

TEST_CASE("block: within the bounds for every size", "[block]") {
  std::uint64_t seed = 1;
  for (NormPlacement placement : kPlacements) {
    for (Index size : kSizes) {
      CAPTURE(static_cast<int>(placement), size);
      TransformerBlockConfig c = encoder();
      c.norm = placement;
      BlockProblem(c, {.batch = 1, .tq = size}, seed++).check();
      c.d_feed_forward = size;
      BlockProblem(c, {.batch = 2, .tq = 3}, seed++).check();
      c.attention = {.d_model = size, .num_heads = 1};
      c.d_feed_forward = 9;
      BlockProblem(c, {.batch = 1, .tq = 4}, seed++).check();
    }
  }
}

TEST_CASE("block: each placement, norm and activation", "[block]") {
  std::uint64_t seed = 100;
  for (NormPlacement placement : kPlacements) {
    for (NormType type : kTypes) {
      for (F f : {F::kRelu, F::kGelu, F::kGeluTanh, F::kSilu, F::kSwiglu}) {
        for (bool cross : {false, true}) {
          CAPTURE(static_cast<int>(placement), static_cast<int>(type), static_cast<int>(f), cross);
          TransformerBlockConfig c = cross ? decoder() : encoder();
          c.norm = placement;
          c.norm_type = type;
          c.activation = f;
          BlockProblem(c, {.batch = 2, .tq = 6, .tk = 9}, seed++).check();
        }
      }
    }
  }
}

TEST_CASE("block: contexts of every length", "[block][cross]") {
  for (Index tk : kSizes) {
    CAPTURE(tk);
    BlockProblem(decoder(), {.batch = 2, .tq = 5, .tk = tk}, 200).check();
  }
}

TEST_CASE("block: epsilon reaches all norms", "[block]") {
  for (NormPlacement placement : kPlacements) {
    TransformerBlockConfig c = decoder();
    c.norm = placement;
    c.epsilon = 0.5F;
    BlockProblem(c, {.batch = 2, .tq = 6, .tk = 9}, 300).check();
  }
}

TEST_CASE("block: optional weights may be left out", "[block]") {
  BlockProblem p(decoder(), {.batch = 2, .tq = 6, .tk = 9}, 400);
  TransformerBlockWeights w = p.weights();
  w.norm1.beta = w.norm_cross.beta = w.norm2.beta = {};
  w.attention.bq = w.attention.bo = w.cross.bk = w.cross.bo = {};
  w.feed_forward.b1 = w.feed_forward.b2 = {};
  // The oracle of a layer takes biases that are absent as zero too.
  p.check(w);
}

TEST_CASE("block: options concern the self-attention", "[block]") {
  for (NormPlacement placement : kPlacements) {
    TransformerBlockConfig c = decoder();
    c.norm = placement;
    BlockProblem p(c, {.batch = 2, .tq = 9, .tk = 14}, 500);
    std::vector<std::uint8_t> mask(9 * 9);
    for (auto& m : mask) {
      m = p.random.chance(0.7) ? 1 : 0;
    }
    p.options.mask = {mask.data(), {9, 9}};
    p.options.scale = 0.3F;
    p.options.temperature = 1.5F;
    p.options.causal = true;
    p.check();
  }
}

/// The two steps of every sub-layer, with public operators only.
struct ByHand {
  const BlockProblem& p;
  TransformerBlockWeights w;
  std::vector<float> h;

  [[nodiscard]] std::vector<float> normalized(const NormWeights& norm,
                                              const std::vector<float>& x) const {
    const Index d = p.config.attention.d_model;
    const auto rows = static_cast<Index>(x.size()) / d;
    std::vector<float> out(x.size());
    NormOptions o;
    o.gamma = norm.gamma;
    o.beta = norm.beta;
    o.epsilon = p.config.epsilon;
    const TensorView<const float> from{x.data(), {rows, d}};
    const TensorView<float> to{out.data(), {rows, d}};
    require_ok(p.config.norm_type == NormType::kLayer ? layer_norm(from, to, o)
                                                      : rms_norm(from, to, o));
    return out;
  }
  template <class Sub>
  void sublayer(const NormWeights& norm, Sub sub) {
    const bool pre = p.config.norm == NormPlacement::kPre;
    const std::vector<float> out = sub(pre ? normalized(norm, h) : h);
    for (std::size_t i = 0; i < h.size(); ++i) {
      h[i] += out[i];
    }
    h = pre ? h : normalized(norm, h);
  }
  [[nodiscard]] std::vector<float> attention(const MultiHeadAttention& layer,
                                             MultiHeadAttention::ForwardArgs args,
                                             const std::vector<float>& x) const {
    std::vector<float> out(x.size());
    const auto& s = p.shape;
    args.x = {x.data(), {s.batch, s.tq, p.config.attention.d_model}};
    args.y = {out.data(), {s.batch, s.tq, p.config.attention.d_model}};
    Workspace workspace;
    require_ok(layer.forward(args, workspace));
    return out;
  }
};

std::vector<float> by_hand(BlockProblem& p) {
  ByHand hand{p, p.weights(), p.x};
  MultiHeadAttentionConfig self = p.config.attention;
  self.d_context = 0;
  MultiHeadAttention attention;
  require_ok(MultiHeadAttention::create(self, hand.w.attention, attention));
  MultiHeadAttention::ForwardArgs self_args;
  self_args.options = p.options;
  hand.sublayer(hand.w.norm1,
                [&](const auto& x) { return hand.attention(attention, self_args, x); });

  if (p.config.cross_attention) {
    MultiHeadAttentionConfig c = p.config.attention;
    c.rotary.reset();
    MultiHeadAttention cross;
    require_ok(MultiHeadAttention::create(c, hand.w.cross, cross));
    MultiHeadAttention::ForwardArgs cross_args;
    cross_args.context = p.args().context;
    hand.sublayer(hand.w.norm_cross,
                  [&](const auto& x) { return hand.attention(cross, cross_args, x); });
  }
  FeedForward feed_forward;
  require_ok(FeedForward::create(
      {p.config.attention.d_model, p.config.d_feed_forward, p.config.activation, {}},
      hand.w.feed_forward, feed_forward));
  hand.sublayer(hand.w.norm2, [&](const auto& x) {
    std::vector<float> out(x.size());
    const auto& s = p.shape;
    Workspace workspace;
    require_ok(feed_forward.forward({{x.data(), {s.batch, s.tq, p.config.attention.d_model}},
                                     {out.data(), {s.batch, s.tq, p.config.attention.d_model}}},
                                    workspace));
    return out;
  });
  return hand.h;
}

TEST_CASE("block: gives the bits of its parts put together by hand", "[block]") {
  std::uint64_t seed = 600;
  for (NormPlacement placement : kPlacements) {
    for (NormType type : kTypes) {
      for (F f : {F::kGelu, F::kSwiglu}) {
        for (bool cross : {false, true}) {
          for (bool rotary : {false, true}) {
            CAPTURE(static_cast<int>(placement), static_cast<int>(type), static_cast<int>(f), cross,
                    rotary);
            TransformerBlockConfig c = cross ? decoder() : encoder();
            c.attention.d_k = 4;
            c.norm = placement;
            c.norm_type = type;
            c.activation = f;
            if (rotary) {
              c.attention.rotary.emplace();
            }
            BlockProblem p(c, {.batch = 2, .tq = 33, .tk = 11}, seed++);
            p.options.causal = true;
            CHECK(first_difference(by_hand(p), p.run()) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("block: the extras are those of the self-attention", "[block]") {
  BlockProblem p(decoder(), {.batch = 2, .tq = 6, .tk = 9}, 700);
  const std::vector<float> plain = p.run();
  MultiHeadAttentionConfig self = p.config.attention;
  self.d_context = 0;
  LayerProblem layer(self, {.batch = 2, .tq = 6}, 700);
  layer.create(p.weights().attention);
  layer.x = ByHand{p, p.weights(), {}}.normalized(p.weights().norm1, p.x);
  const LayerResult expected = layer.run();

  LayerResult got = expected;
  for (auto* values : {&got.weights, &got.lse, &got.entropy}) {
    std::fill(values->begin(), values->end(), kUntouched);
  }
  auto args = p.args();
  args.extras.weights = {got.weights.data(), {2, 4, 6, 6}};
  args.extras.lse = {got.lse.data(), {2, 4, 6}};
  args.extras.entropy = {got.entropy.data(), {2, 4, 6}};
  require_ok(p.block.forward(args, p.workspace));
  CHECK(first_difference(expected.weights, got.weights) == "");
  CHECK(first_difference(expected.lse, got.lse) == "");
  CHECK(first_difference(expected.entropy, got.entropy) == "");
  CHECK(first_difference(plain, p.y) == "");
}

TEST_CASE("block: x itself may be y", "[block][alias]") {
  for (NormPlacement placement : kPlacements) {
    for (bool cross : {false, true}) {
      CAPTURE(static_cast<int>(placement), cross);
      TransformerBlockConfig c = cross ? decoder() : encoder();
      c.norm = placement;
      BlockProblem p(c, {.batch = 2, .tq = 40, .tk = 9}, 800);
      const std::vector<float> apart = p.run();
      auto args = p.args();
      args.y.data = p.x.data();
      require_ok(p.block.forward(args, p.workspace));
      CHECK(first_difference(apart, p.x) == "");
    }
  }
}

TEST_CASE("block: causal rows do not see tokens of the future, to the bit", "[block][causal]") {
  for (NormPlacement placement : kPlacements) {
    TransformerBlockConfig c = decoder();
    c.norm = placement;
    BlockProblem p(c, {.batch = 1, .tq = 40, .tk = 9}, 900);
    p.options.causal = true;
    const std::vector<float> before = p.run();
    for (Index split : {39, 31, 8, 7, 1}) {
      CAPTURE(static_cast<int>(placement), split);
      std::fill(p.x.begin() + split * 12, p.x.end(), NAN);
      p.run();
      REQUIRE(first_difference({before.begin(), before.begin() + split * 12},
                               {p.y.begin(), p.y.begin() + split * 12}) == "");
    }
  }
}

TEST_CASE("block: batch rows are independent, bit for bit", "[block]") {
  BlockProblem both(decoder(), {.batch = 2, .tq = 6, .tk = 9}, 1000);
  both.run();
  for (Index b : {0, 1}) {
    BlockProblem one(decoder(), {.batch = 1, .tq = 6, .tk = 9}, 1000);
    one.create(both.weights());
    one.x.assign(both.x.begin() + b * 72, both.x.begin() + (b + 1) * 72);
    one.context.assign(both.context.begin() + b * 63, both.context.begin() + (b + 1) * 63);
    CHECK(first_difference({both.y.begin() + b * 72, both.y.begin() + (b + 1) * 72}, one.run()) ==
          "");
  }
}

std::vector<double> exactly(const BlockProblem& p) {
  return p.exact()({p.x.begin(), p.x.end()}, {p.context.begin(), p.context.end()});
}

TEST_CASE("block: tokens of the context past a length count for nothing", "[block][cross]") {
  for (NormPlacement placement : kPlacements) {
    TransformerBlockConfig c = decoder();
    c.norm = placement;
    BlockProblem p(c, {.batch = 3, .tq = 6, .tk = 9}, 1100);
    const std::vector<std::int32_t> lengths{9, 4, 0};
    std::vector<std::uint8_t> mask(3 * 9);
    for (Index b = 0; b < 3; ++b) {
      for (Index j = 0; j < 9; ++j) {
        mask[static_cast<std::size_t>(b * 9 + j)] = j < lengths[static_cast<std::size_t>(b)];
      }
    }
    p.create(p.weights());
    auto args = p.args();
    args.context_key_lengths = {lengths.data(), {3}};
    require_ok(p.block.forward(args, p.workspace));
    p.cross_options.mask = {mask.data(), {3, 1, 1, 9}};
    require_close("block y", p.y, exactly(p));

    const std::vector<float> before = p.y;
    for (Index b = 0; b < 3; ++b) {
      std::fill(p.context.begin() + (b * 9 + lengths[static_cast<std::size_t>(b)]) * 7,
                p.context.begin() + (b + 1) * 63, NAN);
    }
    require_ok(p.block.forward(args, p.workspace));
    CHECK(first_difference(before, p.y) == "");
  }
}

TEST_CASE("block: decoding one token at a time gives the rows of one causal pass",
          "[block][cache]") {
  for (bool rotary : {false, true}) {
    for (bool cross : {false, true}) {
      CAPTURE(rotary, cross);
      constexpr Index kT = 20;
      TransformerBlockConfig c = cross ? decoder() : encoder();
      c.attention.d_k = 4;
      if (rotary) {
        c.attention.rotary.emplace();
      }
      BlockProblem p(c, {.batch = 2, .tq = kT, .tk = 9}, 1200);
      p.options.causal = true;
      const std::vector<float> full = p.run();

      const auto& sizes = p.cross.resolved;
      KvCache cache;
      require_ok(KvCache::create({.batch = 2,
                                  .num_kv_heads = sizes.num_kv_heads,
                                  .capacity = kT,
                                  .d_k = sizes.d_k,
                                  .d_v = sizes.d_v},
                                 cache));
      std::vector<float> x(2 * 12);
      std::vector<float> y(2 * 12);
      Quantity decoded("block decoded");
      for (Index t = 0; t < kT; ++t) {
        for (Index i = 0; i < 24; ++i) {
          x[static_cast<std::size_t>(i)] =
              p.x[static_cast<std::size_t>((i / 12 * kT + t) * 12 + i % 12)];
        }
        auto args = p.args();
        args.x = {x.data(), {2, 1, 12}};
        args.y = {y.data(), {2, 1, 12}};
        args.cache = &cache;
        require_ok(p.block.forward(args, p.workspace));
        REQUIRE(cache.length() == t + 1);
        for (Index i = 0; i < 24; ++i) {
          const auto at = static_cast<std::size_t>((i / 12 * kT + t) * 12 + i % 12);
          const auto expected = static_cast<double>(full[at]);
          // Both are that close to the exact value.
          decoded.add(static_cast<double>(y[static_cast<std::size_t>(i)]), expected,
                      2 * bounds::kBlock * std::max(1.0, std::abs(expected)));
        }
      }
      require_within(decoded);
    }
  }
}

TEST_CASE("block: NaN stays in its batch row", "[block][extremes]") {
  BlockProblem p(decoder(), {.batch = 2, .tq = 6, .tk = 9}, 1400);
  const std::vector<float> before = p.run();
  p.x[72 + 5] = NAN;
  p.run();
  CHECK(first_difference({before.begin(), before.begin() + 72}, {p.y.begin(), p.y.begin() + 72}) ==
        "");
  CHECK(std::all_of(p.y.begin() + 72, p.y.end(), [](float y) { return std::isnan(y); }));
}

TEST_CASE("block: no tokens, no batch rows, no context", "[block][empty]") {
  BlockProblem no_tokens(decoder(), {.batch = 2, .tq = 0, .tk = 9}, 1500);
  CHECK(no_tokens.run().empty());
  BlockProblem no_batch(decoder(), {.batch = 0, .tq = 3, .tk = 9}, 1501);
  CHECK(no_batch.run().empty());
  BlockProblem(decoder(), {.batch = 2, .tq = 3, .tk = 0}, 1502).check();
}

TEST_CASE("block: the arrays given to create() may go away, and the block may move",
          "[block][move]") {
  TransformerBlockConfig c = decoder();
  c.attention.d_k = 4;
  c.attention.rotary.emplace();
  BlockProblem p(c, {.batch = 2, .tq = 6, .tk = 9}, 1600);
  const std::vector<float> before = p.run();
  for (auto* values : {&p.self.wq, &p.self.wo, &p.cross.wk, &p.cross.bo, &p.norm1.gamma,
                       &p.norm_cross.beta, &p.norm2.gamma, &p.w1, &p.w2, &p.b1, &p.b2}) {
    std::fill(values->begin(), values->end(), NAN);
  }
  TransformerBlock moved(std::move(p.block));
  // NOLINTNEXTLINE(bugprone-use-after-move): what it does is the question.
  const Status empty = p.block.forward(p.args(), p.workspace);
  CHECK(empty.code() == StatusCode::kInvalidArgument);
  CHECK(std::string(empty.message()) ==
        "TransformerBlock::forward: the block is empty, expected one made by create()");
  CHECK(p.block.forward_scratch_bytes(p.args()) == 0);
  p.block = std::move(moved);
  CHECK(first_difference(before, p.run()) == "");
}

TEST_CASE("block: creating over a block replaces it", "[block]") {
  BlockProblem old(decoder(), {.batch = 2, .tq = 6, .tk = 9}, 1700);
  old.run();
  TransformerBlockConfig c = encoder();
  c.norm_type = NormType::kRms;
  BlockProblem p(c, {.batch = 2, .tq = 6}, 1701);
  p.block = std::move(old.block);
  TransformerBlockWeights w = p.weights();
  w.feed_forward.b2 = {};
  p.create(w);
  p.check(w);
}

TEST_CASE("block: config() has every size filled in", "[block]") {
  TransformerBlockConfig c = encoder();
  c.epsilon = 1e-3F;
  BlockProblem p(c, {.batch = 1, .tq = 1}, 1800);
  p.run();
  CHECK(p.block.config().attention.num_kv_heads == 3);
  CHECK(p.block.config().attention.d_k == 4);
  CHECK(p.block.config().attention.d_v == 4);
  CHECK(p.block.config().attention.d_context == 12);
  CHECK(p.block.config().epsilon == 1e-3F);
  BlockProblem with_context(decoder(), {.batch = 1, .tq = 1, .tk = 1}, 1801);
  with_context.run();
  CHECK(with_context.block.config().attention.d_context == 7);
  CHECK(with_context.block.config().cross_attention);
}

TEST_CASE("block: nothing outside the arrays is touched", "[block][memory][guard]") {
  for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
    for (NormPlacement placement : kPlacements) {
      for (Index d : {2, 6, 8, 18, 64, 66}) {
        CAPTURE(static_cast<int>(edge), static_cast<int>(placement), d);
        TransformerBlockConfig c = decoder();
        c.norm = placement;
        c.attention = {.d_model = d, .num_heads = 2, .d_context = d + 1};
        BlockProblem p(c, {.batch = 2, .tq = 5, .tk = 3}, 2200);
        const std::vector<float> expected = p.run();
        TransformerBlockWeights w = p.weights();
        const Guarded gamma(p.norm1.gamma, edge);
        const Guarded beta(p.norm_cross.beta, edge);
        const Guarded w1(p.w1, edge);
        const Guarded x(p.x, edge);
        const Guarded context(p.context, edge);
        const Guarded<float> y(p.y.size(), edge);
        w.norm1.gamma.data = gamma.data();
        w.norm_cross.beta.data = beta.data();
        w.feed_forward.w1.data = w1.data();
        p.create(w);
        auto args = p.args();
        args.x.data = x.data();
        args.context.data = context.data();
        args.y.data = y.data();
        require_ok(p.block.forward(args, p.workspace));
        REQUIRE(first_difference(expected, y.values()) == "");
        REQUIRE(y.intact());
      }
    }
  }
}

}  // namespace
}  // namespace qkv::test::transformer_test
