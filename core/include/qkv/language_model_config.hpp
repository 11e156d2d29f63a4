/// @file
/// What a language model is made of.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/norm.hpp"
#include "qkv/rotary.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// How a language model knows where a token stands.
enum class ModelPositions : std::uint8_t {
  kNone,        ///< not at all, but for causality
  kLearned,     ///< a row of a trained table is added to each embedding (Gehring et al. 2017)
  kSinusoidal,  ///< a row of sinusoidal_encoding() is added
  kRotary,      ///< queries and keys are turned, see qkv/rotary.hpp
  kAlibi,       ///< scores fall with distance, see alibi_slopes()
};

/// The activations of a model's feed-forward layers.
enum class ModelActivation : std::uint8_t {
  kRelu,       ///< Activation::kRelu
  kGelu,       ///< Activation::kGelu
  kGeluTanh,   ///< Activation::kGeluTanh
  kSilu,       ///< Activation::kSilu
  kSwiglu,     ///< silu(x Wgate) (x W1), Shazeer 2020
  kGeglu,      ///< gelu(x Wgate) (x W1), likewise
  kGegluTanh,  ///< gelu_tanh(x Wgate) (x W1), as Gemma
  kRelu2,      ///< max(x, 0)^2 (So et al. 2021), as Nemotron
};

/// What the norms of q and k are over, where a model has them.
enum class QkNorm : std::uint8_t {
  kHead,     ///< each head, before it is rotated: gains of [d_k]
  kRotated,  ///< each head, after it was rotated: gains of [d_k] (Hunyuan)
  kWhole,    ///< all heads of a token together, before the rotation: gains of [heads d_k] (OLMo 2)
};

/// What a head makes of the stream before its last map, where it does.
enum class HeadTransform : std::uint8_t {
  kNone,      ///< nothing
  kRelu,      ///< max(h W + b, 0), as DistilBERT for classes
  kGelu,      ///< gelu(h W + b), as BERT for masked tokens
  kGeluTanh,  ///< gelu_tanh(h W + b)
  kSilu,      ///< silu(h W + b)
  kTanh,      ///< tanh(h W + b): the pooler of BERT
};

/// Of which tokens a model gives logits.
enum class HeadPooling : std::uint8_t {
  kNone,   ///< of each
  kFirst,  ///< one for a row: of the first token
  kMean,   ///< one for a row: of the mean of the stream over its tokens
  kLast,   ///< one for a row: of the last token
};

/// The sizes and the kind of a language model: embeddings, `num_layers` blocks, a last norm with kPre, and logits.
struct LanguageModelConfig {
  Index vocabulary = 0;    ///< V, at least 1
  Index num_layers = 0;    ///< blocks, 1 to 65,536
  Index d_model = 0;       ///< width of a token, at least 1
  Index num_heads = 0;     ///< query heads, at least 1
  Index num_kv_heads = 0;  ///< heads of keys and values; 0 means num_heads, which it divides
  Index d_k = 0;  ///< width of a head; 0 means d_model / num_heads, which must then be whole
  Index d_feed_forward = 0;  ///< width of the hidden layer; 0 means blocks of attention alone
  Index max_length = 0;      ///< most tokens of a row, at least 1
  bool causal = true;        ///< false: an encoder
  NormPlacement norm = NormPlacement::kPre;  ///< where the norms of a block stand
  NormType norm_type = NormType::kLayer;     ///< of all norms over d_model, and of qk_norm
  float epsilon = 1e-5F;                     ///< of all norms; finite, >= 0
  ModelActivation activation = ModelActivation::kGelu;  ///< of the feed-forward layers
  ModelPositions positions = ModelPositions::kLearned;  ///< how positions enter
  /// With kRotary: base, rotary_dim, interleaved and scaling; offset, positions, cos and sin stay at their
  /// defaults.
  RotaryOptions rotary = {};
  bool qk_norm = false;            ///< q and k are normalised, by default each head of them
  bool parallel_residual = false;  ///< x + attention(norm1(x)) + feed_forward(norm2(x)), with kPre
  bool tied_embeddings = false;    ///< logits are products with the rows of the embedding
  /// Whether linear maps and layer norms have biases; logits have none. Default: with NormType::kLayer.
  std::optional<bool> biases = std::nullopt;
  float embedding_scale = 1.0F;  ///< factor on the embeddings; finite, not 0
  /// Keys to the left that a query may read, besides its own; -1: all.
  Index window = -1;
  float attention_softcap = 0.0F;  ///< AttentionOptions::softcap

