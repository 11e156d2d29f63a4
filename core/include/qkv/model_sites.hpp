/// @file
/// Places in a pass of a language model: what can be read there, and what can be changed.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/tensor_view.hpp"

namespace qkv {

/// A place in a pass. B rows of the batch, H query heads, H_kv heads of keys and values, R the rows that are requested (tokens of
/// this call), Tk the tokens that the session then holds, or T without one. The names in brackets are those of TransformerLens.
enum class ModelSite : std::uint8_t {
  kEmbed,  ///< [B, R, d_model]: the stream before the first layer [hook_embed + hook_pos_embed]
  kQ,      ///< [B, H, R, d_k]: as the scores read them, after qk_norm and rotation [hook_rot_q]
  kK,      ///< [B, H_kv, R, d_k]: likewise, before a session rounds them [hook_rot_k]
  kV,      ///< [B, H_kv, R, d_k]: likewise [hook_v]
  kScores,  ///< [B, H, R, Tk]: what the softmax is taken of; -inf where a key is excluded [hook_attn_scores]
  kWeights,  ///< [B, H, R, Tk]: what multiplies v [hook_pattern]
  kZ,        ///< [B, H, R, d_k]: what a head mixes, sum_j weights_j v_j [hook_z]
  kHeads,  ///< [B, H, R, d_model]: what each head gives, z W_O of the head, without bias [hook_result]
  kAttention,  ///< [B, R, d_model]: what the attention sub-layer adds [hook_attn_out]
  kMiddle,  ///< [B, R, d_model]: the stream after attention, before any other sub-layer [hook_resid_mid]
  kNeurons,  ///< [B, R, d_feed_forward]: after the activation, and times what the gate lets through [hook_post]
  kFeedForward,  ///< [B, R, d_model]: what the feed-forward sub-layer adds [hook_mlp_out]
  kResidual,     ///< [B, R, d_model]: the stream after the layer [hook_resid_post]
  kFinal,  ///< [B, R, d_model]: after the last norm, which is what the head reads [ln_final.hook_normalized]
  kCross,  ///< [B, R, d_model]: what cross-attention adds, in a model with an encoder [hook_cross_attn_out]
  kEntropy,  ///< [B, H, R]: -sum_j w_j ln w_j of the weights, in nats
  /// [B, R, V]: logits as if the stack ended after the layer (the "logit lens", nostalgebraist 2020): through the last norm and
  /// the head.
  kLogits,
  /// [B, H, R, Tk]: weights times the length of what they bring, |w_j v_j W_O| (Kobayashi et al. 2020), before a norm on what
  /// attention adds.
  kNormWeights,
};
/// How many there are.
inline constexpr int kModelSites = 18;

/// Whether the site is one of each layer. kEmbed and kFinal, which a pass has once, are those of layer 0.
[[nodiscard]] constexpr bool has_layers(ModelSite site) noexcept {
  return site != ModelSite::kEmbed && site != ModelSite::kFinal;
}
/// Whether an edit of the site chooses `keys`; of all others it chooses `columns`.
[[nodiscard]] constexpr bool has_keys(ModelSite site) noexcept {
  return site == ModelSite::kScores || site == ModelSite::kWeights;
}

/// One array that a pass writes beside its results.
struct ModelReading {
  ModelSite site = ModelSite::kResidual;  ///< what is read
  Index layer = 0;            ///< counted from 0; 0 for kEmbed and kFinal, which have none
  Index row_begin = 0;        ///< of the call's tokens
  Index row_end = -1;         ///< below 0 means T
  TensorView<float> to = {};  ///< of the site's shape, its last axis contiguous
};

/// [begin, end) of one axis.
struct ModelRange {
  Index begin = 0;  ///< counted from 0
  Index end = -1;   ///< below 0: as far as the axis goes
};

/// A change of what is at a site, made where it comes into being: whatever is computed after it reads what was changed, and so do
/// readings. Each number x that is chosen becomes
///
///     x scale,  then value,  then + add          those of the three that are given
///
/// Not of kHeads, kFinal, kEntropy, kLogits and kNormWeights, which nothing but a reading reads. Keys that the mask excludes stay
/// excluded: their scores stay -inf and their weights 0. A score of -inf cuts the edge between a query and a key, and a row that is cut
/// from all its keys has weights 0. Weights that are changed are not divided by their sum again.
struct ModelEdit {
  ModelSite site = ModelSite::kResidual;  ///< what is changed
  Index layer = 0;                        ///< as ModelReading::layer
  Index head = -1;          ///< of the sites that have heads (of kK and kV: of H_kv); below 0: all
  ModelRange batch = {};    ///< rows of the batch
  ModelRange rows = {};     ///< of the call's tokens
  ModelRange keys = {};     ///< of kScores and kWeights alone: in [0, Tk)
  ModelRange columns = {};  ///< of the last axis of all others, such as neurons
  std::optional<float> scale = std::nullopt;  ///< x becomes x scale
  /// x becomes this. [batch, rows, last axis] of what is chosen, or with heads [batch, heads, rows, last axis] (heads: 1 or all).
  /// Strides may be 0: one number for all, or one row of the last axis.
  TensorView<const float> value = {};
  TensorView<const float> add = {};  ///< x becomes x + this; as `value`
};

/// The tokens that a model would guess if its stack ended after a layer: through the last norm and the head (with its softcap) as kLogits,
/// but the likeliest alone. The logits of 16 rows are held at a time.
struct ModelLens {
  Index layer = 0;      ///< counted from 0
  Index row_begin = 0;  ///< of the call's tokens
  Index row_end = -1;   ///< below 0 means T
  /// [B, R, k] with k from 1 to min(V, 64), dense: the k tokens of the greatest logits, the greatest first and of equal ones the first.
  TensorView<std::int32_t> ids = {};
  TensorView<float> probabilities = {};  ///< [B, R, k], dense: the softmax of all V logits at these
};

/// A stream that takes the place of the one before a layer: embeddings and the layers before it are not computed.
struct ModelBegin {
  /// [B, T, d_model], dense; absent: the pass begins with the embeddings.
  TensorView<const float> stream = {};
  Index layer = 0;  ///< the first that is computed, below num_layers
};

}  // namespace qkv
