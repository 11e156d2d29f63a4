#include "models/model_check.hpp"

#include <cmath>
#include <limits>

#include "check/check.hpp"
#include "positions/rotary_plan.hpp"
#include "qkv/positional.hpp"
#include "qkv/relative_bias.hpp"

namespace qkv {
namespace {

/// Most layers. A list of the arrays of more would take all memory before anything else is found to be too much.
constexpr Index kMostLayers = 65'536;
/// Most experts of a layer.
constexpr Index kMostExperts = 1024;

Status check_choices(const Caller& caller, const LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_choice(caller, "norm", c.norm, NormPlacement::kAfter));
  QKV_RETURN_IF_ERROR(check_choice(caller, "norm_type", c.norm_type, NormType::kRms));
  QKV_RETURN_IF_ERROR(check_choice(caller, "activation", c.activation, ModelActivation::kRelu2));
  QKV_RETURN_IF_ERROR(check_choice(caller, "positions", c.positions, ModelPositions::kAlibi));
  QKV_RETURN_IF_ERROR(check_choice(caller, "qk_norm_of", c.qk_norm_of, QkNorm::kWhole));
  const struct {
    const char* name;
    bool given, usual;
  } of_pre[] = {{"parallel_residual", c.parallel_residual, false},
                {"post_norms", c.post_norms, false},
                {"first_norm", c.first_norm, true}};
  for (const auto& part : of_pre) {
    if (c.norm != NormPlacement::kPre && part.given != part.usual) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "{} is {}, expected {} where norms do not stand before the parts",
                    Argument{part.name}, Verbatim{part.given ? "true" : "false"},
                    Verbatim{part.usual ? "true" : "false"});
    }
  }
  return {};
}

Status check_heads(const Caller& caller, LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "num_heads", c.num_heads));
  if (c.num_kv_heads == 0) {
    c.num_kv_heads = c.num_heads;
  }
  if (c.num_kv_heads < 1 || c.num_heads % c.num_kv_heads != 0) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@num_kv_heads is {}, expected a divisor of @num_heads = {}", c.num_kv_heads,
                  c.num_heads);
  }
  if (c.d_k == 0 && c.d_model % c.num_heads != 0) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@d_model is {}, expected a multiple of @num_heads = {} where @d_k is not given",
                  c.d_model, c.num_heads);
  }
  c.d_k = c.d_k == 0 ? c.d_model / c.num_heads : c.d_k;
  return check_size(caller, "d_k", c.d_k);
}

/// One of the rotations of a model. `prefix` is its name and a point.
Status check_rotation(const Caller& caller, const char* name, const char* prefix,
                      const RotaryOptions& r, Index d_k) noexcept {
  if (r.offset != 0 || !r.positions.absent() || !r.cos.absent() || !r.sin.absent()) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} has an offset, positions or tables, expected base, rotary_dim, interleaved "
                  "and scaling alone",
                  Argument{name});
  }
  return check_rotary({caller.function, prefix}, r, d_k);
}

/// A number for each layer, each of [least, most].
Status check_per_layer(const Caller& caller, const char* name,
                       const TensorView<const std::int32_t>& view, Index layers, Index least,
                       Index most) noexcept {
  if (view.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, name, view, {layers}));
  for (Index n = 0; n < layers; ++n) {
    if (view.data[n] < least || view.data[n] > most) {
      return most == std::numeric_limits<Index>::max()
                 ? refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected at least {}",
                          Argument{name, n}, view.data[n], least)
                 : refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected {} to {}",
                          Argument{name, n}, view.data[n], least, most);
    }
  }
  return {};
}

Status check_positions(const Caller& caller, const LanguageModelConfig& c) noexcept {
  if (c.positions != ModelPositions::kRotary) {
    return c.rotations.absent() ? Status{}
                                : refuse(StatusCode::kInvalidArgument, caller,
                                         "@rotations are given, expected none without kRotary");
  }
  QKV_RETURN_IF_ERROR(check_per_layer(caller, "rotations", c.rotations, c.num_layers, 0, 2));
  QKV_RETURN_IF_ERROR(check_rotation(caller, "rotary", "rotary.", c.rotary, c.d_k));
  for (Index n = 0; !c.rotations.absent() && n < c.num_layers; ++n) {
    if (c.rotations.data[n] == 2) {
      return check_rotation(caller, "second_rotary", "second_rotary.", c.second_rotary, c.d_k);
    }
  }
  return {};
}

