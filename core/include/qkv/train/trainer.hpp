/// @file
/// Options and results that all trainers have in common.
#pragma once

#include <cstdint>

#include "qkv/tensor_view.hpp"
#include "qkv/train/optimizer.hpp"

namespace qkv::train {

/// How a model is trained: AdamW with gradients clipped by their global norm.
struct TrainerOptions {
  /// Of the initial weights and of dropout. The same seed trains the same weights, bit for bit, on all engines whose
  /// arithmetic has four lanes and two roundings, with any number of threads.
  std::uint64_t seed = 0;
  Schedule schedule =
      {};  ///< the learning rate; its numbers finite and >= 0, its counts at most 2^53 - 1
  float beta1 = 0.9F;          ///< in [0, 1)
  float beta2 = 0.999F;        ///< in [0, 1)
  float epsilon = 1e-8F;       ///< finite, > 0
  float weight_decay = 0.01F;  ///< of matrices, not of gains, biases and embeddings; finite, >= 0
  float clip_norm = 1.0F;      ///< most that the gradient's norm may be; 0 for no clipping; finite
  /// Rate at which numbers are dropped, in [0, 1): those of embeddings, positions included; in blocks, attention weights and
  /// what sub-layers add; with GRUs, what the head reads. Attention of a GRU decoder drops no weights.
  float dropout = 0.0F;
  /// Deviation of the initial weights; projections into the residual stream have deviation / sqrt(2 num_layers)
  /// (Radford et al. 2019). Finite, > 0.
  float deviation = 0.02F;
};

/// How well a model predicts a batch.
struct Evaluation {
  double loss = 0.0;  ///< mean cross-entropy in nats over the targets that count; 0 if none does
  double accuracy = 0.0;  ///< part of the targets that are the model's first choice
  Index counted = 0;      ///< targets that count
};

/// What one step did.
struct StepResult {
  Evaluation before;           ///< of the batch, by the weights before the step, with dropout
  double gradient_norm = 0.0;  ///< before clipping
  float learning_rate = 0.0F;  ///< of this step
  std::int64_t step = 0;       ///< counted from 1
};

/// One array that is trained. Valid until the trainer goes; the numbers change with each step.
struct TrainedArray {
  const char* name;                  ///< as "layers.0.attention.wq"
  TensorView<float> value;           ///< matrices of rank 2, gains and biases of rank 1
  TensorView<const float> gradient;  ///< of the last step, before clipping
};

/// The running means of AdamW for one array, of its size: of the gradient and of its square. A step changes them with the
/// weights. Valid until the trainer goes.
struct Moments {
  float* first;   ///< the mean of the gradient
  float* second;  ///< the mean of its square
};

}  // namespace qkv::train
