// A language model as arrays that are trained and as steps on a tape.
#pragma once

#include "base/message.hpp"
#include "qkv/language_model_config.hpp"
#include "train/tape/tape.hpp"
#include "train/trainers/blocks.hpp"
#include "train/trainers/learner.hpp"

namespace qkv::train {

/// The config with every size filled in, or why there is no such model.
Status check_config(const Caller& caller, LanguageModelConfig& config) noexcept;

/// The arrays of a model by their numbers, as for_each_array() visits them.
struct ModelArrays {
  TableIds embedding;
  Index token_types = -1, positions = -1, relative_bias = -1;
  NormIds embedding_norm, norm, head_norm;
  MatrixIds head_transform, head;
  List<LayerIds> layers;
  const ModelState* base = nullptr;  ///< the model whose arrays are frozen, if they are
  AdapterNumbers adapters;
};

/// Where things are on the tape.
struct ModelSteps {
  ArrayId positions = kNoArray;  ///< a constant with kSinusoidal
  ArrayId slopes = kNoArray;     ///< a constant with kAlibi
  ArrayId embedded = kNoArray;   ///< the stream before the first layer
  ArrayId last = kNoArray;       ///< what the head reads, and transforms if it does
  ArrayId logits = kNoArray;
  List<LayerSteps> layers;
};

/// Records the model for this many rows and tokens. What is constant is not filled yet.
Status record_model(const LanguageModelConfig& config, const Learner& learner,
                    const ModelArrays& arrays, Index batch, Index tokens, Tape& tape,
                    ModelSteps& steps) noexcept;

}  // namespace qkv::train
