/// @file
/// The weights of a head, whose QK and OV circuits (Elhage et al. 2021) qkv/spectra.hpp takes apart.
#pragma once

#include <utility>

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

}  // namespace qkv
