#include "train/language_model_graph.hpp"

#include <cmath>

#include "check.hpp"
#include "rotary_internal.hpp"
#include "train/judge.hpp"

namespace qkv::train {
namespace {

Status check_choices(const Caller& caller, const LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_choice(caller, "norm", c.norm, NormPlacement::kPost));
  QKV_RETURN_IF_ERROR(check_choice(caller, "norm_type", c.norm_type, NormType::kRms));
  QKV_RETURN_IF_ERROR(check_choice(caller, "activation", c.activation, ModelActivation::kGeglu));
  QKV_RETURN_IF_ERROR(check_choice(caller, "positions", c.positions, ModelPositions::kAlibi));
  if (c.parallel_residual && c.norm == NormPlacement::kPost) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@parallel_residual is true, expected false with norms after the sum");
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

Status check_positions(const Caller& caller, const LanguageModelConfig& c) noexcept {
  if (c.positions != ModelPositions::kRotary) {
    return {};
  }
  const RotaryOptions& r = c.rotary;
  if (r.offset != 0 || !r.positions.absent() || !r.cos.absent() || !r.sin.absent()) {
    return refuse(
        StatusCode::kInvalidArgument, caller,
        "@rotary has an offset, positions or tables, expected base, rotary_dim, interleaved and "
        "scaling alone");
  }
  return check_rotary({caller.function, "rotary."}, r, c.d_k);
}

}  // namespace

Status check_config(const Caller& caller, LanguageModelConfig& c) noexcept {
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
  if (!(std::isfinite(c.attention_softcap) && c.attention_softcap >= 0.0F)) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@attention_softcap is {}, expected a finite number of at least 0",
                  c.attention_softcap);
  }
  c.biases = c.biases.value_or(c.norm_type == NormType::kLayer);
  return {};
}

Status declare_arrays(const LanguageModelConfig& c, Learner& learner,
                      ModelArrays& arrays) noexcept {
  BlockDeclarer blocks(c, learner);
  arrays.embedding =
      learner.declare({}, "", "embedding", c.vocabulary, c.d_model, Role::kEmbedding);
  if (c.positions == ModelPositions::kLearned) {
    arrays.positions =
        learner.declare({}, "", "positions", c.max_length, c.d_model, Role::kEmbedding);
  }
  for (Index n = 0; n < c.num_layers; ++n) {
    QKV_RETURN_IF_ERROR(arrays.layers.push(blocks.layer({"layers", n}, false)));
  }
  if (c.norm == NormPlacement::kPre) {
    arrays.norm = blocks.norm({}, "norm.", "gamma", "beta", c.d_model);
  }
  if (!c.tied_embeddings) {
    arrays.head = learner.declare({}, "", "head", c.d_model, c.vocabulary, Role::kMatrix);
  }
  return {};
}

Status record_model(const LanguageModelConfig& c, const Learner& learner, const ModelArrays& arrays,
                    Index batch, Index tokens, Tape& tape, ModelSteps& steps) noexcept {
  tape.clear();
  steps.layers.clear();
  take_parameters(learner, tape);
  std::uint64_t site = 0;
  BlockRecorder blocks(c, learner.options().dropout, tape, site);
  TapeAttention attention;
  attention.batch = batch;
  attention.heads = c.num_heads;
  attention.kv_heads = c.num_kv_heads;
  attention.options = attention_options(c);
  if (c.positions == ModelPositions::kAlibi) {
    attention.slopes = steps.slopes = tape.constant(1, c.num_heads);
  }
  ArrayId x = embed(tape, arrays.embedding, batch * tokens, c.embedding_scale);
  if (c.positions == ModelPositions::kSinusoidal) {
    steps.positions = tape.constant(tokens, c.d_model);
    x = add_positions(tape, x, steps.positions, batch);
  } else if (c.positions == ModelPositions::kLearned) {
    x = add_positions(tape, x, arrays.positions, batch);
  }
  x = blocks.drop(x);
  for (const LayerArrays& layer : arrays.layers) {
    LayerSteps at{};
    x = blocks.layer(x, layer, attention, kNoArray, {}, at);
    at.residual = x;
    QKV_RETURN_IF_ERROR(steps.layers.push(at));
  }
  if (c.norm == NormPlacement::kPre) {
    x = blocks.normalize(x, arrays.norm);
  }
  steps.logits = c.tied_embeddings
                     ? linear(tape, x, arrays.embedding, kNoArray, WeightLayout::kOutIn)
                     : linear(tape, x, arrays.head, kNoArray, WeightLayout::kInOut);
  return tape.plan(steps.logits);
}

}  // namespace qkv::train
