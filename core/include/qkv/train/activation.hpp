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

}  // namespace qkv::train
