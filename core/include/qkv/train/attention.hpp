/// @file
/// Gradients of scaled dot-product attention.
#pragma once

#include <cstddef>

#include "qkv/attention.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// What attention_backward() reads and writes. q, k, v and options are those of the forward call.
struct AttentionBackwardArgs {
  TensorView<const float> d_out;  ///< [B, Hq, Tq, d_v]: the gradient of out
  TensorView<const float> q;      ///< [B, Hq, Tq, d_k]
  TensorView<const float> k;      ///< [B, Hkv, Tk, d_k]
  TensorView<const float> v;      ///< [B, Hkv, Tk, d_v]
  TensorView<const float> out;    ///< [B, Hq, Tq, d_v], of the forward call
  TensorView<const float> lse;    ///< [B, Hq, Tq], of the forward call
  AttentionOptions options = {};  ///< of the forward call
  TensorView<float> dq;           ///< [B, Hq, Tq, d_k]
  TensorView<float> dk;           ///< [B, Hkv, Tk, d_k]: summed over the query heads of each group
  TensorView<float> dv;           ///< [B, Hkv, Tk, d_v], likewise
  /// The shape of options.bias, the gradient summed along the axes that the bias is broadcast on; absent
  /// if it is not needed.
  TensorView<float> d_bias = {};
  /// [Hq]: the gradient of options.sinks; absent if it is not needed.
  TensorView<float> d_sinks = {};
};

/// The exact derivative of attention(), in float32. With P the weights before dropout, M the dropout mask
/// divided by 1 - rate, c the softcap, s the capped score and D_i = sum_d dO_id O_id:
///
///     dV     = (P M)^T dO                        summed over the query heads of a group, as dK is
///     dP     = M (dO V^T)
///     dS     = P (dP - D) / temperature          the gradient of the biased scores
///     d bias = dS, summed to the shape of the bias
///     dQ     = scale (dS (1 - (s / c)^2)) K      without a softcap, dS alone
///     dK     = scale (dS (1 - (s / c)^2))^T Q
///     d sink = -sum over the rows of the head of exp(sink - lse) D
///
/// (Dao et al. 2022, appendix B.) P is computed once more from lse, so no array of T x T elements is made. For rows whose
/// lse is 64 or more in size, of which a float keeps too few digits, the largest score and the sum are computed once more,
/// too: about a quarter more work for them.
///
/// Guarantees
/// - A row without a key and an excluded pair have gradient exactly 0, even where they hold NaN or
///   infinity.
/// - Changing what a row may not read changes no bit of its gradient.
/// - Every sum has one owner and a fixed order: threads change no bit.
///
/// Error bound, with A and u as in attention(), M_ij = P_ij (sum_d |dO_id| |v_jd| + sum_d |dO_id| V_i) /
/// (1 - dropout rate), V_i = max |v| over the keys of row i / (1 - dropout rate), n the terms of the sum
/// (rows of the group for dV and dK, Tk for dQ), and
/// e = u (4 (d_k + 20) A + 2 d_v + 5 Tk + 200):
///
///     |dV_jd - exact| <= sum_i P_ij |dO_id| (e + u n) / (1 - dropout rate)
///     |dQ_id - exact| <= |scale| / temperature sum_j M_ij |k_jd| (e + u n)
///     |dK_jd - exact| <= |scale| / temperature sum_i M_ij |q_id| (e + u n)
///     |d bias - exact| <= sum of M_ij over what is summed, (e + u n) / temperature
///     |d sink - exact| <= sum over rows of exp(sink - lse) sum_d |dO_id| V_i (e + u n)
///
/// as long as nothing leaves the range of float, and but for weights P_ij of at most 2^-62.5, which
/// count as 0: products of them would be subnormal. Against the gradients of the weights that attention() returns, as they
/// were rounded, these hold with e = u (2 d_v + 5 Tk + 600), whatever the size of the scores: also where a mask of -1e9 lies
/// on every key of a row.
///
/// Errors, each naming the argument, what it was and what was expected; nothing is written then:
/// - everything that attention() refuses in q, k, v, out, lse and options;
/// - kShapeMismatch: a gradient that has not the shape of what it is the gradient of;
/// - kInvalidArgument: a gradient of a bias or of sinks that were not given, a gradient with two elements
///   in one place or in the memory of another array of the call;
/// - kOutOfMemory: the workspace could not grow to attention_backward_scratch_bytes().
Status attention_backward(const AttentionBackwardArgs& args, Workspace& workspace) noexcept;

/// Bytes of workspace that the call takes with so many threads, O(T d) for each. Returns 0 for arguments
/// that attention_backward() refuses, unless it refuses them because arrays share memory.
[[nodiscard]] std::size_t attention_backward_scratch_bytes(const AttentionBackwardArgs& args,
                                                           int threads = 1) noexcept;

}  // namespace qkv::train
