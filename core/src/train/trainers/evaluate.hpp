// What all trainers do with a batch: check it, run it, judge it.
#pragma once

#include "base/message.hpp"
#include "models/model_check.hpp"
#include "qkv/train/trainer.hpp"
#include "train/tape/tape.hpp"
#include "train/trainers/learner.hpp"

namespace qkv::train {

/// A target for each token, -1 or one of the vocabulary, and one at least that counts.
Status check_targets(const Caller& caller, const TensorView<const std::int32_t>& targets,
                     const TensorView<const std::int32_t>& ids, Index vocabulary) noexcept;

/// Runs a tape forward and finds its loss; with `learn` back as well, so that the learner has the gradients.
Status judge(const Tape& tape, ArrayId logits, const TensorView<const std::int32_t>& targets,
             const TapeInputs& inputs, bool learn, Workspace& workspace,
             Evaluation& result) noexcept;

/// Whether a run drops, and the seed of what it drops: one for each step.
void set_dropout(const Learner& learner, bool training, TapeInputs& inputs) noexcept;

/// What a trainer without a model answers.
Status refuse_empty(const Caller& caller) noexcept;

/// One step of a trainer, whose state has a learner and judges batches; `state` is null when it is empty.
template <class State, class Batch>
Status make_step(const Caller& caller, State* state, const Batch& batch, Workspace& workspace,
                 StepResult& result) noexcept {
  if (!state) {
    return refuse_empty(caller);
  }
  QKV_RETURN_IF_ERROR(state->learner.check_room_for_step(caller));
  StepResult found;
  QKV_RETURN_IF_ERROR(state->judge(caller, batch, true, workspace, found.before));
  QKV_RETURN_IF_ERROR(state->learner.update(caller, found));
  result = found;
  return {};
}

}  // namespace qkv::train
