/// @file
/// How many directions a head uses: spectra of its QK and OV circuits (Elhage et al. 2021).
#pragma once

#include <span>
#include <utility>

#include "qkv/multi_head_attention.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// Weights of one query head and of the key/value head it reads, as views of the layer's arrays.
struct HeadWeights {
  TensorView<const float> wq = {};  ///< [d_model, d_k]
  TensorView<const float> wk = {};  ///< [d_context, d_k]
  TensorView<const float> wv = {};  ///< [d_context, d_v]
  TensorView<const float> wo = {};  ///< [d_v, d_model]
};

/// A matrix with its rows as columns: the same elements, none of which moves.
[[nodiscard]] inline TensorView<const float> transposed(TensorView<const float> matrix) noexcept {
  std::swap(matrix.shape[0], matrix.shape[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
  return matrix;
}

namespace detail {

/// Rows [first, first + count) of a matrix.
[[nodiscard]] inline TensorView<const float> matrix_rows(TensorView<const float> matrix,
                                                         Index first, Index count) noexcept {
  matrix.data += first * matrix.strides[0];
  matrix.shape[0] = count;
  return matrix;
}

/// Columns [first, first + count) of a matrix.
[[nodiscard]] inline TensorView<const float> matrix_columns(TensorView<const float> matrix,
                                                            Index first, Index count) noexcept {
  return transposed(matrix_rows(transposed(matrix), first, count));
}

}  // namespace detail

/// Query head h of a layer; both weight layouts, wqkv, and groups of heads that share keys and
/// values. Copies nothing. Preconditions:
/// - `config` has every size filled in, as MultiHeadAttention::config() returns it
/// - `weights` is what MultiHeadAttention::create() accepted with it
/// - 0 <= h < config.num_heads
[[nodiscard]] inline HeadWeights head_weights(const MultiHeadAttentionConfig& config,
                                              const MultiHeadAttentionWeights& weights,
                                              Index h) noexcept {
  const auto in_out = [&](const TensorView<const float>& matrix) {
    return config.weight_layout == WeightLayout::kInOut ? matrix : transposed(matrix);
  };
  const Index kv = h / (config.num_heads / config.num_kv_heads);
  const bool fused = !weights.wqkv.absent();
  const Index k_from = fused ? config.num_heads * config.d_k : 0;
  const Index v_from = fused ? k_from + config.num_kv_heads * config.d_k : 0;
  const auto columns = [&](const TensorView<const float>& matrix, Index first, Index count) {
    return detail::matrix_columns(in_out(fused ? weights.wqkv : matrix), first, count);
  };
  return {.wq = columns(weights.wq, h * config.d_k, config.d_k),
          .wk = columns(weights.wk, k_from + kv * config.d_k, config.d_k),
          .wv = columns(weights.wv, v_from + kv * config.d_v, config.d_v),
          .wo = detail::matrix_rows(in_out(weights.wo), h * config.d_v, config.d_v)};
}

/// The singular values of left * right, largest first, without forming the product: with left = Q1 R1 and right^T = Q2 R2 they
/// are those of R1 R2^T, which is k x k (one-sided Jacobi rotations, Hestenes 1958). That takes O((m + n) k^2), and O(k^3) for
/// each of about ten sweeps, instead of O(m n min(m, n)).
///
/// `left` is [m, k], `right` is [k, n], any strides; `out` has min(m, k, n) elements, and the product has no other singular values
/// but zeros. A number that is not finite gives NaN. |error| <= 64 k 2^-53 |left|_F |right|_F for each value. In double precision,
/// off the hot path. Scratch: 8 k (max(m, n) + 3 k) bytes.
/// Errors; nothing is written then: kInvalidArgument (null data, strides below 0), kShapeMismatch (ranks, extents, the elements of
/// `out`), kOutOfMemory (the workspace could not grow).
Status product_singular_values(TensorView<const float> left, TensorView<const float> right,
                               std::span<double> out, Workspace& workspace) noexcept;

/// Effective rank (Roy & Vetterli 2007): exp of the entropy of the singular values divided by their sum. n for n equal values, 1
/// for one alone, 0 when all are 0 or there are none; never above the rank. Precondition: no negative value.
[[nodiscard]] double effective_rank(std::span<const double> singular_values) noexcept;

/// Effective ranks of the products left[a] * right[a]: of W_Q W_K^T, the bilinear form that scores pairs of tokens, or of
/// W_V W_O, the map from what is attended to what is written.
///
/// `left` is [A, m, k], `right` is [A, k, n], any strides; `out` is [A] and apart from both. A number that is not finite gives NaN
/// for its matrix.
///
/// |error| <= (2^-24 + exp(t ln(k / t) + (k + 8) 2^-48) - 1) out with t = 128 k^2 2^-53 |left|_F |right|_F / S, S the sum of the
/// singular values, as long as t <= 1/2: probabilities that are t apart in sum have entropies t ln(k / t) apart (Cover & Thomas 2006, theorem 17.3.3). Scratch and errors: those of product_singular_values(), and kInvalidArgument for arrays
/// that overlap.
Status effective_rank(TensorView<const float> left, TensorView<const float> right,
                      TensorView<float> out, Workspace& workspace) noexcept;

}  // namespace qkv
