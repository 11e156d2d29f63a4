/// @file
/// Derivatives of the activations.
#pragma once

#include "qkv/activation.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv::train {

/// dx = dy f'(x) for every element: relu'(x) = 1 for x > 0, else 0; gelu'(x) = Phi(x) + x phi(x);
/// of gelu_tanh and silu, which are x sigmoid(s(x)), sigmoid(s) (1 + x s'(x) sigmoid(-s)).
///
/// d_out, x and dx are dense, of one shape and of rank 1 to 4; dx may be d_out or x itself.
///
/// Error bound with u = 2^-24: |dx - exact| <= u |dy| (6 + 2 |x|) (|f'(x)| + exp(-x^2 / 4)), in which the last
/// factor is exp(-|x| / 2) for silu; infinity has the slope of the limit.
///
/// Errors, each naming the argument; nothing is written then: as activate().
Status activate_backward(TensorView<const float> d_out, TensorView<const float> x,
                         TensorView<float> dx, Activation activation) noexcept;

/// What gate_backward() reads and writes: dense arrays of one shape, of rank 1 to 4.
struct GateBackwardArgs {
  TensorView<const float> d_out;  ///< the gradient of f(x) y
  TensorView<const float> x;      ///< what the activation is applied to
  TensorView<const float> y;      ///< what it is multiplied by
  TensorView<float> dx;           ///< may be d_out, x or y itself, but not dy
  TensorView<float> dy;           ///< likewise, but not dx
};

/// The gradients of the gate f(x) y of a feed-forward layer (Shazeer 2020): SwiGLU with kSilu, GeGLU with kGelu or, as Gemma has
/// it, with kGeluTanh. Other activations are in no gate (kInvalidArgument):
///
///     dx = d_out y f'(x),   dy = d_out f(x)
///
/// Error bound with u = 2^-24: that of activate_backward() times |y|, plus 2 u |dx|; that of activate() times
/// |d_out|, plus u |dy|. Errors as activate().
Status gate_backward(const GateBackwardArgs& args, Activation activation) noexcept;

}  // namespace qkv::train
