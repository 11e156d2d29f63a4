// One number for what the training kernels compute: builds with four lanes and two roundings must arrive at it.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "hash.hpp"
#include "qkv/isa.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/linear.hpp"
#include "qkv/train/norm.hpp"
#include "qkv/train/optimizer.hpp"
#include "qkv/train/relative_bias.hpp"
#include "qkv/train/softmax.hpp"
#include "train_additive.hpp"
#include "train_gru.hpp"
#include "train_problem.hpp"

namespace qkv::test::fingerprint_backward_test {
namespace {

void add_attention(Hash& hash) {
  BackwardProblem p({.batch = 2, .heads = 6, .kv_heads = 3, .tq = 70, .tk = 90, .dk = 17, .dv = 9},
                    1);
  p.forward_call.add_bias({70, 90});
  p.forward_call.causal(20);
  p.forward_call.options.dropout = {.rate = 0.2F, .seed = 3};
  p.forward_call.options.softcap = 4.0F;
  p.add_sinks(4);
  const Gradients& of = p.run();
  for (const auto* gradient : {&of.dq, &of.dk, &of.dv, &of.d_bias, &of.d_sinks}) {
    hash.add(*gradient);
  }
}

/// A linear map, a norm, each activation, a loss and three steps of AdamW, one after another.
void add_step(Hash& hash) {
  constexpr Index kRows = 67;
  constexpr Index kIn = 19;
  constexpr Index kOut = 23;
  Random random(2);
  const std::vector<float> x = random_floats(random, kRows * kIn, 4.0F);
  std::vector<float> w(kIn * kOut);
  train::fill_normal(w.data(), kIn * kOut, 0.5F, 11, 0);
  std::vector<float> y(kRows * kOut);
  std::vector<float> dy(y.size());
  std::vector<float> dx(x.size());
  std::vector<float> dw(w.size());
  std::vector<float> d_gamma(kIn);
  std::vector<float> m(w.size());
  std::vector<float> v(w.size());
  std::vector<std::int32_t> targets;
  for (Index i = 0; i < kRows; ++i) {
    targets.push_back(static_cast<std::int32_t>(random.below(kOut)));
  }
  Workspace workspace;
  for (int step = 1; step <= 3; ++step) {
    LinearArgs forward;
    forward.x = {x.data(), {kRows, kIn}};
    forward.w = {w.data(), {kIn, kOut}};
    forward.out = {y.data(), {kRows, kOut}};
    require_ok(linear(forward, workspace));
    train::CrossEntropy found;
    require_ok(train::cross_entropy({.logits = {y.data(), {kRows, kOut}},
                                     .targets = {targets.data(), {kRows}},
                                     .label_smoothing = 0.1F,
                                     .d_logits = {dy.data(), {kRows, kOut}}},
                                    found, workspace));
    train::LinearBackwardArgs backward;
    backward.d_out = {dy.data(), {kRows, kOut}};
    backward.x = forward.x;
    backward.w = forward.w;
    backward.dx = {dx.data(), {kRows, kIn}};
    backward.dw = {dw.data(), {kIn, kOut}};
    require_ok(train::linear_backward(backward, workspace));
    train::NormBackwardArgs norm;
    norm.d_out = {dx.data(), {kRows, kIn}};
    norm.x = forward.x;
    std::vector<float> of_norm(x.size());
    norm.dx = {of_norm.data(), {kRows, kIn}};
    norm.d_gamma = {d_gamma.data(), {kIn}};
    require_ok(train::layer_norm_backward(norm, workspace));
    hash.add(of_norm);
    hash.add(d_gamma);
    for (const Activation f :
         {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh, Activation::kSilu}) {
      require_ok(train::activate_backward({x.data(), {kRows, kIn}}, {x.data(), {kRows, kIn}},
                                          {of_norm.data(), {kRows, kIn}}, f));
      hash.add(of_norm);
    }
    const std::array<train::Parameter, 1> all = {
        train::Parameter{w.data(), dw.data(), m.data(), v.data(), kIn * kOut, true}};
    double norm_of_all = 0.0;
    require_ok(train::global_norm(all, norm_of_all));
    train::AdamWOptions options;
    options.learning_rate = train::learning_rate_at({.peak = 1e-2F, .warmup = 1, .steps = 5}, step);
    options.gradient_factor = train::clip_factor(norm_of_all, 0.1F);
    require_ok(train::adamw_step(all, options, step));
    hash.add({static_cast<float>(found.loss)});
    hash.add(w);
  }
}

/// A recurrent decoder's parts: a GRU, and additive attention of widths that fill no vector.
void add_recurrent(Hash& hash) {
  GruProblem gru({3, 7, 13, 21}, 5);
  gru.run();
  hash.add(gru.written());
  AdditiveLayerProblem additive({{3, 5, 19, 23, 9}, 11, 14}, 6);
  additive.lengths = {19, 0, 8};
  additive.run();
  hash.add(additive.written());
}

/// Biases by distance.
void add_biases(Hash& hash) {
  Random random(7);
  const std::vector<float> d_bias = random_floats(random, 2 * 3 * 17 * 29);
  std::vector<float> d_table(3 * 12);
  require_ok(train::t5_relative_bias_backward({d_bias.data(), {3, 17, 29}},
                                              {d_table.data(), {12, 3}}, {.max_distance = 20}));
  hash.add(d_table);
  const std::vector<float> q = random_floats(random, 2 * 3 * 17 * 10);
  const std::vector<float> r = random_floats(random, 45 * 30);
  const std::vector<float> v = random_floats(random, 30);
  std::vector<float> dq(q.size());
  std::vector<float> dr(r.size());
  std::vector<float> dv(v.size());
  require_ok(train::transformer_xl_bias_backward({.d_bias = {d_bias.data(), {2, 3, 17, 29}},
                                                  .q = {q.data(), {2, 3, 17, 10}},
                                                  .r = {r.data(), {45, 30}},
                                                  .v = {v.data(), {3, 10}},
                                                  .dq = {dq.data(), {2, 3, 17, 10}},
                                                  .dr = {dr.data(), {45, 30}},
                                                  .dv = {dv.data(), {3, 10}}}));
  hash.add(joined({&dq, &dr, &dv}));
}

TEST_CASE("fingerprint: gradients and steps of the optimizer", "[train][fingerprint]") {
  Hash hash;
  add_attention(hash);
  add_step(hash);
  add_recurrent(hash);
  add_biases(hash);
  std::printf("gradients %s %016" PRIx64 "\n", active_isa(), hash.value());
  std::fflush(stdout);
  const std::string isa = active_isa();
  if (isa == "scalar" || isa == "sse4" || isa == "wasm-simd128") {
    CHECK(hash.value() == 0xDDFF1A2296095BD1U);
  }
}

}  // namespace
}  // namespace qkv::test::fingerprint_backward_test
