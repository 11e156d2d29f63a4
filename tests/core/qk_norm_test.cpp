// The norm of q and k in layers and blocks: against the oracle, and its place between projection and rotary.
#include <catch2/catch_test_macros.hpp>

#include "block.hpp"
#include "refusal.hpp"

namespace qkv::test::qk_norm_test {
namespace {

constexpr NormType kTypes[] = {NormType::kLayer, NormType::kRms};

TEST_CASE("qk_norm: a layer is within its bounds", "[layer][norm]") {
  std::uint64_t seed = 9000;
  for (NormType type : kTypes) {
    for (Index d_k : {1, 3, 8, 17, 64}) {
      for (float epsilon : {1e-5F, 0.5F}) {
        if (type == NormType::kLayer && d_k == 1) {
          continue;  // every head is beta, of which the bound cannot know
        }
        CAPTURE(static_cast<int>(type), d_k, epsilon);
        LayerProblem({.d_model = 24,
                      .num_heads = 4,
                      .num_kv_heads = 2,
                      .d_k = d_k,
                      .d_v = 5,
                      .qk_norm = type,
                      .qk_epsilon = epsilon},
                     {.batch = 2, .tq = 9}, seed++)
            .check();
      }
    }
  }
}

TEST_CASE("qk_norm: cross-attention normalises the keys of the context", "[layer][norm]") {
  for (NormType type : kTypes) {
    LayerProblem(
        {.d_model = 12, .num_heads = 3, .d_context = 7, .qk_norm = type, .qk_epsilon = 0.01F},
        {.batch = 2, .tq = 5, .tk = 11}, 9100)
        .check();
  }
}

/// Keys that a layer has put into a cache, [B, Hkv, T, d_k].
std::vector<float> cached_keys(LayerProblem& p) {
  const auto& c = p.resolved;
  KvCache cache;
  require_ok(KvCache::create({.batch = p.shape.batch,
                              .num_kv_heads = c.num_kv_heads,
                              .capacity = p.shape.tq,
                              .d_k = c.d_k,
                              .d_v = c.d_v},
                             cache));
  auto args = p.args();
  args.extras = {};
  args.cache = &cache;
  p.create(p.weights());
  require_ok(p.layer.forward(args, p.workspace));
  const std::initializer_list<Index> shape{p.shape.batch, c.num_kv_heads, p.shape.tq, c.d_k};
  std::vector<float> keys(
      static_cast<std::size_t>(p.shape.batch * c.num_kv_heads * p.shape.tq * c.d_k));
  require_ok(cache.read_keys({keys.data(), shape}));
  return keys;
}

TEST_CASE("qk_norm: keys are normalised after projection and bias and before rotary, to the bit",
          "[layer][norm][rotary]") {
  const RotaryOptions rotary{.offset = 5};
  for (NormType type : kTypes) {
    MultiHeadAttentionConfig config{.d_model = 24, .num_heads = 4, .num_kv_heads = 2};
    const LayerShape shape{.batch = 2, .tq = 7};
    LayerProblem plain(config, shape, 9300);
    config.qk_norm = type;
    config.rotary = rotary;
    LayerProblem p(config, shape, 9300);

    std::vector<float> keys = cached_keys(plain);
    const NormWeights norm = p.qk_norms[1].views();
    const TensorView<float> all{keys.data(), {2, 2, 7, 6}};
    const NormOptions options{.gamma = norm.gamma, .beta = norm.beta};
    require_ok(type == NormType::kLayer ? layer_norm(all, all, options)
                                        : rms_norm(all, all, options));
    require_ok(rotary_embedding(all, all, rotary, p.workspace));
    CHECK(first_difference(cached_keys(p), keys) == "");
  }
}

TEST_CASE("qk_norm: the size of q and k does not matter", "[layer][norm]") {
  const MultiHeadAttentionConfig config{
      .d_model = 12, .num_heads = 3, .qk_norm = NormType::kRms, .qk_epsilon = 0.0F};
  LayerProblem p(config, {.tq = 6}, 9400);
  LayerProblem large(config, {.tq = 6}, 9400);
  for (auto* values : {&large.wq, &large.bq, &large.wk, &large.bk}) {
    for (float& value : *values) {
      value *= 1024.0F;
    }
  }
  CHECK(first_difference(p.run().y, large.run().y) == "");
}

TEST_CASE("qk_norm: a layer that was moved keeps its norms", "[layer][norm]") {
  LayerProblem p({.d_model = 12, .num_heads = 3, .qk_norm = NormType::kLayer}, {.tq = 6}, 9500);
  const std::vector<float> before = p.run().y;
  MultiHeadAttention moved = std::move(p.layer);
  p.layer = std::move(moved);
  CHECK(first_difference(p.run().y, before) == "");
}

TEST_CASE("qk_norm: blocks, with cross-attention too, are close to the oracle", "[block][norm]") {
  for (NormType type : kTypes) {
    TransformerBlockConfig config = encoder();
    config.attention.qk_norm = type;
    config.attention.qk_epsilon = 0.1F;  // so that heads of 3 elements are no cliff
    BlockProblem(config, {.batch = 2, .tq = 6}, 9600).check();
    config = decoder();
    config.attention.qk_norm = type;
    config.attention.qk_epsilon = 0.1F;  // so that heads of 3 elements are no cliff
    BlockProblem(config, {.batch = 2, .tq = 6, .tk = 9}, 9700).check();
  }
}

struct Create : Call {
  explicit Create(NormType type)
      : Call("MultiHeadAttention::create"),
        there({.d_model = 12, .num_heads = 3, .qk_norm = type}, {.tq = 6}, 1),
        problem({.d_model = 12, .num_heads = 3, .qk_norm = type}, {.tq = 6}, 2),
        config(problem.config),
        weights(problem.weights()) {}
  Status run() override { return MultiHeadAttention::create(config, weights, there.layer); }
  std::size_t memory() override { return allocated_bytes(); }
  std::vector<float> seen() override { return there.run().y; }

