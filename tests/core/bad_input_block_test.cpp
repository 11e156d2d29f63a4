// TransformerBlock: configurations, weights and calls that do not fit are refused, and nothing changes.
#include <catch2/catch_test_macros.hpp>

#include "block.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

using F = FeedForwardActivation;

struct CreateCase {
  const char* what;
  Spoil<TransformerBlockConfig&, TransformerBlockWeights&> spoil;
  Refusal refusal;
};

void require_all_refused(const TransformerBlockConfig& correct,
                         const std::vector<CreateCase>& cases) {
  BlockProblem there(encoder(), {.batch = 1, .tq = 3}, 2300);
  const std::vector<float> before = there.run();
  for (const CreateCase& c : cases) {
    INFO(c.what);
    const BlockProblem p(correct, {.batch = 2, .tq = 6, .tk = 9}, 2301);
    TransformerBlockConfig config = p.config;
    TransformerBlockWeights weights = p.weights();
    c.spoil(config, weights);
    const std::size_t bytes = allocated_bytes();
    require_refused(TransformerBlock::create(config, weights, there.block),
                    "TransformerBlock::create", c.refusal);
    CHECK(allocated_bytes() == bytes);
    CHECK(first_difference(before, there.run()) == "");
  }
}

TEST_CASE("block: bad configurations and weights are refused", "[block][bad-input]") {
  using C = TransformerBlockConfig;
  using W = TransformerBlockWeights;
  require_all_refused(
      decoder(),
      {
          {"d_model 0",
           [](C& c, W&) { c.attention.d_model = 0; },
           {kRange, "attention.d_model is", "0", "at least 1"}},
          {"num_kv_heads no divisor",
           [](C& c, W&) { c.attention.num_kv_heads = 3; },
           {kRange, "attention.num_kv_heads is", "3", "a divisor of num_heads = 4"}},
          {"d_context < 0",
           [](C& c, W&) { c.attention.d_context = -7; },
           {kRange, "cross.d_context is", "-7", "at least 1"}},
          {"d_feed_forward 0",
           [](C& c, W&) { c.d_feed_forward = 0; },
           {kRange, "d_feed_forward is", "0", "at least 1"}},
          {"no such norm",
           [](C& c, W&) { c.norm = static_cast<NormPlacement>(2); },
           {kInvalid, "norm is", "2", "0 to 1"}},
          {"no such norm type",
           [](C& c, W&) { c.norm_type = static_cast<NormType>(7); },
           {kInvalid, "norm_type is", "7", "0 to 1"}},
          {"no such activation",
           [](C& c, W&) { c.activation = static_cast<F>(5); },
           {kInvalid, "activation is", "5", "a value of FeedForwardActivation"}},
          {"epsilon NaN",
           [](C& c, W&) { c.epsilon = NAN; },
           {kInvalid, "epsilon is", "nan", "a finite number"}},
          {"epsilon negative",
           [](C& c, W&) { c.epsilon = -1.0F; },
           {kInvalid, "epsilon is", "-1", "at least 0"}},
          {"attention.wq missing",
           [](C&, W& w) { w.attention.wq = {}; },
           {kInvalid, "attention.wq", "missing", ""}},
          {"attention.wk over the context",
           [](C&, W& w) { w.attention.wk.shape[0] = 7; },
           {kShapeError, "attention.wk is", "[7,6]", "[12,6]"}},
          {"cross missing", [](C&, W& w) { w.cross = {}; }, {kInvalid, "cross.wq", "missing", ""}},
          {"cross.wk over d_model",
           [](C&, W& w) { w.cross.wk.shape[0] = 12; },
           {kShapeError, "cross.wk is", "[12,6]", "[7,6]"}},
          {"cross.bo null",
           [](C&, W& w) { w.cross.bo.data = nullptr; },
           {kInvalid, "cross.bo has no data", "[12]", "elements"}},
          {"norm1.gamma missing",
           [](C&, W& w) { w.norm1.gamma = {}; },
           {kInvalid, "norm1.gamma", "missing", ""}},
          {"norm_cross.gamma missing",
           [](C&, W& w) { w.norm_cross.gamma = {}; },
           {kInvalid, "norm_cross.gamma", "missing", ""}},
          {"norm2.gamma too short",
           [](C&, W& w) { w.norm2.gamma.shape[0] = 11; },
           {kShapeError, "norm2.gamma is", "[11]", "[12]"}},
          {"norm2.gamma strided",
           [](C&, W& w) { w.norm2.gamma.strides[0] = 2; },
           {kInvalid, "norm2.gamma", "stride 2", "expected 1"}},
          {"norm_cross.beta too long",
           [](C&, W& w) { w.norm_cross.beta.shape[0] = 13; },
           {kShapeError, "norm_cross.beta is", "[13]", "[12]"}},
          {"norm1.beta null",
           [](C&, W& w) { w.norm1.beta.data = nullptr; },
           {kInvalid, "norm1.beta has no data", "[12]", "elements"}},
          {"beta with RMS",
           [](C& c, W&) { c.norm_type = NormType::kRms; },
           {kInvalid, "norm1.beta is", "[12]", "expected none"}},
          {"w1 missing", [](C&, W& w) { w.feed_forward.w1 = {}; }, {kInvalid, "w1", "missing", ""}},
          {"w2 transposed",
           [](C&, W& w) { w.feed_forward.w2 = {w.feed_forward.w2.data, {12, 19}}; },
           {kShapeError, "w2 is", "[12,19]", "[19,12]"}},
          {"w_gate without SwiGLU",
           [](C&, W& w) { w.feed_forward.w_gate = w.feed_forward.w1; },
           {kInvalid, "w_gate is given", "not kSwiglu", "none"}},
          {"the other layout",
           [](C& c, W&) { c.attention.weight_layout = WeightLayout::kOutIn; },
           {kShapeError, "attention.wk is", "[12,6]", "[6,12]"}},
      });
  require_all_refused(encoder(),
                      {
                          {"cross without cross_attention",
                           [](C&, W& w) { w.cross.bv = w.norm1.gamma; },
                           {kInvalid, "cross is given", "none", "without cross_attention"}},
                          {"norm_cross without cross_attention",
                           [](C&, W& w) { w.norm_cross.beta = w.norm1.beta; },
                           {kInvalid, "norm_cross is given", "none", "without cross_attention"}},
                          {"d_context without cross_attention",
                           [](C& c, W&) { c.attention.d_context = 7; },
                           {kInvalid, "attention.d_context is", "7", "d_model = 12"}},
                      });
}

