// Rotation for layers: check once, fill the rotations of the tokens at hand once, turn q and k.
//
//   create:   check_rotary(caller, options, d_k)
//   forward:  plan_rotary(caller, table, options, {batch, tokens, d_k}, plan)  writes nothing
//             workspace.begin(... + plan.scratch)
//             rotate_in_place(plan, workspace, {q, k})                           cannot fail
//
// Layers give the prefix "rotary.": "MultiHeadAttention::forward: rotary.offset is ...".
#pragma once

#include <initializer_list>

#include "base/message.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/rotary.hpp"

namespace qkv {

/// What is rotated: `tokens` new tokens in each batch row, heads of width d.
struct RotaryShape {
  Index batch, tokens, d;
};

/// A checked call: options with rotary_dim filled in, and what they need.
struct RotaryPlan {
  RotaryOptions options;
  RotaryShape shape{};
  /// One set of rotations serves every batch row.
  bool shared = true;
  const kernels::KernelTable* kernels = nullptr;
  /// Floats of workspace that take_rows() takes.
  std::size_t scratch = 0;

  [[nodiscard]] Index pairs() const noexcept { return options.rotary_dim / 2; }
};

/// cos and sin, each [tokens, pairs] and dense, for the tokens of one batch row.
struct RotaryRows {
  float* cos;
  float* sin;
};

/// The position of token t in batch row b.
[[nodiscard]] inline Index position_of(const RotaryOptions& o, Index b, Index t) noexcept {
  if (o.positions.absent()) {
    return o.offset + t;
  }
  return Index{o.positions.rank == 1 ? *o.positions.at(t) : *o.positions.at(b, t)};
}

/// Everything about `options` that can be known before there are tokens: for create() of layers.
Status check_rotary(const Caller& caller, const RotaryOptions& options, Index d) noexcept;

/// check_rotary(), then what depends on the tokens. The views of `options` must outlive the plan. `table`: the kernels that the
/// public call has fetched.
Status plan_rotary(const Caller& caller, const kernels::KernelTable& table,
                   const RotaryOptions& options, const RotaryShape& shape,
                   RotaryPlan& plan) noexcept;

/// Takes plan.scratch floats.
[[nodiscard]] RotaryRows take_rows(const RotaryPlan& plan, Workspace& workspace) noexcept;

/// Fills the rotations of batch row b; when plan.shared, row 0 will do for all.
void fill_angles(const RotaryPlan& plan, Index b, const RotaryRows& rows) noexcept;

/// Rotates all heads of batch row b of x, [B, H, T, d] for any H, into the same place of out, which
/// may be x.
void rotate_heads(const RotaryPlan& plan, const RotaryRows& rows, Index b,
                  const TensorView<const float>& x, const TensorView<float>& out) noexcept;

/// Heads x, [B, H, T, d], turned into out, which may be x; the names are those of messages.
struct HeadTurn {
  const char* x_name;
  const TensorView<const float>& x;
  const char* out_name;
  const TensorView<float>& out;
  bool inverse;  ///< by the negative angle
};

/// Checks and does all of rotary_embedding() or, with `inverse`, of its gradient.
/// `table`: the kernels that the public call has fetched.
Status turn_heads(const Caller& caller, const kernels::KernelTable& table, const HeadTurn& turn,
                  const RotaryOptions& options, Workspace& workspace) noexcept;

/// Takes rows from the workspace, fills them once for each batch row that needs its own, and
/// rotates each view, [B, H, T, d] with its own H, where it stands.
void rotate_in_place(const RotaryPlan& plan, Workspace& workspace,
                     std::initializer_list<TensorView<float>> views) noexcept;

}  // namespace qkv
