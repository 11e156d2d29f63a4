/// @file
/// Numbers that describe a head by its attention weights: entropy, distance, rollout.
/// Every sum is formed in double precision and rounded once.
#pragma once

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// Entropy of each row of weights, in nats: out = -sum_j w_j ln w_j with 0 ln 0 = 0; between 0 (one
/// key) and ln T (all alike) for rows that sum to 1, 0 for a row of zeros.
///
/// `weights` is [T], [A, T], [A, B, T] or [A, B, C, T] with a contiguous last axis; `out` has the
/// shape without T, and [1] for a single row. Any extent may be 0. Must not overlap.
///
/// |error| <= u |out| + (T + 4) 2^-52 sum_j |w_j ln w_j| + 2^-150 with u = 2^-24. A negative weight
/// or NaN gives NaN for its row. Allocates nothing.
/// Errors; nothing is written then: kInvalidArgument (null data, a strided last axis, arrays that
/// overlap), kShapeMismatch (ranks, extents).
Status row_entropy(TensorView<const float> weights, TensorView<float> out) noexcept;

/// What head_statistics() writes, each [B, H]. Absent views cost nothing.
struct HeadStatistics {
  TensorView<float> entropy = {};     ///< mean entropy of the rows, in nats
  TensorView<float> distance = {};    ///< mean of sum_j w_ij |i + offset - j|
  TensorView<float> max_weight = {};  ///< mean largest weight
  TensorView<float> first_key = {};   ///< mean weight on key 0, the usual attention sink
};

/// Means over the query rows of each head of `weights`, [B, H, Tq, Tk] with a contiguous last axis.
/// `offset` is the absolute position of query 0 minus that of key 0. A row of zeros, whose keys
/// were all excluded, counts as zeros; without rows or without keys everything is 0. Outputs have a
/// contiguous last axis and must not overlap the weights or each other.
///
/// |error| <= (u + (Tq + Tk + 8) 2^-52) S + 2^-150 with u = 2^-24 and S the same mean of absolute
/// values. NaN reaches its own head only. Allocates nothing.
/// Errors; nothing is written then: kInvalidArgument (null data, a strided last axis, arrays that
/// overlap), kShapeMismatch (ranks, extents).
Status head_statistics(TensorView<const float> weights, const HeadStatistics& out,
                       Index offset = 0) noexcept;

/// Attention rollout (Abnar & Zuidema 2020, section 3): how much of token j is in position i after
/// all layers, when each layer passes on the mean of its heads and, through the residual
/// connection, what it got.
///
///     A_l = rows of (mean over heads of weights(l) + I) / 2, divided by their sums
///     out = A_L ... A_2 A_1
///
/// `weights` is [L, H, T, T], first layer first, H at least 1, with a contiguous last axis; `out`
/// is [T, T] with a contiguous last axis and must not overlap it. L = 0 gives I. Rows of `out` sum
/// to 1 for weights that are not negative.
///
/// |error| <= (u + L (H + 2 T + 8) 2^-52) out + 2^-150 for such weights, u = 2^-24. Scratch: two
/// matrices and a row, in double precision: 8 (2 T^2 + T) bytes.
/// Errors; nothing is written then: kInvalidArgument (null data, a strided last axis, arrays that
/// overlap), kShapeMismatch (ranks, extents, H = 0), kOutOfMemory (the workspace could not grow).
Status attention_rollout(TensorView<const float> weights, TensorView<float> out,
                         Workspace& workspace) noexcept;

}  // namespace qkv
