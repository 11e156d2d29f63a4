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
  } parts[] = {{"relative_buckets", c.relative_buckets != 0},
               {"encoder_layers", c.encoder_layers != 0},
               {"num_experts", c.num_experts != 0},
               {"classes", c.classes != 0},
               {"head_pooling", c.head_pooling != HeadPooling::kNone}};
  for (const auto& part : parts) {
    if (part.given) {
      return refuse(StatusCode::kUnsupported, caller,
                    "{} is given, expected the default: the trainer does not support it",
                    Argument{part.name});
    }
  }
  return {};
}

/// What the head makes of the stream before its last map.
ArrayId record_transform(const LanguageModelConfig& c, const ModelArrays& arrays, Tape& tape,
                         BlockRecorder& blocks, ArrayId x) noexcept {
  if (c.head_transform == HeadTransform::kNone) {
    return x;
  }
  const ArrayId h = blocks.map(x, arrays.head_transform);
  const ArrayId f = c.head_transform == HeadTransform::kTanh
                        ? cap(tape, h, 1.0F)
                        : activation(tape, h, head_activation(c.head_transform));
  return c.head_norm ? blocks.normalize(f, arrays.head_norm, norm_config(c)) : f;
}

/// The logits of a stream after the last norm.
ArrayId record_head(const LanguageModelConfig& c, const ModelArrays& arrays, Tape& tape,
                    BlockRecorder& blocks, ArrayId last) noexcept {
  const ArrayId x = record_transform(c, arrays, tape, blocks, last);
  ArrayId logits = kNoArray;
  if (arrays.base) {
    logits = multiply(tape, x, arrays.base->last_map());
  } else if (c.tied_embeddings) {
    logits =
        linear(tape, x, arrays.embedding.table, arrays.embedding.head_bias, WeightLayout::kOutIn);
  } else {
    logits = blocks.map(x, arrays.head);
  }
  return c.logit_softcap > 0.0F ? cap(tape, logits, c.logit_softcap) : logits;
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

Status record_model(const LanguageModelConfig& c, const Learner& learner, const ModelArrays& arrays,
                    Index batch, Index tokens, Tape& tape, ModelSteps& steps) noexcept {
  tape.clear();
  steps.layers.clear();
  steps.positions = steps.slopes = kNoArray;
  take_parameters(learner, tape);
  BlockRecorder blocks(learner.options().dropout, tape, arrays.adapters);
  const ModelState* base = arrays.base;
  const auto table = [&](const AlignedBuffer& of, Index rows) {
    return tape.borrowed(rows, c.d_model, of.data());
  };
  TapeAttention attention;
  attention.batch = batch;
  attention.heads = c.num_heads;
  attention.kv_heads = c.num_kv_heads;
  if (c.positions == ModelPositions::kAlibi) {
    attention.slopes = steps.slopes = tape.constant(1, c.num_heads);
  }
  ArrayId x = base ? look_up(tape, base->tokens(), batch * tokens, c.embedding_scale)
                   : embed(tape, arrays.embedding.table, batch * tokens, c.embedding_scale);
  if (c.token_types > 0) {
    const ArrayId types = base ? table(base->token_types, c.token_types) : arrays.token_types;
    x = add(tape, x, embed(tape, types, batch * tokens, 1.0F, TokenIds::kTypes));
  }
  if (c.positions == ModelPositions::kSinusoidal) {
    steps.positions = tape.constant(tokens, c.d_model);
    x = add_positions(tape, x, steps.positions, batch);
  } else if (c.positions == ModelPositions::kLearned) {
    x = add_positions(tape, x, base ? table(base->positions, c.max_length) : arrays.positions,
                      batch);
  }
  if (c.embedding_norm) {
    x = blocks.normalize(x, arrays.embedding_norm, norm_config(c));
  }
  x = steps.embedded = blocks.drop(x);
  for (const LayerIds& layer : arrays.layers) {
    LayerSteps at{};
    attention.options = attention_options(layer.config.attention);
    x = blocks.layer(x, layer, attention, kNoArray, {}, at);
    at.residual = x;
    QKV_RETURN_IF_ERROR(steps.layers.push(at));
  }
  if (c.norm != NormPlacement::kPost) {
    x = blocks.normalize(x, arrays.norm, norm_config(c));
  }
  steps.last = x;
  steps.logits = record_head(c, arrays, tape, blocks, x);
  return tape.plan(steps.logits);
}

}  // namespace qkv::train
