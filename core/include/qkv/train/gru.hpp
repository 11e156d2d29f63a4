/// @file
/// Gated recurrent units, forward and backward.
#pragma once

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// Weights of a GRU, dense; the columns of the gates r, z and n side by side, as PyTorch orders them.
struct GruWeights {
  TensorView<const float> wx;  ///< W, [in, 3 hidden]
  TensorView<const float> wh;  ///< U, [hidden, 3 hidden]
  TensorView<const float> bx;  ///< b, [3 hidden]
  TensorView<const float> bh;  ///< c, [3 hidden]
};

/// What gru() reads and writes.
struct GruArgs {
  TensorView<const float> x;        ///< [B, T, in], dense
  GruWeights weights;               ///< of all steps
  TensorView<const float> h0 = {};  ///< [B, hidden], dense; absent means 0
  TensorView<float> out;            ///< [B, T, hidden], dense: h of every step
};

/// A gated recurrent unit over a whole sequence (Cho et al. 2014, with the reset gate after the product, as PyTorch):
///
///     r = sigmoid(x W_r + b_r + h U_r + c_r)
///     z = sigmoid(x W_z + b_z + h U_z + c_z)
///     n = tanh(x W_n + b_n + r (h U_n + c_n))
///     h = (1 - z) n + z h
///
/// The error of a step against exact arithmetic on the same h is at most u (|h| + 4 + S (d + 20)), u = 2^-24, d =
/// max(in, hidden), S = the greatest sum of |x W| + |b| + |h U| + |c| of a gate.
///
/// Errors, each naming the argument; nothing is written then: kShapeMismatch for arrays that do not fit,
/// kInvalidArgument for null data, arrays that are not dense, out in the memory of an input, kOutOfMemory.
Status gru(const GruArgs& args, Workspace& workspace) noexcept;

/// What gru_backward() reads and writes. x, weights and h0 are those of gru(), `out` is what it gave.
struct GruBackwardArgs {
  TensorView<const float> d_out;    ///< [B, T, hidden], dense: the gradient of out
  TensorView<const float> x;        ///< [B, T, in], dense
  GruWeights weights;               ///< of the forward call
  TensorView<const float> h0 = {};  ///< [B, hidden]; absent means 0
  TensorView<const float> out;      ///< [B, T, hidden]
  TensorView<float> dx = {};        ///< the shape of x; absent if it is not needed
  TensorView<float> dh0 = {};       ///< [B, hidden]; absent if it is not needed
  TensorView<float> dwx;            ///< [in, 3 hidden]
  TensorView<float> dwh;            ///< [hidden, 3 hidden]
  TensorView<float> dbx;            ///< [3 hidden]
  TensorView<float> dbh;            ///< [3 hidden]
};

/// The gradients of gru() through all steps (Werbos 1990). The gates are computed once more from `out`, so nothing
/// of the forward pass is kept but that; memory is O(B T hidden).
///
/// Errors as gru(), and kInvalidArgument for gradients that overlap.
Status gru_backward(const GruBackwardArgs& args, Workspace& workspace) noexcept;

}  // namespace qkv::train