/// A table of biases by distance.
Status check_relative(const Caller& caller, const LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "relative_buckets", c.relative_buckets, 0));
  if (c.relative_buckets == 0) {
    return {};
  }
  if (c.positions == ModelPositions::kAlibi) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@relative_buckets is {} with ALiBi, expected 0: one bias by distance",
                  c.relative_buckets);
  }
  // An encoder has the same table for both directions, of which each has half of the buckets.
  const bool both = !c.causal || c.encoder_layers > 0;
  const auto has_buckets = [&](bool bidirectional) {
    return t5_bucket(0, c.relative_buckets,
                     {.bidirectional = bidirectional, .max_distance = c.relative_max_distance}) >=
           0;
  };
  if (has_buckets(!c.causal) && (!both || has_buckets(true))) {
    return {};
  }
  return refuse(StatusCode::kOutOfRange, caller,
                "@relative_buckets is {} and @relative_max_distance {}, expected {} to {} buckets "
                "and a distance above that of the last exact one",
                c.relative_buckets, c.relative_max_distance, both ? 4 : 2, kMaxT5Buckets);
}

/// What a model with an encoder is made of: what is not said to be in an encoder or in cross-attention is in neither.
Status check_encoder(const Caller& caller, const LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "encoder_layers", c.encoder_layers, 0));
  if (c.encoder_layers == 0) {
    return {};
  }
  if (c.encoder_layers > kMostLayers) {
    return refuse(StatusCode::kOutOfRange, caller, "@encoder_layers is {}, expected at most {}",
                  c.encoder_layers, kMostLayers);
  }
  const struct {
    const char* name;
    bool fits;
  } parts[] = {{"causal", c.causal},
               {"norm", c.norm == NormPlacement::kPre},
               {"positions", c.positions == ModelPositions::kNone},
               {"window", c.window < 0},
               {"windows", c.windows.absent()},
               {"parallel_residual", !c.parallel_residual},
               {"post_norms", !c.post_norms},
               {"qk_norm", !c.qk_norm},
               {"token_types", c.token_types == 0},
               {"embedding_norm", !c.embedding_norm},
               {"num_experts", c.num_experts == 0},
               {"head_transform", c.head_transform == HeadTransform::kNone},
               {"classes", c.classes == 0},
               {"head_pooling", c.head_pooling == HeadPooling::kNone},
               {"first_norm", c.first_norm}};
  for (const auto& part : parts) {
    if (!part.fits) {
      return refuse(StatusCode::kUnsupported, caller,
                    "{} is given with @encoder_layers = {}, expected a causal decoder with norms "
                    "before its parts, and none of the options of other models",
                    Argument{part.name}, c.encoder_layers);
    }
  }
  return {};
}

/// A cap of scores or logits.
Status check_softcap(const Caller& caller, const char* name, float softcap) noexcept {
  return std::isfinite(softcap) && softcap >= 0.0F
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller,
                      "{} is {}, expected a finite number of at least 0", Argument{name}, softcap);
}

Status check_experts(const Caller& caller, const LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "num_experts", c.num_experts, 0));
  if (c.num_experts > kMostExperts) {
    return refuse(StatusCode::kOutOfRange, caller, "@num_experts is {}, expected at most {}",
                  c.num_experts, kMostExperts);
  }
  const Index least = c.num_experts > 0 ? 1 : 0;
  if (c.experts_per_token < least || c.experts_per_token > c.num_experts) {
    return refuse(StatusCode::kOutOfRange, caller, "@experts_per_token is {}, expected {} to {}",
                  c.experts_per_token, least, c.num_experts);
  }
  if (c.num_experts > 0 && c.d_feed_forward == 0) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@num_experts is {} and @d_feed_forward 0, expected the width of an expert",
                  c.num_experts);
  }
  return {};
}

/// What the head is made of.
Status check_head(const Caller& caller, const LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(
      check_choice(caller, "head_transform", c.head_transform, HeadTransform::kTanh));
  QKV_RETURN_IF_ERROR(check_choice(caller, "head_pooling", c.head_pooling, HeadPooling::kLast));
  QKV_RETURN_IF_ERROR(check_size(caller, "classes", c.classes, 0));
  const struct {
    const char* name;
    bool given;
  } parts[] = {{"head_bias", c.head_bias},
               {"head_transform", c.head_transform != HeadTransform::kNone},
               {"head_pooling", c.head_pooling != HeadPooling::kNone},
               {"classes", c.classes > 0}};
  for (const auto& part : parts) {
    if (part.given && !c.head) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "{} is given without @head, expected none: there are no logits",
                    Argument{part.name});
    }
  }
  if (c.head_norm && c.head_transform == HeadTransform::kNone) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@head_norm is true, expected false without @head_transform");
  }
  return c.classes > 0 && c.tied_embeddings
             ? refuse(StatusCode::kInvalidArgument, caller,
                      "@classes is {} with @tied_embeddings, expected 0: the embedding gives a "
                      "logit for each token",
                      c.classes)
             : Status{};
}

