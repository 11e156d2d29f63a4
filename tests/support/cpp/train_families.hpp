// Families of models that are trained, with weights of their own.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "language_model_problem.hpp"
#include "qkv/train/language_model.hpp"

namespace qkv::test {

/// Whether the trainer knows all of the config.
inline bool is_trained(const LanguageModelConfig& c) {
  return c.head && c.relative_buckets == 0 && c.encoder_layers == 0 && c.num_experts == 0 &&
         c.classes == 0 && c.head_pooling == HeadPooling::kNone;
}

/// A trainer of these weights.
inline train::LanguageModelTrainer trainer_of(const ModelWeights& weights,
                                              const train::TrainerOptions& options = {}) {
  train::LanguageModelTrainer trainer;
  require_ok(train::LanguageModelTrainer::create(weights.config(), options, trainer));
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const train::TrainedArray array = trainer.array(i);
    const std::vector<float>& values = weights.arrays.at(array.name);
    REQUIRE(array.value.size() == static_cast<Index>(values.size()));
    std::copy(values.begin(), values.end(), array.value.data);
  }
  return trainer;
}

}  // namespace qkv::test
