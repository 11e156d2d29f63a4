#include "train/trainers/language_model_graph.hpp"

#include "models/model_check.hpp"
#include "train/trainers/evaluate.hpp"

namespace qkv::train {
namespace {

/// What the train library has no gradients of: the caller's field, and whether it is given.
Status check_trainable(const Caller& caller, const LanguageModelConfig& c) noexcept {
  const struct {
    const char* name;
    bool given;
  } parts[] = {{"windows", !c.windows.absent()},
               {"attention_scale", c.attention_scale.has_value()},
               {"logit_softcap", c.logit_softcap != 0.0F},
               {"qkv_biases", c.qkv_biases.has_value() && c.qkv_biases != c.biases},
               {"post_norms", c.post_norms},
               {"token_types", c.token_types != 0},
               {"embedding_norm", c.embedding_norm}};
  for (const auto& part : parts) {
    if (part.given) {
      return refuse(StatusCode::kUnsupported, caller,
                    "{} is given, expected the default: models with it are run, not trained",
                    Argument{part.name});
    }
  }
  if (c.activation == ModelActivation::kGegluTanh) {
    return refuse(
        StatusCode::kUnsupported, caller,
        "@activation is kGegluTanh, expected another: models with it are run, not trained");
  }
  return {};
}

}  // namespace

Status check_config(const Caller& caller, LanguageModelConfig& c) noexcept {
  if (!c.head) {
    return refuse(StatusCode::kUnsupported, caller,
                  "@head is false, expected true: a loss needs logits");
  }
  QKV_RETURN_IF_ERROR(check_model_config(caller, c));
  return check_trainable(caller, c);
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
