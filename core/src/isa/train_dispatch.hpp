// Where an operator of qkv_train gets its kernels: once per public call.
#pragma once

#include "base/message.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv {

/// The kernels of both libraries for the active instruction set.
struct TrainKernels {
  const kernels::KernelTable* forward = nullptr;
  const kernels::TrainTable* backward = nullptr;
};

/// kUnsupported in the name of `caller` when there are none, see require_kernels().
Status require_train_kernels(const Caller& caller, TrainKernels& found) noexcept;

}  // namespace qkv
