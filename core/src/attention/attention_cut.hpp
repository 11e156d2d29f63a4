// The pieces of attention()'s workspace, and how its work is cut.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "attention/attention_plan.hpp"
#include "base/float_count.hpp"
#include "base/share.hpp"
#include "kernels/attention/int8_places.hpp"

namespace qkv {

/// Most rows of one task: whole query blocks of every instruction set.
inline constexpr Index kTaskRows = 96;

/// Fewest rows of one task: a register tile of the widest instruction set.
inline constexpr Index kFewestTaskRows = 12;

/// Tasks that keep threads busy until the end; of fewer the rows are halved.
inline constexpr Index kEnoughTasks = 16;

/// Bytes of packed keys and values that several threads share between two waits for each other: as
/// much as a second- or third-level cache holds. With a wait for every two heads two threads took, in WebAssembly, 1.2 times
/// as long (12 heads, T 256, d 64), 1.6 (32 heads, T 128) and 1.9 (96 heads, T 64); natively as long, and at T 1024 2 to 9 %
/// less.
inline constexpr std::size_t kPackedBytes = std::size_t{8} << 20;

struct AttentionCut {
  double work;                             ///< as worth_sharing() has it
  int threads = 1;                         ///< that may take part
  Index task_rows = kTaskRows;             ///< of the query heads of one key/value head
  Index heads_at_once = 1;                 ///< key/value heads that are packed at the same time
  std::size_t k_panels = 0, v_blocks = 0;  ///< floats of one of them; a cache has its own
  std::size_t stats = kTaskRows, tile;     ///< floats of one thread
  std::size_t wide = 0;                    ///< likewise, for a block of keys or values of a cache
  /// Pieces of keys of a key/value head that are tasks of their own; 0 where rows are. A power of two, so that a call with one
  /// more token rarely needs more memory.
  std::size_t pieces = 0;
  std::size_t states = 0;  ///< floats of the states of all pieces

  AttentionCut(const AttentionPlan& plan, bool cached) noexcept
      : work(work_of(plan.shape)),
        tile(capped(plan.table->group_scratch(plan.shape.dk, plan.shape.dv))) {
    const AttentionShape& s = plan.shape;
    const Index kv_heads = detail::saturated_product(s.batch, s.num_kv_heads);
    const Index rows =
        kv_heads > 0 ? detail::saturated_product(s.tq, s.num_heads / s.num_kv_heads) : 0;
    if (!cached) {
      k_panels = capped_product(whole_panels(s.tk, plan.table->panel), s.dk);
      v_blocks = capped_product(whole_panels(s.dv, plan.table->panel), s.tk);
    } else {
      const std::uint64_t widest = std::max(whole_panels(s.dk, kernels::kWordNumbers),
                                            whole_panels(s.dv, plan.table->panel));
      wide = capped_product(kernels::kKeyBlock, widest);
    }
    if (plan.threads > 1 && work >= kWorthSharingAwake) {
      threads = plan.threads;
      const auto fit =
          static_cast<Index>(kPackedBytes / sizeof(float) / std::max<std::size_t>(1, head()));
      heads_at_once =
          std::clamp<Index>(std::max<Index>(threads, fit), 1, std::max<Index>(1, kv_heads));
    }
    while (threads > 1 && task_rows > kFewestTaskRows &&
           detail::saturated_product(kv_heads, rows / task_rows) < kEnoughTasks) {
      task_rows /= 2;
    }
    // Where heads leave threads without work. It changes no bit.
    if (threads > 1 && rows <= kernels::kPieceRows && s.tk > kernels::kPieceKeys &&
        kv_heads % threads != 0 && kv_heads < Index{4} * threads) {
      pieces = std::bit_ceil((static_cast<std::size_t>(s.tk) - 1) / kernels::kPieceKeys + 1);
      states = capped_product(capped_product(kv_heads, pieces), plan.table->state_floats(s.dv));
    }
  }

  /// Floats in all.
  [[nodiscard]] std::size_t total() const noexcept {
    const std::size_t thread = capped_sum(
        {2 * Workspace::padded(stats), Workspace::padded(tile), Workspace::padded(wide)});
    return capped_sum({capped_product(heads_at_once, head()), capped_product(threads, thread),
                       Workspace::padded(states)});
  }

 private:
  /// Floats of a packed head.
  [[nodiscard]] std::size_t head() const noexcept {
    return capped_sum({Workspace::padded(k_panels), Workspace::padded(v_blocks)});
  }
  /// For each row of queries a multiplication, and once the four bytes of a number.
  static double work_of(const AttentionShape& s) noexcept {
    const auto size = [](Index extent) { return static_cast<double>(extent); };
    return (size(s.dk) + size(s.dv)) * size(s.batch) * size(s.num_heads) * (size(s.tq) + 4.0) *
           size(s.tk);
  }
};

}  // namespace qkv
