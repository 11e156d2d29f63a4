// Rows of attention whose scores or weights are changed between the softmax and the values: they are computed again, one by one.
#pragma once

#include "attention/attention_plan.hpp"
#include "base/float_count.hpp"

namespace qkv {

/// Query `query` of query head `head`.
struct HeadRow {
  Index batch, head, query;
};

/// What changes rows. Its functions are called on the threads of the pool, with all keys of a row.
class HeadRowChanges {
 public:
  /// Whether a row is changed.
  [[nodiscard]] virtual bool changes(const HeadRow& row) const noexcept = 0;
  /// Changes scores in place, and then is shown what they are.
  virtual void change_scores(const HeadRow& row, float* scores) const noexcept = 0;
  virtual void read_scores(const HeadRow& row, const float* scores) const noexcept = 0;
  /// The same of weights.
  virtual void change_weights(const HeadRow& row, float* weights) const noexcept = 0;
  virtual void read_weights(const HeadRow& row, const float* weights) const noexcept = 0;

  /// Floats of memory for each thread, for so many keys and numbers of a value.
  [[nodiscard]] static std::size_t thread_floats(Index keys, Index dv) noexcept {
    return capped_sum({2 * Workspace::padded(capped(keys)), Workspace::padded(capped(dv)),
                       Workspace::padded_as<double>(capped(dv))});
  }
  float* memory = nullptr;  ///< thread_floats() for each thread

 protected:
  ~HeadRowChanges() = default;
};

/// Where the values of a key/value head are.
struct HeadValues {
  const AttentionArgs& args;
  Index batch, kv_head;
  /// The value of key j: in place, or made in `row`.
  [[nodiscard]] const float* at(Index j, float* row) const noexcept;
};

/// A row, from its scores (before the change; -inf where a key is excluded, which it stays) to its output:
///     s = change(scores);  w = change(softmax(s));  out = sum_j w_j v_j
/// each in double precision and rounded once. A row without keys has weights 0. `scores` becomes the weights.
void change_row(const HeadRowChanges& changes, const HeadRow& row, const HeadValues& values,
                Index keys, float* memory, float* out) noexcept;

}  // namespace qkv
