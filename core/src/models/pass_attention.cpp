// The attention of a pass: queries, keys and values, the norms of heads, and attention to the layer's own tokens and to the source.
#include <cmath>
#include <cstring>

#include "models/model_pass.hpp"

namespace qkv {

/// The last token of each batch row, one after another; `to` may be `from`.
void ModelPass::copy_last(const ModelPiece& piece, const float* from, float* to) const noexcept {
  const Index d = c_.d_model;
  for (Index b = 0; b < needs_.batch; ++b) {
    std::memmove(to + b * d, from + ((b + 1) * piece.tokens() - 1) * d, bytes_of(d));
  }
}

/// q of the rows that go on; k and v of all tokens.
void ModelPass::project(const ModelLayer& layer, const ModelPiece& piece, const float* a,
                        const Rows& rows) noexcept {
  const auto& maps = layer.attention;
  const Index all = needs_.batch * piece.tokens();
  const Index queries = rows.count(needs_.batch);
  LinearRows from = inputs({&maps.wq, &maps.wk, &maps.wv}, {a, all, c_.d_model}, stream_q_);
  if (queries == all) {
    apply_maps({{&maps.wq, q_}, {&maps.wk, k_}, {&maps.wv, v_}}, from);
  } else {
    apply_maps({{&maps.wk, k_}, {&maps.wv, v_}}, from);
    if (queries > 0) {
      copy_last(piece, a, s_);
      from = inputs({&maps.wq}, {s_, queries, c_.d_model}, stream_q_);
      apply_map(maps.wq, from, q_);
    }
  }
}

/// The norms of q and k, each over a head or over all heads of a token.
void ModelPass::normalize_heads(const ModelLayer& layer, Index queries, Index keys) noexcept {
  const LayerAttention& a = layer.config.attention;
  const struct {
    const ModelNorm& norm;
    float* x;
    Index rows, heads;
  } parts[] = {{layer.attention.q_norm, q_, queries, a.num_heads},
               {layer.attention.k_norm, k_, keys, a.num_kv_heads}};
  for (const auto& part : parts) {
    const Index width = a.norm_width(part.heads);
    normalize(part.norm, part.x, part.x, part.rows * (part.heads * a.d_k / width), width);
  }
}

PassHeads ModelPass::heads(const ModelPiece& piece, const Rows& rows) const noexcept {
  const auto view = [&](float* data, Index tokens, Index heads) {
    return split_heads(data, needs_.batch, tokens, heads, c_.d_k);
  };
  return {.q = view(q_, rows.per_batch, c_.num_heads),
          .k = view(k_, piece.tokens(), c_.num_kv_heads),
          .v = view(v_, piece.tokens(), c_.num_kv_heads),
          .out = view(o_, rows.per_batch, c_.num_heads),
          .first = rows.first};
}

/// Attention of layer n.
void ModelPass::attend(Index n, const PassHeads& heads) noexcept {
  if (sites_.visits_rows()) {
    attend_and_read(n, heads);
    return;
  }
  for (Index set = 0; set < sessions_.sets(); ++set) {
    plan_.attend(set_of(heads, set), state_.layers[n].config.attention, cache(n, set), {},
                 workspace_);
    workspace_.rewind(mark_);
  }
}

PassHeads ModelPass::set_of(const PassHeads& all, Index set) const noexcept {
  PassHeads some = all;
  some.set = set;
  const Index rows = sessions_.rows_of_set();
  for (TensorView<float>* view : {&some.q, &some.k, &some.v, &some.out}) {
    view->data = view->at(set * rows);
    view->shape[0] = rows;
  }
  return some;
}

/// The same, once for each of the arrays of rows of keys that are read, and once without them.
void ModelPass::attend_and_read(Index n, const PassHeads& heads) noexcept {
  using enum ModelSite;
  PassHeads each = heads;
  each.changes = sites_.changes();
  sites_.begin_queries(heads.first);
  const bool nats = sites_.visits(kEntropy);
  sites_.entropy =
      nats ? TensorView<float>(entropy_, {needs_.batch, c_.num_heads, heads.q.extent(2)})
           : TensorView<float>();
  bool attended = false;
  for (const ModelSite site : {kWeights, kScores, kNormWeights}) {
    const ModelReading* reading = sites_.reading(site);
    const TensorView<float> to = sites_.rows_of(reading, site == kScores ? -INFINITY : 0.0F);
    if (to.absent() && (attended || site != kNormWeights)) {
      continue;
    }
    AttentionExtras extras{.entropy = sites_.entropy};
    (site == kScores ? extras.logits : extras.weights) = to;
    if (!to.absent()) {
      extras.row_begin = sites_.rows_read(*reading).first - sites_.piece().begin;
      extras.row_end = extras.row_begin + to.extent(2);
    }
    plan_.attend(each, state_.layers[n].config.attention, cache(n), extras, workspace_);
    workspace_.rewind(mark_);
    if (cache(n)) {  // which has the keys and values now
      each.k.shape[2] = each.v.shape[2] = 0;
    }
    attended = true;
    if (site == kNormWeights) {
      weigh_by_norms(n, to);
    }
  }
  read_entropy();
}

/// What cross-attention of layer n to the source makes of the rows that go on, in s_.
void ModelPass::cross(Index n, const ModelPiece& piece, const float* x, const Rows& rows) noexcept {
  const auto& maps = state_.layers[n].cross;
  const Index count = rows.count(needs_.batch);
  apply_map(maps.wq, inputs({&maps.wq}, {x, count, c_.d_model}, stream_q_), q_);
  const PassHeads all = heads(piece, rows);
  for (Index set = 0; set < sessions_.sets(); ++set) {
    plan_.attend_source(set_of(all, set), sessions_[set]->sources_[n], workspace_);
    workspace_.rewind(mark_);
  }
  const Index width = c_.num_heads * c_.d_k;
  apply_map(maps.wo, inputs({&maps.wo}, {o_, count, width}, stream_q_), s_);
}

}  // namespace qkv
