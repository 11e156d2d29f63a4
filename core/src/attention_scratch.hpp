// The pieces of attention()'s workspace.
#pragma once

#include <cstdint>
#include <limits>

#include "attention_plan.hpp"

namespace qkv {

struct AttentionScratch {
  std::size_t k_panels = 0, v_panels = 0;  ///< one key/value head; a cache has its own
  std::size_t stats, tile;

  AttentionScratch(const kernels::KernelTable& table, const AttentionShape& s, bool cached) noexcept
      : stats(static_cast<std::size_t>(s.tq)), tile(addressable(table.head_scratch(s.dk, s.dv))) {
    if (!cached) {
      k_panels = product(padded(table, s.tk), s.dk);
      v_panels = product(padded(table, s.dv), s.tk);
    }
  }

  /// Floats in all, or so many that no workspace has them where the sum would overflow.
  [[nodiscard]] std::size_t total() const noexcept {
    const std::uint64_t sum = std::uint64_t{Workspace::padded(k_panels)} +
                              Workspace::padded(v_panels) + 2 * Workspace::padded(stats) +
                              Workspace::padded(tile);
    return addressable(sum);
  }

 private:
  /// `floats`, or more than memory can hold.
  static std::size_t addressable(std::uint64_t floats) noexcept {
    constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(float);
    return static_cast<std::size_t>(floats < kMost ? floats : kMost);
  }
  static Index padded(const kernels::KernelTable& table, Index n) noexcept {
    return (n + table.panel - 1) / table.panel * table.panel;
  }
  /// a * b, or more floats than memory can hold: a smaller cap could be had, and would be too small.
  static std::size_t product(Index a, Index b) noexcept {
    return addressable(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};

}  // namespace qkv
