// sinusoidal_encoding() for calls of several operators, with the kernels that the call has fetched.
#pragma once

#include "kernels/kernel_table.hpp"
#include "qkv/positional.hpp"

namespace qkv {

Status sinusoidal_encoding(const kernels::KernelTable& kernels, TensorView<float> table,
                           Index offset, const SinusoidOptions& options) noexcept;

}  // namespace qkv
