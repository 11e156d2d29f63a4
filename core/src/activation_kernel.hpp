// The kernel of an activation function, for activate() and the feed-forward layer.
#pragma once

#include "kernels/kernel_table.hpp"
#include "qkv/activation.hpp"

namespace qkv {

/// Null for a value from outside the enumeration.
[[nodiscard]] kernels::Elementwise activation_kernel(const kernels::KernelTable& table,
                                                     Activation activation) noexcept;

}  // namespace qkv
