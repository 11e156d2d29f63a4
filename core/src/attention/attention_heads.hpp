// From attention()'s arguments to those of one head's kernels, and from its rows to the extras.
#pragma once

#include <array>

#include "attention/attention_plan.hpp"

namespace qkv {

/// Query heads [first, first + count).
struct HeadRange {
  Index first, count;
};

/// The rows of batch row b from head h on; none of a view without data, from whose null no address is made.
template <class T>
[[nodiscard]] kernels::RowArray<T> rows_of(const TensorView<T>& view, Index b, Index h) noexcept {
  if (view.absent() || !view.data) {
    return {};
  }
  return {view.at(b, h), view.stride(1), view.stride(2)};
}

/// Fields that all groups share.
[[nodiscard]] kernels::GroupArgs common_args(const AttentionArgs& args,
                                             const AttentionShape& s) noexcept;

/// Keys of batch row b that may be read.
[[nodiscard]] Index keys_in_use(const AttentionArgs& args, const AttentionShape& s,
                                Index b) noexcept;

/// Fields that the groups of batch row b share.
void select_batch(const AttentionArgs& args, const AttentionShape& s, Index b,
                  kernels::GroupArgs& group) noexcept;

/// Points `group` at query heads of batch row b that read the same key/value head.
void select_heads(const AttentionArgs& args, Index b, HeadRange heads,
                  kernels::GroupArgs& group) noexcept;

/// Weights and logits of the rows that attend() has just finished. `at`: their batch row and the
/// first query head of the group. `columns`: the keys of a row of weights or logits.
void write_extras(const kernels::KernelTable& table, const kernels::GroupArgs& group,
                  const AttentionArgs& args, Index columns, std::array<Index, 2> at) noexcept;

}  // namespace qkv