struct ForwardCase {
  const char* what;
  Spoil<TransformerBlock::ForwardArgs&> spoil;
  Refusal refusal;
};

/// Each must be refused, with y, the extras and a cache as they were.
void require_all_refused(const TransformerBlockConfig& config,
                         const std::vector<ForwardCase>& cases) {
  BlockProblem p(config, {.batch = 2, .tq = 6, .tk = 9}, 2400);
  p.create(p.weights());
  const auto& sizes = p.cross.resolved;
  KvCache cache;
  require_ok(KvCache::create({.batch = 2,
                              .num_kv_heads = sizes.num_kv_heads,
                              .capacity = 100,
                              .d_k = sizes.d_k,
                              .d_v = sizes.d_v},
                             cache));
  for (const ForwardCase& c : cases) {
    INFO(c.what);
    std::vector<float> lse(static_cast<std::size_t>(2 * sizes.num_heads * 6), kUntouched);
    auto args = p.args();
    args.cache = &cache;
    args.extras.lse = {lse.data(), {2, sizes.num_heads, 6}};
    c.spoil(args);
    require_refused(p.block.forward(args, p.workspace), "TransformerBlock::forward", c.refusal);
    CHECK(p.block.forward_scratch_bytes(args) == 0);
    CHECK(p.workspace.capacity_bytes() == 0);
    CHECK(cache.length() == 0);
    CHECK(p.y == std::vector<float>(p.y.size(), kUntouched));
    CHECK(lse == std::vector<float>(lse.size(), kUntouched));
  }
}

