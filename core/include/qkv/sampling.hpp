/// @file
/// Choosing the next token from logits.
#pragma once

#include <cstdint>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// How a token is chosen. The defaults choose the most likely one.
struct SamplingOptions {
  /// Logits are divided by it. 0: the most likely token, the first of equals. Finite, >= 0.
  float temperature = 0.0F;
  /// Only the `top_k` most likely tokens stay (Fan et al. 2018); 0 for all. >= 0.
  Index top_k = 0;
  /// Only the most likely tokens stay whose probabilities before each add up to less than this (nucleus
  /// sampling, Holtzman et al. 2020). In (0, 1]; 1 for all.
  float top_p = 1.0F;
  /// Only tokens stay that are at least so likely, compared with the most likely one (Nguyen et al. 2024). In [0, 1].
  float min_p = 0.0F;
  /// Logits of the tokens in `seen` are divided by it where positive, multiplied elsewhere (Keskar et al.
  /// 2019, section 4.1). Finite, > 0; 1 for none.
  float repetition_penalty = 1.0F;
  /// Of the draw; the same seed and step draw the same token from the same logits.
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< counts the draws of one seed
};

/// A token that was chosen.
struct SampledToken {
  std::int32_t id = -1;  ///< its number, in [0, V)
  /// ln of its probability by the logits as they were given: before penalty, temperature and selection.
  float log_probability = 0.0F;
};

/// What sample() reads.
struct SamplingArgs {
  TensorView<const float> logits;  ///< [V], V >= 1, contiguous
  TensorView<const std::int32_t> seen =
      {};                        ///< [n], tokens that the penalty is for, each in [0, V)
  SamplingOptions options = {};  ///< how to choose
};

/// Chooses a token, in this order: repetition penalty, temperature, top_k, top_p, min_p, a draw from what is left. At least
/// the most likely token is left. Equal logits are ordered by their token. top_p and min_p look at the probabilities of
/// softmax(logits / temperature) over the tokens that top_k left.
///
/// The draw is one number of SplitMix64 (Steele et al. 2014) for seed and step. Sums and exponentials are made in double precision, the
/// latter within 1e-14 of themselves, in one order and from additions and multiplications alone, so the same logits give the same token on every engine
/// and with any number of threads.
///
/// NaN and -infinity are never chosen. Errors, each naming the argument; `token` is as it was then: kInvalidArgument (null data,
/// strides, a number that is not finite), kShapeMismatch (ranks, V = 0), kOutOfRange (a number outside of what stands
/// above, a token outside [0, V), no logit that can be chosen), kOutOfMemory, kUnsupported.
/// Error bound: |log_probability - exact| <= 2^-24 |exact| + 1e-12. Scratch: 12 V bytes.
Status sample(const SamplingArgs& args, Workspace& workspace, SampledToken& token) noexcept;

}  // namespace qkv
