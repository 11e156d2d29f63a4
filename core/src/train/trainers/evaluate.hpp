// What all trainers do with a batch: check it, run it, find its loss.
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

/// A batch that was checked, and the tape that was recorded for it.
struct TapeRun {
  const char* caller;  ///< of the public call
  const Tape* tape = nullptr;
  ArrayId logits = kNoArray;
  TensorView<const std::int32_t> targets = {};
  TapeInputs inputs = {};
  bool learn = false;  ///< run back as well, so that the learner has the gradients
};

/// Runs a tape and finds its loss.
Status evaluate(const TrainKernels& kernels, const TapeRun& run, Workspace& workspace,
                Evaluation& result) noexcept;

/// Runs a tape there and back, and lets the learner make a step.
Status make_step(const TrainKernels& kernels, const TapeRun& run, Learner& learner,
                 Workspace& workspace, StepResult& result) noexcept;

/// Whether a run drops, and the seed of what it drops: one for each step.
void set_dropout(const Learner& learner, bool training, TapeInputs& inputs) noexcept;

/// What a trainer without a model answers.
Status refuse_empty(const Caller& caller) noexcept;

}  // namespace qkv::train
