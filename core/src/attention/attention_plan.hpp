// attention() in two steps, so that a layer can check everything before it computes anything and run
// attention inside a workspace it has already begun.
#pragma once

#include <array>
#include <initializer_list>

#include "check/memory_check.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/attention.hpp"

namespace qkv {

struct AttentionShape {
  Index batch = 0, num_heads = 0, num_kv_heads = 0;
  Index tq = 0, tk = 0;  ///< tk counts what the queries read: with a cache, all it will then hold
  Index dk = 0, dv = 0;
};

class HeadRowChanges;

struct AttentionPlan {
  const kernels::KernelTable* table = nullptr;
  int threads =
      1;  ///< of the workspace. The caller sets it before plan_attention(), which reads it
  AttentionShape shape;
  std::size_t scratch = 0;  ///< floats that run_attention() takes from the workspace
  const HeadRowChanges* changes =
      nullptr;  ///< of rows, whose weights in the extras are not those that were changed
};

/// Checks `args` in the name of `caller`, stretches its masks to full rank and fills in the offset. `table`: the kernels that
/// the public call has fetched.
Status plan_attention(const Caller& caller, const kernels::KernelTable& table, AttentionArgs& args,
                      AttentionPlan& plan) noexcept;

/// No output meets another, or an array of the options.
Status check_apart_from_options(const Caller& caller, std::initializer_list<NamedSpan> outputs,
                                const AttentionOptions& options) noexcept;

/// What plan_attention() leaves out because a layer's arrays are not there yet: `out` and the extras
/// lie apart from each other, from `inputs` and from the arrays of the options. `args` as
/// plan_attention() left them.
Status check_attention_memory(const Caller& caller, const NamedSpan& out,
                              const std::array<NamedSpan, 3>& inputs,
                              const AttentionArgs& args) noexcept;

/// Appends to the cache, if there is one, and computes. `args` as plan_attention() left them.
void run_attention(const AttentionPlan& plan, const AttentionArgs& args,
                   Workspace& workspace) noexcept;

}  // namespace qkv
