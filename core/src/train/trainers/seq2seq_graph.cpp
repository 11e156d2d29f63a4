#include "train/trainers/seq2seq_graph.hpp"

#include "check/check.hpp"
#include "train/trainers/evaluate.hpp"

namespace qkv::train {
namespace {

/// A block of a transformer's side.
LayerConfig block_of(const Seq2SeqConfig& c, bool decodes) noexcept {
  LayerConfig block;
  block.d_model = c.d_model;
  block.d_feed_forward = c.d_feed_forward;
  block.attention.num_heads = c.num_heads;
  block.attention.num_kv_heads = c.num_heads;
  block.attention.d_k = c.d_model / c.num_heads;
  block.attention.causal = decodes;
  block.crosses = decodes;
  return block;
}

// ----------------------------------------------------------------------------------------- arrays

Status declare_side(const Seq2SeqConfig& c, const char* group, bool cross, Learner& learner,
                    SideArrays& side) noexcept {
  const LayerConfig block = block_of(c, cross);
  Declarer declarer(learner);
  const Index gates = detail::saturated_product(3, c.d_model);
  for (Index n = 0; n < c.num_layers; ++n) {
    const ArrayPlace place{group, n};
    if (c.kind != Seq2SeqKind::kTransformer) {
      const ArrayPlace in = place.with("gru.");
      GruNumbers gru;
      gru.wx = learner.declare(in, "wx", c.d_model, gates, ArrayRole::kMatrix);
      gru.wh = learner.declare(in, "wh", c.d_model, gates, ArrayRole::kMatrix);
      gru.bx = learner.declare(in, "bx", 0, gates, ArrayRole::kBias);
      gru.bh = learner.declare(in, "bh", 0, gates, ArrayRole::kBias);
      QKV_RETURN_IF_ERROR(side.gru.push(gru));
      continue;
    }
    LayerIds layer{};
    layer.config = block;
    QKV_RETURN_IF_ERROR(for_each_self_attention_array(place, layer, declarer));
    QKV_RETURN_IF_ERROR(for_each_cross_attention_array(place, layer, declarer));
    QKV_RETURN_IF_ERROR(for_each_feed_forward_array(place, layer, declarer));
    QKV_RETURN_IF_ERROR(side.layers.push(layer));
  }
  if (c.kind == Seq2SeqKind::kTransformer) {
    const ArrayPlace place{.prefix = cross ? "decoderNorm." : "encoderNorm."};
    return visit_norm(place, block.norm, c.d_model, side.norm, declarer);
  }
  return {};
}

// ------------------------------------------------------------------------------------------ steps

/// Records one model.
class TranslatorRecorder {
 public:
  TranslatorRecorder(const Seq2SeqConfig& config, const Learner& learner,
                     const TranslatorArrays& arrays, const Extent& extent, Tape& tape,
                     TranslatorSteps& steps) noexcept
      : c_(config),
        learner_(learner),
        a_(arrays),
        e_(extent),
        tape_(tape),
        s_(steps),
        blocks_(learner.options().dropout, tape) {}

  Status record() noexcept {
    tape_.clear();
    s_.contexts.clear();
    take_parameters(learner_, tape_);
    s_.source = embed(tape_, a_.embedding, e_.batch * e_.sources, 1.0F, TokenIds::kSource);
    return c_.kind == Seq2SeqKind::kTransformer ? record_transformer() : record_gru();
  }

 private:
  ArrayId drop(ArrayId x) noexcept { return blocks_.drop(x); }
  ArrayId plain(ArrayId x, Index w) noexcept {
    return linear(tape_, x, w, kNoArray, WeightLayout::kInOut);
  }
  void finish(ArrayId x) noexcept { s_.logits = plain(x, a_.head); }

  Status record_gru() noexcept {
    ArrayId h = drop(s_.source);
    ArrayId s = drop(embed(tape_, a_.embedding, e_.batch * e_.tokens, 1.0F));
    for (Index n = 0; n < c_.num_layers; ++n) {
      const GruNumbers& in = a_.encoder.gru[n];
      const GruNumbers& out = a_.decoder.gru[n];
      h = recur(tape_, h, {in.wx, in.wh, in.bx, in.bh}, kNoArray, e_.batch);
      s_.last = last_state(tape_, h, e_.batch, Side::kSource);
      s = recur(tape_, s, {out.wx, out.wh, out.bx, out.bh}, s_.last, e_.batch);
    }
    if (c_.kind == Seq2SeqKind::kGruAttention) {
      QKV_RETURN_IF_ERROR(read_source(h, s));
    }
    finish(drop(s));
    return {};
  }

  /// s becomes s Ws + c Wc + b, c what attention of the decoder's states s finds among the encoder's, h.
  Status read_source(ArrayId h, ArrayId& s) noexcept {
    const ArrayId q = plain(s, a_.wq);
    const ArrayId k = plain(h, a_.wk);
    const ArrayId context = c_.score == Seq2SeqScore::kAdditive
                                ? attend_additively(tape_, q, k, a_.v, h, e_.batch)
                                : blocks_.attend(q, k, h, cross(1));
    QKV_RETURN_IF_ERROR(s_.contexts.push(context));
    s = add(tape_, linear(tape_, s, a_.ws, a_.b, WeightLayout::kInOut), plain(context, a_.wc));
    return {};
  }

