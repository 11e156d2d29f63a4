// Additive attention of checked arguments, for functions that project queries and keys before and after it.
#pragma once

#include <cstddef>

#include "isa/train_dispatch.hpp"
#include "qkv/train/additive_attention.hpp"

namespace qkv::train {

/// Sizes of a call.
struct AdditiveShape {
  Index batch = 0, tq = 0, tk = 0;
  Index da = 0;  ///< of the score
  Index dv = 0;  ///< of values
};

/// The shape without batch rows that have neither queries nor keys, of which there may be any number.
[[nodiscard]] inline AdditiveShape in_use(AdditiveShape shape) noexcept {
  shape.batch = shape.tq > 0 || shape.tk > 0 ? shape.batch : 0;
  return shape;
}

/// What every function of additive attention reads besides queries and keys.
struct AdditiveInputs {
  const TensorView<const float>& v;
  const TensorView<const float>& values;
  const TensorView<const std::int32_t>& key_lengths;
};

/// Checks them against the queries' and keys' sizes, and fills in that of the values.
Status check_additive(const Caller& caller, const AdditiveInputs& inputs,
                      AdditiveShape& shape) noexcept;

/// Keys in use of a batch row.
[[nodiscard]] inline Index keys_in_use(const TensorView<const std::int32_t>& key_lengths, Index b,
                                       Index tk) noexcept {
  return key_lengths.absent() ? tk : Index{*key_lengths.at(b)};
}

/// projected_additive_attention() of checked arguments.
void apply_additive(const TrainKernels& kernels, const ProjectedAdditiveArgs& args,
                    ThreadPool* pool) noexcept;

/// Floats that apply_additive_backward() takes of a workspace, by its shape or for checked arguments.
[[nodiscard]] std::size_t additive_backward_scratch(const AdditiveShape& shape,
                                                    int threads) noexcept;
[[nodiscard]] std::size_t additive_backward_scratch(const ProjectedAdditiveBackwardArgs& args,
                                                    int threads) noexcept;

/// projected_additive_attention_backward() of checked arguments, in a workspace that has begun with room for its scratch,
/// which it gives back.
void apply_additive_backward(const TrainKernels& kernels, const ProjectedAdditiveBackwardArgs& args,
                             Workspace& workspace) noexcept;

}  // namespace qkv::train
