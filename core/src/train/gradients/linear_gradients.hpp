// linear_backward() in pieces, for functions that need its sums among others: memory for all of them is found before
// anything is written.
#pragma once

#include "isa/train_dispatch.hpp"
#include "qkv/train/linear.hpp"

namespace qkv::train {

/// Floats that apply_linear_backward() takes of a workspace; args are those of linear_backward(), checked.
[[nodiscard]] std::size_t linear_backward_scratch(const TrainKernels& kernels,
                                                  const LinearBackwardArgs& args) noexcept;

/// linear_backward() of checked arguments, in a workspace that has begun with room for linear_backward_scratch(), which it
/// gives back.
void apply_linear_backward(const TrainKernels& kernels, const LinearBackwardArgs& args,
                           Workspace& workspace) noexcept;

}  // namespace qkv::train
