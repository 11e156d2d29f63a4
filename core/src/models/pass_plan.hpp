// What the layers of a pass have in common: planned and checked once for each call, so that no layer can fail.
#pragma once

#include <array>

#include "attention/attention_plan.hpp"
#include "models/call_check.hpp"
#include "models/call_sessions.hpp"
#include "models/model_state.hpp"
#include "positions/rotary_plan.hpp"

namespace qkv {

/// Tokens [begin, end) of every row of a call.
struct ModelPiece {
  Index begin, end;
  Index before;  ///< tokens that the session held when the call began
  [[nodiscard]] Index tokens() const noexcept { return end - begin; }
};

/// Queries, keys, values and what attention makes of them, as [B, H, T, d].
struct PassHeads {
  TensorView<float> q, k, v, out;
  Index first;                              ///< the token of the piece that the first query is
  Index set = 0;                            ///< of rows that these are, see CallSessions
  const HeadRowChanges* changes = nullptr;  ///< of rows of attention
};

/// Rotations that the layers of a model may have.
inline constexpr std::size_t kRotations = 2;

class PassPlan {
 public:
  /// Plans a call whose arguments were checked. Writes nothing but the plan. `cache`: that of the first layer, or null.
  Status make(const ModelState& state, const LanguageModel::ForwardArgs& args, KvCache* cache,
              int threads) noexcept;

  /// Floats of workspace for the rotations of a piece of so many tokens, of each set of rows.
  [[nodiscard]] static std::size_t scratch(const ModelState& state, Index tokens,
                                           Index sets) noexcept;
  /// Takes scratch() floats, before the sessions become longer.
  void take(Index tokens, const CallSessions& sessions, Workspace& workspace) noexcept;

  /// Tokens that the session of a set held when the call began.
  [[nodiscard]] Index before(Index set) const noexcept { return before_[set]; }
  /// The set of a batch row.
  [[nodiscard]] Index set_of(Index row) const noexcept { return row / rows_of_set_; }

  /// Makes the rotations of a piece, which all its layers read.
  void begin(const ModelPiece& piece) noexcept;
  /// Rotates the queries and keys of the piece that has begun, where the layer does.
  void rotate(const PassHeads& heads, const LayerAttention& layer) const noexcept;
  /// Attention of one layer in the piece that has begun. The keys and values are added to the layer's `cache`, if there is
  /// one.
  void attend(const PassHeads& heads, const LayerAttention& layer, KvCache* cache,
              const AttentionExtras& extras, Workspace& workspace) const noexcept;

  /// Cross-attention of the queries of `heads` to all that a cache of the source holds.
  void attend_source(const PassHeads& heads, KvCache& source, Workspace& workspace) const noexcept;

 private:
  /// One of the model's rotations; `plan` has kernels if a layer has it.
  struct Rotation {
    RotaryPlan plan;
    RotaryRows rows{};
  };
  void rotate(const Rotation& by, const TensorView<float>& heads, Index first) const noexcept;
  /// The rotations of a set, which follow those of the set before.
  [[nodiscard]] RotaryRows rows_of(const Rotation& rotation, Index set) const noexcept;
  [[nodiscard]] TensorView<const float> relative_bias(const PassHeads& heads) const noexcept;

  const ModelState* state_ = nullptr;
  ModelPiece piece_{};
  Index sets_ = 1, rows_of_set_ = 1;
  Index most_tokens_ = 0;    ///< of a piece
  Index* before_ = nullptr;  ///< of each set
  AttentionArgs attention_args_;
  AttentionPlan attention_;
  std::array<Rotation, kRotations> rotations_;
};

}  // namespace qkv
