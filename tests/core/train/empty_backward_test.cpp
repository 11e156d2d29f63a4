// Gradients of no tokens. There may be any number of batch rows of them, and whoever walked along these would never return.
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "qkv/train/additive_attention.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/gru.hpp"
#include "refusal.hpp"

namespace qkv::test::empty_backward_test {
namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();

bool all_zero(const std::vector<float>& values) {
  return values == std::vector<float>(values.size(), 0.0F);
}

TEST_CASE("attention_backward: batch rows without queries and keys", "[train][empty]") {
  const TensorView<float> none(nullptr, {kMost, 2, 0, 4});
  std::vector<float> sinks(2, 0.5F);
  std::vector<float> d_sinks(2, kUntouched);
  train::AttentionBackwardArgs args;
  args.d_out = args.q = args.k = args.v = args.out = none;
  args.lse = {nullptr, {kMost, 2, 0}};
  args.dq = args.dk = args.dv = none;
  args.options.sinks = {sinks.data(), {2}};
  args.d_sinks = {d_sinks.data(), {2}};
  Workspace workspace;
  require_ok(train::attention_backward(args, workspace));
  CHECK(all_zero(d_sinks));
}

TEST_CASE(
    "attention_backward: null pointers of heads side by side, without queries or without keys",
    "[train][empty]") {
  for (const bool queries : {false, true}) {
    CAPTURE(queries);
    const Index tq = queries ? 3 : 0;
    const Index tk = queries ? 0 : 3;
    std::vector<float> numbers(24, 1.0F);
    std::vector<float> of_q(24, kUntouched);
    std::vector<float> of_k(24, kUntouched);
    std::vector<float> of_v(24, kUntouched);
    const auto in = [&](Index tokens) {
      return split_heads<const float>(tokens > 0 ? numbers.data() : nullptr, 1, tokens, 2, 4);
    };
    const auto to = [](std::vector<float>& values, Index tokens) {
      return split_heads(tokens > 0 ? values.data() : nullptr, 1, tokens, 2, 4);
    };
    train::AttentionBackwardArgs args;
    args.d_out = args.q = args.out = in(tq);
    args.k = args.v = in(tk);
    args.lse = {tq > 0 ? numbers.data() : nullptr, {1, 2, tq}};
    args.lse.strides[1] = 3;
    args.options.bias = {nullptr, {2, tq, tk}};
    args.options.bias.strides = {9, 3, 1};
    args.dq = to(of_q, tq);
    args.dk = to(of_k, tk);
    args.dv = to(of_v, tk);
    args.d_bias = {nullptr, {2, tq, tk}};
    args.d_bias.strides = {9, 3, 1};
    Workspace workspace;
    require_ok(train::attention_backward(args, workspace));
    CHECK((queries ? all_zero(of_q) : all_zero(of_k) && all_zero(of_v)));
  }
}

TEST_CASE("layer_norm_backward, rms_norm_backward: without rows the gradients are 0",
          "[train][empty]") {
  float none = 0.0F;
  for (const bool layer : {true, false}) {
    for (const bool fresh : {true, false}) {
      CAPTURE(layer, fresh);
      std::vector<float> gamma(4, kUntouched);
      std::vector<float> beta(4, kUntouched);
      Workspace workspace;
      if (!fresh) {
        require_ok(workspace.begin(100));
      }
      train::NormBackwardArgs args;
      args.d_out = {&none, {0, 4}};
      args.x = {&none, {0, 4}};
      args.dx = {&none, {0, 4}};
      args.d_gamma = {gamma.data(), {4}};
      if (layer) {
        args.d_beta = {beta.data(), {4}};
      }
      require_ok(layer ? train::layer_norm_backward(args, workspace)
                       : train::rms_norm_backward(args, workspace));
      CHECK(gamma == std::vector<float>(4, 0.0F));
      CHECK(beta == std::vector<float>(4, layer ? 0.0F : kUntouched));
    }
  }
}

TEST_CASE("gru_backward: no batch rows of any number of steps", "[train][gru][empty]") {
  std::vector<float> weights(2 * 6, 1.0F);
  std::vector<float> gradients(12 + 12 + 6 + 6, kUntouched);
  float* to = gradients.data();
  train::GruBackwardArgs args;
  args.x = args.d_out = args.out = {nullptr, {0, kMost, 2}};
  args.weights = {.wx = {weights.data(), {2, 6}},
                  .wh = {weights.data(), {2, 6}},
                  .bx = {weights.data(), {6}},
                  .bh = {weights.data(), {6}}};
  args.dwx = {to, {2, 6}};
  args.dwh = {to + 12, {2, 6}};
  args.dbx = {to + 24, {6}};
  args.dbh = {to + 30, {6}};
  Workspace workspace;
  require_ok(train::gru_backward(args, workspace));
  CHECK(all_zero(gradients));
}

TEST_CASE("projected_additive_attention: batch rows without queries and keys",
          "[train][additive][empty]") {
  const TensorView<float> none(nullptr, {kMost, 0, 3});
  const TensorView<float> no_weights(nullptr, {kMost, 0, 0});
  std::vector<float> v(3, 1.0F);
  std::vector<float> dv(3, kUntouched);
  train::ProjectedAdditiveArgs forward;
  forward.q = forward.k = forward.values = none;
  forward.v = {v.data(), {3}};
  forward.context = none;
  forward.weights = no_weights;
  Workspace workspace;
  require_ok(train::projected_additive_attention(forward, workspace));
  train::ProjectedAdditiveBackwardArgs backward;
  backward.d_context = backward.q = backward.k = backward.values = none;
  backward.v = {v.data(), {3}};
  backward.weights = no_weights;
  backward.dq = backward.dk = backward.d_values = none;
  backward.dv = {dv.data(), {3}};
  require_ok(train::projected_additive_attention_backward(backward, workspace));
  CHECK(all_zero(dv));
}

TEST_CASE("additive_attention: batch rows without queries and keys", "[train][additive][empty]") {
  const TensorView<float> none(nullptr, {kMost, 0, 3});
  const TensorView<float> no_weights(nullptr, {kMost, 0, 0});
  std::vector<float> numbers(9, 1.0F);
  std::vector<float> gradients(9 + 9 + 3, kUntouched);
  float* to = gradients.data();
  const train::AdditiveScore score{
      .w = {numbers.data(), {3, 3}}, .u = {numbers.data(), {3, 3}}, .v = {numbers.data(), {3}}};
  train::AdditiveAttentionArgs forward;
  forward.s = forward.h = none;
  forward.score = score;
  forward.context = none;
  forward.weights = no_weights;
  Workspace workspace;
  require_ok(train::additive_attention(forward, workspace));
  train::AdditiveAttentionBackwardArgs backward;
  backward.d_context = backward.s = backward.h = none;
  backward.score = score;
  backward.weights = no_weights;
  backward.ds = backward.dh = none;
  backward.dw = {to, {3, 3}};
  backward.du = {to + 9, {3, 3}};
  backward.dv = {to + 18, {3}};
  require_ok(train::additive_attention_backward(backward, workspace));
  CHECK(all_zero(gradients));
}

TEST_CASE("projected_additive_attention: no batch rows of any number of queries and keys",
          "[train][additive][empty]") {
  const TensorView<float> none(nullptr, {0, kMost, 3});
  std::vector<float> v(3, 1.0F);
  train::ProjectedAdditiveArgs args;
  args.q = args.k = args.values = none;
  args.v = {v.data(), {3}};
  args.context = none;
  args.weights = {nullptr, {0, kMost, kMost}};
  Workspace workspace;
  require_ok(train::projected_additive_attention(args, workspace));
}

}  // namespace
}  // namespace qkv::test::empty_backward_test