/// What only models that are run have.
Status check_more(const Caller& caller, const LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_softcap(caller, "logit_softcap", c.logit_softcap));
  QKV_RETURN_IF_ERROR(check_size(caller, "token_types", c.token_types, 0));
  if (c.attention_scale && !std::isfinite(*c.attention_scale)) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@attention_scale is {}, expected a finite number", *c.attention_scale);
  }
  if (c.causal && !c.head) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@causal is true without @head, expected false: a causal model predicts the next "
                  "token with its head");
  }
  if (!c.head && (c.tied_embeddings || c.logit_softcap != 0.0F)) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} is given without @head, expected none: there are no logits",
                  Argument{c.tied_embeddings ? "tied_embeddings" : "logit_softcap"});
  }
  QKV_RETURN_IF_ERROR(check_head(caller, c));
  if (c.symmetric_window && c.causal) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@symmetric_window is true, expected false with @causal");
  }
  QKV_RETURN_IF_ERROR(check_relative(caller, c));
  QKV_RETURN_IF_ERROR(check_encoder(caller, c));
  QKV_RETURN_IF_ERROR(check_experts(caller, c));
  return check_per_layer(caller, "windows", c.windows, c.num_layers, -1,
                         std::numeric_limits<Index>::max());
}

}  // namespace

Status check_max_length(const Caller& caller, Index max_length) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "max_length", max_length));
  return max_length <= kMaxPosition
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller, "@max_length is {}, expected at most {}",
                      max_length, kMaxPosition);
}

Status check_layers(const Caller& caller, Index num_layers) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "num_layers", num_layers));
  return num_layers <= kMostLayers
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller, "@num_layers is {}, expected at most {}",
                      num_layers, kMostLayers);
}

Status check_model_config(const Caller& caller, LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "vocabulary", c.vocabulary));
  QKV_RETURN_IF_ERROR(check_layers(caller, c.num_layers));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_model", c.d_model));
  QKV_RETURN_IF_ERROR(check_heads(caller, c));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_feed_forward", c.d_feed_forward, 0));
  QKV_RETURN_IF_ERROR(check_max_length(caller, c.max_length));
  QKV_RETURN_IF_ERROR(check_choices(caller, c));
  QKV_RETURN_IF_ERROR(check_positions(caller, c));
  QKV_RETURN_IF_ERROR(check_epsilon(caller, "epsilon", c.epsilon));
  QKV_RETURN_IF_ERROR(check_size(caller, "window", c.window, -1));
  if (!(std::isfinite(c.embedding_scale) && c.embedding_scale != 0.0F)) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@embedding_scale is {}, expected a finite number other than 0",
                  c.embedding_scale);
  }
  QKV_RETURN_IF_ERROR(check_softcap(caller, "attention_softcap", c.attention_softcap));
  QKV_RETURN_IF_ERROR(check_more(caller, c));
  c.biases = c.biases.value_or(c.norm_type == NormType::kLayer);
  c.qkv_biases = c.qkv_biases.value_or(*c.biases);
  return {};
}

Status check_tokens(const Caller& caller, const char* name,
                    const TensorView<const std::int32_t>& ids, const TokenLimits& limits) noexcept {
  QKV_RETURN_IF_ERROR(check_dense(caller, name, ids, {kAny, kAny}));
  if (ids.extent(0) < 1 || ids.extent(1) < 1) {
    return refuse(StatusCode::kShapeMismatch, caller, "{} is {}, expected extents of at least 1",
                  Argument{name}, Extents(ids));
  }
  if (ids.extent(1) > limits.max_length) {
    return refuse(StatusCode::kOutOfRange, caller, "{} has rows of {} tokens, expected at most {}",
                  Argument{name}, ids.extent(1), limits.max_length);
  }
  return check_ids(caller, name, {ids.data, {ids.size()}}, limits.vocabulary);
}

Status check_types(const Caller& caller, const LanguageModelConfig& c,
                   const TensorView<const std::int32_t>& types,
                   const TensorView<const std::int32_t>& ids) noexcept {
  if (types.absent()) {
    return {};
  }
  if (c.token_types == 0) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@token_types is given, expected none: the model has no such table");
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, "token_types", types, {ids.extent(0), ids.extent(1)}));
  return check_ids(caller, "token_types", {types.data, {types.size()}}, c.token_types);
}

Status check_lengths(const Caller& caller, const char* name,
                     const TensorView<const std::int32_t>& lengths,
                     const TensorView<const std::int32_t>& ids) noexcept {
  if (lengths.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, name, lengths, {ids.extent(0)}));
  for (Index b = 0; b < ids.extent(0); ++b) {
    if (lengths.data[b] < 0 || lengths.data[b] > ids.extent(1)) {
      return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected [0, {}]",
                    Argument{name, b}, lengths.data[b], ids.extent(1));
    }
  }
  return {};
}

}  // namespace qkv
