/// @file
/// Additive attention, forward and backward: a score that is a small network in place of a product.
#pragma once

#include <cstdint>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// What the score learns, v . tanh(W s + U h).
struct AdditiveScore {
  TensorView<const float> w;  ///< [ds, da], dense: W, of the queries
  TensorView<const float> u;  ///< [dh, da], dense: U, of the keys
  TensorView<const float> v;  ///< [da]
};

/// What additive_attention() reads and writes. `values`, `context` and `weights` have a contiguous last axis.
struct AdditiveAttentionArgs {
  TensorView<const float> s;            ///< [B, Tq, ds], dense: queries, the states of a decoder
  TensorView<const float> h;            ///< [B, Tk, dh], dense: keys, the annotations of an encoder
  AdditiveScore score;                  ///< W, U and v
  TensorView<const float> values = {};  ///< [B, Tk, d_v]; absent means h
  /// Keys in use of each batch row, [B], 0 to Tk; absent means all. Those past it are never read.
  TensorView<const std::int32_t> key_lengths = {};
  TensorView<float> context;  ///< [B, Tq, d_v]
  TensorView<float> weights;  ///< [B, Tq, Tk]
};

/// Additive attention (Bahdanau et al. 2015, section 3.1 and appendix A.1.2):
///
///     e_ij = v . tanh(s_i W + h_j U),   a_ij = exp(e_ij) / sum_k exp(e_ik),   c_i = sum_j a_ij value_j
///
/// A row without keys has weights and context 0. What keys past the length hold, NaN included, changes no bit. Batch
/// rows are shared among the threads of the workspace's pool, which changes no bit either.
///
/// For a decoder whose state depends on the context of the step before, project the keys once with linear() and
/// call projected_additive_attention() for each step.
///
/// Error bound with u = 2^-24: that of projected_additive_attention(), where E is greater by what the rounding of the
/// two products moves the score, sum over da of |v| u ((ds + 2) |s| |W| + (dh + 2) |h| |U|).
///
/// Errors, each naming the argument; nothing is written then: kShapeMismatch for arrays that do not fit, kInvalidArgument
/// for null data, strides that are not as said, a result with two elements in one place or in the memory of another
/// array, kOutOfRange for a length outside 0 to Tk, kOutOfMemory.
Status additive_attention(const AdditiveAttentionArgs& args, Workspace& workspace) noexcept;

/// What additive_attention_backward() reads and writes: the arrays of the forward call, and gradients of the shapes of
/// what they are of, each absent if it is not needed.
struct AdditiveAttentionBackwardArgs {
  TensorView<const float> d_context;                ///< [B, Tq, d_v]: the gradient of context
  TensorView<const float> s;                        ///< [B, Tq, ds], dense
  TensorView<const float> h;                        ///< [B, Tk, dh], dense
  AdditiveScore score;                              ///< W, U and v
  TensorView<const float> values = {};              ///< [B, Tk, d_v]; absent means h
  TensorView<const std::int32_t> key_lengths = {};  ///< [B]
  TensorView<const float> weights;                  ///< [B, Tq, Tk], of the forward call
  TensorView<float> ds = {};                        ///< [B, Tq, ds], dense
  TensorView<float> dh = {};  ///< [B, Tk, dh], dense: as keys, and as values where h is those too
  TensorView<float> d_values = {};  ///< [B, Tk, d_v], if `values` are given
  TensorView<float> dw = {};        ///< [ds, da], dense
  TensorView<float> du = {};        ///< [dh, da], dense
  TensorView<float> dv = {};        ///< [da]
};

/// The gradients of additive_attention(): those of projected_additive_attention_backward(), taken through the two products
/// by linear_backward(). The projections are computed once more, so only the weights are kept of the forward pass.
///
/// Guarantees: keys past the length have gradient exactly 0, and so has what a batch row of length 0 holds; what stands
/// there, NaN included, changes no bit of any gradient. Every sum has one owner and a fixed order: threads change no bit.
///
/// Memory is O(B (Tq + Tk) (da + ds + dh)). The bounds are those of its parts, one after another: linear(),
/// projected_additive_attention_backward() at the rounded projections, linear_backward() of its result.
///
/// Errors as additive_attention(), and kInvalidArgument for gradients that overlap, or d_values without values.
Status additive_attention_backward(const AdditiveAttentionBackwardArgs& args,
                                   Workspace& workspace) noexcept;

