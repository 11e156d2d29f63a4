#include "train/language_model_graph.hpp"

#include <cmath>

#include "check.hpp"
#include "rotary_internal.hpp"

namespace qkv::train {
namespace {

/// Whether the value of an enumeration is one: `last` is the last.
template <class T>
Status check_choice(const Caller& caller, const char* name, T value, T last) noexcept {
  return value <= last ? Status{}
                       : refuse(StatusCode::kInvalidArgument, caller, "{} is {}, expected 0 to {}",
                                Argument{name}, value, last);
}

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

/// x, f added to it by a residual connection, with what the norms and dropout do around it.
class Recorder {
 public:
  Recorder(const LanguageModelConfig& config, const Learner& learner, Tape& tape) noexcept
      : c_(config), learner_(learner), tape_(tape) {}

  /// The arrays of the learner, as parameters of the tape: array i gets number i.
  void take_parameters() noexcept {
    for (Index i = 0; i < learner_.count(); ++i) {
      const Learner::Array& a = learner_.array(i);
      tape_.parameter(a.rows == 0 ? 1 : a.rows, a.width, learner_.value(i), learner_.gradient(i));
    }
  }

  ArrayId normalize(ArrayId x, const NormArrays& arrays) noexcept {
    return norm(tape_, x, arrays.gamma, arrays.beta, c_.norm_type, c_.epsilon);
  }
  ArrayId map(ArrayId x, const LinearArrays& arrays) noexcept {
    return linear(tape_, x, arrays.w, arrays.b, WeightLayout::kInOut);
  }
  ArrayId drop(ArrayId x) noexcept {
    return dropout(tape_, x, learner_.options().dropout, site_++);
  }

  /// Queries or keys: normalised and turned as the config says.
  ArrayId place(ArrayId x, const NormArrays& arrays, Index heads, Index batch) noexcept {
    if (c_.qk_norm) {
      x = normalize(x, arrays);
    }
    return c_.positions == ModelPositions::kRotary ? rotate(tape_, x, batch, heads, c_.rotary) : x;
  }

  ArrayId attention_part(ArrayId x, const LayerArrays& arrays, TapeAttention attention,
                         LayerSteps& at) noexcept {
    at.q = place(map(x, arrays.q), arrays.q_norm, c_.num_heads, attention.batch);
    at.k = place(map(x, arrays.k), arrays.k_norm, c_.num_kv_heads, attention.batch);
    at.v = map(x, arrays.v);
    attention.options.dropout.rate = learner_.options().dropout;
    return drop(map(attend(tape_, at.q, at.k, at.v, attention, site_++), arrays.o));
  }

  ArrayId feed_forward_part(ArrayId x, const LayerArrays& arrays) noexcept {
    ArrayId h = map(x, arrays.w1);
    switch (c_.activation) {
      case ModelActivation::kSwiglu:
        h = gate(tape_, map(x, arrays.gate), h, Activation::kSilu);
        break;
      case ModelActivation::kGeglu:
        h = gate(tape_, map(x, arrays.gate), h, Activation::kGelu);
        break;
      default:  // the first four are those of Activation, in its order
        h = activation(tape_, h, static_cast<Activation>(c_.activation));
    }
    return drop(map(h, arrays.w2));
  }

  ArrayId layer(ArrayId x, const LayerArrays& arrays, const TapeAttention& attention,
                LayerSteps& at) noexcept {
    const bool feeds = c_.d_feed_forward > 0;
    if (c_.norm == NormPlacement::kPost) {
      x = normalize(add(tape_, x, attention_part(x, arrays, attention, at)), arrays.norm1);
      return feeds ? normalize(add(tape_, x, feed_forward_part(x, arrays)), arrays.norm2) : x;
    }
    const ArrayId attended =
        add(tape_, x, attention_part(normalize(x, arrays.norm1), arrays, attention, at));
    if (!feeds) {
      return attended;
    }
    const ArrayId read = c_.parallel_residual ? x : attended;
    return add(tape_, attended, feed_forward_part(normalize(read, arrays.norm2), arrays));
  }