TEST_CASE("block: bad activations and options are refused", "[block][bad-input]") {
  static constexpr std::int32_t kLengths[] = {3, 10, 2};
  static const std::vector<std::uint8_t> mask(100, 1);
  require_all_refused(
      decoder(),
      {
          {"x absent", [](auto& a) { a.x = {}; }, {kShapeError, "x is", "[]", "[*,*,12]"}},
          {"x of rank 2",
           [](auto& a) { a.x.rank = 2; },
           {kShapeError, "x is", "[2,6]", "[*,*,12]"}},
          {"x of another width",
           [](auto& a) { a.x.shape[2] = 11; },
           {kShapeError, "x is", "[2,6,11]", "[*,*,12]"}},
          {"x null",
           [](auto& a) { a.x.data = nullptr; },
           {kInvalid, "x has no data", "[2,6,12]", "elements"}},
          {"x with gaps",
           [](auto& a) { a.x.strides[1] = 13; },
           {kInvalid, "axis 1 of x", "stride 13", "expected 12"}},
          {"y of another length",
           [](auto& a) { a.y.shape[1] = 9; },
           {kShapeError, "y is", "[2,9,12]", "[2,6,12]"}},
          {"y null",
           [](auto& a) { a.y.data = nullptr; },
           {kInvalid, "y has no data", "[2,6,12]", "elements"}},
          {"context missing",
           [](auto& a) { a.context = {}; },
           {kInvalid, "context", "missing", "[2,*,7]"}},
          {"context of another batch",
           [](auto& a) { a.context.shape[0] = 3; },
           {kShapeError, "context is", "[3,9,7]", "[2,*,7]"}},
          {"context of another width",
           [](auto& a) { a.context.shape[2] = 12; },
           {kShapeError, "context is", "[2,9,12]", "[2,*,7]"}},
          {"context null",
           [](auto& a) { a.context.data = nullptr; },
           {kInvalid, "context has no data", "[2,9,7]", "elements"}},
          {"lengths for another batch",
           [](auto& a) { a.context_key_lengths = {kLengths, {3}}; },
           {kShapeError, "context_key_lengths is", "[3]", "[2]"}},
          {"lengths null",
           [](auto& a) { a.context_key_lengths = {nullptr, {2}}; },
           {kInvalid, "context_key_lengths has no data", "[2]", "elements"}},
          {"a length past the context",
           [](auto& a) { a.context_key_lengths = {kLengths, {2}}; },
           {kRange, "context_key_lengths[1] is", "10", "0 to 9"}},
          {"scale",
           [](auto& a) { a.options.scale = INFINITY; },
           {kInvalid, "scale is", "inf", "finite"}},
          {"mask",
           [](auto& a) { a.options.mask = {mask.data(), {6, 9}}; },
           {kShapeError, "mask is", "[6,9]", "[2,4,6,6]"}},
          {"rows", [](auto& a) { a.extras.row_end = 7; }, {kRange, "rows are", "[0, 7)", "[0, 6)"}},
          {"lse",
           [](auto& a) { a.extras.lse.shape[2] = 9; },
           {kShapeError, "lse is", "[2,4,9]", "[2,4,6]"}},
      });
  require_all_refused(
      encoder(),
      {
          {"context without cross-attention",
           [](auto& a) { a.context = a.x; },
           {kInvalid, "context is given", "expected none", "no cross-attention"}},
          {"lengths without cross-attention",
           [](auto& a) { a.context_key_lengths = {kLengths, {2}}; },
           {kInvalid, "context_key_lengths is given", "expected none", "no cross-attention"}},
      });
}

}  // namespace
}  // namespace qkv::test