/// What projected_additive_attention() reads and writes. The last axes are contiguous; the others may have any strides,
/// so the arrays of one step of a decoder can be slices [B, 1, ...] of those of all steps.
struct ProjectedAdditiveArgs {
  TensorView<const float> q;       ///< [B, Tq, da]: W s of the queries
  TensorView<const float> k;       ///< [B, Tk, da]: U h of the keys
  TensorView<const float> v;       ///< [da]
  TensorView<const float> values;  ///< [B, Tk, d_v]
  /// Keys in use of each batch row, [B], 0 to Tk; absent means all. Those past it are never read.
  TensorView<const std::int32_t> key_lengths = {};
  TensorView<float> context;  ///< [B, Tq, d_v]
  TensorView<float> weights;  ///< [B, Tq, Tk]
};

/// Additive attention of queries and keys that are projected already, e_ij = v . tanh(q_i + k_j). All else as
/// additive_attention(). Query rows do not depend on each other: T calls of one step each give the bits of one call.
///
/// Error bound with u = 2^-24, S = sum |v| and E = u S (da + 10):
///
///     |weights - exact| <= w (exp(2 E + u (Tk + 40)) - 1) + 2^-126
///     |context - exact| <= (exp(2 E + u (Tk + 40)) - 1 + u (Tk + 2)) sum_j w_j |value_j|
///
/// Takes no memory.
Status projected_additive_attention(const ProjectedAdditiveArgs& args,
                                    Workspace& workspace) noexcept;

/// What projected_additive_attention_backward() reads and writes: the arrays of the forward call, and gradients, each absent
/// if it is not needed. Strides as in the forward call.
struct ProjectedAdditiveBackwardArgs {
  TensorView<const float> d_context;                ///< [B, Tq, d_v]: the gradient of context
  TensorView<const float> q;                        ///< [B, Tq, da]
  TensorView<const float> k;                        ///< [B, Tk, da]
  TensorView<const float> v;                        ///< [da]
  TensorView<const float> values;                   ///< [B, Tk, d_v]
  TensorView<const std::int32_t> key_lengths = {};  ///< [B]
  TensorView<const float> weights;                  ///< [B, Tq, Tk], of the forward call
  TensorView<float> dq = {};                        ///< [B, Tq, da]
  TensorView<float> dk = {};                        ///< [B, Tk, da]
  TensorView<float> dv = {};                        ///< [da]
  TensorView<float> d_values = {};                  ///< [B, Tk, d_v]
};

/// The gradients of projected_additive_attention(). With t_ij = tanh(q_i + k_j) and dA_ij = d_context_i . value_j:
///
///     de_ij = a_ij (dA_ij - sum_k a_ik dA_ik)
///     dq_i  = v sum_j de_ij (1 - t_ij^2),   dk_j = v sum_i de_ij (1 - t_ij^2),   dv = sum_ij de_ij t_ij
///     d value_j = sum_i a_ij d_context_i
///
/// A decoder goes back one step at a time and needs dq of each step, but dk, dv and d_values are sums over all
/// steps: ask for dq alone in the steps, and for the others in one call over all queries after them.
///
/// Keys past the length have gradient exactly 0; a key of weight 0 gives none to its score. Every sum has one owner and a
/// fixed order: threads change no bit.
///
/// Error bound for weights as given, with u = 2^-24, G_ij = sum |d_context_i| |value_j| and
/// M_ij = a_ij (G_ij + sum_k a_ik G_ik):
///
///     |dq - exact| <= u (d_v + Tk + 30) |v| sum_j M_ij,    |dk - exact| <= u (d_v + Tq + 30) |v| sum_i M_ij
///     |dv - exact| <= u (d_v + Tq + Tk + 30) sum_ij M_ij,  |d value - exact| <= u (Tq + 2) sum_i a_ij |d_context_i|
///
/// Scratch: 4 (threads Tk + B da) bytes. Errors as additive_attention_backward().
Status projected_additive_attention_backward(const ProjectedAdditiveBackwardArgs& args,
                                             Workspace& workspace) noexcept;

}  // namespace qkv::train
