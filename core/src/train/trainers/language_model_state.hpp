// What a LanguageModelTrainer holds.
#pragma once

#include "base/message.hpp"
#include "models/kept_lists.hpp"
#include "qkv/train/language_model.hpp"
#include "qkv/workspace.hpp"
#include "train/trainers/evaluate.hpp"
#include "train/trainers/language_model_graph.hpp"

namespace qkv::train {

struct LanguageModelTrainer::State {
  LanguageModelConfig config;
  KeptLists lists;  ///< of the config
  Learner learner;
  ModelArrays arrays;
  Tape tape;
  ModelSteps steps;
  Index batch = 0, tokens = 0;  ///< what the tape is recorded for
  AlignedBuffer first_types;    ///< of tokens without types: 0 for each
  AlignedBuffer kept;  ///< the gradients requested of logit_gradients(), until all are there

  /// Records the tape for these extents, if it is of others. Refuses kernels for which frozen weights are not packed.
  Status record(const char* caller, const TrainKernels& kernels, Index rows, Index length) noexcept;
  Status prepare(const char* caller, const TrainKernels& kernels, const LanguageBatch& batch_in,
                 bool learn, TapeRun& run) noexcept;
  Status check_reading(const Caller& caller, const LayerReading& reading,
                       const TensorView<const std::int32_t>& ids) const noexcept;
  Status read(const TrainKernels& kernels, const LayerReading& reading, const TapeInputs& inputs,
              Workspace& workspace) const noexcept;
  [[nodiscard]] TapeInputs inputs_of(const TokenBatch& batch_in, bool training) const noexcept;
};

/// Tokens that the model has, not too many of them, and lengths of rows.
Status check_tokens_of(const Caller& caller, const LanguageModelConfig& c,
                       const TokenBatch& batch) noexcept;

}  // namespace qkv::train
