// From attention()'s arguments to those of one head's kernels, and from its rows to the extras.
#pragma once

#include <array>

#include "attention_plan.hpp"

namespace qkv {

/// Everything of HeadArgs that no head changes.
[[nodiscard]] kernels::HeadArgs common_args(const AttentionArgs& args,
                                            const AttentionShape& s) noexcept;

/// Keys of batch row b that may be read.
[[nodiscard]] Index keys_in_use(const AttentionArgs& args, const AttentionShape& s,
                                Index b) noexcept;

/// What batch row b changes.
void select_batch(const AttentionArgs& args, const AttentionShape& s, Index b,
                  kernels::HeadArgs& head) noexcept;

/// Points `head` at query head h of batch row b.
void select_head(const AttentionArgs& args, Index b, Index h, kernels::HeadArgs& head) noexcept;

/// The extras of head at[1] of batch row at[0], of the rows that attend() has just finished. `columns`
/// are the keys of a row of weights or logits.
void write_extras(const kernels::KernelTable& table, const kernels::HeadArgs& head,
                  const AttentionArgs& args, Index columns, std::array<Index, 2> at) noexcept;

}  // namespace qkv
