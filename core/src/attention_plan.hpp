// attention() in two steps, so that a layer can check everything before it computes anything and
// run attention inside a workspace it has already begun.
#pragma once

#include "kernels/kernel_table.hpp"
#include "qkv/attention.hpp"

namespace qkv {

struct AttentionShape {
  Index batch = 0, num_heads = 0, num_kv_heads = 0, tq = 0, tk = 0, dk = 0, dv = 0;
};

struct AttentionPlan {
  const kernels::KernelTable* table = nullptr;
  AttentionShape shape;
  std::size_t scratch = 0;  ///< floats that run_attention() takes from the workspace
};

/// Checks `args` in the name of `function` and stretches its mask and bias to full rank.
Status plan_attention(const char* function, AttentionArgs& args, AttentionPlan& plan) noexcept;

/// Computes; cannot fail. `args` as plan_attention() left them.
void run_attention(const AttentionPlan& plan, const AttentionArgs& args,
                   Workspace& workspace) noexcept;

}  // namespace qkv
