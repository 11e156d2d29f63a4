// Blocks of transformers, as arrays that are trained and as steps on a tape. A LanguageModelConfig says what is in them.
#pragma once

#include "qkv/language_model_config.hpp"
#include "train/tape/tape.hpp"
#include "train/trainers/learner.hpp"

namespace qkv::train {

/// Numbers of the arrays of a learner; -1 for those that the config has not.
struct NormArrays {
  Index gamma = -1, beta = -1;
};
struct LinearArrays {
  Index w = -1, b = -1;
};
struct AttentionArrays {
  LinearArrays q, k, v, o;
  NormArrays q_norm, k_norm;
};
struct LayerArrays {
  NormArrays norm1, norm_cross, norm2;
  AttentionArrays self, cross;
  LinearArrays w1, gate, w2;
};

/// Where things are on the tape.
struct LayerSteps {
  ArrayId attended = kNoArray;  ///< what self-attention wrote
  ArrayId crossed = kNoArray;   ///< what cross-attention wrote
  ArrayId residual = kNoArray;  ///< the stream after the layer
};

/// Declares the arrays of blocks, in the order in which a trainer lists them.
class BlockDeclarer {
 public:
  BlockDeclarer(const LanguageModelConfig& config, Learner& learner) noexcept
      : c_(config), has_biases_(config.biases.value_or(false)), learner_(learner) {}

  NormArrays norm(const Learner::Place& place, const char* prefix, const char* gamma,
                  const char* beta, Index width) noexcept;
  LinearArrays map(const Learner::Place& place, const char* prefix, const char* w, const char* b,
                   std::array<Index, 2> in_out, Role role) noexcept;
  AttentionArrays attention(const Learner::Place& place, const char* prefix) noexcept;
  /// One block; with `cross` it has cross-attention between the two.
  LayerArrays layer(const Learner::Place& place, bool cross) noexcept;

 private:
  const LanguageModelConfig& c_;
  bool has_biases_;  ///< check_model_config() has filled it in
  Learner& learner_;
};

/// Records blocks on a tape.
class BlockRecorder {
 public:
  /// `site` counts the places of dropout; recorders of one model share it.
  BlockRecorder(const LanguageModelConfig& config, float dropout, Tape& tape,
                std::uint64_t& site) noexcept
      : c_(config), dropout_(dropout), tape_(tape), site_(site) {}

  ArrayId normalize(ArrayId x, const NormArrays& arrays) noexcept;
  ArrayId drop(ArrayId x) noexcept;
  /// One block over x. `context` is what cross-attention reads, in blocks that have it; `cross` says how.
  ArrayId layer(ArrayId x, const LayerArrays& arrays, const TapeAttention& attention,
                ArrayId context, const TapeAttention& cross, LayerSteps& at) noexcept;

 private:
  ArrayId map(ArrayId x, const LinearArrays& arrays) noexcept;
  ArrayId place(ArrayId x, const NormArrays& arrays, Index heads, Index batch) noexcept;
  ArrayId self_attention(ArrayId x, const AttentionArrays& arrays, TapeAttention attention,
                         LayerSteps& at) noexcept;
  ArrayId cross_attention(ArrayId x, ArrayId context, const AttentionArrays& arrays,
                          TapeAttention attention, LayerSteps& at) noexcept;
  ArrayId feed_forward(ArrayId x, const LayerArrays& arrays) noexcept;

  const LanguageModelConfig& c_;
  float dropout_;
  Tape& tape_;
  std::uint64_t& site_;
};

/// The arrays of a learner, as parameters of a tape: array i gets number i.
void take_parameters(const Learner& learner, Tape& tape) noexcept;

/// The options of a layer's self-attention, but for key lengths and ALiBi's slopes.
AttentionOptions attention_options(const LanguageModelConfig& config) noexcept;

}  // namespace qkv::train
