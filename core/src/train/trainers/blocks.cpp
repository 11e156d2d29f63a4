#include "train/trainers/blocks.hpp"

#include "rows/activation_kernel.hpp"

namespace qkv::train {

// ----------------------------------------------------------------------------------------- arrays

NormArrays BlockDeclarer::norm(const Learner::Place& place, const char* prefix, const char* gamma,
                               const char* beta, Index width) noexcept {
  NormArrays made;
  made.gamma = learner_.declare(place, prefix, gamma, 0, width, Role::kGain);
  if (has_biases_ && c_.norm_type == NormType::kLayer) {
    made.beta = learner_.declare(place, prefix, beta, 0, width, Role::kBias);
  }
  return made;
}

LinearArrays BlockDeclarer::map(const Learner::Place& place, const char* prefix, const char* w,
                                const char* b, std::array<Index, 2> in_out, Role role) noexcept {
  LinearArrays made;
  made.w = learner_.declare(place, prefix, w, in_out[0], in_out[1], role);
  made.b = has_biases_ ? learner_.declare(place, prefix, b, 0, in_out[1], Role::kBias) : -1;
  return made;
}

AttentionArrays BlockDeclarer::attention(const Learner::Place& place, const char* prefix) noexcept {
  const Index of_q = detail::saturated_product(c_.num_heads, c_.d_k);
  const Index of_kv = detail::saturated_product(c_.num_kv_heads, c_.d_k);
  AttentionArrays made;
  made.q = map(place, prefix, "wq", "bq", {c_.d_model, of_q}, Role::kMatrix);
  made.k = map(place, prefix, "wk", "bk", {c_.d_model, of_kv}, Role::kMatrix);
  made.v = map(place, prefix, "wv", "bv", {c_.d_model, of_kv}, Role::kMatrix);
  if (c_.qk_norm) {
    made.q_norm = norm(place, prefix, "qGamma", "qBeta", c_.d_k);
    made.k_norm = norm(place, prefix, "kGamma", "kBeta", c_.d_k);
  }
  made.o = map(place, prefix, "wo", "bo", {of_q, c_.d_model}, Role::kResidual);
  return made;
}

LayerArrays BlockDeclarer::layer(const Learner::Place& place, bool cross) noexcept {
  constexpr const char* kFeed = "feedForward.";
  LayerArrays made;
  made.norm1 = norm(place, "norm1.", "gamma", "beta", c_.d_model);
  made.self = attention(place, "attention.");
  if (cross) {
    made.norm_cross = norm(place, "normCross.", "gamma", "beta", c_.d_model);
    made.cross = attention(place, "cross.");
  }
  if (c_.d_feed_forward == 0) {
    return made;
  }
  made.norm2 = norm(place, "norm2.", "gamma", "beta", c_.d_model);
  made.w1 = map(place, kFeed, "w1", "b1", {c_.d_model, c_.d_feed_forward}, Role::kMatrix);
  if (is_gated(c_.activation)) {
    made.gate = map(place, kFeed, "wGate", "bGate", {c_.d_model, c_.d_feed_forward}, Role::kMatrix);
  }
  made.w2 = map(place, kFeed, "w2", "b2", {c_.d_feed_forward, c_.d_model}, Role::kResidual);
  return made;
}

// ------------------------------------------------------------------------------------------ steps

void take_parameters(const Learner& learner, Tape& tape) noexcept {
  for (Index i = 0; i < learner.count(); ++i) {
    const Learner::Array& a = learner.array(i);
    tape.parameter(a.rows == 0 ? 1 : a.rows, a.width, learner.value(i), learner.gradient(i));
  }
}

AttentionOptions attention_options(const LanguageModelConfig& c) noexcept {
  AttentionOptions options;
  options.causal = c.causal;
  options.window_left = c.window;
  options.softcap = c.attention_softcap;
  return options;
}

ArrayId BlockRecorder::normalize(ArrayId x, const NormArrays& arrays) noexcept {
  return norm(tape_, x, arrays.gamma, arrays.beta, c_.norm_type, c_.epsilon);
}

ArrayId BlockRecorder::map(ArrayId x, const LinearArrays& arrays) noexcept {
  return linear(tape_, x, arrays.w, arrays.b, WeightLayout::kInOut);
}

ArrayId BlockRecorder::drop(ArrayId x) noexcept { return dropout(tape_, x, dropout_, site_++); }

/// Queries or keys: normalised and turned as the config says.
ArrayId BlockRecorder::place(ArrayId x, const NormArrays& arrays, Index heads,
                             Index batch) noexcept {
  if (c_.qk_norm) {
    x = normalize(x, arrays);
  }
  return c_.positions == ModelPositions::kRotary ? rotate(tape_, x, batch, heads, c_.rotary) : x;
}

ArrayId BlockRecorder::self_attention(ArrayId x, const AttentionArrays& arrays,
                                      TapeAttention attention, LayerSteps& at) noexcept {
  const ArrayId q = place(map(x, arrays.q), arrays.q_norm, c_.num_heads, attention.batch);
  const ArrayId k = place(map(x, arrays.k), arrays.k_norm, c_.num_kv_heads, attention.batch);
  attention.options.dropout.rate = dropout_;
  at.attended = attend(tape_, q, k, map(x, arrays.v), attention, site_++);
  return drop(map(at.attended, arrays.o));
}

/// Positions of two sequences do not compare, so nothing is turned.
ArrayId BlockRecorder::cross_attention(ArrayId x, ArrayId context, const AttentionArrays& arrays,
                                       TapeAttention attention, LayerSteps& at) noexcept {
  const ArrayId q = map(x, arrays.q);
  const ArrayId k = map(context, arrays.k);
  attention.options.dropout.rate = dropout_;
  at.crossed = attend(tape_, q, k, map(context, arrays.v), attention, site_++);
  return drop(map(at.crossed, arrays.o));
}

ArrayId BlockRecorder::feed_forward(ArrayId x, const LayerArrays& arrays) noexcept {
  ArrayId h = map(x, arrays.w1);
  switch (c_.activation) {
    case ModelActivation::kSwiglu:
      h = gate(tape_, map(x, arrays.gate), h, Activation::kSilu);
      break;
    case ModelActivation::kGeglu:
      h = gate(tape_, map(x, arrays.gate), h, Activation::kGelu);
      break;
    default:
      h = activation(tape_, h, activation_of(c_.activation));
  }
  return drop(map(h, arrays.w2));
}

ArrayId BlockRecorder::layer(ArrayId x, const LayerArrays& arrays, const TapeAttention& attention,
                             ArrayId context, const TapeAttention& cross, LayerSteps& at) noexcept {
  const bool feeds = c_.d_feed_forward > 0;
  const bool crosses = context != kNoArray;
  if (c_.norm == NormPlacement::kPost) {
    x = normalize(add(tape_, x, self_attention(x, arrays.self, attention, at)), arrays.norm1);
    if (crosses) {
      x = normalize(add(tape_, x, cross_attention(x, context, arrays.cross, cross, at)),
                    arrays.norm_cross);
    }
    return feeds ? normalize(add(tape_, x, feed_forward(x, arrays)), arrays.norm2) : x;
  }
  ArrayId y = add(tape_, x, self_attention(normalize(x, arrays.norm1), arrays.self, attention, at));
  if (crosses) {
    y = add(tape_, y,
            cross_attention(normalize(y, arrays.norm_cross), context, arrays.cross, cross, at));
  }
  if (!feeds) {
    return y;
  }
  const ArrayId read = c_.parallel_residual ? x : y;
  return add(tape_, y, feed_forward(normalize(read, arrays.norm2), arrays));
}

}  // namespace qkv::train
