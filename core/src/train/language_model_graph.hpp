// A language model as arrays that are trained and as steps on a tape.
#pragma once

#include "message.hpp"
#include "qkv/language_model_config.hpp"
#include "train/learner.hpp"
#include "train/tape.hpp"

namespace qkv::train {

/// The config with every size filled in, or why there is no such model.
Status check_config(const Caller& caller, LanguageModelConfig& config) noexcept;

/// Numbers of the arrays of a learner; -1 for those that the config has not.
struct NormArrays {
  Index gamma = -1, beta = -1;
};
struct LinearArrays {
  Index w = -1, b = -1;
};
struct LayerArrays {
  NormArrays norm1, norm2, q_norm, k_norm;
  LinearArrays q, k, v, o, w1, gate, w2;
};
struct ModelArrays {
  Index embedding = -1, positions = -1, head = -1;
  NormArrays norm;
  List<LayerArrays> layers;
};

/// Declares the arrays of a model, in the order of LanguageModelTrainer.
Status declare_arrays(const LanguageModelConfig& config, Learner& learner,
                      ModelArrays& arrays) noexcept;

/// Where things are on the tape.
struct LayerSteps {
  ArrayId q, k, v;   ///< what attention reads, after norms and rotation
  ArrayId residual;  ///< the stream after the layer
};
struct ModelSteps {
  ArrayId positions = kNoArray;  ///< a constant with kSinusoidal
  ArrayId slopes = kNoArray;     ///< a constant with kAlibi
  ArrayId logits = kNoArray;
  List<LayerSteps> layers;
};

/// Records the model for this many rows and tokens. What is constant is not filled yet.
Status record_model(const LanguageModelConfig& config, const Learner& learner,
                    const ModelArrays& arrays, Index batch, Index tokens, Tape& tape,
                    ModelSteps& steps) noexcept;

/// The options of a layer's attention, but for key lengths and ALiBi's slopes.
AttentionOptions attention_options(const LanguageModelConfig& config) noexcept;

}  // namespace qkv::train
