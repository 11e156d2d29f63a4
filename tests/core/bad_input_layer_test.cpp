// Every argument of MultiHeadAttention::create and forward, wrong in every way the header lists.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <string>

#include "layer.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

constexpr const char* kCreate = "MultiHeadAttention::create";
constexpr const char* kForward = "MultiHeadAttention::forward";

/// A cross-attention layer in which no two sizes are the same.
LayerProblem correct() {
  return {{.d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5, .d_context = 7},
          {.batch = 2, .tq = 6, .tk = 9},
          1};
}

struct CreateCase {
  const char* what;
  Spoil<MultiHeadAttentionConfig&, MultiHeadAttentionWeights&> spoil;
  Refusal refusal;
};

/// Each case must be refused as it says and leave the layer that was there as it was.
void require_all_refused(const std::vector<CreateCase>& cases) {
  LayerProblem there({.d_model = 4, .num_heads = 2}, {.tq = 3}, 2);
  const LayerResult before = there.run();
  for (const CreateCase& c : cases) {
    INFO(c.what);
    const LayerProblem p = correct();
    MultiHeadAttentionConfig config = p.config;
    MultiHeadAttentionWeights weights = p.weights();
    c.spoil(config, weights);
    const std::size_t bytes = allocated_bytes();
    require_refused(MultiHeadAttention::create(config, weights, there.layer), kCreate, c.refusal);
    CHECK(allocated_bytes() == bytes);
    CHECK(first_difference(before.y, there.run().y) == "");
    CHECK(there.layer.config().d_model == 4);
  }
}

TEST_CASE("create: the layer that the cases below spoil is correct", "[layer][bad-input]") {
  correct().check();
}

TEST_CASE("create: sizes out of range are refused", "[layer][bad-input]") {
  const auto set = [](Index MultiHeadAttentionConfig::* field, Index value) {
    return [field, value](MultiHeadAttentionConfig& c, MultiHeadAttentionWeights&) {
      c.*field = value;
    };
  };
  using C = MultiHeadAttentionConfig;
  // A multiple of num_kv_heads, about twice as many heads of width 5 as can be addressed.
  constexpr Index kTooMany = std::numeric_limits<Index>::max() / 8 / 5 * 2 / 2 * 2 + 2;
  const std::string too_many = std::to_string(kTooMany);
  require_all_refused({
      {"d_model 0", set(&C::d_model, 0), {kRange, "d_model is", "0", "at least 1"}},
      {"d_model < 0", set(&C::d_model, -12), {kRange, "d_model is", "-12", "at least 1"}},
      {"num_heads 0", set(&C::num_heads, 0), {kRange, "num_heads is", "0", "at least 1"}},
      {"num_heads times d_k beyond any address",
       set(&C::num_heads, kTooMany),
       {kRange, "num_heads is", too_many.c_str(), "for heads of width 5"}},
      {"num_heads < 0", set(&C::num_heads, -4), {kRange, "num_heads is", "-4", "at least 1"}},
      {"num_kv_heads < 0",
       set(&C::num_kv_heads, -2),
       {kRange, "num_kv_heads is", "-2", "at least 1"}},
      {"num_kv_heads no divisor",
       set(&C::num_kv_heads, 3),
       {kRange, "num_kv_heads is", "3", "a divisor of num_heads = 4"}},
      {"more key heads than heads",
       set(&C::num_kv_heads, 8),
       {kRange, "num_kv_heads is", "8", "a divisor of num_heads = 4"}},
      {"d_model not a multiple of num_heads",
       [](C& c, auto&) {
         c.d_model = 13;
         c.d_k = 0;
       },
       {kRange, "d_model is", "13", "a multiple of num_heads = 4"}},
      {"d_k < 0", set(&C::d_k, -3), {kRange, "d_k is", "-3", "at least 1"}},
      {"d_v < 0", set(&C::d_v, -5), {kRange, "d_v is", "-5", "at least 1"}},
      {"d_context < 0", set(&C::d_context, -7), {kRange, "d_context is", "-7", "at least 1"}},
  });
}

