// The number of threads changes no bit of a gradient.
#include <catch2/catch_test_macros.hpp>

#include "qkv/threads.hpp"
#include "qkv/train/linear.hpp"
#include "qkv/train/norm.hpp"
#include "train_additive.hpp"
#include "train_gru.hpp"
#include "train_problem.hpp"

namespace qkv::test::parallel_backward_test {
namespace {

TEST_CASE("attention_backward: threads change no bit", "[train][parallel]") {
  for (const auto& bias : {std::vector<Index>{2, 6, 50, 90}, {50, 90}}) {
    CAPTURE(bias.size());
    BackwardProblem p(
        {.batch = 2, .heads = 6, .kv_heads = 3, .tq = 50, .tk = 90, .dk = 16, .dv = 8}, 1);
    p.forward_call.add_bias(bias);
    p.forward_call.causal(40);
    p.forward_call.options.dropout = {.rate = 0.2F, .seed = 3};
    p.add_sinks(4);
    const Gradients alone = p.run();
    for (const unsigned count : {2U, 3U}) {
      CAPTURE(count);
      Threads threads(count);
      Workspace workspace(&threads.pool());
      require_ok(train::attention_backward(p.args(), workspace));
      CHECK(first_difference(alone.dq, p.gradients.dq) == "");
      CHECK(first_difference(alone.dk, p.gradients.dk) == "");
      CHECK(first_difference(alone.dv, p.gradients.dv) == "");
      CHECK(first_difference(alone.d_bias, p.gradients.d_bias) == "");
      CHECK(first_difference(alone.d_sinks, p.gradients.d_sinks) == "");
    }
  }
}

TEST_CASE(
    "attention_backward: every thread of the pool has scratch of its own, whatever the number of "
    "heads",
    "[train][parallel]") {
  for (const Index heads : {2, 3}) {
    CAPTURE(heads);
    BackwardProblem p(
        {.batch = 1, .heads = heads, .kv_heads = heads, .tq = 96, .tk = 96, .dk = 16, .dv = 16}, 7);
    p.forward_call.causal(0);
    const Gradients alone = p.run();
    const std::size_t one = train::attention_backward_scratch_bytes(p.args(), 1);
    for (const unsigned count : {3U, 4U}) {
      CAPTURE(count);
      CHECK(train::attention_backward_scratch_bytes(p.args(), static_cast<int>(count)) ==
            count * one);
      Threads threads(count);
      Workspace workspace(&threads.pool());
      for (int times = 0; times < 20; ++times) {
        require_ok(train::attention_backward(p.args(), workspace));
        CHECK(first_difference(alone.dq, p.gradients.dq) == "");
        CHECK(first_difference(alone.dk, p.gradients.dk) == "");
        CHECK(first_difference(alone.dv, p.gradients.dv) == "");
      }
    }
  }
}

TEST_CASE("attention_backward: the gradient of a bias that rows or heads share has one owner",
          "[train][parallel]") {
  // A race is not seen by every run of it; what each thread would have of its own in the workspace is.
  struct Case {
    Index batch, kv_heads;
    std::vector<Index> bias;
    bool shared;
  };
  const Case cases[] = {
      {2, 1, {2, 50, 90}, true},     {1, 2, {50, 90}, true},  {2, 1, {2, 2, 50, 90}, false},
      {1, 2, {4, 50, 90}, false},    {1, 1, {50, 90}, false}, {2, 2, {2, 1, 50, 90}, true},
      {2, 2, {2, 4, 50, 90}, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.batch, c.kv_heads, c.bias);
    BackwardProblem p({.batch = c.batch,
                       .heads = 2 * c.kv_heads,
                       .kv_heads = c.kv_heads,
                       .tq = 50,
                       .tk = 90,
                       .dk = 16,
                       .dv = 8},
                      1);
    p.forward_call.add_bias(c.bias);
    static_cast<void>(p.run());
    Workspace alone;
    require_ok(train::attention_backward(p.args(), alone));
    Threads threads(2);
    Workspace shared(&threads.pool());
    require_ok(train::attention_backward(p.args(), shared));
    const bool one = c.shared || c.batch * c.kv_heads == 1;
    CHECK((shared.capacity_bytes() == alone.capacity_bytes()) == one);
  }
}

TEST_CASE("linear_backward, layer_norm_backward: threads change no bit", "[train][parallel]") {
  constexpr Index kRows = 300;
  constexpr Index kIn = 130;
  constexpr Index kOut = 210;
  Random random(2);
  const std::vector<float> x = random_floats(random, kRows * kIn);
  const std::vector<float> w = random_floats(random, kIn * kOut);
  const std::vector<float> d_out = random_floats(random, kRows * kOut);
  const std::vector<float> d_normal = random_floats(random, kRows * kIn);
  const auto run = [&](Workspace& workspace) {
    std::vector<float> all(static_cast<std::size_t>(2 * kRows * kIn + kIn * kOut + kOut + 2 * kIn));
    float* next = all.data();
    const auto take = [&](Index n) {
      float* piece = next;
      next += n;
      return piece;
    };
    train::LinearBackwardArgs linear;
    linear.d_out = {d_out.data(), {kRows, kOut}};
    linear.x = {x.data(), {kRows, kIn}};
    linear.w = {w.data(), {kIn, kOut}};
    linear.dx = {take(kRows * kIn), {kRows, kIn}};
    linear.dw = {take(kIn * kOut), {kIn, kOut}};
    linear.d_bias = {take(kOut), {kOut}};
    require_ok(train::linear_backward(linear, workspace));
    train::NormBackwardArgs norm;
    norm.d_out = {d_normal.data(), {kRows, kIn}};
    norm.x = {x.data(), {kRows, kIn}};
    norm.dx = {take(kRows * kIn), {kRows, kIn}};
    norm.d_gamma = {take(kIn), {kIn}};
    norm.d_beta = {take(kIn), {kIn}};
    require_ok(train::layer_norm_backward(norm, workspace));
    return all;
  };
  Workspace alone;
  const std::vector<float> expected = run(alone);
  for (const unsigned count : {2U, 4U}) {
    CAPTURE(count);
    Threads threads(count);
    Workspace workspace(&threads.pool());
    CHECK(first_difference(expected, run(workspace)) == "");
  }
}

TEST_CASE("projected_additive_attention: threads change no bit", "[train][parallel][additive]") {
  constexpr AdditiveSizes kSizes{7, 9, 40, 33, 12};
  AdditiveProblem alone(kSizes, 3);
  alone.lengths = {40, 0, 17, 40, 1, 39, 8};
  alone.run();
  for (const unsigned count : {2U, 4U}) {
    CAPTURE(count);
    Threads threads(count);
    AdditiveProblem shared(kSizes, 3);
    shared.lengths = alone.lengths;
    shared.workspace = Workspace(&threads.pool());
    shared.run();
    CHECK(first_difference(alone.written(), shared.written()) == "");
  }
}

TEST_CASE("gru, gru_backward: threads change no bit", "[train][parallel][gru]") {
  constexpr GruShape kShape{64, 3, 40, 50};
  GruProblem alone(kShape, 4);
  alone.run();
  for (const unsigned count : {2U, 4U}) {
    CAPTURE(count);
    Threads threads(count);
    GruProblem shared(kShape, 4);
    shared.workspace = Workspace(&threads.pool());
    shared.run();
    CHECK(first_difference(alone.written(), shared.written()) == "");
  }
}

}  // namespace
}  // namespace qkv::test::parallel_backward_test
