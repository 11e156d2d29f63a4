// Where an operator gets its kernels: once per public call.
#pragma once

#include "base/message.hpp"
#include "kernels/kernel_table.hpp"

namespace qkv {

/// Null when QKV_ISA names an instruction set that cannot run here.
[[nodiscard]] const kernels::KernelTable* active_kernels() noexcept;

/// active_kernels(), or kUnsupported in the name of `caller`.
Status require_kernels(const Caller& caller, const kernels::KernelTable*& table) noexcept;

/// kUnsupported unless `what`, such as "the layer", was created for the kernels that are active.
Status check_same_kernels(const Caller& caller, const char* what,
                          const kernels::KernelTable* created_for,
                          const kernels::KernelTable* active) noexcept;

}  // namespace qkv
