// A multi-head layer that owns its weights and activations.
#pragma once

#include <utility>
#include <vector>

#include "problem.hpp"

namespace qkv::test {

struct LayerShape {
  Index batch = 1;
  Index tq = 1;
  Index tk = -1;  ///< length of the context; < 0 for self-attention
};

struct LayerResult {
  std::vector<float> y, weights, lse, entropy;
};

/// gamma near 1 and a small beta, as training leaves them.
struct NormArrays {
  NormArrays(Index n, NormType type, Random& random) {
    gamma = random_floats(random, n, 0.25F);
    for (float& g : gamma) {
      g += 1.0F;
    }
    if (type == NormType::kLayer) {
      beta = random_floats(random, n, 0.25F);
    }
  }
  [[nodiscard]] NormWeights views() const {
    const auto n = static_cast<Index>(gamma.size());
    NormWeights w{{gamma.data(), {n}}, {}};
    if (!beta.empty()) {
      w.beta = {beta.data(), {n}};
    }
    return w;
  }
  std::vector<float> gamma, beta;
};

class LayerProblem {
 public:
  LayerProblem(const MultiHeadAttentionConfig& c, const LayerShape& s, std::uint64_t seed);

  /// Separate [in, out] matrices with all biases.
  [[nodiscard]] MultiHeadAttentionWeights weights() const;
  /// Dense views over everything, with all extras.
  [[nodiscard]] MultiHeadAttention::ForwardArgs args();

  /// Creates the layer from weights() unless it was created, and runs it; both must succeed.
  const LayerResult& run() &;
  /// Runs and asserts that everything is within the bounds; `biases` as the layer was created with.
  void check() { check(weights()); }
  void check(const MultiHeadAttentionWeights& as_created);
  void create(const MultiHeadAttentionWeights& from);

  MultiHeadAttentionConfig config;    ///< as given
  MultiHeadAttentionConfig resolved;  ///< with every size filled in
  LayerShape shape;
  AttentionOptions options;
  std::vector<float> x, context;
  std::vector<float> wq, wk, wv, wo, bq, bk, bv, bo;
  std::vector<NormArrays> qk_norms;  ///< of q and of k, if the config has them
  MultiHeadAttention layer;
  LayerResult result;
  Workspace workspace;

 private:
  [[nodiscard]] Index keys() const { return shape.tk < 0 ? shape.tq : shape.tk; }
  bool created_ = false;
};

/// [rows, columns] turned into [columns, rows].
std::vector<float> transposed(const std::vector<float>& matrix, Index columns);
/// Matrices with as many rows, side by side.
std::vector<float> side_by_side(
    const std::vector<std::pair<const std::vector<float>*, Index>>& parts);

}  // namespace qkv::test