  LayerProblem there, problem;
  MultiHeadAttentionConfig config;
  MultiHeadAttentionWeights weights;
};

struct Layer : Create {
  Layer() : Create(NormType::kLayer) {}
  std::vector<Array> arrays() override {
    return {{"q_gamma", weights.q_gamma, {4}, {.missing = true}},
            {"k_gamma", weights.k_gamma, {4}, {.missing = true}},
            {"q_beta", weights.q_beta, {4}, {.optional = true}},
            {"k_beta", weights.k_beta, {4}, {.optional = true}}};
  }
};

struct Rms : Create {
  Rms() : Create(NormType::kRms) {}
};

TEST_CASE("qk_norm: what does not fit is refused", "[layer][norm][bad-input]") {
  static const float numbers[12] = {};
  using W = MultiHeadAttentionWeights;
  const auto set = [](TensorView<const float> W::* array, std::initializer_list<Index> shape) {
    return
        [=, view = TensorView<const float>(numbers, shape)](auto& c) { c.weights.*array = view; };
  };
  const auto without_norm = [](auto& c) {
    c.config.qk_norm.reset();
    c.weights.q_beta = c.weights.k_beta = {};
  };
  require_arrays_checked(correct<Layer>);
  require_refused<Layer>({
      {without_norm, kInvalid, "q_gamma is given", "none without qk_norm"},
      {[](auto& c) { c.config.qk_norm = static_cast<NormType>(2); }, kInvalid, "qk_norm is 2",
       "a value of NormType"},
      {[](auto& c) { c.config.qk_epsilon = NAN; }, kInvalid, "qk_epsilon is NaN",
       "a finite number of at least 0"},
      {[](auto& c) { c.config.qk_epsilon = -1.0F; }, kInvalid, "qk_epsilon is -1",
       "a finite number of at least 0"},
  });
  require_refused<Rms>({
      {set(&W::q_beta, {4}), kInvalid, "q_beta is [4]", "none: RMS normalisation has no beta"},
      {set(&W::k_beta, {4}), kInvalid, "k_beta is [4]", "none: RMS normalisation has no beta"},
      {set(&W::k_gamma, {12}), kShapeError, "k_gamma is [12]", "[4]"},
  });
}

TEST_CASE("qk_norm: a block names its norms", "[block][norm][bad-input]") {
  TransformerBlockConfig config = encoder();
  config.attention.qk_norm = NormType::kRms;
  BlockProblem p(config, {.tq = 4}, 9800);
  TransformerBlockWeights weights = p.weights();
  weights.attention.k_gamma = {};
  TransformerBlock block;
  require_refused(TransformerBlock::create(config, weights, block), "TransformerBlock::create",
                  {kInvalid, "attention.k_gamma is missing", "", "[4]"});
  config = encoder();
  weights = BlockProblem(config, {.tq = 4}, 9800).weights();
  weights.cross.q_gamma = weights.norm1.gamma;
  require_refused(TransformerBlock::create(config, weights, block), "TransformerBlock::create",
                  {kInvalid, "cross is given", "", "none without cross_attention"});
}

}  // namespace
}  // namespace qkv::test::qk_norm_test
