/// @file
/// How many directions a head uses: spectra of its QK and OV circuits (Elhage et al. 2021).
/// Header-only on Eigen (>= 3.4) and apart from qkv.hpp, so that only code that includes it needs
/// Eigen. In double precision, off the hot path: these functions allocate, and what Eigen does when
/// memory runs out happens here too.
#pragma once

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <utility>

#include "qkv/eigen.hpp"
#include "qkv/multi_head_attention.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// Weights of one query head and of the key/value head it reads, as views of the layer's arrays.
struct HeadWeights {
  TensorView<const float> wq = {};  ///< [d_model, d_k]
  TensorView<const float> wk = {};  ///< [d_context, d_k]
  TensorView<const float> wv = {};  ///< [d_context, d_v]
  TensorView<const float> wo = {};  ///< [d_v, d_model]
};

namespace detail {

/// Rows [first, first + count) of a matrix.
[[nodiscard]] inline TensorView<const float> matrix_rows(TensorView<const float> matrix,
                                                         Index first, Index count) noexcept {
  matrix.data += first * matrix.strides[0];
  matrix.shape[0] = count;
  return matrix;
}

[[nodiscard]] inline TensorView<const float> transposed(TensorView<const float> matrix) noexcept {
  std::swap(matrix.shape[0], matrix.shape[1]);
  std::swap(matrix.strides[0], matrix.strides[1]);
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
    return config.weight_layout == WeightLayout::kInOut ? matrix : detail::transposed(matrix);
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

/// The singular values of left * right, largest first, without forming the product: with
/// left = Q1 R1 and right^T = Q2 R2 they are those of R1 R2^T, which is at most k x k. That takes
/// O((m + n) k^2 + k^3) instead of O(m n min(m, n)).
///
/// `left` is [m, k], `right` is [k, n], any strides, finite, no extent 0. Returns min(m, k, n)
/// values; the product has no others but zeros.
/// |error| <= 64 k 2^-53 |left|_F |right|_F for each value.
[[nodiscard]] inline Eigen::VectorXd product_singular_values(const TensorView<const float>& left,
                                                             const TensorView<const float>& right) {
  const auto triangle = [](const Eigen::MatrixXd& factor) -> Eigen::MatrixXd {
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(factor);
    const Eigen::Index rows = std::min(factor.rows(), factor.cols());
    return qr.matrixQR().topRows(rows).template triangularView<Eigen::Upper>();
  };
  const Eigen::MatrixXd left_core = triangle(as_matrix(left).cast<double>());
  const Eigen::MatrixXd right_core = triangle(as_matrix(right).cast<double>().transpose());
  const Eigen::MatrixXd core = left_core * right_core.transpose();
  return Eigen::JacobiSVD<Eigen::MatrixXd>(core).singularValues();
}

/// Singular values of W_Q W_K^T, the bilinear form that scores pairs of tokens.
[[nodiscard]] inline Eigen::VectorXd qk_singular_values(const HeadWeights& head) {
  return product_singular_values(head.wq, detail::transposed(head.wk));
}

/// Singular values of W_V W_O, the map from what is attended to what is written.
[[nodiscard]] inline Eigen::VectorXd ov_singular_values(const HeadWeights& head) {
  return product_singular_values(head.wv, head.wo);
}

/// Effective rank (Roy & Vetterli 2007): exp of the entropy of the singular values divided by their
/// sum. n for n equal values, 1 for one alone, 0 when all are 0; never above the rank.
/// Precondition: no negative value.
[[nodiscard]] inline double effective_rank(const Eigen::VectorXd& singular_values) noexcept {
  const double sum = singular_values.sum();
  if (sum == 0.0) {
    return 0.0;
  }
  double entropy = 0.0;
  for (Eigen::Index i = 0; i < singular_values.size(); ++i) {
    const double p = singular_values[i] / sum;
    entropy -= p == 0.0 ? 0.0 : p * std::log(p);
  }
  return std::exp(entropy);
}

}  // namespace qkv
