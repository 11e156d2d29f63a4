// Additive attention of one batch row, forward and backward: v . tanh(q + k) in place of a product of q and k.
#pragma once

#include "kernels/attention/scores.hpp"
#include "kernels/rows/softmax.hpp"
#include "kernels/tail.hpp"
#include "kernels/train/dot.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// Writes the lanes that are in the row.
template <class Isa>
[[gnu::always_inline]] inline void store_within(Vec<Isa> v, float* row, Index first,
                                                Index n) noexcept {
  if (first + kWidth<Isa> <= n) {
    v.store_unaligned(row + first);
    return;
  }
  alignas(64) float block[kWidth<Isa>];
  v.store_aligned(block);
  for (Index i = first; i < n; ++i) {
    row[i] = block[i - first];
  }
}

/// tanh(q + k): the core's own, which cap_score() is with a cap of 1.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> tanh_of_sum(Vec<Isa> q, Vec<Isa> k) noexcept {
  return cap_score<Isa>(q + k, Vec<Isa>(1.0F));
}

/// v . tanh(q + k).
template <class Isa>
inline float additive_score(const AdditiveArgs& args, const float* q, const float* k) noexcept {
  using V = Vec<Isa>;
  const Index n = args.width;
  V sum(0.0F);
  for (Index d = 0; d < n; d += kWidth<Isa>) {
    const V t = tanh_of_sum<Isa>(load_within<Isa>(q, d, n), load_within<Isa>(k, d, n));
    sum = madd<Isa>(load_within<Isa>(args.v, d, n), t, sum);
  }
  return sum_lanes<Isa>(sum);
}

/// to = sum over r of weights[r weight_stride] times row r, in the order of the rows.
template <class Isa>
inline void add_up_rows(RowsOf<const float> weights, RowsOf<const float> rows, Index count,
                        float* to, Index n) noexcept {
  using V = Vec<Isa>;
  for (Index d = 0; d < n; d += kWidth<Isa>) {
    V sum(0.0F);
    for (Index r = 0; r < count; ++r) {
      sum = madd<Isa>(V(weights.data[r * weights.stride]),
                      load_within<Isa>(rows.data + r * rows.stride, d, n), sum);
    }
    store_within<Isa>(sum, to, d, n);
  }
}

template <class Isa>
void attend_additively(const AdditiveArgs& args) noexcept {
  for (Index i = 0; i < args.queries; ++i) {
    const float* q = args.q.data + i * args.q.stride;
    float* weights = args.weights.data + i * args.weights.stride;
    for (Index j = 0; j < args.keys; ++j) {
      weights[j] = additive_score<Isa>(args, q, args.k.data + j * args.k.stride);
    }
    softmax_row<Isa>(weights, weights, args.keys, kLog2E);
    add_up_rows<Isa>({weights, 1}, args.values, args.keys,
                     args.context.data + i * args.context.stride, args.value_width);
  }
}

/// The gradients of the scores of row i, with dA_j = dc . value_j:
///
///     de_j = a_j (dA_j - sum_k a_k dA_k)
///
/// A key of weight 0 has gradient 0, whatever its value is.
template <class Isa>
inline void differentiate_scores(const AdditiveBackwardArgs& args, Index i) noexcept {
  const float* weights = args.weights.data + i * args.weights.stride;
  const float* d_context = args.d_context.data + i * args.d_context.stride;
  float* d_scores = args.d_scores;
  double sum = 0.0;
  for (Index j = 0; j < args.keys; ++j) {
    d_scores[j] = 0.0F;
    if (weights[j] != 0.0F) {
      d_scores[j] =
          dot<Isa>(d_context, args.values.data + j * args.values.stride, args.value_width);
      sum += static_cast<double>(weights[j]) * static_cast<double>(d_scores[j]);
    }
  }
  for (Index j = 0; j < args.keys; ++j) {
    const double from_mean = static_cast<double>(d_scores[j]) - sum;
    d_scores[j] = weights[j] != 0.0F ? weights[j] * static_cast<float>(from_mean) : 0.0F;
  }
}

/// What row i gives to columns [d, d + width) of the gradients, but for the factor v of those of q and k: with
/// t = tanh(q + k),
///
///     dq = v sum_j de_j (1 - t_j^2),   dk_j += v de_j (1 - t_j^2),   dv += sum_j de_j t_j
template <class Isa>
inline void differentiate_columns(const AdditiveBackwardArgs& args, Index i, Index d) noexcept {
  using V = Vec<Isa>;
  const Index n = args.width;
  const V q = load_within<Isa>(args.q.data + i * args.q.stride, d, n);
  V d_q(0.0F);
  V d_v(0.0F);
  for (Index j = 0; j < args.keys; ++j) {
    const V t = tanh_of_sum<Isa>(q, load_within<Isa>(args.k.data + j * args.k.stride, d, n));
    const V of_score(args.d_scores[j]);
    const V through = of_score * (V(1.0F) - t * t);
    d_q = d_q + through;
    d_v = madd<Isa>(of_score, t, d_v);
    if (args.d_k.data) {
      float* d_k = args.d_k.data + j * args.d_k.stride;
      store_within<Isa>(load_within<Isa>(d_k, d, n) + through, d_k, d, n);
    }
  }
  if (args.d_q.data) {
    // Without keys the product may be -0; adding 0 leaves +0.
    store_within<Isa>(d_q * load_within<Isa>(args.v, d, n) + V(0.0F),
                      args.d_q.data + i * args.d_q.stride, d, n);
  }
  if (args.d_v) {
    store_within<Isa>(load_within<Isa>(args.d_v, d, n) + d_v, args.d_v, d, n);
  }
}

static inline void clear_row(float* row, Index n) noexcept {
  for (Index d = 0; d < n; ++d) {
    row[d] = 0.0F;
  }
}

/// The factor v of the gradient of a key, and the gradient of its value, sum_i a_ij dc_i.
template <class Isa>
inline void finish_key(const AdditiveBackwardArgs& args, Index j) noexcept {
  using V = Vec<Isa>;
  if (args.d_k.data) {
    float* d_k = args.d_k.data + j * args.d_k.stride;
    transform<Isa>(d_k, d_k, args.width, 0.0F, [&](Index d, V through) {
      return through * load_within<Isa>(args.v, d, args.width) + V(0.0F);
    });
  }
  if (args.d_values.data) {
    add_up_rows<Isa>({args.weights.data + j, args.weights.stride}, args.d_context, args.queries,
                     args.d_values.data + j * args.d_values.stride, args.value_width);
  }
}

template <class Isa>
void attend_additively_backward(const AdditiveBackwardArgs& args) noexcept {
  for (Index j = 0; args.d_k.data && j < args.keys; ++j) {
    clear_row(args.d_k.data + j * args.d_k.stride, args.width);
  }
  if (args.d_v) {
    clear_row(args.d_v, args.width);
  }
  for (Index i = 0; i < args.queries; ++i) {
    differentiate_scores<Isa>(args, i);
    for (Index d = 0; d < args.width; d += kWidth<Isa>) {
      differentiate_columns<Isa>(args, i, d);
    }
  }
  for (Index j = 0; j < args.keys; ++j) {
    finish_key<Isa>(args, j);
  }
}

}  // namespace qkv::kernels
