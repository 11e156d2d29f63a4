// The arrays of a model: their names, shapes, order and what they are for. Models that are run and models that are trained
// both list their arrays through these functions, so that the two cannot differ.
#pragma once

#include <type_traits>

#include "models/array_name.hpp"
#include "models/layer_config.hpp"
#include "models/model_check.hpp"
#include "qkv/status.hpp"
#include "rows/activation_kernel.hpp"

namespace qkv {

/// What an array is for, which says how a trainer begins it and whether it decays.
enum class ArrayRole : std::uint8_t {
  kMatrix,
  kResidual,   ///< a matrix whose outputs are added to the stream
  kEmbedding,  ///< a table of which tokens read rows
  kGain,
  kBias,
  kDelta,  ///< a matrix that begins at 0, so that what it is added to begins as it is
};

/// A linear map, [in, out], and the bias that it may have.
struct MatrixSpec {
  ArrayPlace place;
  const char* name;
  const char* bias_name;
  Index in, out;
  bool bias;
  ArrayRole role = ArrayRole::kMatrix;
  bool exact =
      false;  ///< kept as float32 whatever the format: what it gives is compared, and not added up
};

/// A norm.
struct NormSpec {
  ArrayPlace place;
  const char* gamma_name = "gamma";
  const char* beta_name = "beta";
  Index width;
  bool beta;
};

/// A table, [rows, width], of which rows are added to something.
struct TableSpec {
  const char* name;
  Index rows, width;
};

/// The arrays of attention, and of a layer. Matrix and Norm are what a visitor fills.
template <class Matrix, class Norm>
struct AttentionArrays {
  Matrix wq, wk, wv, wo;
  Norm q_norm, k_norm;
};
template <class Matrix>
struct ExpertArrays {
  Matrix w1, w_gate, w2;
};
/// Where there are no experts.
struct NoExperts {};
template <class Matrix, class Norm, class Experts = NoExperts>
struct LayerArrays {
  LayerConfig config;
  AttentionArrays<Matrix, Norm> attention, cross;
  Matrix w1, w_gate, w2;
  Matrix router;
  Experts experts;  ///< a list of ExpertArrays<Matrix>
  Norm norm1, post_norm1, norm_cross, norm2, post_norm2;
};

// A Visitor has
//   Status visit(const MatrixSpec&, Matrix&)
//   Status visit(const NormSpec&, Norm&)
//   Status visit(const TableSpec&, Table&)       a table that is added to embeddings
//   Status visit_embedding(const TableSpec&, model.embedding)
//   Status visit_head_bias(name, width, model.embedding)   of a head that is the embedding
//   Status make_layers(count, model)             makes model.layers
//   Status make_experts(count, layer)            makes layer.experts, where there may be some
// and every function here stops at the first error.

/// The maps of attention and the norms of its heads. `place`: where they belong, such as "layers.0.attention.".
template <class Matrix, class Norm, class Visitor>
Status for_each_attention_array(const LayerConfig& c, const ArrayPlace& place,
                                AttentionArrays<Matrix, Norm>& arrays, Visitor& visitor) noexcept {
  const LayerAttention& a = c.attention;
  const bool bias = a.qkv_biases;
  QKV_RETURN_IF_ERROR(
      visitor.visit(MatrixSpec{place, "wq", "bq", c.d_model, a.q_width(), bias}, arrays.wq));
  QKV_RETURN_IF_ERROR(
      visitor.visit(MatrixSpec{place, "wk", "bk", c.d_model, a.kv_width(), bias}, arrays.wk));
  QKV_RETURN_IF_ERROR(
      visitor.visit(MatrixSpec{place, "wv", "bv", c.d_model, a.kv_width(), bias}, arrays.wv));
  if (a.qk_norm) {
    QKV_RETURN_IF_ERROR(visitor.visit(
        NormSpec{place, "qGamma", "qBeta", a.norm_width(a.num_heads), c.norm.beta}, arrays.q_norm));
    QKV_RETURN_IF_ERROR(
        visitor.visit(NormSpec{place, "kGamma", "kBeta", a.norm_width(a.num_kv_heads), c.norm.beta},
                      arrays.k_norm));
  }
  return visitor.visit(
      MatrixSpec{place, "wo", "bo", a.q_width(), c.d_model, c.biases, ArrayRole::kResidual},
      arrays.wo);
}

/// A norm over the width of a token.
template <class Norm, class Visitor>
Status visit_norm(const ArrayPlace& place, const NormConfig& norm, Index width, Norm& arrays,
                  Visitor& visitor) noexcept {
  return visitor.visit(NormSpec{.place = place, .width = width, .beta = norm.beta}, arrays);
}

/// Attention with its norms.
template <class Layer, class Visitor>
Status for_each_self_attention_array(ArrayPlace place, Layer& arrays, Visitor& visitor) noexcept {
  const LayerConfig& c = arrays.config;
  if (c.norms.attention_input || c.norms.sum) {
    QKV_RETURN_IF_ERROR(visit_norm(place.with("norm1."), c.norm, c.d_model, arrays.norm1, visitor));
  }
  QKV_RETURN_IF_ERROR(
      for_each_attention_array(c, place.with("attention."), arrays.attention, visitor));
  return c.norms.output
             ? visit_norm(place.with("postNorm1."), c.norm, c.d_model, arrays.post_norm1, visitor)
             : Status{};
}

/// Cross-attention, if there is any, with its norm.
template <class Layer, class Visitor>
Status for_each_cross_attention_array(ArrayPlace place, Layer& arrays, Visitor& visitor) noexcept {
  const LayerConfig& c = arrays.config;
  if (!c.crosses) {
    return {};
  }
  QKV_RETURN_IF_ERROR(
      visit_norm(place.with("normCross."), c.norm, c.d_model, arrays.norm_cross, visitor));
  return for_each_attention_array(c, place.with("cross."), arrays.cross, visitor);
}

/// The maps of a feed-forward layer: of a whole one, or of an expert.
template <class Maps, class Visitor>
Status for_each_map(const ArrayPlace& place, const LayerConfig& c, bool biases, Maps& maps,
                    Visitor& visitor) noexcept {
  QKV_RETURN_IF_ERROR(
      visitor.visit(MatrixSpec{place, "w1", "b1", c.d_model, c.d_feed_forward, biases}, maps.w1));
  if (is_gated(c.activation)) {
    QKV_RETURN_IF_ERROR(visitor.visit(
        MatrixSpec{place, "wGate", "bGate", c.d_model, c.d_feed_forward, biases}, maps.w_gate));
  }
  return visitor.visit(
      MatrixSpec{place, "w2", "b2", c.d_feed_forward, c.d_model, biases, ArrayRole::kResidual},
      maps.w2);
}

/// The router and the experts; nothing in models that have none.
template <class Layer, class Visitor>
Status for_each_expert_array(const ArrayPlace& place, Layer& arrays, Visitor& visitor) noexcept {
  if constexpr (!std::is_same_v<decltype(arrays.experts), NoExperts>) {
    const LayerConfig& c = arrays.config;
    QKV_RETURN_IF_ERROR(
        visitor.visit(MatrixSpec{place.with("feedForward."), "router", "", c.d_model, c.num_experts,
                                 false, ArrayRole::kMatrix, true},
                      arrays.router));
    QKV_RETURN_IF_ERROR(visitor.make_experts(c.num_experts, arrays));
    for (Index e = 0; e < c.num_experts; ++e) {
      char prefix[kMostArrayName];
      write_array_name({"feedForward.experts", e, ""}, "", prefix);
      QKV_RETURN_IF_ERROR(for_each_map(place.with(prefix), c, false, arrays.experts[e], visitor));
    }
  }
  return {};
}

/// The feed-forward layer, if there is one, with its norms.
template <class Layer, class Visitor>
Status for_each_feed_forward_array(ArrayPlace place, Layer& arrays, Visitor& visitor) noexcept {
  const LayerConfig& c = arrays.config;
  if (c.d_feed_forward == 0) {
    return {};
  }
  if (c.norms.input || c.norms.sum) {
    QKV_RETURN_IF_ERROR(visit_norm(place.with("norm2."), c.norm, c.d_model, arrays.norm2, visitor));
  }
  QKV_RETURN_IF_ERROR(c.num_experts > 0
                          ? for_each_expert_array(place, arrays, visitor)
                          : for_each_map(place.with("feedForward."), c, c.biases, arrays, visitor));
  return c.norms.output
             ? visit_norm(place.with("postNorm2."), c.norm, c.d_model, arrays.post_norm2, visitor)
             : Status{};
}

/// What the arrays of a stack of layers are called.
struct StackNames {
  const char* relative_bias = "relativeBias";
  const char* layers = "layers";
  const char* norm = "norm.";
};
inline constexpr StackNames kEncoderNames = {"encoder.relativeBias", "encoder.layers",
                                             "encoder.norm."};

/// The arrays of the layers and of what stands around them, of a model with members relative_bias, layers and norm. Fills in the
/// config of each layer.
template <class Model, class Visitor>
Status for_each_stack_array(const LanguageModelConfig& c, const StackNames& names, Model& model,
                            Visitor& visitor) noexcept {
  if (c.relative_buckets > 0) {
    QKV_RETURN_IF_ERROR(visitor.visit(
        TableSpec{names.relative_bias, c.relative_buckets, c.num_heads}, model.relative_bias));
  }
  QKV_RETURN_IF_ERROR(visitor.make_layers(c.num_layers, model));
  for (Index n = 0; n < c.num_layers; ++n) {
    auto& layer = model.layers[n];
    const ArrayPlace place{names.layers, n};
    layer.config = layer_config(c, n);
    QKV_RETURN_IF_ERROR(for_each_self_attention_array(place, layer, visitor));
    QKV_RETURN_IF_ERROR(for_each_cross_attention_array(place, layer, visitor));
    QKV_RETURN_IF_ERROR(for_each_feed_forward_array(place, layer, visitor));
  }
  return c.norm == NormPlacement::kPost ? Status{}
                                        : visit_norm(ArrayPlace{}.with(names.norm), norm_config(c),
                                                     c.d_model, model.norm, visitor);
}

/// What the head makes of the stream first.
template <class Model, class Visitor>
Status for_each_transform_array(const LanguageModelConfig& c, Model& model,
                                Visitor& visitor) noexcept {
  if (c.head_transform == HeadTransform::kNone) {
    return {};
  }
  const ArrayPlace place = ArrayPlace{}.with("headTransform.");
  QKV_RETURN_IF_ERROR(visitor.visit(MatrixSpec{place, "w", "b", c.d_model, c.d_model, *c.biases},
                                    model.head_transform));
  return c.head_norm ? visit_norm(ArrayPlace{}.with("headTransform.norm."), norm_config(c),
                                  c.d_model, model.head_norm, visitor)
                     : Status{};
}

/// All arrays of a language model but those of its encoder. It has members embedding, token_types, positions, embedding_norm,
/// head_transform, head_norm, head and those of for_each_stack_array().
template <class Model, class Visitor>
Status for_each_array(const LanguageModelConfig& c, Model& model, Visitor& visitor) noexcept {
  QKV_RETURN_IF_ERROR(
      visitor.visit_embedding(TableSpec{"embedding", c.vocabulary, c.d_model}, model.embedding));
  if (c.token_types > 0) {
    QKV_RETURN_IF_ERROR(
        visitor.visit(TableSpec{"tokenTypes", c.token_types, c.d_model}, model.token_types));
  }
  if (c.positions == ModelPositions::kLearned) {
    QKV_RETURN_IF_ERROR(
        visitor.visit(TableSpec{"positions", c.max_length, c.d_model}, model.positions));
  }
  if (c.embedding_norm) {
    QKV_RETURN_IF_ERROR(visit_norm(ArrayPlace{}.with("embeddingNorm."), norm_config(c), c.d_model,
                                   model.embedding_norm, visitor));
  }
  QKV_RETURN_IF_ERROR(for_each_stack_array(c, {}, model, visitor));
  QKV_RETURN_IF_ERROR(for_each_transform_array(c, model, visitor));
  if (c.head && !c.tied_embeddings) {
    return visitor.visit(
        MatrixSpec{{}, "head", "headBias", c.d_model, head_outputs(c), c.head_bias}, model.head);
  }
  return c.head_bias ? visitor.visit_head_bias("headBias", c.vocabulary, model.embedding)
                     : Status{};
}

}  // namespace qkv