TEST_CASE("create: missing weights are refused", "[layer][bad-input]") {
  using W = MultiHeadAttentionWeights;
  require_all_refused({
      {"wq", [](auto&, W& w) { w.wq = {}; }, {kInvalid, "wq is", "missing", "expected [12,12]"}},
      {"wk", [](auto&, W& w) { w.wk = {}; }, {kInvalid, "wk is", "missing", "expected [7,6]"}},
      {"wv", [](auto&, W& w) { w.wv = {}; }, {kInvalid, "wv is", "missing", "expected [7,10]"}},
      {"wo", [](auto&, W& w) { w.wo = {}; }, {kInvalid, "wo is", "missing", "expected [20,12]"}},
      {"all", [](auto&, W& w) { w = {}; }, {kInvalid, "wq is", "missing", "expected [12,12]"}},
  });
}

TEST_CASE("create: weights that exclude each other are refused", "[layer][bad-input]") {
  using C = MultiHeadAttentionConfig;
  using W = MultiHeadAttentionWeights;
  const auto fused = [](W& w) {
    w.wqkv = {w.wq.data, {12, 28}};
    w.wq = w.wk = w.wv = w.bq = w.bk = w.bv = {};
  };
  require_all_refused({
      {"wqkv and wq, wk, wv",
       [](auto&, W& w) { w.wqkv = {w.wq.data, {12, 28}}; },
       {kInvalid, "wqkv is given together with separate", "", "one or the other"}},
      {"wqkv with a context of another width",
       [&](C&, W& w) { fused(w); },
       {kInvalid, "wqkv is given and d_context is", "7", "d_model = 12"}},
      {"bqkv without wqkv",
       [](auto&, W& w) { w.bqkv = {w.bq.data, {28}}; },
       {kInvalid, "bqkv is given without", "wqkv", "both or neither"}},
      {"bq without wq",
       [](auto&, W& w) { w.wq = {}; },
       {kInvalid, "wq is", "missing", "expected [12,12]"}},
  });
}

TEST_CASE("create: wqkv beside any one of what it holds is refused", "[layer][bad-input]") {
  using W = MultiHeadAttentionWeights;
  std::vector<CreateCase> cases;
  for (TensorView<const float> W::* separate : {&W::wq, &W::wk, &W::wv, &W::bq, &W::bk, &W::bv}) {
    cases.push_back({"one of six",
                     [separate](MultiHeadAttentionConfig& c, W& w) {
                       W fused;
                       c.d_context = 12;
                       fused.wqkv = {w.wq.data, {12, 28}};
                       fused.wo = w.wo;
                       fused.*separate = w.*separate;
                       w = fused;
                     },
                     {kInvalid, "wqkv is given together with separate", "", "one or the other"}});
  }
  require_all_refused(cases);
}

TEST_CASE("create: weights of a wrong shape are refused", "[layer][bad-input]") {
  using W = MultiHeadAttentionWeights;
  require_all_refused({
      {"wq transposed width",
       [](auto&, W& w) { w.wq.shape[1] = 11; },
       {kShapeError, "wq is", "[12,11]", "[12,12]"}},
      {"wq of rank 1",
       [](auto&, W& w) { w.wq.rank = 1; },
       {kShapeError, "wq is", "[12]", "[12,12]"}},
      {"wq of rank 3",
       [](auto&, W& w) { w.wq = {w.wq.data, {1, 12, 12}}; },
       {kShapeError, "wq is", "[1,12,12]", "[12,12]"}},
      {"wk transposed",
       [](auto&, W& w) { w.wk = {w.wk.data, {6, 7}}; },
       {kShapeError, "wk is", "[6,7]", "[7,6]"}},
      {"wk over d_model",
       [](auto&, W& w) { w.wk.shape[0] = 12; },
       {kShapeError, "wk is", "[12,6]", "[7,6]"}},
      {"wv of the width of k",
       [](auto&, W& w) { w.wv.shape[1] = 6; },
       {kShapeError, "wv is", "[7,6]", "[7,10]"}},
      {"wo transposed",
       [](auto&, W& w) { w.wo = {w.wo.data, {12, 20}}; },
       {kShapeError, "wo is", "[12,20]", "[20,12]"}},
      {"bq", [](auto&, W& w) { w.bq.shape[0] = 6; }, {kShapeError, "bq is", "[6]", "[12]"}},
      {"bk", [](auto&, W& w) { w.bk.shape[0] = 12; }, {kShapeError, "bk is", "[12]", "[6]"}},
      {"bv", [](auto&, W& w) { w.bv.shape[0] = 6; }, {kShapeError, "bv is", "[6]", "[10]"}},
      {"bo", [](auto&, W& w) { w.bo.shape[0] = 20; }, {kShapeError, "bo is", "[20]", "[12]"}},
      {"bo of rank 2",
       [](auto&, W& w) { w.bo = {w.bo.data, {1, 12}}; },
       {kShapeError, "bo is", "[1,12]", "[12]"}},
  });
}

