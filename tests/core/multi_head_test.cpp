// The multi-head layer against the oracle, and its ways of taking weights against each other.
#include <catch2/catch_test_macros.hpp>

#include <memory>

#include "layer.hpp"

namespace qkv::test::multi_head_test {
namespace {

void require_same(const LayerResult& a, const LayerResult& b) {
  REQUIRE(first_difference(a.y, b.y) == "");
  REQUIRE(first_difference(a.weights, b.weights) == "");
  REQUIRE(first_difference(a.lse, b.lse) == "");
  REQUIRE(first_difference(a.entropy, b.entropy) == "");
}

TEST_CASE("layer: self-attention of every size is within the bounds", "[layer]") {
  std::uint64_t seed = 1;
  for (Index d_model : {1, 2, 6, 8, 12, 24, 40, 64, 66, 80}) {
    for (Index heads : {1, 2, 4}) {
      for (Index t : {1, 7, 16, 33}) {
        if (d_model % heads != 0) {
          continue;
        }
        CAPTURE(d_model, heads, t);
        LayerProblem({.d_model = d_model, .num_heads = heads}, {.batch = 2, .tq = t}, seed++)
            .check();
      }
    }
  }
}

TEST_CASE("layer: every number of rows up to a few tiles", "[layer]") {
  for (Index t = 1; t <= 26; ++t) {
    CAPTURE(t);
    LayerProblem({.d_model = 10, .num_heads = 2}, {.tq = t}, 40).check();
  }
}

TEST_CASE("layer: more rows than the product takes at a time", "[layer]") {
  LayerProblem({.d_model = 34, .num_heads = 2}, {.batch = 4, .tq = 195}, 45).check();
}

TEST_CASE("layer: 128 tokens of width 128", "[layer]") {
  LayerProblem({.d_model = 128, .num_heads = 8}, {.tq = 128}, 50).check();
}

TEST_CASE("layer: cross-attention with a context of another width and length", "[layer]") {
  std::uint64_t seed = 100;
  for (Index d_context : {1, 5, 12, 31}) {
    for (Index tk : {1, 6, 19, 65}) {
      CAPTURE(d_context, tk);
      LayerProblem({.d_model = 12, .num_heads = 3, .d_context = d_context},
                   {.batch = 2, .tq = 7, .tk = tk}, seed++)
          .check();
    }
  }
}

TEST_CASE("layer: a context equal to x gives the bits of self-attention", "[layer]") {
  LayerProblem self({.d_model = 12, .num_heads = 3}, {.batch = 2, .tq = 7}, 200);
  LayerProblem cross({.d_model = 12, .num_heads = 3}, {.batch = 2, .tq = 7, .tk = 7}, 200);
  cross.context = cross.x;
  require_same(self.run(), cross.run());
}

TEST_CASE("layer: grouped key/value heads", "[layer][gqa]") {
  std::uint64_t seed = 300;
  for (Index kv_heads : {1, 2, 4, 8}) {
    CAPTURE(kv_heads);
    LayerProblem({.d_model = 32, .num_heads = 8, .num_kv_heads = kv_heads}, {.batch = 2, .tq = 9},
                 seed++)
        .check();
  }
}

TEST_CASE("layer: d_k and d_v of one's own", "[layer]") {
  std::uint64_t seed = 400;
  for (Index d_k : {1, 3, 16, 17}) {
    for (Index d_v : {0, 1, 5, 20}) {
      CAPTURE(d_k, d_v);
      // d_model need not be a multiple of num_heads then.
      LayerProblem({.d_model = 7, .num_heads = 3, .d_k = d_k, .d_v = d_v}, {.batch = 2, .tq = 5},
                   seed++)
          .check();
    }
  }
}

TEST_CASE("layer: each bias counts, and each may be left out", "[layer]") {
  for (int given = 0; given < 16; ++given) {
    CAPTURE(given);
    LayerProblem p({.d_model = 12, .num_heads = 3}, {.batch = 2, .tq = 5}, 500);
    MultiHeadAttentionWeights w = p.weights();
    TensorView<const float>* biases[] = {&w.bq, &w.bk, &w.bv, &w.bo};
    for (int i = 0; i < 4; ++i) {
      if ((given >> i & 1) == 0) {
        *biases[i] = {};
      }
    }
    p.check(w);
  }
}

TEST_CASE("layer: options reach attention", "[layer]") {
  LayerProblem p({.d_model = 12, .num_heads = 3}, {.batch = 2, .tq = 9, .tk = 14}, 600);
  Random random(601);
  std::vector<std::uint8_t> mask(9 * 14);
  for (auto& m : mask) {
    m = random.chance(0.7) ? 1 : 0;
  }
  const std::vector<float> bias = random_floats(random, 3 * 14, 1.0F);
  p.options.mask = {mask.data(), {9, 14}};
  p.options.bias = {bias.data(), {3, 1, 14}};
  p.options.scale = 0.3F;
  p.options.temperature = 1.5F;
  p.options.causal = true;
  p.options.causal_offset = 5;
  p.check();
}

TEST_CASE("layer: causal rows do not see tokens of the future, to the bit", "[layer][causal]") {
  LayerProblem p({.d_model = 12, .num_heads = 3}, {.tq = 40}, 700);
  p.options.causal = true;
  const std::vector<float> before = p.run().y;
  for (Index split : {1, 7, 8, 31, 39}) {
    CAPTURE(split);
    std::fill(p.x.begin() + split * 12, p.x.end(), NAN);
    const std::vector<float>& after = p.run().y;
    REQUIRE(first_difference({before.begin(), before.begin() + split * 12},
                             {after.begin(), after.begin() + split * 12}) == "");
    p = LayerProblem({.d_model = 12, .num_heads = 3}, {.tq = 40}, 700);
    p.options.causal = true;
  }
}

TEST_CASE("layer: weight rows of a range are rows of the whole", "[layer]") {
  LayerProblem p({.d_model = 12, .num_heads = 3}, {.tq = 20}, 800);
  const std::vector<float> full = p.run().weights;
  std::vector<float> rows(3 * 5 * 20);
  auto args = p.args();
  args.extras.row_begin = 9;
  args.extras.row_end = 14;
  args.extras.weights = {rows.data(), {1, 3, 5, 20}};
  require_ok(p.layer.forward(args, p.workspace));
  for (Index h = 0; h < 3; ++h) {
    REQUIRE(first_difference({full.begin() + (h * 20 + 9) * 20, full.begin() + (h * 20 + 14) * 20},
                             {rows.begin() + h * 100, rows.begin() + (h + 1) * 100}) == "");
  }
}

/// Each with grouped heads and d_v of its own, so that no two parts have the same width.
LayerProblem uneven(std::uint64_t seed) {
  return {{.d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5},
          {.batch = 2, .tq = 9},
          seed};
}

TEST_CASE("layer: wqkv gives the bits of wq, wk and wv", "[layer][layout]") {
  for (bool with_bias : {true, false}) {
    CAPTURE(with_bias);
    LayerProblem apart = uneven(900);
    MultiHeadAttentionWeights w = apart.weights();
    if (!with_bias) {
      w.bq = w.bk = w.bv = {};
    }
    apart.create(w);
    LayerProblem fused = uneven(900);
    const auto wqkv = side_by_side({{&fused.wq, 12}, {&fused.wk, 6}, {&fused.wv, 10}});
    const auto bqkv = side_by_side({{&fused.bq, 12}, {&fused.bk, 6}, {&fused.bv, 10}});
    MultiHeadAttentionWeights f;
    f.wqkv = {wqkv.data(), {12, 28}};
    f.wo = w.wo;
    f.bo = w.bo;
    if (with_bias) {
      f.bqkv = {bqkv.data(), {28}};
    }
    fused.create(f);
    require_same(apart.run(), fused.run());
  }
}

TEST_CASE("layer: [out, in] matrices give the bits of their transposes", "[layer][layout]") {
  LayerProblem in_out = uneven(1000);
  LayerProblem out_in = uneven(1000);
  const auto wq = transposed(out_in.wq, 12);
  const auto wk = transposed(out_in.wk, 6);
  const auto wv = transposed(out_in.wv, 10);
  const auto wo = transposed(out_in.wo, 12);
  MultiHeadAttentionWeights w = out_in.weights();
  w.wq = {wq.data(), {12, 12}};
  w.wk = {wk.data(), {6, 12}};
  w.wv = {wv.data(), {10, 12}};
  w.wo = {wo.data(), {12, 20}};
  out_in.config.weight_layout = WeightLayout::kOutIn;
  out_in.create(w);
  require_same(in_out.run(), out_in.run());
}

TEST_CASE("layer: an [out, in] wqkv gives the bits of its transpose", "[layer][layout]") {
  LayerProblem in_out = uneven(1100);
  LayerProblem out_in = uneven(1100);
  const auto wqkv =
      transposed(side_by_side({{&out_in.wq, 12}, {&out_in.wk, 6}, {&out_in.wv, 10}}), 28);
  const auto bqkv = side_by_side({{&out_in.bq, 12}, {&out_in.bk, 6}, {&out_in.bv, 10}});
  const auto wo = transposed(out_in.wo, 12);
  MultiHeadAttentionWeights w;
  w.wqkv = {wqkv.data(), {28, 12}};
  w.bqkv = {bqkv.data(), {28}};
  w.wo = {wo.data(), {12, 20}};
  w.bo = {out_in.bo.data(), {12}};
  out_in.config.weight_layout = WeightLayout::kOutIn;
  out_in.create(w);
  require_same(in_out.run(), out_in.run());
}

TEST_CASE("layer: the arrays given to create() may go away, and the layer may move",
          "[layer][move]") {
  LayerProblem p = uneven(1200);
  const LayerResult before = p.run();
  for (auto* values : {&p.wq, &p.wk, &p.wv, &p.wo, &p.bq, &p.bk, &p.bv, &p.bo}) {
    std::fill(values->begin(), values->end(), NAN);
  }
  MultiHeadAttention moved(std::move(p.layer));
  // NOLINTNEXTLINE(bugprone-use-after-move): what it does is the question.
  const Status empty = p.layer.forward(p.args(), p.workspace);
  CHECK(empty.code() == StatusCode::kInvalidArgument);
  CHECK(std::string(empty.message()) ==
        "MultiHeadAttention::forward: the layer is empty, expected one made by create()");
  CHECK(p.layer.forward_scratch_bytes(p.args()) == 0);
  p.layer = std::move(moved);
  require_same(before, p.run());
}

TEST_CASE("layer: config() has every size filled in", "[layer]") {
  LayerProblem p({.d_model = 12, .num_heads = 4}, {.tq = 1}, 1300);
  p.run();
  const MultiHeadAttentionConfig& c = p.layer.config();
  CHECK(c.d_model == 12);
  CHECK(c.num_heads == 4);
  CHECK(c.num_kv_heads == 4);
  CHECK(c.d_k == 3);
  CHECK(c.d_v == 3);
  CHECK(c.d_context == 12);
}

TEST_CASE("layer: creating over a layer replaces it", "[layer]") {
  LayerProblem small({.d_model = 4, .num_heads = 2}, {.tq = 3}, 1400);
  small.run();
  LayerProblem large({.d_model = 40, .num_heads = 2}, {.tq = 3}, 1401);
  require_ok(MultiHeadAttention::create(large.config, large.weights(), small.layer));
  require_ok(small.layer.forward(large.args(), small.workspace));
  const LayerResult replaced = large.result;
  require_same(replaced, large.run());
}

}  // namespace
}  // namespace qkv::test::multi_head_test