  TapeAttention attention(Index heads) const noexcept {
    TapeAttention made;
    made.batch = e_.batch;
    made.heads = heads;
    made.kv_heads = heads;
    return made;
  }
  TapeAttention cross(Index heads) const noexcept {
    TapeAttention made = attention(heads);
    made.keys_of = Side::kSource;
    return made;
  }

  Status record_transformer() noexcept {
    const LayerConfig encoder = block_of(c_, false);
    const LayerConfig decoder = block_of(c_, true);
    s_.source_positions = tape_.constant(e_.sources, c_.d_model);
    s_.positions = tape_.constant(e_.tokens, c_.d_model);
    ArrayId h = drop(add_positions(tape_, s_.source, s_.source_positions, e_.batch));
    TapeAttention own = attention(c_.num_heads);
    own.keys_of = Side::kSource;
    for (const LayerIds& layer : a_.encoder.layers) {
      LayerSteps ignored{};
      h = blocks_.layer(h, layer, own, kNoArray, {}, ignored);
    }
    h = blocks_.normalize(h, a_.encoder.norm, encoder.norm);
    s_.last = last_state(tape_, h, e_.batch, Side::kSource);
    ArrayId s = embed(tape_, a_.embedding, e_.batch * e_.tokens, 1.0F);
    s = drop(add_positions(tape_, s, s_.positions, e_.batch));
    own = attention(c_.num_heads);
    own.options = attention_options(decoder.attention);
    for (const LayerIds& layer : a_.decoder.layers) {
      LayerSteps at{};
      s = blocks_.layer(s, layer, own, h, cross(c_.num_heads), at);
      QKV_RETURN_IF_ERROR(s_.contexts.push(at.crossed));
    }
    finish(blocks_.normalize(s, a_.decoder.norm, decoder.norm));
    return {};
  }

  const Seq2SeqConfig& c_;
  const Learner& learner_;
  const TranslatorArrays& a_;
  const Extent& e_;
  Tape& tape_;
  TranslatorSteps& s_;
  BlockRecorder blocks_;
};

}  // namespace

Status check_config(const Caller& caller, const Seq2SeqConfig& c) noexcept {
  QKV_RETURN_IF_ERROR(check_choice(caller, "kind", c.kind, Seq2SeqKind::kTransformer));
  QKV_RETURN_IF_ERROR(check_choice(caller, "score", c.score, Seq2SeqScore::kDot));
  QKV_RETURN_IF_ERROR(check_size(caller, "vocabulary", c.vocabulary));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_model", c.d_model));
  QKV_RETURN_IF_ERROR(check_size(caller, "num_heads", c.num_heads));
  QKV_RETURN_IF_ERROR(check_layers(caller, c.num_layers));
  QKV_RETURN_IF_ERROR(check_size(caller, "d_feed_forward", c.d_feed_forward, 0));
  QKV_RETURN_IF_ERROR(check_max_length(caller, c.max_length));
  return c.d_model % c.num_heads == 0
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller,
                      "@num_heads is {}, expected a divisor of @d_model = {}", c.num_heads,
                      c.d_model);
}

Status declare_arrays(const Seq2SeqConfig& c, Learner& learner, TranslatorArrays& arrays) noexcept {
  arrays.embedding =
      learner.declare({}, "embedding", c.vocabulary, c.d_model, ArrayRole::kEmbedding);
  QKV_RETURN_IF_ERROR(declare_side(c, "encoder", false, learner, arrays.encoder));
  QKV_RETURN_IF_ERROR(declare_side(c, "decoder", true, learner, arrays.decoder));
  if (c.kind == Seq2SeqKind::kGruAttention) {
    const ArrayPlace place{.prefix = "attention."};
    const auto matrix = [&](const char* name) {
      return learner.declare(place, name, c.d_model, c.d_model, ArrayRole::kMatrix);
    };
    arrays.wq = matrix("wq");
    arrays.wk = matrix("wk");
    if (c.score == Seq2SeqScore::kAdditive) {
      arrays.v = learner.declare(place, "v", 1, c.d_model, ArrayRole::kMatrix);
    }
    arrays.ws = matrix("ws");
    arrays.wc = matrix("wc");
    arrays.b = learner.declare(place, "b", 0, c.d_model, ArrayRole::kBias);
  }
  arrays.head = learner.declare({}, "head", c.d_model, c.vocabulary, ArrayRole::kMatrix);
  return {};
}

Status record_model(const Seq2SeqConfig& config, const Learner& learner,
                    const TranslatorArrays& arrays, const Extent& extent, Tape& tape,
                    TranslatorSteps& steps) noexcept {
  return TranslatorRecorder(config, learner, arrays, extent, tape, steps).record();
}

}  // namespace qkv::train
