/// @file
/// AdamW, clipping by the global norm, and learning rates over time.
#pragma once

#include <cstdint>
#include <span>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv::train {

/// One parameter array with its gradient and moments, all of n elements.
struct Parameter {
  float* value;          ///< the weights, which a step changes
  float* gradient;       ///< of the loss
  float* first_moment;   ///< the running mean of the gradient; 0 before the first step
  float* second_moment;  ///< that of its square; 0 before the first step
  Index n;               ///< how many elements each of them has
  bool decays;  ///< whether weight decay applies: not to gains, biases and embeddings by default
};

/// Numbers of AdamW.
struct AdamWOptions {
  float learning_rate = 1e-3F;  ///< finite, >= 0
  float beta1 = 0.9F;           ///< in [0, 1)
  float beta2 = 0.999F;         ///< in [0, 1)
  float epsilon = 1e-8F;        ///< outside the root; finite, > 0
  float weight_decay = 0.01F;   ///< decoupled; finite, >= 0
  /// Gradients are multiplied by it first: clip_factor() or 1. Finite, >= 0.
  float gradient_factor = 1.0F;
};

/// sqrt(sum g^2) over all gradients, summed in double in the order of the parameters. Not finite if one of
/// them is not.
[[nodiscard]] Status global_norm(std::span<const Parameter> parameters, double& norm) noexcept;

/// What brings gradients of this norm to at most `most`: min(1, most / (norm + 1e-6)), as PyTorch; 1 for most = 0,
/// which is no clipping.
[[nodiscard]] float clip_factor(double norm, float most) noexcept;

/// One step of AdamW (Loshchilov & Hutter 2019), `step` counted from 1, g the gradient times its factor:
///
///     m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2
///     w = w (1 - lr decay) - lr (m / (1 - b1^step)) / (sqrt(v / (1 - b2^step)) + epsilon)
///
/// Moments of less than 2^-120 (7.5e-37) in size become 0: those of a gradient that stays 0 would end at subnormal numbers,
/// which are slow, and never vanish.
///
/// Errors: kInvalidArgument for numbers outside what AdamWOptions says and a step below 1, kUnsupported; nothing is changed then.
/// Preconditions: n >= 0, and the arrays of a parameter have n elements; they are not checked.
Status adamw_step(std::span<const Parameter> parameters, const AdamWOptions& options,
                  std::int64_t step) noexcept;

/// A learning rate that rises linearly for `warmup` steps and then falls to `last` along half a cosine, which
/// it reaches at `steps` and keeps. Without steps, or with none after the rise, it stays at the peak.
struct Schedule {
  float peak = 1e-3F;       ///< the greatest rate
  std::int64_t warmup = 0;  ///< steps that rise to it
  std::int64_t steps = 0;   ///< all steps, those of the rise included
  float last = 0.0F;        ///< the rate from then on
};

/// The learning rate of a step, counted from 1. Its cosine is the core's own, so it has the same bits
/// everywhere.
[[nodiscard]] float learning_rate_at(const Schedule& schedule, std::int64_t step) noexcept;

/// n numbers of a normal distribution with this deviation, number i a pure function of (seed, stream, i): the same on
/// every machine. Box-Muller on the bits of SplitMix64, with the core's own logarithm and cosine.
void fill_normal(float* to, Index n, float deviation, std::uint64_t seed,
                 std::uint64_t stream) noexcept;

}  // namespace qkv::train
