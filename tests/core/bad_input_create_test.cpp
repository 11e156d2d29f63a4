// MultiHeadAttention::create and TransformerBlock::create: configurations and weights, wrong in every way
// the headers list. What was there stays.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <string>
#include <vector>

#include "block.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_create_test {
namespace {

using C = MultiHeadAttentionConfig;
using W = MultiHeadAttentionWeights;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Demands kNeeded{.missing = true};
constexpr Demands kOptional{.optional = true};

MultiHeadAttention& made(LayerProblem& p) { return p.layer; }
TransformerBlock& made(BlockProblem& p) { return p.block; }
const std::vector<float>& y(LayerProblem& p) { return p.run().y; }
const std::vector<float>& y(BlockProblem& p) { return p.run(); }

/// With the weights of one problem over the layer of another.
template <class Problem, class Config>
struct Create : Call {
  Create(const char* name, const Config& c)
      : Call(name),
        there(c, kShape, 1),
        problem(c, kShape, 2),
        config(c),
        weights(problem.weights()) {}
  Status run() override { return made(there).create(config, weights, made(there)); }
  std::size_t memory() override { return allocated_bytes(); }
  std::vector<float> seen() override { return y(there); }

  static constexpr LayerShape kShape{.batch = 2, .tq = 6, .tk = 9};
  Problem there, problem;
  Config config;
  decltype(problem.weights()) weights;
};

struct Layer : Create<LayerProblem, C> {
  /// No two sizes are the same.
  Layer()
      : Layer({.d_model = 12,
               .num_heads = 4,
               .num_kv_heads = 2,
               .d_k = 3,
               .d_v = 5,
               .d_context = 7}) {}
  explicit Layer(const C& c) : Create("MultiHeadAttention::create", c) {}
  std::vector<Array> arrays() override {
    return {{"wq", weights.wq, {12, 12}, kNeeded},       {"bq", weights.bq, {12}, kOptional},
            {"wk", weights.wk, {7, 6}, kNeeded},         {"bk", weights.bk, {6}, kOptional},
            {"wv", weights.wv, {7, 10}, kNeeded},        {"bv", weights.bv, {10}, kOptional},
            {"wo", weights.wo, {20, 12}, kNeeded},       {"bo", weights.bo, {12}, kOptional},
            {"wqkv", weights.wqkv, {12, 28}, kOptional}, {"bqkv", weights.bqkv, {28}, kOptional}};
  }
};

/// One matrix for q, k and v.
struct FusedLayer : Layer {
  FusedLayer() : Layer({.d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5}) {
    weights.wqkv = {numbers.data(), {12, 28}};
    weights.bqkv = {numbers.data(), {28}};
    weights.wq = weights.wk = weights.wv = weights.bq = weights.bk = weights.bv = {};
  }
  const std::vector<float> numbers = std::vector<float>(12 * 28, 0.125F);
};

template <class T>
auto set(T C::* field, std::type_identity_t<T> value) {
  return [=](auto& c) { c.config.*field = value; };
}

TEST_CASE("MultiHeadAttention::create: sizes out of range are refused", "[layer][bad-input]") {
  // A multiple of num_kv_heads, about twice as many heads of width 5 as can be addressed.
  constexpr Index kMost = std::numeric_limits<Index>::max() / 8 / 5;
  constexpr Index kTooMany = kMost * 2 / 2 * 2 + 2;
  const std::string too_many = "num_heads is " + std::to_string(kTooMany);
  const std::string at_most = "at most " + std::to_string(kMost) + " for heads of width 5";
  require_refused<Layer>({
      {set(&C::d_model, 0), kRange, "d_model is 0", "at least 1"},
      {set(&C::d_model, -12), kRange, "d_model is -12", "at least 1"},
      {set(&C::num_heads, 0), kRange, "num_heads is 0", "at least 1"},
      {set(&C::num_heads, -4), kRange, "num_heads is -4", "at least 1"},
      {set(&C::num_heads, kTooMany), kRange, too_many.c_str(), at_most.c_str()},
      {set(&C::num_kv_heads, -2), kRange, "num_kv_heads is -2", "at least 1"},
      {set(&C::num_kv_heads, 3), kRange, "num_kv_heads is 3", "a divisor of num_heads = 4"},
      {set(&C::num_kv_heads, 8), kRange, "num_kv_heads is 8", "a divisor of num_heads = 4"},
      {[](auto& c) { c.config = {.d_model = 13, .num_heads = 4}; }, kRange, "d_model is 13",
       "a multiple of num_heads = 4, or a d_k"},
      {set(&C::d_k, -3), kRange, "d_k is -3", "at least 1"},
      {set(&C::d_v, -5), kRange, "d_v is -5", "at least 1"},
      {set(&C::d_context, -7), kRange, "d_context is -7", "at least 1"},
      {set(&C::weight_layout, static_cast<WeightLayout>(7)), kInvalid, "weight_layout is 7",
       "a value of WeightLayout"},
  });
}

TEST_CASE("MultiHeadAttention::create: weights that are missing or do not fit are refused",
          "[layer][bad-input]") {
  require_arrays_checked(correct<Layer>);
  require_arrays_checked(correct<FusedLayer>);
  require_refused<Layer>({
      {[](auto& c) { c.weights = {}; }, kInvalid, "wq is missing", "[12,12]"},
      {set(&C::weight_layout, WeightLayout::kOutIn), kShapeError, "wk is [7,6]", "[6,7]"},
  });
  require_refused<FusedLayer>(
      {{set(&C::weight_layout, WeightLayout::kOutIn), kShapeError, "wqkv is [12,28]", "[28,12]"}});
}

TEST_CASE("MultiHeadAttention::create: weights that exclude each other are refused",
          "[layer][bad-input]") {
  const auto beside = [](TensorView<const float> W::* separate) {
    return [=](FusedLayer& c) { c.weights.*separate = c.weights.wo; };
  };
  const char* both = "wqkv is given together with separate weights or biases of q, k or v";
  const char* one = "one or the other";
  require_refused<FusedLayer>({
      {beside(&W::wq), kInvalid, both, one},
      {beside(&W::wk), kInvalid, both, one},
      {beside(&W::wv), kInvalid, both, one},
      {beside(&W::bq), kInvalid, both, one},
      {beside(&W::bk), kInvalid, both, one},
      {beside(&W::bv), kInvalid, both, one},
      {[](auto& c) { c.weights.wqkv = {}; }, kInvalid, "bqkv is given without wqkv",
       "both or neither"},
      {set(&C::d_context, 7), kInvalid, "wqkv is given and d_context is 7", "d_model = 12"},
  });
}

struct RotaryLayer : Layer {
  RotaryLayer() : Layer(config_of_three()) {}
  static C config_of_three() {
    C c{.d_model = 12, .num_heads = 3};
    c.rotary.emplace();
    return c;
  }
};

TEST_CASE("MultiHeadAttention::create: rotary options without meaning are refused",
          "[layer][rotary][bad-input]") {
  static const std::vector<float> table(64, 0.5F);
  static constexpr std::int32_t kPlaces[4] = {};
  const auto rotary = [](auto spoil) { return [=](RotaryLayer& c) { spoil(*c.config.rotary); }; };
  require_refused<RotaryLayer>({
      {rotary([](auto& r) { r.base = 0.0; }), kInvalid, "rotary.base is 0",
       "a finite number of at least 1"},
      {rotary([](auto& r) { r.rotary_dim = 3; }), kRange, "rotary.rotary_dim is 3",
       "an even number from 2 to d = 4"},
      {rotary([](auto& r) { r.rotary_dim = 6; }), kRange, "rotary.rotary_dim is 6",
       "an even number from 2 to d = 4"},
      {rotary([](auto& r) { r.scaling = {.type = RotaryScaling::Type::kNtk, .factor = kNan}; }),
       kInvalid, "rotary.scaling.factor is NaN", "a finite number of at least 1"},
      {rotary([](auto& r) { r.cos = {table.data(), {5, 2}}; }), kInvalid,
       "rotary.cos is given without sin", "both"},
      {rotary([](auto& r) { r.cos = r.sin = {table.data(), {5, 3}}; }), kShapeError,
       "rotary.cos is [5,3]", "[*,2]"},
      {rotary([](auto& r) {
         r.cos = r.sin = {table.data(), {5, 2}};
         r.sin.strides[0] = 3;
       }),
       kInvalid, "axis 0 of rotary.sin has stride 3", "2 (contiguous)"},
      {rotary([](auto& r) { r.positions = {nullptr, {4}}; }), kInvalid,
       "rotary.positions has no data", "[4] elements"},
      {rotary([](auto& r) {
         r.positions = {kPlaces, {4}};
         r.positions.strides[0] = 2;
       }),
       kInvalid, "the last axis of rotary.positions has stride 2", "1"},
  });
}

struct Block : Create<BlockProblem, TransformerBlockConfig> {
  Block() : Block(decoder()) {}
  explicit Block(const TransformerBlockConfig& c) : Create("TransformerBlock::create", c) {}
  std::vector<Array> arrays() override {
    TransformerBlockWeights& w = weights;
    return {{"attention.wq", w.attention.wq, {12, 12}, kNeeded},
            {"attention.wk", w.attention.wk, {12, 6}, kNeeded},
            {"attention.bo", w.attention.bo, {12}, kOptional},
            {"cross.wq", w.cross.wq, {12, 12}, kNeeded},
            {"cross.wk", w.cross.wk, {7, 6}, kNeeded},
            {"cross.bo", w.cross.bo, {12}, kOptional},
            {"w1", w.feed_forward.w1, {12, 19}, kNeeded},
            {"w2", w.feed_forward.w2, {19, 12}, kNeeded},
            {"norm1.gamma", w.norm1.gamma, {12}, kNeeded},
            {"norm1.beta", w.norm1.beta, {12}, kOptional},
            {"norm_cross.gamma", w.norm_cross.gamma, {12}, kNeeded},
            {"norm_cross.beta", w.norm_cross.beta, {12}, kOptional},
            {"norm2.gamma", w.norm2.gamma, {12}, kNeeded},
            {"norm2.beta", w.norm2.beta, {12}, kOptional}};
  }
};

struct Encoder : Block {
  Encoder() : Block(encoder()) {}
};

TEST_CASE("TransformerBlock::create: weights that are missing or do not fit are refused",
          "[block][bad-input]") {
  require_arrays_checked(correct<Block>);
}

TEST_CASE("TransformerBlock::create: what has no meaning, or none together, is refused",
          "[block][bad-input]") {
  require_refused<Block>({
      {[](auto& c) { c.config.attention.d_model = 0; }, kRange, "attention.d_model is 0",
       "at least 1"},
      {[](auto& c) { c.config.attention.num_kv_heads = 3; }, kRange, "attention.num_kv_heads is 3",
       "a divisor of num_heads = 4"},
      {[](auto& c) { c.config.attention.d_context = -7; }, kRange, "cross.d_context is -7",
       "at least 1"},
      {[](auto& c) { c.config.d_feed_forward = 0; }, kRange, "d_feed_forward is 0", "at least 1"},
      {[](auto& c) { c.config.norm = static_cast<NormPlacement>(2); }, kInvalid, "norm is 2",
       "0 to 1"},
      {[](auto& c) { c.config.norm_type = static_cast<NormType>(7); }, kInvalid, "norm_type is 7",
       "0 to 1"},
      {[](auto& c) { c.config.activation = static_cast<FeedForwardActivation>(5); }, kInvalid,
       "activation is 5", "a value of FeedForwardActivation"},
      {[](auto& c) { c.config.epsilon = NAN; }, kInvalid, "epsilon is NaN",
       "a finite number of at least 0"},
      {[](auto& c) { c.config.epsilon = -1.0F; }, kInvalid, "epsilon is -1",
       "a finite number of at least 0"},
      {[](auto& c) { c.config.norm_type = NormType::kRms; }, kInvalid, "norm1.beta is [12]",
       "none: RMS normalisation has no beta"},
      {[](auto& c) { c.config.attention.weight_layout = WeightLayout::kOutIn; }, kShapeError,
       "attention.wk is [12,6]", "[6,12]"},
      {[](auto& c) { c.weights.cross = {}; }, kInvalid, "cross.wq is missing", "[12,12]"},
      {[](auto& c) { c.weights.feed_forward.w_gate = c.weights.feed_forward.w1; }, kInvalid,
       "w_gate is given and activation is not kSwiglu", "none"},
  });
  require_refused<Encoder>({
      {[](auto& c) { c.weights.cross.bv = c.weights.norm1.gamma; }, kInvalid, "cross is given",
       "none without cross_attention"},
      {[](auto& c) { c.weights.norm_cross.beta = c.weights.norm1.beta; }, kInvalid,
       "norm_cross is given", "none without cross_attention"},
      {[](auto& c) { c.config.attention.d_context = 7; }, kInvalid,
       "attention.d_context is 7 without cross_attention", "0 or d_model = 12"},
  });
}

}  // namespace
}  // namespace qkv::test::bad_input_create_test
