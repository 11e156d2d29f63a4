// What an ISA unit in src/isa/arch/train provides beside the kernels of the forward pass: gradients, losses and the optimizer.
#pragma once

#include "kernels/kernel_table.hpp"

namespace qkv::kernels {

/// A gradient of the shape of an array that was added to scores; null for none. Strides of 0 sum it along an axis.
struct ScoreGradient {
  float* data;
  Index head_stride, query_stride, key_stride;
};

/// One key/value head of one batch row and the query heads that read it.
struct BackwardArgs {
  /// As for attend(): heads, rows [0, row_end), dk, dv, q, keys.count and keys.k_panels, reach, score, sinks, dropout.
  GroupArgs group;
  RowArray<const float> d_out;  ///< [dv] for every row
  RowArray<const float> out;    ///< of the forward pass
  RowArray<const float> lse;    ///< of the forward pass, one for each row
  const float* k_rows;          ///< pack() of K: count x dk
  const float* v_columns;       ///< pack() of V transposed: dv x count
  RowArray<float> dq;           ///< [dk] for every row
  float* dk;                    ///< [count, dk]
  float* dv;                    ///< [count, dv]
  Index dk_stride, dv_stride;
  ScoreGradient d_bias;  ///< added to
  float* d_sinks;        ///< null or one for each head
  float* scratch;        ///< backward_scratch() floats, aligned to 64 bytes
};

/// Gradients of rows that NormArgs describes.
struct NormBackwardArgs {
  NormArgs norm;       ///< without out and beta
  const float* d_out;  ///< [rows, n]
  float* dx;           ///< [rows, n]
  float* d_gamma;      ///< null or [n], added to
  float* d_beta;       ///< null or [n], added to
};

/// Gradients of SoftmaxArgs: dx = y (dy - sum y dy) / temperature.
struct SoftmaxBackwardArgs {
  Index outer, n, inner;
  const float* d_out;
  const float* out;
  float* dx;
  float temperature;
};

/// n elements: dx = d_out f'(x), or the gradients dx and dy of f(x) y.
struct ElementwiseBackwardArgs {
  Index n;
  const float* d_out;
  const float* x;
  const float* y;  ///< read by functions of two arguments only
  float* dx;
  float* dy;  ///< written by functions of two arguments only
};
using ElementwiseBackward = void (*)(const ElementwiseBackwardArgs&) noexcept;

/// Rows of logits against one target each.
struct CrossEntropyArgs {
  Index rows, classes;
  const float* logits;          ///< [rows, classes]
  const std::int32_t* targets;  ///< [rows]; one below 0 does not count
  float smoothing;
  float factor;     ///< on the gradient: 1 / rows that count
  float* d_logits;  ///< [rows, classes]; may be logits
  double* losses;   ///< [rows]; 0 where the target does not count
  bool* correct;    ///< [rows]: whether the greatest logit is the target's, the first of equal ones
};

/// One step of AdamW on n parameters.
struct AdamWArgs {
  Index n;
  float* parameters;
  const float* gradients;
  float* first;           ///< moments
  float* second;          ///< of squares
  float gradient_factor;  ///< of clipping
  float beta1, beta2, epsilon;
  float decay;       ///< what parameters are multiplied by first: 1 - learning rate * weight decay
  float step_size;   ///< learning rate / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
};

/// One step of a gated recurrent unit for one batch row.
struct GruStepArgs {
  Index hidden;
  const float* of_x;     ///< [3, hidden]: x W + b of the gates r, z, n
  const float* of_h;     ///< [3, hidden]: h U + c
  const float* before;   ///< [hidden]: h before the step
  float* after;          ///< [hidden], of the forward pass
  const float* d_after;  ///< [hidden]: the gradient of what came out
  float* d_of_x;         ///< [3, hidden]
  float* d_of_h;         ///< [3, hidden]
  float* d_before;       ///< [hidden]: what h gets besides the products; may be d_after
};

/// Rows of one array that are `stride` apart.
template <class T>
struct RowsOf {
  T* data;
  Index stride;
};

/// Additive attention of one batch row: scores v . tanh(q + k), their softmax over the keys in use, context = weights
/// times values.
struct AdditiveArgs {
  Index queries, keys;  ///< keys in use
  Index width;          ///< of q, k and v
  Index value_width;
  RowsOf<const float> q, k;
  const float* v;  ///< [width]
  RowsOf<const float> values;
  RowsOf<float> weights;  ///< `keys` of each row are written
  RowsOf<float> context;
};

/// Its gradients; those that are not wanted are null.
struct AdditiveBackwardArgs {
  Index queries, keys, width, value_width;  ///< as above
  RowsOf<const float> q, k;
  const float* v;
  RowsOf<const float> values, weights, d_context;
  RowsOf<float> d_q, d_k, d_values;
  float* d_v;       ///< [width], of this batch row alone
  float* d_scores;  ///< scratch: [keys]
};

struct TrainTable {
  const char* isa;  ///< that of the KernelTable beside it
  /// Floats of BackwardArgs::scratch.
  std::uint64_t (*backward_scratch)(Index rows, Index dk, Index dv) noexcept;
  void (*attend_backward)(const BackwardArgs&) noexcept;
  /// c[m, n] = a^T b + bias, with a stored as [k, m], rows a_stride apart.
  void (*gemm_transposed)(const GemmArgs&) noexcept;
  void (*normalize_backward)(const NormBackwardArgs&) noexcept;
  void (*softmax_backward)(const SoftmaxBackwardArgs&) noexcept;
  ElementwiseBackward relu, gelu, gelu_tanh, silu;
  ElementwiseBackward silu_times;       ///< of silu(x) y
  ElementwiseBackward gelu_times;       ///< of gelu(x) y
  ElementwiseBackward gelu_tanh_times;  ///< of gelu_tanh(x) y
  void (*cross_entropy)(const CrossEntropyArgs&) noexcept;
  void (*gru_step)(const GruStepArgs&) noexcept;
  void (*gru_step_backward)(const GruStepArgs&) noexcept;
  void (*attend_additively)(const AdditiveArgs&) noexcept;
  void (*attend_additively_backward)(const AdditiveBackwardArgs&) noexcept;
  void (*adamw)(const AdamWArgs&) noexcept;
  double (*sum_of_squares)(const float* x, Index n) noexcept;
};

}  // namespace qkv::kernels
