// What all trainers do with a batch: check it, run it, judge it.
#pragma once

#include "message.hpp"
#include "qkv/train/trainer.hpp"
#include "train/learner.hpp"
#include "train/tape.hpp"

namespace qkv::train {

/// What tokens are held to.
struct TokenLimits {
  Index vocabulary, max_length;
};

/// Rows of tokens: [B, T] with both at least 1, T at most max_length, every token one of the vocabulary.
Status check_tokens(const Caller& caller, const char* name,
                    const TensorView<const std::int32_t>& ids, const TokenLimits& limits) noexcept;

/// One length for each row of ids, 0 to T; may be absent.
Status check_lengths(const Caller& caller, const char* name,
                     const TensorView<const std::int32_t>& lengths,
                     const TensorView<const std::int32_t>& ids) noexcept;

/// A target for each token, -1 or one of the vocabulary, and one at least that counts.
Status check_targets(const Caller& caller, const TensorView<const std::int32_t>& targets,
                     const TensorView<const std::int32_t>& ids, Index vocabulary) noexcept;

/// Runs a tape forward and finds its loss; with `learn` back as well, so that the learner has the gradients.
Status judge(const Tape& tape, ArrayId logits, const TensorView<const std::int32_t>& targets,
             const TapeInputs& inputs, bool learn, Workspace& workspace,
             Evaluation& result) noexcept;

/// Whether a run drops, and the seed of what it drops: one for each step.
void set_dropout(const Learner& learner, bool training, TapeInputs& inputs) noexcept;

}  // namespace qkv::train
