/// @file
/// Gradients of layer norm and RMS norm.
#pragma once

#include "qkv/norm.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// What a norm's backward reads and writes.
struct NormBackwardArgs {
  TensorView<const float> d_out;       ///< [..., n], dense: the gradient of out
  TensorView<const float> x;           ///< [..., n], dense
  TensorView<const float> gamma = {};  ///< [n]; absent means 1
  float epsilon = 1e-5F;               ///< as in the forward call
  TensorView<float> dx;                ///< the shape of x, dense
  TensorView<float> d_gamma = {};      ///< [n]; absent if it is not needed
  TensorView<float> d_beta = {};       ///< [n], of layer norm alone; absent if it is not needed
};

/// The gradients of layer_norm() over the last axis. With z = (x - mean) / s and g = dy gamma:
///
///     dx = (g - mean(g) - z mean(g z)) / s,   d gamma = sum over rows of dy z,   d beta = sum of dy
///
/// Sums over rows are made of partial sums of 64 rows each, added in their order: threads change no bit.
///
/// Error bound with u = 2^-24, q = u |mean| / s and G = |g| + mean |g| + |z| mean |g z|:
///
///     |dx - exact| <= u (40 + 40 |z|) (1 + 2 q)^2 (G + (1 + |z|) max |g|) / s
///     |d gamma - exact| <= u sum |dy| (26 + 26 |z| + (64 + rows / 64) |z|) (1 + 2 q)^2
///     |d beta - exact| <= u (66 + rows / 64) sum |dy|
///
/// Errors, each naming the argument; nothing is written then: those of layer_norm(), gradients of other
/// shapes (kShapeMismatch) or in the memory of another array (kInvalidArgument), kOutOfMemory.
Status layer_norm_backward(const NormBackwardArgs& args, Workspace& workspace) noexcept;

/// The gradients of rms_norm(): with z = x / s,
///
///     dx = (g - z mean(g z)) / s,   d gamma = sum over rows of dy z
///
/// All else as for layer_norm_backward(); d_beta must be absent (kInvalidArgument).
Status rms_norm_backward(const NormBackwardArgs& args, Workspace& workspace) noexcept;

}  // namespace qkv::train