TEST_CASE("create: [out, in] weights of a wrong shape are refused", "[layer][bad-input]") {
  using C = MultiHeadAttentionConfig;
  using W = MultiHeadAttentionWeights;
  require_all_refused({
      {"wk in the other layout",
       [](C& c, W&) { c.weight_layout = WeightLayout::kOutIn; },
       {kShapeError, "wk is", "[7,6]", "[6,7]"}},
      {"wqkv in the other layout",
       [](C& c, W& w) {
         c.weight_layout = WeightLayout::kOutIn;
         c.d_context = 12;
         w.wqkv = {w.wq.data, {12, 28}};
         w.wq = w.wk = w.wv = w.bq = w.bk = w.bv = {};
       },
       {kShapeError, "wqkv is", "[12,28]", "[28,12]"}},
      {"bqkv too short",
       [](C& c, W& w) {
         c.d_context = 12;
         w.wqkv = {w.wq.data, {12, 28}};
         w.bqkv = {w.bq.data, {27}};
         w.wq = w.wk = w.wv = w.bq = w.bk = w.bv = {};
       },
       {kShapeError, "bqkv is", "[27]", "[28]"}},
  });
}

TEST_CASE("create: null and strided weights are refused", "[layer][bad-input]") {
  using W = MultiHeadAttentionWeights;
  require_all_refused({
      {"wq null",
       [](auto&, W& w) { w.wq.data = nullptr; },
       {kInvalid, "wq has no data", "[12,12]", "elements"}},
      {"wo null",
       [](auto&, W& w) { w.wo.data = nullptr; },
       {kInvalid, "wo has no data", "[20,12]", "elements"}},
      {"bk null",
       [](auto&, W& w) { w.bk.data = nullptr; },
       {kInvalid, "bk has no data", "[6]", "elements"}},
      {"wv strided",
       [](auto&, W& w) { w.wv.strides[1] = 2; },
       {kInvalid, "of wv", "stride 2", "expected 1"}},
      {"bo strided",
       [](auto&, W& w) { w.bo.strides[0] = 3; },
       {kInvalid, "of bo", "stride 3", "expected 1"}},
  });
}

struct ForwardCase {
  const char* what;
  Spoil<MultiHeadAttention::ForwardArgs&> spoil;
  Refusal refusal;
};

void require_all_refused(const std::vector<ForwardCase>& cases) {
  LayerProblem p = correct();
  p.create(p.weights());
  for (const ForwardCase& c : cases) {
    INFO(c.what);
    auto args = p.args();
    c.spoil(args);
    require_refused(p.layer.forward(args, p.workspace), kForward, c.refusal);
    CHECK(p.layer.forward_scratch_bytes(args) == 0);
    CHECK(p.workspace.capacity_bytes() == 0);
    for (const auto* written : {&p.result.y, &p.result.weights, &p.result.lse, &p.result.entropy}) {
      CHECK(*written == std::vector<float>(written->size(), kUntouched));
    }
  }
}

TEST_CASE("forward: activations of a wrong shape are refused", "[layer][bad-input]") {
  require_all_refused(std::vector<ForwardCase>{
      {"x absent", [](auto& a) { a.x = {}; }, {kShapeError, "x is", "[]", "[*,*,12]"}},
      {"x of rank 2", [](auto& a) { a.x.rank = 2; }, {kShapeError, "x is", "[2,6]", "[*,*,12]"}},
      {"x of another width",
       [](auto& a) { a.x.shape[2] = 11; },
       {kShapeError, "x is", "[2,6,11]", "[*,*,12]"}},
      {"context of another batch",
       [](auto& a) { a.context.shape[0] = 1; },
       {kShapeError, "context is", "[1,9,7]", "[2,*,7]"}},
      {"context of another width",
       [](auto& a) { a.context.shape[2] = 12; },
       {kShapeError, "context is", "[2,9,12]", "[2,*,7]"}},
      {"context absent",
       [](auto& a) { a.context = {}; },
       {kShapeError, "context is absent", "d_context is 7", "[2,*,7]"}},
      {"y absent", [](auto& a) { a.y = {}; }, {kShapeError, "y is", "[]", "[2,6,12]"}},
      {"y of another length",
       [](auto& a) { a.y.shape[1] = 9; },
       {kShapeError, "y is", "[2,9,12]", "[2,6,12]"}},
      {"y of another batch",
       [](auto& a) { a.y.shape[0] = 1; },
       {kShapeError, "y is", "[1,6,12]", "[2,6,12]"}},
      {"y of another width",
       [](auto& a) { a.y.shape[2] = 20; },
       {kShapeError, "y is", "[2,6,20]", "[2,6,12]"}},
  });
}

