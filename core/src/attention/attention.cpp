#include "qkv/attention.hpp"

#include <algorithm>
#include <array>

#include "attention/attention_cut.hpp"
#include "attention/attention_heads.hpp"
#include "attention/head_rows.hpp"
#include "attention/kv_cache_access.hpp"
#include "isa/isa_dispatch.hpp"

namespace qkv {
namespace {

using kernels::GroupArgs;
using kernels::KernelTable;

/// One call while it runs. Key/value heads, counted over all batch rows, are packed a few at a time and
/// read where they are if there is a cache. The queries of all query heads that read one of them are the
/// rows of one matrix, computed in blocks of rows: each key and value is read once for all heads.
class Run {
 public:
  Run(const AttentionPlan& plan, const AttentionArgs& args, Workspace& workspace) noexcept
      : table_(*plan.table),
        shape_(plan.shape),
        args_(args),
        changes_(plan.changes),
        common_(common_args(args, plan.shape)),
        scratch_(plan, args.cache != nullptr) {
    pool_ = worth_sharing(workspace.pool(), scratch_.work) ? workspace.pool() : nullptr;
    const auto heads = static_cast<std::size_t>(scratch_.heads_at_once);
    const auto threads = static_cast<std::size_t>(scratch_.threads);
    k_panels_ = workspace.take(heads * Workspace::padded(scratch_.k_panels));
    v_blocks_ = workspace.take(heads * Workspace::padded(scratch_.v_blocks));
    stats_ = workspace.take(threads * 2 * Workspace::padded(scratch_.stats));
    tiles_ = workspace.take(threads * Workspace::padded(scratch_.tile));
    wide_ = workspace.take(threads * Workspace::padded(scratch_.wide));
    states_ = workspace.take(Workspace::padded(scratch_.states));
  }

  void compute() const noexcept {
    const Index heads = shape_.batch * shape_.num_kv_heads;
    const Index at_once = args_.cache ? heads : scratch_.heads_at_once;
    for (Index first = 0; first < heads; first += at_once) {
      const Index count = std::min(at_once, heads - first);
      if (!args_.cache) {
        pack(first, count);
      }
      attend(first, count);
    }
  }

 private:
  /// Batch row and key/value head of a head counted over all batch rows.
  [[nodiscard]] std::array<Index, 2> place(Index head) const noexcept {
    return {head / shape_.num_kv_heads, head % shape_.num_kv_heads};
  }
  [[nodiscard]] float* k_panels(Index slot) const noexcept {
    return k_panels_ + slot * static_cast<Index>(Workspace::padded(scratch_.k_panels));
  }
  [[nodiscard]] float* v_blocks(Index slot) const noexcept {
    return v_blocks_ + slot * static_cast<Index>(Workspace::padded(scratch_.v_blocks));
  }

  /// K and V of heads [first, first + count), in pieces of whole panels and blocks.
  void pack(Index first, Index count) const noexcept {
    const Index pieces = (shape_.tk + kPackKeys - 1) / kPackKeys;
    for_each_task(pool_, count * pieces, [&](Index task, int /*thread*/) noexcept {
      const Index slot = task / pieces;
      pack_piece(first + slot, task % pieces * kPackKeys, slot);
    });
  }

  /// Keys from `key` on, kPackKeys of those in use, and their values.
  void pack_piece(Index head, Index key, Index slot) const noexcept {
    const auto [b, h] = place(head);
    const Index keys = keys_in_use(args_, shape_, b);
    if (key >= keys) {
      return;  // without any, k and v may be null
    }
    const Index count = std::min(kPackKeys, keys - key);
    table_.pack({.b = args_.k.at(b, h, key),
                 .row_stride = 1,
                 .column_stride = args_.k.stride(2),
                 .k = shape_.dk,
                 .n = count,
                 .panels = k_panels(slot) + key * shape_.dk});
    pack_values(table_, {args_.v.at(b, h, key), args_.v.stride(2), key, count},
                {keys, shape_.dv, table_.panel}, v_blocks(slot));
  }

  /// Rows of the query heads of key/value heads [first, first + count), in blocks.
  void attend(Index first, Index count) const noexcept {
    if (scratch_.pieces > 0) {
      attend_in_pieces(first, count);
      return;
    }
    const Index rows = rows_of_head();
    const Index blocks = (rows + scratch_.task_rows - 1) / scratch_.task_rows;
    for_each_task(pool_, count * blocks, [&](Index task, int thread) noexcept {
      const Index slot = task / blocks;
      GroupArgs group = group_of(first + slot, slot, thread);
      group.row_begin = task % blocks * scratch_.task_rows;
      group.row_end = std::min(group.row_begin + scratch_.task_rows, rows);
      table_.attend(group);
      finish(first + slot, group, thread);
    });
  }

  /// The same where pieces of keys are tasks: a few rows of few heads. Joining them takes less than waking a thread does.
  void attend_in_pieces(Index first, Index count) const noexcept {
    const auto pieces = static_cast<Index>(scratch_.pieces);
    const auto run = [&](Index slot, int thread, kernels::PieceStep step, Index piece) noexcept {
      GroupArgs group = group_of(first + slot, slot, thread);
      group.row_begin = 0;
      group.row_end = rows_of_head();
      group.pieces = {
          step, piece,
          states_ + (first + slot) * pieces * static_cast<Index>(table_.state_floats(shape_.dv))};
      table_.attend(group);
      return group;
    };
    for_each_task(pool_, count * pieces, [&](Index task, int thread) noexcept {
      run(task / pieces, thread, kernels::PieceStep::kCompute, task % pieces);
    });
    const AttentionExtras& extras = args_.extras;
    const bool again = !extras.weights.absent() || !extras.logits.absent() || changes_;
    for_each_task(again ? pool_ : nullptr, count, [&](Index slot, int thread) noexcept {
      finish(first + slot, run(slot, thread, kernels::PieceStep::kJoin, 0), thread);
    });
  }

