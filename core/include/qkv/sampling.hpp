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
  /// Times the number of times that a token is in `seen`, taken from its logit. Finite; 0 for none.
  float frequency_penalty = 0.0F;
  /// Taken from the logits of the tokens in `seen`, once each. Finite; 0 for none.
  float presence_penalty = 0.0F;
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

/// What sample() reads, and what it writes beside the token.
struct SamplingArgs {
  TensorView<const float> logits;  ///< [V], V >= 1, contiguous
  /// [n], tokens that the penalties are for, each in [0, V); a token may be there more than once
  TensorView<const std::int32_t> seen = {};
  SamplingOptions options = {};  ///< how to choose
  /// [n], tokens whose logits `biases` change, each in [0, V); of a token that is there more than once the biases add up
  TensorView<const std::int32_t> bias_ids = {};
  /// [n], added to the logits of `bias_ids`: a finite number, or -infinity, with which a token is never chosen
  TensorView<const float> biases = {};
  /// [ceil(V / 32)], a bit for each token: token i may be chosen if bit i % 32 of word i / 32 is set. Bits from V on are not
  /// looked at. Absent: every token may be chosen.
  TensorView<const std::int32_t> allowed = {};
  /// [n], n from 0 to V: the n likeliest tokens by the logits as they were given, the likeliest first, of equals the first;
  /// both or neither are given
  TensorView<std::int32_t> top_ids = {};
  /// [n]: ln of their probabilities by the logits as they were given; -infinity where a logit is -infinity or NaN
  TensorView<float> top_log_probabilities = {};
  /// Whether the order of `top_ids` is that of the logits after biases, penalties and `allowed`, as beam search needs it. Tokens that
  /// may not be chosen are then the last, with -infinity in `top_log_probabilities`, which are by the logits as they were given still.
  bool top_after_changes = false;
};

/// Chooses a token, in this order: biases, repetition penalty, frequency and presence penalty, `allowed`, temperature, top_k,
/// top_p, min_p, a draw from what is left. At least the most likely token that may be chosen is left. Equal logits are ordered by
/// their token. top_p and min_p look at the probabilities of softmax(logits / temperature) over the tokens that top_k left. The
/// order is that of llama.cpp, where grammar, bias and penalties come before top_k; transformers and OpenAI's API likewise
/// add the bias to the logits before all else.
///
/// The draw is one number of SplitMix64 (Steele et al. 2014) for seed and step. Sums and exponentials are made in double precision, the
/// latter within 1e-14 of themselves, in one order and from additions and multiplications alone, so the same logits give the same token on every engine
/// and with any number of threads.
///
/// NaN and -infinity are never chosen. Errors, each naming the argument; `token` and `top_...` are as they were then:
/// kInvalidArgument (null data, strides, a number that is not finite, arrays that overlap), kShapeMismatch (ranks, lengths,
/// V = 0), kOutOfRange (a number outside of what stands above, a token outside [0, V), no logit that can be chosen, biases and
/// `allowed` that leave no token), kOutOfMemory, kUnsupported.
/// Error bound, of each log probability: |it - exact| <= 2^-24 |exact| + 1e-12. Scratch: 12 V bytes, and 16 for each token of
/// `bias_ids`, and of `seen` if there is a penalty.
Status sample(const SamplingArgs& args, Workspace& workspace, SampledToken& token) noexcept;

}  // namespace qkv
