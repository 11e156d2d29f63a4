#include "train/trainers/blocks.hpp"

#include "models/block.hpp"
#include "models/model_check.hpp"
#include "rows/activation_kernel.hpp"

namespace qkv::train {

// ----------------------------------------------------------------------------------------- arrays

Status Declarer::visit(const MatrixSpec& spec, MatrixIds& ids) noexcept {
  ids.w = learner_.declare(spec.place, spec.name, spec.in, spec.out, spec.role);
  if (spec.bias) {
    ids.b = learner_.declare(spec.place, spec.bias_name, 0, spec.out, ArrayRole::kBias);
  }
  return {};
}

Status Declarer::visit(const NormSpec& spec, NormIds& ids) noexcept {
  ids.gamma = learner_.declare(spec.place, spec.gamma_name, 0, spec.width, ArrayRole::kGain);
  if (spec.beta) {
    ids.beta = learner_.declare(spec.place, spec.beta_name, 0, spec.width, ArrayRole::kBias);
  }
  return {};
}

Status Declarer::visit(const TableSpec& spec, Index& id) noexcept {
  id = learner_.declare({}, spec.name, spec.rows, spec.width, ArrayRole::kEmbedding);
  return {};
}

Status Declarer::visit_head_bias(const char* name, Index width, TableIds& ids) noexcept {
  ids.head_bias = learner_.declare({}, name, 0, width, ArrayRole::kBias);
  return {};
}

// ------------------------------------------------------------------------------------------ steps

void take_parameters(const Learner& learner, Tape& tape) noexcept {
  for (Index i = 0; i < learner.count(); ++i) {
    const Learner::Array& a = learner.array(i);
    tape.parameter(a.rows == 0 ? 1 : a.rows, a.width, learner.value(i), learner.gradient(i));
  }
}

ArrayId BlockRecorder::normalize(ArrayId x, const NormIds& ids, const NormConfig& config) noexcept {
  if (!ids.frozen) {
    return norm(tape_, x, ids.gamma, ids.beta, config.type, config.epsilon);
  }
  const auto borrow = [&](const AlignedBuffer& from) {
    return from.data() ? tape_.borrowed(1, ids.width, from.data()) : kNoArray;
  };
  return norm(tape_, x, borrow(ids.frozen->gamma), borrow(ids.frozen->beta), config.type,
              config.epsilon);
}

ArrayId BlockRecorder::map(ArrayId x, const MatrixIds& ids) noexcept {
  if (!ids.frozen) {
    return linear(tape_, x, ids.w, ids.b, WeightLayout::kInOut);
  }
  const ArrayId y = multiply(tape_, x, *ids.frozen);
  if (ids.down < 0) {
    return y;
  }
  const ArrayId from = dropout(tape_, x, adapters_.dropout, site_++);
  const ArrayId low = linear(tape_, from, ids.down, kNoArray, WeightLayout::kInOut);
  return add(
      tape_, y,
      linear(tape_, scale(tape_, low, adapters_.factor), ids.up, kNoArray, WeightLayout::kInOut));
}

ArrayId BlockRecorder::drop(ArrayId x) noexcept { return dropout(tape_, x, dropout_, site_++); }

/// The steps of one block, as run_block() calls them.
class BlockRecorder::Block {
 public:
  Block(BlockRecorder& recorder, const LayerIds& ids, const TapeAttention& attention,
        ArrayId context, const TapeAttention& cross, LayerSteps& at) noexcept
      : r_(recorder),
        ids_(ids),
        c_(ids.config),
        attention_(attention),
        context_(context),
        cross_(cross),
        at_(at) {}

  ArrayId normalize_input(Sublayer part, ArrayId x) noexcept { return normalize(x, norm_of(part)); }
  ArrayId normalize_sum(Sublayer part, ArrayId x) noexcept {
    const ArrayId sum = normalize(x, norm_of(part));
    at_.middle = part == Sublayer::kAttention ? sum : at_.middle;
    return sum;
  }
  ArrayId normalize_output(Sublayer part, ArrayId y) noexcept {
    return adds(part,
                normalize(y, part == Sublayer::kAttention ? ids_.post_norm1 : ids_.post_norm2));
  }
  ArrayId add(ArrayId x, ArrayId y) noexcept {
    const ArrayId sum = train::add(r_.tape_, x, y);
    at_.middle = y == at_.attention ? sum : at_.middle;
    return sum;
  }
  [[nodiscard]] bool crosses() const noexcept { return context_ != kNoArray; }
  static constexpr bool goes_on() noexcept { return true; }