  /// Rows of the query heads of one key/value head.
  [[nodiscard]] Index rows_of_head() const noexcept {
    return shape_.tq * (shape_.num_heads / shape_.num_kv_heads);
  }

  /// A key/value head, whose keys are in `slot` unless there is a cache, for a thread.
  [[nodiscard]] GroupArgs group_of(Index head, Index slot, int thread) const noexcept {
    const Index heads = shape_.num_heads / shape_.num_kv_heads;
    const auto [b, kv] = place(head);
    GroupArgs group = common_;
    select_batch(args_, shape_, b, group);
    select_panels(b, kv, slot, group.keys);
    select_heads(args_, b, {kv * heads, heads}, group);
    select_scratch(thread, group);
    return group;
  }

  /// What else is requested of rows that are finished.
  void finish(Index head, const GroupArgs& group, int thread) const noexcept {
    const auto [b, kv] = place(head);
    write_extras(table_, group, args_, shape_.tk, {b, kv * group.heads});
    if (changes_) {
      change_rows({args_, b, kv}, group, thread);
    }
  }

  /// The rows of a group that are changed, each from its scores on.
  void change_rows(const HeadValues& values, const GroupArgs& group, int thread) const noexcept {
    const std::size_t floats = HeadRowChanges::thread_floats(shape_.tk, shape_.dv);
    float* const memory = changes_->memory + static_cast<std::size_t>(thread) * floats;
    for (Index r = group.row_begin; r < group.row_end; ++r) {
      const Index query = r / group.heads;
      const HeadRow row{values.batch, values.kv_head * group.heads + r % group.heads, query};
      if (!changes_->changes(row)) {
        continue;
      }
      // The one row, at the start of the memory.
      table_.logits(group, {.row_begin = r,
                            .row_end = r + 1,
                            .columns = shape_.tk,
                            .capped = false,
                            .biased = true,
                            .first_query = query,
                            .logits = {memory, 0, 0}});
      change_row(*changes_, row, values, shape_.tk, memory,
                 args_.out.at(row.batch, row.head, query));
    }
  }

  void select_scratch(int thread, GroupArgs& group) const noexcept {
    const auto stats = static_cast<Index>(Workspace::padded(scratch_.stats));
    group.row_max = stats_ + Index{2} * thread * stats;
    group.row_sum = group.row_max + stats;
    group.scratch = tiles_ + thread * static_cast<Index>(Workspace::padded(scratch_.tile));
    group.wide = wide_ + thread * static_cast<Index>(Workspace::padded(scratch_.wide));
  }

  /// Where the keys and values are: packed in `slot`, or in the cache.
  void select_panels(Index b, Index kv, Index slot, kernels::KeyArgs& keys) const noexcept {
    if (args_.cache) {
      keys.k_panels = KvCacheAccess::k_panels(*args_.cache, b, kv);
      keys.v_blocks = KvCacheAccess::v_blocks(*args_.cache, b, kv);
      const CacheRows rows = KvCacheAccess::rows(*args_.cache);
      keys.v_rows = rows.room;
      keys.format = rows.format;
      return;
    }
    keys.k_panels = k_panels(slot);
    keys.v_blocks = v_blocks(slot);
    keys.v_rows = keys.count;
  }

  /// Keys that one task packs: whole panels and blocks of every instruction set.
  static constexpr Index kPackKeys = 512;

  const KernelTable& table_;
  const AttentionShape& shape_;
  const AttentionArgs& args_;
  const HeadRowChanges* changes_;
  const GroupArgs common_;
  const AttentionCut scratch_;
  ThreadPool* pool_;
  float* k_panels_;
  float* v_blocks_;
  float* stats_;
  float* tiles_;
  float* wide_;
  float* states_;
};

}  // namespace

void run_attention(const AttentionPlan& plan, const AttentionArgs& args,
                   Workspace& workspace) noexcept {
  if (args.cache) {
    KvCacheAccess::append(*args.cache, args.k, args.v, workspace.pool());
  }
  if (plan.shape.num_heads != 0 && plan.shape.tq != 0) {
    Run(plan, args, workspace).compute();
  }
}

Status attention(const AttentionArgs& args, Workspace& workspace) noexcept {
  AttentionArgs checked = args;
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels("attention", table));
  AttentionPlan plan;
  plan.threads = workspace.threads();
  QKV_RETURN_IF_ERROR(plan_attention("attention", *table, checked, plan));
  QKV_RETURN_IF_ERROR(workspace.begin(plan.scratch));
  QKV_RETURN_IF_ERROR(check_attention_memory(
      "attention", {"out", args.out}, {{{"q", args.q}, {"k", args.k}, {"v", args.v}}}, checked));
  QKV_RETURN_IF_ERROR(KvCacheAccess::make_room(args.cache, args.k.extent(2)));
  run_attention(plan, checked, workspace);
  return {};
}

std::size_t attention_scratch_bytes(const AttentionArgs& args, int threads) noexcept {
  AttentionArgs checked = args;
  AttentionPlan plan;
  plan.threads = threads;
  const KernelTable* table = active_kernels();
  return table && plan_attention("attention", *table, checked, plan).ok()
             ? plan.scratch * sizeof(float)
             : 0;
}

}  // namespace qkv
