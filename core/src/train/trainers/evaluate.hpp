// What all trainers do with a batch: check it, run it, find its loss.
#pragma once

#include "base/message.hpp"
#include "isa/train_dispatch.hpp"
#include "models/model_check.hpp"
#include "qkv/train/trainer.hpp"
#include "train/tape/tape.hpp"
#include "train/trainers/learner.hpp"

namespace qkv::train {

/// A target for each token, -1 or one of the vocabulary, and one at least that counts.
Status check_targets(const Caller& caller, const TensorView<const std::int32_t>& targets,
                     const TensorView<const std::int32_t>& ids, Index vocabulary) noexcept;

/// A batch that was checked, and the tape that was recorded for it.
struct TapeRun {
  const char* caller = nullptr;  ///< of the public call
  TrainKernels kernels = {};     ///< fetched once for it
  const Tape* tape = nullptr;
  ArrayId logits = kNoArray;
  TensorView<const std::int32_t> targets = {};
  TapeInputs inputs = {};
  bool learn = false;  ///< run back as well, so that the learner has the gradients
};

/// Runs a tape and finds its loss.
Status evaluate(const TapeRun& run, Workspace& workspace, Evaluation& result) noexcept;

/// Runs a tape there and back, and lets the learner make a step.
Status make_step(const TapeRun& run, Learner& learner, Workspace& workspace,
                 StepResult& result) noexcept;

/// Runs a tape there and back, and adds the gradients to those of the step to come.
Status accumulate(const TapeRun& run, Learner& learner, Workspace& workspace,
                  Evaluation& result) noexcept;

/// Whether a run drops, and the seed of what it drops: one for each step.
void set_dropout(const Learner& learner, bool training, TapeInputs& inputs) noexcept;

/// What a trainer without a model answers.
Status refuse_empty(const Caller& caller) noexcept;

/// The run of a batch in a public call of a trainer, whose `state` is null before create(): the kernels are fetched, the batch
/// is checked, and its tape is recorded.
template <class State, class Batch>
Status prepare_run(const char* caller, State* state, const Batch& batch, bool learn,
                   TapeRun& run) noexcept {
  if (!state) {
    return refuse_empty(caller);
  }
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(caller, kernels));
  return state->prepare(caller, kernels, batch, learn, run);
}

}  // namespace qkv::train
