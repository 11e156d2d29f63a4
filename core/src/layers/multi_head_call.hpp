// MultiHeadAttention::forward() in two steps, check and run, so that a block of layers can check
// all of them before it computes anything, and run them inside a workspace it has already begun.
#pragma once

#include <cstdint>

#include "attention/attention_plan.hpp"
#include "base/float_count.hpp"
#include "positions/rotary_plan.hpp"
#include "qkv/multi_head_attention.hpp"

namespace qkv {

/// A layer has one rotary, and so has a block: its options are "rotary.base" in both.
inline constexpr const char* kRotaryPrefix = "rotary.";

/// Floats of Q, K, V and O of one call, none above kMostFloats.
struct MultiHeadActivations {
  std::size_t q = 0, k = 0, v = 0, o = 0;

  [[nodiscard]] std::size_t total() const noexcept {
    return capped_sum(
        {Workspace::padded(q), Workspace::padded(k), Workspace::padded(v), Workspace::padded(o)});
  }
};

/// One checked call. Holds no pointer of the ForwardArgs it was made from, only of its options and
/// extras: run() may be given other x, context and y of the same shapes.
struct MultiHeadAttention::Call {
  Index batch = 0, tq = 0, tk = 0;
  MultiHeadActivations activations;
  AttentionArgs attention;  ///< its q, k, v and out get their memory in run()
  AttentionPlan plan;
  /// With rotary positions: q_rotary turns q, and in self-attention k too; k_rotary turns k in cross-attention.
  RotaryPlan q_rotary, k_rotary;

  /// Floats that run() takes from the workspace.
  [[nodiscard]] std::size_t scratch() const noexcept {
    return capped_sum({activations.total(), q_rotary.scratch, k_rotary.scratch, plan.scratch});
  }
};

}  // namespace qkv
