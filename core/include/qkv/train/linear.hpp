/// @file
/// Gradients of linear maps.
#pragma once

#include "qkv/linear.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// What linear_backward() reads and writes. x, w and layout are those of linear().
struct LinearBackwardArgs {
  TensorView<const float> d_out;               ///< [..., out], dense: the gradient of y
  TensorView<const float> x;                   ///< [..., in], dense
  TensorView<const float> w;                   ///< [in, out] or [out, in], as layout says
  WeightLayout layout = WeightLayout::kInOut;  ///< of w and of dw
  TensorView<float> dx = {};      ///< the shape of x, dense; absent if it is not needed
  TensorView<float> dw = {};      ///< the shape of w, dense; absent if it is not needed
  TensorView<float> d_bias = {};  ///< [out]; absent if it is not needed
};

/// The gradients of y = x W + b over all rows of x:
///
///     dx = dy W^T,   dW = x^T dy,   db = sum over rows of dy
///
/// Every element is summed by one thread in the order of the rows (dW, db) or columns (dx).
///
/// Error bound with u = 2^-24 and N rows:
///
///     |dx - exact| <= u (out + 2) |dy| |W|^T,   |dW - exact| <= u (N + 2) |x|^T |dy|
///     |db - exact| <= u (sum |dy| 2^-20 + |db|)      (summed in double)
///
/// Errors, each naming the argument; nothing is written then: those of linear(), kShapeMismatch for a
/// gradient that has not the shape of what it is the gradient of, kInvalidArgument for gradients that
/// overlap each other or an input, kOutOfMemory.
Status linear_backward(const LinearBackwardArgs& args, Workspace& workspace) noexcept;

}  // namespace qkv::train
