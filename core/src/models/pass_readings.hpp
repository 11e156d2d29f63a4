// What a pass writes of single layers beside its results: heads, weights, entropies, the stream.
#pragma once

#include <span>
#include <utility>

#include "models/pass_plan.hpp"

namespace qkv {

/// The readings of a call, of which each layer has at most one.
class PassReadings {
 public:
  /// `length`: the tokens of a row of the call.
  PassReadings(std::span<const ModelReading> readings, Index length) noexcept
      : readings_(readings), length_(length) {}

  /// Turns to layer n and a piece; what follows is about these, and does nothing where nothing is read.
  void select(Index n, const ModelPiece& piece) noexcept;

  /// Queries, keys and values, of all tokens of the piece.
  void write_heads(const PassHeads& heads) const noexcept;
  /// Where the weights and entropies of the piece go. The keys that come later have weights of zero.
  [[nodiscard]] AttentionExtras extras() const noexcept;
  /// The stream after the layer, [B, T, d_model] for the tokens of the piece.
  void write_residual(const TensorView<const float>& x) const noexcept;
  /// Where the logits of the piece's tokens of batch row b go; null where none are asked for.
  [[nodiscard]] float* logits(Index b) const noexcept;

 private:
  /// The tokens of the call, of this piece, whose rows of weights and queries are read.
  [[nodiscard]] std::pair<Index, Index> rows_read() const noexcept;

  std::span<const ModelReading> readings_;
  Index length_;
  const ModelReading* layer_ = nullptr;  ///< of the selected layer; null for none
  ModelPiece piece_{};
};

}  // namespace qkv
