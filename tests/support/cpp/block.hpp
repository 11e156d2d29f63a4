// A transformer block that owns its weights and activations.
#pragma once

#include <utility>
#include <vector>

#include "blocks_oracle.hpp"
#include "layer.hpp"

namespace qkv::test {

namespace bounds {
/// Of a block, relative to max(1, |y|) (qkv/transformer.hpp).
inline constexpr double kBlock = 4e-6;
}  // namespace bounds

/// An encoder block of 12 features and 3 heads.
inline TransformerBlockConfig encoder() {
  TransformerBlockConfig c;
  c.attention = {.d_model = 12, .num_heads = 3};
  c.d_feed_forward = 20;
  return c;
}

/// A decoder block in which no two sizes are the same.
inline TransformerBlockConfig decoder() {
  TransformerBlockConfig c;
  c.attention = {
      .d_model = 12, .num_heads = 4, .num_kv_heads = 2, .d_k = 3, .d_v = 5, .d_context = 7};
  c.d_feed_forward = 19;
  c.cross_attention = true;
  return c;
}

struct BlockProblem {
  /// `s.tk` is the length of the context of a block with cross-attention.
  BlockProblem(const TransformerBlockConfig& c, const LayerShape& s, std::uint64_t seed)
      : config(c),
        shape(s),
        self(without_context(c.attention), {.batch = s.batch, .tq = s.tq}, seed),
        cross(c.attention, s, seed + 1000000),
        random(seed + 2000000),
        norm1(c.attention.d_model, c.norm_type, random),
        norm_cross(c.attention.d_model, c.norm_type, random),
        norm2(c.attention.d_model, c.norm_type, random) {
    const Index d = c.attention.d_model;
    const auto matrix = [&](Index in, Index out) {
      return random_floats(random, in * out, 1.7320508F / std::sqrt(static_cast<float>(in)));
    };
    w1 = matrix(d, c.d_feed_forward);
    w2 = matrix(c.d_feed_forward, d);
    w_gate = matrix(d, c.d_feed_forward);
    b1 = random_floats(random, c.d_feed_forward, 0.5F);
    b2 = random_floats(random, d, 0.5F);
    b_gate = random_floats(random, c.d_feed_forward, 0.5F);
    x = random_floats(random, s.batch * s.tq * d);
    if (c.cross_attention) {
      context = cross.context;
    }
    y.assign(x.size(), kUntouched);
  }

  [[nodiscard]] TransformerBlockWeights weights() const {
    const Index d = config.attention.d_model;
    const Index f = config.d_feed_forward;
    TransformerBlockWeights w;
    w.attention = self.weights();
    w.norm1 = norm1.views();
    w.norm2 = norm2.views();
    w.feed_forward.w1 = {w1.data(), {d, f}};
    w.feed_forward.b1 = {b1.data(), {f}};
    w.feed_forward.w2 = {w2.data(), {f, d}};
    w.feed_forward.b2 = {b2.data(), {d}};
    if (config.activation == FeedForwardActivation::kSwiglu) {
      w.feed_forward.w_gate = {w_gate.data(), {d, f}};
      w.feed_forward.b_gate = {b_gate.data(), {f}};
    }
    if (config.cross_attention) {
      w.cross = cross.weights();
      w.norm_cross = norm_cross.views();
    }
    return w;
  }

  [[nodiscard]] TransformerBlock::ForwardArgs args() {
    const Index d = config.attention.d_model;
    TransformerBlock::ForwardArgs a;
    a.x = {x.data(), {shape.batch, shape.tq, d}};
    a.y = {y.data(), {shape.batch, shape.tq, d}};
    if (config.cross_attention) {
      a.context = {context.data(), {shape.batch, shape.tk, cross.resolved.d_context}};
    }
    a.options = options;
    return a;
  }

  void create(const TransformerBlockWeights& from);
  /// Creates the block from weights() unless it was created, and runs it; both must succeed.
  const std::vector<float>& run() &;

  /// The block of the oracle, with the same weights and options.
  [[nodiscard]] oracle::Block exact() const { return exact(weights()); }
  [[nodiscard]] oracle::Block exact(const TransformerBlockWeights& w) const;
  /// Runs and asserts that y is as close as qkv/transformer.hpp says.
  void check() { check(weights()); }
  void check(const TransformerBlockWeights& as_created);

  TransformerBlockConfig config;
  LayerShape shape;
  LayerProblem self, cross;  ///< for their weights

  Random random;
  NormArrays norm1, norm_cross, norm2;
  std::vector<float> w1, w2, w_gate, b1, b2, b_gate;
  std::vector<float> x, context, y;
  AttentionOptions options;
  AttentionOptions cross_options;  ///< for the oracle only: what context_key_lengths mean
  TransformerBlock block;
  bool created = false;
  Workspace workspace;

 private:
  static MultiHeadAttentionConfig without_context(MultiHeadAttentionConfig c) {
    c.d_context = 0;
    return c;
  }
};

/// Asserts that |computed - exact| <= limit max(1, |exact|).
void require_close(const char* name, const std::vector<float>& computed,
                   const std::vector<double>& exact, double limit = bounds::kBlock);

}  // namespace qkv::test