  ArrayId compute(Sublayer part, ArrayId x) noexcept {
    switch (part) {
      case Sublayer::kAttention:
        return adds(part, self_attention(x));
      case Sublayer::kCross:
        return cross_attention(x);
      case Sublayer::kFeedForward:
        break;
    }
    return adds(part, feed_forward(x));
  }

 private:
  /// Notes what a part adds to the stream, which is y unless a norm follows.
  ArrayId adds(Sublayer part, ArrayId y) noexcept {
    (part == Sublayer::kAttention ? at_.attention : at_.fed) = y;
    return y;
  }
  [[nodiscard]] const NormIds& norm_of(Sublayer part) const noexcept {
    return part == Sublayer::kAttention ? ids_.norm1
           : part == Sublayer::kCross   ? ids_.norm_cross
                                        : ids_.norm2;
  }
  ArrayId normalize(ArrayId x, const NormIds& norm) noexcept {
    return r_.normalize(x, norm, c_.norm);
  }

  /// Queries or keys, normalised and rotated as the config says.
  ArrayId place_heads(ArrayId x, const NormIds& norm, Index heads) noexcept {
    const LayerAttention& a = c_.attention;
    const bool after = a.qk_norm_of == QkNorm::kRotated;
    x = a.qk_norm && !after ? normalize(x, norm) : x;
    x = a.rotary ? rotate(r_.tape_, x, attention_.batch, heads, *a.rotary) : x;
    return a.qk_norm && after ? normalize(x, norm) : x;
  }

  ArrayId self_attention(ArrayId x) noexcept {
    const AttentionIds& ids = ids_.attention;
    const ArrayId q = place_heads(r_.map(x, ids.wq), ids.q_norm, c_.attention.num_heads);
    const ArrayId k = place_heads(r_.map(x, ids.wk), ids.k_norm, c_.attention.num_kv_heads);
    TapeAttention attention = attention_;
    attention.options.dropout.rate = r_.dropout_;
    at_.attended = r_.attend(q, k, r_.map(x, ids.wv), attention);
    return r_.drop(r_.map(at_.attended, ids.wo));
  }

  /// Positions of two sequences do not compare, so nothing is rotated.
  ArrayId cross_attention(ArrayId x) noexcept {
    const AttentionIds& ids = ids_.cross;
    const ArrayId q = r_.map(x, ids.wq);
    const ArrayId k = r_.map(context_, ids.wk);
    TapeAttention attention = cross_;
    attention.options.dropout.rate = r_.dropout_;
    at_.crossed = r_.attend(q, k, r_.map(context_, ids.wv), attention);
    return r_.drop(r_.map(at_.crossed, ids.wo));
  }

  ArrayId feed_forward(ArrayId x) noexcept {
    ArrayId h = r_.map(x, ids_.w1);
    switch (c_.activation) {
      case ModelActivation::kSwiglu:
        h = gate(r_.tape_, r_.map(x, ids_.w_gate), h, Activation::kSilu);
        break;
      case ModelActivation::kGeglu:
        h = gate(r_.tape_, r_.map(x, ids_.w_gate), h, Activation::kGelu);
        break;
      case ModelActivation::kGegluTanh:
        h = gate(r_.tape_, r_.map(x, ids_.w_gate), h, Activation::kGeluTanh);
        break;
      case ModelActivation::kRelu2:
        h = square_relu(r_.tape_, h);
        break;
      default:
        h = activation(r_.tape_, h, activation_of(c_.activation));
    }
    at_.neurons = h;
    return r_.drop(r_.map(h, ids_.w2));
  }

  BlockRecorder& r_;
  const LayerIds& ids_;
  const LayerConfig& c_;
  const TapeAttention& attention_;
  ArrayId context_;
  const TapeAttention& cross_;
  LayerSteps& at_;
};

ArrayId BlockRecorder::layer(ArrayId x, const LayerIds& ids, const TapeAttention& attention,
                             ArrayId context, const TapeAttention& cross, LayerSteps& at) noexcept {
  Block block(*this, ids, attention, context, cross, at);
  return run_block(ids.config, block, x);
}

}  // namespace qkv::train
