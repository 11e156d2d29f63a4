// Operators for calls of several: the public functions of these names, which check the same, with the kernels that the call
// has fetched.
#pragma once

#include <span>

#include "isa/train_dispatch.hpp"
#include "qkv/activation.hpp"
#include "qkv/norm.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/gru.hpp"
#include "qkv/train/norm.hpp"
#include "qkv/train/optimizer.hpp"
#include "qkv/train/softmax.hpp"

namespace qkv::train {

/// The kernel of gate_backward(); null for an activation that is in no gate.
[[nodiscard]] kernels::ElementwiseBackward gate_kernel(const kernels::TrainTable& table,
                                                       Activation activation) noexcept;
/// layer_norm_backward() or rms_norm_backward(), in whose name it refuses.
Status norm_backward(const TrainKernels& kernels, NormType type, const NormBackwardArgs& args,
                     Workspace& workspace) noexcept;
Status attention_backward(const TrainKernels& kernels, const AttentionBackwardArgs& args,
                          Workspace& workspace) noexcept;
Status gru(const TrainKernels& kernels, const GruArgs& args, Workspace& workspace) noexcept;
Status gru_backward(const TrainKernels& kernels, const GruBackwardArgs& args,
                    Workspace& workspace) noexcept;
Status cross_entropy(const TrainKernels& kernels, const CrossEntropyArgs& args, CrossEntropy& found,
                     Workspace& workspace) noexcept;
/// global_norm(), which can only fail to find kernels. A thread takes whole arrays, whose sums are added in their order.
[[nodiscard]] double global_norm(const TrainKernels& kernels, std::span<const Parameter> parameters,
                                 ThreadPool* pool) noexcept;

/// The numbers of a step of AdamW.
struct AdamWCall {
  const AdamWOptions& options;
  std::int64_t step;
};
/// adamw_step(), on the threads of `pool` if there is one.
Status adamw_step(const TrainKernels& kernels, std::span<const Parameter> parameters,
                  const AdamWCall& call, ThreadPool* pool) noexcept;

}  // namespace qkv::train
