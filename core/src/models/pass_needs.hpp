// What a pass needs of its workspace.
#pragma once

#include "models/model_state.hpp"

namespace qkv {

/// Rows whose logits are held at a time for surprisal.
inline constexpr Index kLogitRows = 16;

/// Keys whose values go through W_O at a time, for kNormWeights.
inline constexpr Index kNormKeys = 16;

/// What a call asks for, and the floats of each array of a piece.
struct ModelNeeds {
  Index batch = 0, length = 0;
  Index piece = 0;           ///< tokens of a row at a time
  bool last_logits = false;  ///< of the last token of each row alone
  bool last_hidden = false;
  bool every_row = false;  ///< a result needs all tokens after the last layer
  std::size_t stream = 0;  ///< x, and two more like it
  std::size_t queries = 0, keys = 0;
  bool gated = false;         ///< the feed-forward layer has a gate
  std::size_t hidden = 0;     ///< of the feed-forward layer; twice with a gate
  std::size_t quantized = 0;  ///< of inputs of d_model or of the heads
  std::size_t quantized_hidden = 0;
  std::size_t shares = 0;  ///< of each expert in each row of the hidden layer
  std::size_t routed = 0;  ///< the rows of one expert, and as much again for what it makes of them
  std::size_t attention = 0, rotary = 0;
  std::size_t logits = 0;    ///< of kLogitRows rows, for surprisal and lenses
  std::size_t pooled = 0;    ///< a row of the stream for each row of the batch, with head_pooling
  Index keys_read = 0;       ///< Tk, as readings have it
  std::size_t changes = 0;   ///< of HeadRowChanges, for all threads
  std::size_t products = 0;  ///< of HeadProduct, for all threads
  std::size_t brought = 0;   ///< of kNormKeys keys: v W_O of each head
  std::size_t values = 0;    ///< their values, which a cache has in a format of its own
  std::size_t entropy = 0;   ///< of the rows of a piece

  /// Floats in all.
  [[nodiscard]] std::size_t total() const noexcept;
};

/// What a checked call needs, with so many threads.
[[nodiscard]] ModelNeeds needs_of(const ModelState& state, const LanguageModel::ForwardArgs& args,
                                  int threads) noexcept;

}  // namespace qkv
