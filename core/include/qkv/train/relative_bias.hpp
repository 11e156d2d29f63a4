/// @file
/// Gradients of the biases that depend on how far query and key are apart.
#pragma once

#include "qkv/relative_bias.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv::train {

/// The gradient of t5_relative_bias() (Raffel et al. 2020, section 2.1): row n of the table gets the gradients
/// of all pairs whose distance falls into bucket n,
///
///     d table(n, h) = sum over i, j with t5_bucket(j - (i + offset)) = n of d bias(h, i, j)
///
/// and 0 where there are none. `d_bias` is [H, Tq, Tk], `d_table` [num_buckets, H]; both have a contiguous last
/// axis and must not overlap. The options are those of the forward call.
///
/// Each element has one sum, in double, in the order of queries and then of keys. Error bound with u = 2^-24 and
/// n pairs: |d table - exact| <= u (|d table| + n 2^-28 sum |d bias|) + 2^-149. Allocates nothing.
///
/// Errors, each naming the argument; nothing is written then: as t5_relative_bias(), of which d_table has the
/// place of the table and d_bias that of the bias.
Status t5_relative_bias_backward(TensorView<const float> d_bias, TensorView<float> d_table,
                                 const T5Options& options) noexcept;

/// What transformer_xl_bias_backward() reads and writes. q, r and v are those of transformer_xl_bias(); all have a
/// contiguous last axis.
struct TransformerXlBackwardArgs {
  TensorView<const float> d_bias;  ///< [B, H, Tq, Tk]: the gradient of bias
  TensorView<const float> q;       ///< [B, H, Tq, d]
  TensorView<const float> r;       ///< [Tk + Tq - 1, H * d]
  TensorView<const float> v;       ///< [H, d]
  TensorView<float> dq = {};       ///< the shape of q; absent if it is not needed
  TensorView<float> dr = {};       ///< the shape of r; absent if it is not needed
  TensorView<float> dv = {};       ///< the shape of v; absent if it is not needed
};

/// The gradients of transformer_xl_bias() (Dai et al. 2019, section 3.3, terms b and d). With t = Tq - 1 - i + j:
///
///     dq(b, h, i) = sum over j of d bias(b, h, i, j) r(t, h)
///     dr(t, h)    = sum over b, i, j with that t of d bias(b, h, i, j) (q(b, h, i) + v(h))
///     dv(h)       = sum over b, i of dq(b, h, i)
///
/// A pair whose d bias is 0, as attention_backward() gives it for excluded ones, adds nothing, whatever q, r and v
/// hold there.
///
/// Each element has one sum, in double, in the order of batch rows, queries and keys. Error bound with u = 2^-24,
/// n the terms of a sum and S the sum of their sizes, |d bias| |r| or |d bias| (|q| + |v|):
/// |gradient - exact| <= u (|gradient| + n 2^-27 S) + 2^-149. Allocates nothing.
///
/// Errors, each naming the argument; nothing is written then: as transformer_xl_bias(), and
/// - kShapeMismatch: a gradient that has not the shape of what it is the gradient of;
/// - kInvalidArgument: a gradient with two elements in one place or in the memory of another array of the call.
Status transformer_xl_bias_backward(const TransformerXlBackwardArgs& args) noexcept;

}  // namespace qkv::train