TEST_CASE("forward: null and strided activations are refused", "[layer][bad-input]") {
  require_all_refused(std::vector<ForwardCase>{
      {"x null",
       [](auto& a) { a.x.data = nullptr; },
       {kInvalid, "x has no data", "[2,6,12]", "elements"}},
      {"context null",
       [](auto& a) { a.context.data = nullptr; },
       {kInvalid, "context has no data", "[2,9,7]", "elements"}},
      {"y null",
       [](auto& a) { a.y.data = nullptr; },
       {kInvalid, "y has no data", "[2,6,12]", "elements"}},
      {"x strided",
       [](auto& a) { a.x.strides[2] = 2; },
       {kInvalid, "the last axis of x", "stride 2", "expected 1"}},
      {"x with gaps",
       [](auto& a) { a.x.strides[1] = 13; },
       {kInvalid, "axis 1 of x", "stride 13", "expected 12"}},
      {"context with gaps",
       [](auto& a) { a.context.strides[0] = 70; },
       {kInvalid, "axis 0 of context", "stride 70", "expected 63"}},
      {"y with gaps",
       [](auto& a) { a.y.strides[1] = 24; },
       {kInvalid, "axis 1 of y", "stride 24", "expected 12"}},
  });
}

TEST_CASE("forward: options are checked in its own name", "[layer][bad-input]") {
  static const std::vector<std::uint8_t> mask(100, 1);
  static const std::vector<float> bias(100, 0.0F);
  require_all_refused(std::vector<ForwardCase>{
      {"scale", [](auto& a) { a.options.scale = NAN; }, {kInvalid, "scale is", "nan", "finite"}},
      {"temperature",
       [](auto& a) { a.options.temperature = 0.0F; },
       {kInvalid, "temperature is", "0", "1.18e-38"}},
      {"causal without offset",
       [](auto& a) { a.options.causal = true; },
       {kInvalid, "causal with", "6 queries and 9 keys", "causal_offset"}},
      {"offset without causal",
       [](auto& a) { a.options.causal_offset = 0; },
       {kInvalid, "causal_offset is", "0", "causal = true"}},
      {"mask",
       [](auto& a) { a.options.mask = {mask.data(), {6, 6}}; },
       {kShapeError, "mask is", "[6,6]", "[2,4,6,9]"}},
      {"bias",
       [](auto& a) { a.options.bias = {bias.data(), {2, 1, 9}}; },
       {kShapeError, "bias is", "[2,1,9]", "[2,4,6,9]"}},
      {"rows", [](auto& a) { a.extras.row_end = 7; }, {kRange, "rows are", "[0, 7)", "[0, 6)"}},
      {"weights",
       [](auto& a) { a.extras.weights.shape[1] = 2; },
       {kShapeError, "weights is", "[2,2,6,9]", "[2,4,6,9]"}},
      {"lse",
       [](auto& a) { a.extras.lse.shape[2] = 9; },
       {kShapeError, "lse is", "[2,4,9]", "[2,4,6]"}},
      {"entropy",
       [](auto& a) { a.extras.entropy.data = nullptr; },
       {kInvalid, "entropy has no data", "[2,4,6]", "elements"}},
  });
}

TEST_CASE("create and forward: refusals read as one sentence", "[layer][bad-input]") {
  LayerProblem p = correct();
  MultiHeadAttentionWeights w = p.weights();
  w.wo = {};
  CHECK(std::string(MultiHeadAttention::create(p.config, w, p.layer).message()) ==
        "MultiHeadAttention::create: wo is missing, expected [20,12]");
  p.config.num_kv_heads = 3;
  CHECK(std::string(MultiHeadAttention::create(p.config, w, p.layer).message()) ==
        "MultiHeadAttention::create: num_kv_heads is 3, expected a divisor of num_heads = 4");
  p.config.num_kv_heads = 2;
  p.create(p.weights());
  auto args = p.args();
  args.x.shape[2] = 5;
  CHECK(std::string(p.layer.forward(args, p.workspace).message()) ==
        "MultiHeadAttention::forward: x is [2,6,5], expected [*,*,12]");
}

}  // namespace
}  // namespace qkv::test