 private:
  const LanguageModelConfig& c_;
  const Learner& learner_;
  Tape& tape_;
  std::uint64_t site_ = 0;
};

}  // namespace

Status check_config(const Caller& caller, LanguageModelConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_size(caller, "vocabulary", c.vocabulary));
  QKV_RETURN_IF_ERROR(check_size(caller, "num_layers", c.num_layers));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_model", c.d_model));
  QKV_RETURN_IF_ERROR(check_heads(caller, c));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_feed_forward", c.d_feed_forward, 0));
  QKV_RETURN_IF_ERROR(check_size(caller, "max_length", c.max_length));
  if (c.max_length > kMaxPosition) {
    return refuse(StatusCode::kOutOfRange, caller, "@max_length is {}, expected at most {}",
                  c.max_length, kMaxPosition);
  }
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
  const bool biases = *c.biases;
  const auto norm_of = [&](const char* prefix, Index layer, const char* gamma, const char* beta,
                           Index width) {
    NormArrays made;
    made.gamma = learner.declare(prefix, layer, gamma, 0, width, Role::kGain);
    if (biases && c.norm_type == NormType::kLayer) {
      made.beta = learner.declare(prefix, layer, beta, 0, width, Role::kBias);
    }
    return made;
  };
  arrays.embedding =
      learner.declare("", -1, "embedding", c.vocabulary, c.d_model, Role::kEmbedding);
  if (c.positions == ModelPositions::kLearned) {
    arrays.positions =
        learner.declare("", -1, "positions", c.max_length, c.d_model, Role::kEmbedding);
  }
  const Index of_q = detail::saturated_product(c.num_heads, c.d_k);
  const Index of_kv = detail::saturated_product(c.num_kv_heads, c.d_k);
  for (Index n = 0; n < c.num_layers; ++n) {
    const auto map_of = [&](const char* prefix, const char* w, const char* b, Index in, Index out,
                            Role role) {
      LinearArrays made;
      made.w = learner.declare(prefix, n, w, in, out, role);
      made.b = biases ? learner.declare(prefix, n, b, 0, out, Role::kBias) : -1;
      return made;
    };
    LayerArrays layer;
    layer.norm1 = norm_of("norm1.", n, "gamma", "beta", c.d_model);
    layer.q = map_of("attention.", "wq", "bq", c.d_model, of_q, Role::kMatrix);
    layer.k = map_of("attention.", "wk", "bk", c.d_model, of_kv, Role::kMatrix);
    layer.v = map_of("attention.", "wv", "bv", c.d_model, of_kv, Role::kMatrix);
    if (c.qk_norm) {
      layer.q_norm = norm_of("attention.", n, "qGamma", "qBeta", c.d_k);
      layer.k_norm = norm_of("attention.", n, "kGamma", "kBeta", c.d_k);
    }
    layer.o = map_of("attention.", "wo", "bo", of_q, c.d_model, Role::kResidual);
    if (c.d_feed_forward > 0) {
      layer.norm2 = norm_of("norm2.", n, "gamma", "beta", c.d_model);
      layer.w1 = map_of("feedForward.", "w1", "b1", c.d_model, c.d_feed_forward, Role::kMatrix);
      if (c.activation >= ModelActivation::kSwiglu) {
        layer.gate =
            map_of("feedForward.", "wGate", "bGate", c.d_model, c.d_feed_forward, Role::kMatrix);
      }
      layer.w2 = map_of("feedForward.", "w2", "b2", c.d_feed_forward, c.d_model, Role::kResidual);
    }
    QKV_RETURN_IF_ERROR(arrays.layers.push(layer));
  }
  if (c.norm == NormPlacement::kPre) {
    arrays.norm = norm_of("norm.", -1, "gamma", "beta", c.d_model);
  }
  if (!c.tied_embeddings) {
    arrays.head = learner.declare("", -1, "head", c.d_model, c.vocabulary, Role::kMatrix);
  }
  return {};
}

AttentionOptions attention_options(const LanguageModelConfig& c) noexcept {
  AttentionOptions options;
  options.causal = c.causal;
  options.window_left = c.window;
  options.softcap = c.attention_softcap;
  return options;
}

Status record_model(const LanguageModelConfig& c, const Learner& learner, const ModelArrays& arrays,
                    Index batch, Index tokens, Tape& tape, ModelSteps& steps) noexcept {
  tape.clear();
  steps.layers.clear();
  Recorder recorder(c, learner, tape);
  recorder.take_parameters();
  TapeAttention attention;
  attention.batch = batch;
  attention.queries = tokens;
  attention.keys = tokens;
  attention.heads = c.num_heads;
  attention.kv_heads = c.num_kv_heads;
  attention.options = attention_options(c);
  if (c.positions == ModelPositions::kAlibi) {
    attention.slopes = steps.slopes = tape.constant(1, c.num_heads);
  }
  ArrayId x = embed(tape, arrays.embedding, batch * tokens, c.embedding_scale);
  if (c.positions == ModelPositions::kSinusoidal) {
    steps.positions = tape.constant(tokens, c.d_model);
    x = add_positions(tape, x, steps.positions, tokens);
  } else if (c.positions == ModelPositions::kLearned) {
    x = add_positions(tape, x, arrays.positions, tokens);
  }
  x = recorder.drop(x);
  for (const LayerArrays& layer : arrays.layers) {
    LayerSteps at{};
    x = recorder.layer(x, layer, attention, at);
    at.residual = x;
    QKV_RETURN_IF_ERROR(steps.layers.push(at));
  }
  if (c.norm == NormPlacement::kPre) {
    x = recorder.normalize(x, arrays.norm);
  }
  steps.logits = c.tied_embeddings
                     ? linear(tape, x, arrays.embedding, kNoArray, WeightLayout::kOutIn)
                     : linear(tape, x, arrays.head, kNoArray, WeightLayout::kInOut);
  return tape.plan(steps.logits);
}

}  // namespace qkv::train
