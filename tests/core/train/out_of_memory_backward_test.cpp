// When memory runs out while a model learns: every request of every function of qkv_train fails in turn.
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdio>
#include <memory>

#include "out_of_memory.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/embedding.hpp"
#include "qkv/train/linear.hpp"
#include "qkv/train/norm.hpp"
#include "qkv/train/optimizer.hpp"
#include "qkv/train/relative_bias.hpp"
#include "qkv/train/softmax.hpp"
#include "train_additive.hpp"
#include "train_gru.hpp"
#include "train_problem.hpp"

namespace qkv::test::out_of_memory_backward_test {
namespace {

/// Arrays of numbers in, arrays of results out, and a workspace that serves one call.
struct Arrays {
  Arrays(Index numbers, Index results) {
    Random random(1);
    in = random_floats(random, numbers);
    out.assign(static_cast<std::size_t>(results), kUntouched);
  }
  /// The next `n` results.
  float* take(Index n) {
    float* piece = out.data() + taken;
    taken += n;
    return piece;
  }

  std::vector<float> in, out;
  Index taken = 0;
  Workspace workspace;
};

Operation attention_operation() {
  auto p = std::make_shared<BackwardProblem>(
      Shape{.batch = 2, .heads = 4, .kv_heads = 2, .tq = 9, .tk = 11, .dk = 5, .dv = 7}, 2);
  p->forward_call.add_bias({9, 11});
  p->add_sinks(3);
  p->forward();
  const train::AttentionBackwardArgs args = p->args();
  return {[p, args] { return train::attention_backward(args, p->workspace); },
          [p] {
            const Gradients& g = p->gradients;
            return joined({&g.dq, &g.dk, &g.dv, &g.d_bias, &g.d_sinks});
          }};
}

/// Both products need memory, that of dx more than that of dW for few rows and less for many.
Operation linear_operation(Index rows) {
  constexpr Index kIn = 7;
  constexpr Index kOut = 90;
  auto p = std::make_shared<Arrays>(rows * kOut + kIn * kOut, rows * kIn + kIn * kOut + kOut);
  train::LinearBackwardArgs args;
  args.d_out = {p->in.data(), {rows, kOut}};
  args.x = {p->in.data(), {rows, kIn}};
  args.w = {p->in.data() + rows * kOut, {kIn, kOut}};
  args.dx = {p->take(rows * kIn), {rows, kIn}};
  args.dw = {p->take(kIn * kOut), {kIn, kOut}};
  args.d_bias = {p->take(kOut), {kOut}};
  return {[p, args] { return train::linear_backward(args, p->workspace); }, [p] { return p->out; }};
}

Operation norm_operation(bool of_layer) {
  constexpr Index kRows = 70;
  auto p = std::make_shared<Arrays>(kRows * 9, kRows * 9 + 18);
  train::NormBackwardArgs args;
  args.d_out = {p->in.data(), {kRows, 9}};
  args.x = args.d_out;
  args.dx = {p->take(kRows * 9), {kRows, 9}};
  args.d_gamma = {p->take(9), {9}};
  if (of_layer) {
    args.d_beta = {p->take(9), {9}};
  }
  return {[p, args, of_layer] {
            return of_layer ? train::layer_norm_backward(args, p->workspace)
                            : train::rms_norm_backward(args, p->workspace);
          },
          [p] { return p->out; }};
}

Operation cross_entropy_operation() {
  struct State : Arrays {
    State() : Arrays(5 * 6, 5 * 6) {}
    std::vector<std::int32_t> targets = {0, 5, -1, 3, 3};
    train::CrossEntropy found;
  };
  auto p = std::make_shared<State>();
  return {[p] {
            return train::cross_entropy({.logits = {p->in.data(), {5, 6}},
                                         .targets = {p->targets.data(), {5}},
                                         .d_logits = {p->out.data(), {5, 6}}},
                                        p->found, p->workspace);
          },
          [p] {
            std::vector<float> state = p->out;
            state.push_back(static_cast<float>(p->found.loss));
            state.push_back(static_cast<float>(p->found.correct));
            return state;
          }};
}

Operation rotary_operation() {
  auto p = std::make_shared<Arrays>(2 * 3 * 7 * 8, 2 * 3 * 7 * 8);
  return {[p] {
            return train::rotary_embedding_backward(
                {p->in.data(), {2, 3, 7, 8}}, {p->out.data(), {2, 3, 7, 8}}, {}, p->workspace);
          },
          [p] { return p->out; }};
}

/// `hidden` decides which of the products needs most.
Operation gru_operation(Index in, Index hidden, bool backward) {
  auto p = std::make_shared<GruProblem>(GruShape{2, 5, in, hidden}, 4);
  if (backward) {
    require_ok(train::gru(p->forward(), p->workspace));
    p->workspace.release();
  }
  return {[p, backward] {
            return backward ? train::gru_backward(p->backward(), p->workspace)
                            : train::gru(p->forward(), p->workspace);
          },
          [p] { return p->written(); }};
}

Operation additive_operation(bool values, bool backward) {
  auto p = std::make_shared<AdditiveLayerProblem>(AdditiveLayerSizes{{2, 4, 7, 33, 8}, 6, 8}, 5);
  p->lengths = {7, 3};
  train::AdditiveAttentionArgs forward = p->forward();
  train::AdditiveAttentionBackwardArgs back = p->backward();
  if (!values) {
    forward.values = {};
    back.values = {};
    back.d_values = {};
  }
  if (backward) {
    require_ok(train::additive_attention(forward, p->workspace));
    p->workspace.release();
  }
  return {[p, forward, back, backward] {
            return backward ? train::additive_attention_backward(back, p->workspace)
                            : train::additive_attention(forward, p->workspace);
          },
          [p] { return p->written(); }};
}

Operation projected_additive_operation() {
  auto p = std::make_shared<AdditiveProblem>(AdditiveSizes{2, 4, 7, 5, 3}, 6);
  require_ok(train::projected_additive_attention(p->forward(), p->workspace));
  return {[p] { return train::projected_additive_attention_backward(p->backward(), p->workspace); },
          [p] { return p->written(); }};
}

TEST_CASE("out of memory: every request of every function of training may fail",
          "[train][memory][out-of-memory]") {
  int requests = 0;
  const auto survives = [&](const char* name, const MakeOperation& make) {
    requests += require_survives(name, 1, make);
  };
  survives("attention_backward", attention_operation);
  survives("linear_backward, few rows", [] { return linear_operation(2); });
  survives("linear_backward, many rows", [] { return linear_operation(200); });
  survives("layer_norm_backward", [] { return norm_operation(true); });
  survives("rms_norm_backward", [] { return norm_operation(false); });
  survives("cross_entropy", cross_entropy_operation);
  survives("rotary_embedding_backward", rotary_operation);
  for (const bool backward : {false, true}) {
    CAPTURE(backward);
    survives("gru, wide input", [&] { return gru_operation(40, 5, backward); });
    survives("gru, wide state", [&] { return gru_operation(5, 40, backward); });
    survives("additive_attention", [&] { return additive_operation(true, backward); });
    survives("additive_attention of keys", [&] { return additive_operation(false, backward); });
  }
  survives("projected_additive_attention_backward", projected_additive_operation);
  std::printf("out of memory: %d requests of training failed, one at a time\n", requests);
}

TEST_CASE("out of memory: functions of training without scratch never ask",
          "[train][memory][out-of-memory]") {
  Arrays p(600, 600);
  const std::vector<std::int32_t> ids = {0, 3, 1};
  const auto in = [&](std::initializer_list<Index> shape) {
    return TensorView<const float>(p.in.data(), shape);
  };
  const auto out = [&](std::initializer_list<Index> shape) {
    return TensorView<float>(p.out.data(), shape);
  };
  const auto nothing = require_asks_for_nothing;
  nothing("softmax_backward",
          [&] { return train::softmax_backward(in({4, 9}), in({4, 9}), out({4, 9}), {}); });
  nothing("activate_backward", [&] {
    return train::activate_backward(in({4, 9}), in({4, 9}), out({4, 9}), Activation::kGelu);
  });
  nothing("gate_backward", [&] {
    return train::gate_backward({.d_out = in({4, 9}),
                                 .x = in({4, 9}),
                                 .y = in({4, 9}),
                                 .dx = out({4, 9}),
                                 .dy = {p.out.data() + 36, {4, 9}}},
                                Activation::kSilu);
  });
  nothing("embedding_backward",
          [&] { return train::embedding_backward(in({3, 8}), {ids.data(), {3}}, out({4, 8})); });
  nothing("t5_relative_bias_backward", [&] {
    return train::t5_relative_bias_backward(in({2, 5, 6}), out({8, 2}), {.max_distance = 9});
  });
  nothing("transformer_xl_bias_backward", [&] {
    return train::transformer_xl_bias_backward({.d_bias = in({1, 2, 3, 4}),
                                                .q = in({1, 2, 3, 4}),
                                                .r = in({6, 8}),
                                                .v = in({2, 4}),
                                                .dr = out({6, 8})});
  });
  AdditiveProblem additive({2, 4, 7, 5, 3}, 7);
  nothing("projected_additive_attention", [&] {
    return train::projected_additive_attention(additive.forward(), additive.workspace);
  });
  std::vector<float> moments(100);
  const std::array<train::Parameter, 1> all = {
      train::Parameter{p.out.data(), p.in.data(), moments.data(), moments.data() + 50, 50, true}};
  nothing("adamw_step", [&] { return train::adamw_step(all, {}, 1); });
  nothing("global_norm", [&] {
    double norm = 0.0;
    return train::global_norm(all, norm);
  });
}

}  // namespace
}  // namespace qkv::test::out_of_memory_backward_test
