#include "layer.hpp"

#include <catch2/catch_test_macros.hpp>

namespace qkv::test {

LayerProblem::LayerProblem(const MultiHeadAttentionConfig& c, const LayerShape& s,
                           std::uint64_t seed)
    : config(c), resolved(c), shape(s) {
  MultiHeadAttentionConfig& r = resolved;
  r.num_kv_heads = c.num_kv_heads == 0 ? c.num_heads : c.num_kv_heads;
  r.d_k = c.d_k == 0 ? c.d_model / c.num_heads : c.d_k;
  r.d_v = c.d_v == 0 ? r.d_k : c.d_v;
  r.d_context = c.d_context == 0 ? c.d_model : c.d_context;

  Random random(seed);
  const auto matrix = [&](Index in, Index out) {  // keeps the variance of what it multiplies
    return random_floats(random, in * out, 1.7320508F / std::sqrt(static_cast<float>(in)));
  };
  wq = matrix(r.d_model, r.num_heads * r.d_k);
  wk = matrix(r.d_context, r.num_kv_heads * r.d_k);
  wv = matrix(r.d_context, r.num_kv_heads * r.d_v);
  wo = matrix(r.num_heads * r.d_v, r.d_model);
  bq = random_floats(random, r.num_heads * r.d_k, 0.5F);
  bk = random_floats(random, r.num_kv_heads * r.d_k, 0.5F);
  bv = random_floats(random, r.num_kv_heads * r.d_v, 0.5F);
  bo = random_floats(random, r.d_model, 0.5F);
  x = random_floats(random, s.batch * s.tq * r.d_model);
  context = random_floats(random, s.tk < 0 ? 0 : s.batch * s.tk * r.d_context);

  for (int i = 0; c.qk_norm && i < 2; ++i) {
    qk_norms.emplace_back(r.d_k, *c.qk_norm, random);
  }

  const auto outputs = [](Index n) {
    return std::vector<float>(static_cast<std::size_t>(n), kUntouched);
  };
  result.y = outputs(s.batch * s.tq * r.d_model);
  result.weights = outputs(s.batch * r.num_heads * s.tq * keys());
  result.lse = outputs(s.batch * r.num_heads * s.tq);
  result.entropy = outputs(s.batch * r.num_heads * s.tq);
}

MultiHeadAttentionWeights LayerProblem::weights() const {
  const MultiHeadAttentionConfig& r = resolved;
  MultiHeadAttentionWeights w;
  w.wq = {wq.data(), {r.d_model, r.num_heads * r.d_k}};
  w.wk = {wk.data(), {r.d_context, r.num_kv_heads * r.d_k}};
  w.wv = {wv.data(), {r.d_context, r.num_kv_heads * r.d_v}};
  w.wo = {wo.data(), {r.num_heads * r.d_v, r.d_model}};
  w.bq = {bq.data(), {r.num_heads * r.d_k}};
  w.bk = {bk.data(), {r.num_kv_heads * r.d_k}};
  w.bv = {bv.data(), {r.num_kv_heads * r.d_v}};
  w.bo = {bo.data(), {r.d_model}};
  if (!qk_norms.empty()) {
    w.q_gamma = qk_norms[0].views().gamma;
    w.q_beta = qk_norms[0].views().beta;
    w.k_gamma = qk_norms[1].views().gamma;
    w.k_beta = qk_norms[1].views().beta;
  }
  return w;
}

MultiHeadAttention::ForwardArgs LayerProblem::args() {
  const MultiHeadAttentionConfig& r = resolved;
  MultiHeadAttention::ForwardArgs a;
  a.x = {x.data(), {shape.batch, shape.tq, r.d_model}};
  if (shape.tk >= 0) {
    a.context = {context.data(), {shape.batch, shape.tk, r.d_context}};
  }
  a.y = {result.y.data(), {shape.batch, shape.tq, r.d_model}};
  a.options = options;
  a.extras.weights = {result.weights.data(), {shape.batch, r.num_heads, shape.tq, keys()}};
  a.extras.lse = {result.lse.data(), {shape.batch, r.num_heads, shape.tq}};
  a.extras.entropy = {result.entropy.data(), {shape.batch, r.num_heads, shape.tq}};
  return a;
}

void LayerProblem::create(const MultiHeadAttentionWeights& from) {
  require_ok(MultiHeadAttention::create(config, from, layer));
  created_ = true;
}

const LayerResult& LayerProblem::run() & {
  if (!created_) {
    create(weights());
  }
  require_ok(layer.forward(args(), workspace));
  return result;
}

void LayerProblem::check(const MultiHeadAttentionWeights& as_created) {
  if (!created_) {
    create(as_created);
  }
  run();
  const auto a = args();
  require_within(compare_layer(
      {resolved, as_created, a.x, a.context.absent() ? a.x : a.context, options}, {a.y, a.extras}));
}

std::vector<float> transposed(const std::vector<float>& matrix, Index columns) {
  const auto width = static_cast<std::size_t>(columns);
  const std::size_t rows = matrix.size() / width;
  std::vector<float> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      result[j * rows + i] = matrix[i * width + j];
    }
  }
  return result;
}

std::vector<float> side_by_side(
    const std::vector<std::pair<const std::vector<float>*, Index>>& parts) {
  std::vector<float> result;
  const Index rows = static_cast<Index>(parts[0].first->size()) / parts[0].second;
  for (Index r = 0; r < rows; ++r) {
    for (const auto& [matrix, columns] : parts) {
      result.insert(result.end(), matrix->begin() + r * columns,
                    matrix->begin() + (r + 1) * columns);
    }
  }
  return result;
}

}  // namespace qkv::test