  // A trainer refuses what it has no gradients of: relative_buckets, encoder_layers, num_experts, head = false, classes and pooling of
  // the head.

  /// [num_layers], each as `window` and instead of it; absent: `window` for all. Read by create() alone.
  TensorView<const std::int32_t> windows = {};
  /// Factor on q.k, AttentionOptions::scale. Default 1 / sqrt(d_k).
  std::optional<float> attention_scale = std::nullopt;
  float logit_softcap = 0.0F;  ///< c > 0: logits become c tanh(logit / c); 0 for none; finite
  /// Whether the maps to q, k and v have biases. Default: as `biases` (Qwen2 has these alone).
  std::optional<bool> qkv_biases = std::nullopt;
  /// x + norm'(sub(norm(x))): one more norm on what each sub-layer adds, with kPre (Gemma 2).
  bool post_norms = false;
  Index token_types = 0;        ///< rows of a table that tells segments apart (BERT); 0 for none
  bool embedding_norm = false;  ///< a layer norm, or RMS norm, on the sum of the embeddings (BERT)
  bool head = true;             ///< false: no logits, an encoder whose stream is the result
  bool head_bias = false;       ///< whether the head adds a bias to the logits (Phi, BERT)
  QkNorm qk_norm_of = QkNorm::kHead;  ///< with qk_norm
  /// false: attention of the first layer reads the stream without a norm, with kPre (ModernBERT).
  bool first_norm = true;
  /// Windows reach as far to the right, without causality: |i - j| <= window.
  bool symmetric_window = false;
  /// [num_layers], with kRotary: what turns q and k of each layer: 0 nothing, 1 `rotary`, 2 `second_rotary`; absent: `rotary`
  /// turns all. Read by create() alone.
  TensorView<const std::int32_t> rotations = {};
  /// As `rotary`; only where `rotations` has a 2 (Gemma 3: layers with a window have a base of their own).
  RotaryOptions second_rotary = {};
  /// Rows of a table of biases on the scores, one for each bucket of distances and column for each head, as t5_relative_bias()
  /// adds them (T5): the same in every layer. 0 for none. Both directions have buckets unless the model is causal.
  Index relative_buckets = 0;
  Index relative_max_distance = 128;  ///< T5Options::max_distance, with relative_buckets
  /// Layers of an encoder, of the sizes and kinds of the others and without causality. The model is its decoder then: each of its
  /// `num_layers` has cross-attention, whose keys and values come from the encoder's last stream (T5). 0 for none. With kPre,
  /// kNone and causal, and with neither windows nor parallel_residual, post_norms, qk_norm, token_types, embedding_norm or
  /// first_norm = false.
  Index encoder_layers = 0;
  /// E > 0: each layer has E feed-forward layers of d_feed_forward, without biases, of which each token goes through
  /// `experts_per_token` (Shazeer et al. 2017): with p = softmax(x router) those of the greatest p, each times its p. At most 1024.
  /// The router is float32 in every format: rounded, it would choose others.
  Index num_experts = 0;
  Index experts_per_token = 0;      ///< 1 to num_experts with experts, otherwise 0
  bool normalized_experts = false;  ///< the p of the experts that are used are divided by their sum
  /// The head reads f(h W + b) in place of h, W being [d_model, d_model]; b where `biases` are.
  HeadTransform head_transform = HeadTransform::kNone;
  bool head_norm = false;  ///< with head_transform: one more norm, after f (BERT for masked tokens)
  /// N > 0: a head of its own gives N logits, of classes, in place of one for each token of the vocabulary.
  Index classes = 0;
  HeadPooling head_pooling = HeadPooling::kNone;  ///< of which tokens there are logits
};

}  // namespace qkv
