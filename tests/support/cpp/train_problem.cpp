#include "train_problem.hpp"

#include <catch2/catch_test_macros.hpp>

namespace qkv::test {
namespace {

constexpr double kU = bounds::kU;

/// The weights of the forward call before dropout.
std::vector<float> whole_weights_of(Problem& problem) {
  const Dropout dropout = problem.options.dropout;
  problem.options.dropout.rate = 0.0F;
  problem.run();
  const std::vector<float> whole = problem.result.weights;
  problem.options.dropout = dropout;
  problem.run();
  return whole;
}

/// The mask of the forward call divided by 1 - rate, from its weights with and without dropout.
std::vector<double> dropout_of(Problem& problem) {
  std::vector<double> kept;
  const Dropout dropout = problem.options.dropout;
  if (dropout.rate == 0.0F) {
    return kept;
  }
  const std::vector<float> whole = whole_weights_of(problem);
  const std::vector<float> dropped = problem.result.weights;
  const double factor = 1.0 / (1.0 - static_cast<double>(dropout.rate));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    kept.push_back(dropped[i] == 0.0F && whole[i] > 0.0F ? 0.0 : factor);
  }
  return kept;
}

/// error / bound of one gradient: `factor` times the size of each element.
Quantity compare(const char* name, const std::vector<float>& computed, const oracle::Product& exact,
                 double factor) {
  Quantity quantity(std::string("attention_backward ") + name);
  double largest = 0.0;
  for (const double size : exact.size) {
    largest = std::max(largest, size);
  }
  REQUIRE(computed.size() == exact.value.size());
  for (std::size_t i = 0; i < computed.size(); ++i) {
    // Weights that count as 0: at most 2^-62 of the greatest.
    const double bound = exact.size[i] * factor + largest * 0x1p-60 + 0x1p-120;
    quantity.add(static_cast<double>(computed[i]), exact.value[i], bound, exact.size[i]);
  }
  return quantity;
}

}  // namespace

BackwardProblem::BackwardProblem(const Shape& s, std::uint64_t seed) : forward_call(s, seed) {
  Random random(seed * 131 + 7);
  d_out = random_floats(random, s.batch * s.heads * s.tq * s.dv);
}

void BackwardProblem::add_sinks(std::uint64_t seed) {
  Random random(seed);
  sinks = random_floats(random, forward_call.shape.heads, 2.0F);
  forward_call.options.sinks = {sinks.data(), {forward_call.shape.heads}};
}

void BackwardProblem::forward() { forward_call.run(); }

train::AttentionBackwardArgs BackwardProblem::args() {
  const Shape& s = forward_call.shape;
  const AttentionArgs forward = forward_call.args();
  const auto fill = [](std::vector<float>& to, Index n) {
    to.assign(static_cast<std::size_t>(n), kUntouched);
    return to.data();
  };
  train::AttentionBackwardArgs a;
  a.d_out = {d_out.data(), {s.batch, s.heads, s.tq, s.dv}};
  a.q = forward.q;
  a.k = forward.k;
  a.v = forward.v;
  a.out = {forward.out.data, {s.batch, s.heads, s.tq, s.dv}};
  a.lse = {forward.extras.lse.data, {s.batch, s.heads, s.tq}};
  a.options = forward.options;
  a.dq = {fill(gradients.dq, s.batch * s.heads * s.tq * s.dk), {s.batch, s.heads, s.tq, s.dk}};
  a.dk = {fill(gradients.dk, s.batch * s.kv_heads * s.tk * s.dk),
          {s.batch, s.kv_heads, s.tk, s.dk}};
  a.dv = {fill(gradients.dv, s.batch * s.kv_heads * s.tk * s.dv),
          {s.batch, s.kv_heads, s.tk, s.dv}};
  gradients.d_bias.clear();
  gradients.d_sinks.clear();
  if (!forward.options.bias.absent()) {
    a.d_bias =
        view_of(fill(gradients.d_bias, forward.options.bias.size()), forward_call.bias_shape);
  }
  if (!forward.options.sinks.absent()) {
    a.d_sinks = {fill(gradients.d_sinks, s.heads), {s.heads}};
  }
  return a;
}

const Gradients& BackwardProblem::run() & {
  forward();
  require_ok(train::attention_backward(args(), workspace));
  return gradients;
}

oracle::AttentionGradients BackwardProblem::exact() {
  std::vector<double> dropout = dropout_of(forward_call);
  const train::AttentionBackwardArgs a = args();
  return oracle::attention_gradients<float>({{a.q, a.k, a.v}, a.options, a.d_out, dropout});
}

void BackwardProblem::check(Bounds bounds) {
  const oracle::AttentionGradients of = exact();
  run();
  require(of, 4.0 * static_cast<double>(forward_call.shape.dk + 20) * of.logit_size, bounds);
}

void BackwardProblem::check_against_weights() {
  std::vector<double> dropout = dropout_of(forward_call);
  const std::vector<float> whole = whole_weights_of(forward_call);
  const train::AttentionBackwardArgs a = args();
  const oracle::AttentionGradients of = oracle::attention_gradients<float>(
      {{a.q, a.k, a.v}, a.options, a.d_out, dropout, {whole.begin(), whole.end()}});
  run();
  require(of, 400.0, Bounds::kMeaningful, ", of the weights returned");
}

void BackwardProblem::require(const oracle::AttentionGradients& of, double of_weights,
                              Bounds bounds, const char* family) const {
  const Shape& s = forward_call.shape;
  const double weights =
      kU * (of_weights + 2.0 * static_cast<double>(s.dv) + 5.0 * static_cast<double>(s.tk) + 200.0);
  const double over_rows =
      weights + kU * static_cast<double>(s.tq * (s.heads / std::max<Index>(1, s.kv_heads)));
  const double over_keys = weights + kU * static_cast<double>(s.tk);
  const double over_all = weights + kU * static_cast<double>(s.batch * s.heads * s.tq * s.tk);
  Comparison comparison;
  comparison.quantities = {compare("dq", gradients.dq, of.dq, over_keys),
                           compare("dk", gradients.dk, of.dk, over_rows),
                           compare("dv", gradients.dv, of.dv, over_rows)};
  if (!gradients.d_bias.empty()) {
    comparison.quantities.push_back(compare("d_bias", gradients.d_bias, of.d_bias, over_all));
  }
  if (!gradients.d_sinks.empty()) {
    comparison.quantities.push_back(compare("d_sinks", gradients.d_sinks, of.d_sinks, over_all));
  }
  for (Quantity& quantity : comparison.quantities) {
    quantity.set_family(family);
  }
  require_within(comparison, bounds);
}

}  // namespace qkv::test
