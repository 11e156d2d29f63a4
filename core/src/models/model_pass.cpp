#include "models/model_pass.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/portable_math.hpp"
#include "base/share.hpp"
#include "models/block.hpp"
#include "positions/sinusoidal.hpp"
#include "rows/activation_kernel.hpp"
#include "rows/over_rows.hpp"
#include "weights/weight_rows.hpp"

namespace qkv {
namespace {

/// Turns the logits of a row into the shares of the experts: softmax, and 0 of all but the `used` greatest. Of equal ones the
/// first is used.
void share_row(float* row, Index experts, Index used, bool normalized) noexcept {
  const auto most = static_cast<double>(*std::max_element(row, row + experts));
  const auto exponential = [&](Index e) {
    return natural_power(static_cast<double>(row[e]) - most);
  };
  double total = 0.0;
  for (Index e = 0; e < experts; ++e) {
    total += exponential(e);
  }
  for (Index e = 0; e < experts; ++e) {
    row[e] = static_cast<float>(exponential(e) / total);
  }
  // Those that are used change their sign, which a zero has too.
  double sum = 0.0;
  for (Index n = 0; n < used; ++n) {
    Index best = -1;
    for (Index e = 0; e < experts; ++e) {
      if (!std::signbit(row[e]) && (best < 0 || row[e] > row[best])) {
        best = e;
      }
    }
    if (best >= 0) {  // none is left of numbers that are none
      sum += static_cast<double>(row[best]);
      row[best] = -row[best];
    }
  }
  const double scale = normalized ? sum : 1.0;
  for (Index e = 0; e < experts; ++e) {
    row[e] = std::signbit(row[e]) ? static_cast<float>(static_cast<double>(-row[e]) / scale) : 0.0F;
  }
}

}  // namespace

ModelPass::ModelPass(const ModelState& state, const LanguageModel::ForwardArgs& args,
                     const ModelNeeds& needs, PassPlan& plan, Workspace& workspace) noexcept
    : state_(state),
      c_(state.config),
      args_(args),
      sessions_(args),
      needs_(needs),
      plan_(plan),
      sites_(args, needs.length, needs.keys_read),
      workspace_(workspace),
      pool_(workspace.pool()),
      x_(workspace.take(needs.stream)),
      a_(workspace.take(needs.stream)),
      s_(workspace.take(needs.stream)),
      q_(workspace.take(needs.queries)),
      k_(workspace.take(needs.keys)),
      v_(workspace.take(needs.keys)),
      o_(workspace.take(needs.queries)),
      h_(workspace.take(needs.hidden)),
      gate_(needs.gated ? workspace.take(needs.hidden) : nullptr),
      shares_(workspace.take(needs.shares)),
      routed_(workspace.take(needs.routed)),
      made_(workspace.take(needs.routed)),
      stream_q_{workspace.take(needs.quantized), {}},
      hidden_q_{workspace.take(needs.quantized_hidden), {}},
      logits_(workspace.take(needs.logits)),
      pooled_(workspace.take(needs.pooled)),
      products_(workspace.take(needs.products)),
      brought_(workspace.take(needs.brought)),
      values_(workspace.take(needs.values)),
      entropy_(workspace.take(needs.entropy)) {
  sites_.memory = workspace.take(needs.changes);
  plan_.take(needs.piece, sessions_, workspace);
  mark_ = workspace.mark();
}

// --------------------------------------------------------------------------------------- small steps

void ModelPass::normalize(const ModelNorm& norm, const float* x, float* out, Index rows,
                          Index width) const noexcept {
  normalize_rows(*state_.kernels, pool_,
                 {.rows = rows,
                  .n = width,
                  .x = x,
                  .out = out,
                  .gamma = norm.gamma.data(),
                  .beta = norm.beta.data(),
                  .epsilon = c_.epsilon,
                  .centre = c_.norm_type == NormType::kLayer});
}

void ModelPass::add(float* x, const float* y, Index elements) const noexcept {
  add_rows(*state_.kernels, pool_, {.n = elements, .x = x, .y = y, .out = x});
}

LinearRows ModelPass::inputs(std::initializer_list<const PackedLinear*> maps, const DenseRows& rows,
                             Quantized& to) const noexcept {
  LinearRows from{.x = rows.x, .rows = rows.rows, .y = nullptr};
  RowKinds kinds;
  for (const PackedLinear* map : maps) {
    kinds.add(*state_.kernels, *map);
  }
  if (kinds.any()) {
    to.rows = quantize_rows(*state_.kernels, pool_, rows, kinds, to.memory);
    from.quantized = &to.rows;
  }
  return from;
}

void ModelPass::apply_map(const PackedLinear& map, const LinearRows& from,
                          float* to) const noexcept {
  apply_maps({{&map, to}}, from);
}

void ModelPass::apply_maps(std::initializer_list<LinearOutput> maps,
                           const LinearRows& from) const noexcept {
  apply_all(*state_.kernels, pool_, {maps.begin(), maps.size()}, from);
}

// ---------------------------------------------------------------------------------------- embeddings

void ModelPass::embed(const ModelPiece& piece) noexcept {
  const Index d = c_.d_model;
  for (Index b = 0; b < needs_.batch; ++b) {
    for (Index t = 0; t < piece.tokens(); ++t) {
      float* row = x_ + (b * piece.tokens() + t) * d;
      const Index at = b * needs_.length + piece.begin + t;
      read_column(*state_.kernels, state_.tokens(), args_.ids.data[at], row);
      for (Index i = 0; c_.embedding_scale != 1.0F && i < d; ++i) {
        row[i] *= c_.embedding_scale;
      }
      if (c_.token_types > 0) {
        const Index type = args_.token_types.absent() ? 0 : args_.token_types.data[at];
        const float* term = state_.token_types.data() + type * d;
        state_.kernels->add({.n = d, .x = row, .y = term, .out = row});
      }
    }
  }
  add_positions(piece);
  if (c_.embedding_norm) {
    normalize(state_.embedding_norm, x_, x_, needs_.batch * piece.tokens());
  }
}

void ModelPass::add_positions(const ModelPiece& piece) noexcept {
  const Index elements = piece.tokens() * c_.d_model;
  const float* positions = nullptr;
  for (Index b = 0; b < needs_.batch; ++b) {
    const Index set = plan_.set_of(b);
    const Index first = plan_.before(set) + piece.begin;
    if (state_.positions.data()) {
      positions = state_.positions.data() + first * c_.d_model;
    } else if (c_.positions == ModelPositions::kSinusoidal &&
               (b == 0 || set != plan_.set_of(b - 1))) {
      // The lengths that are allowed end below the positions that it refuses.
      const Status made =
          sinusoidal_encoding(*state_.kernels, {a_, {piece.tokens(), c_.d_model}}, first, {});
      positions = made.ok() ? a_ : nullptr;
    }
    if (positions) {
      add(x_ + b * elements, positions, elements);
    }
  }
}

// ----------------------------------------------------------------------------------------- attention

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

// -------------------------------------------------------------------------------------- feed-forward

/// h = f(h), or f(gate) h in layers with a gate, of which GEGLU overwrites the gate.
void ModelPass::activate(float* h, Index elements) const noexcept {
  const kernels::KernelTable& table = *state_.kernels;
  if (!gate_) {
    const bool squared = c_.activation == ModelActivation::kRelu2;
    const Activation f = squared ? Activation::kRelu : activation_of(c_.activation);
    activate_rows(table, pool_, f, h, elements);
    if (squared) {
      over_elements(pool_, table.multiply, {.n = elements, .x = h, .y = h, .out = h});
    }
    return;
  }
  if (c_.activation == ModelActivation::kSwiglu) {
    over_elements(pool_, table.silu_times, {.n = elements, .x = gate_, .y = h, .out = h});
    return;
  }
  const bool exact = c_.activation == ModelActivation::kGeglu;
  share(pool_, elements, kShareElements, [&](Index begin, Index end) noexcept {
    float* open = gate_ + begin;
    const Index n = end - begin;
    (exact ? table.gelu : table.gelu_tanh)({.n = n, .x = open, .y = nullptr, .out = open});
    table.multiply({.n = n, .x = open, .y = h + begin, .out = h + begin});
  });
}

/// At most kHiddenTokens rows through the maps of a layer or of an expert.
template <class Maps>
void ModelPass::apply_feed_forward(const Maps& maps, const DenseRows& x, float* y) noexcept {
  if (gate_) {
    const LinearRows from = inputs({&maps.w1, &maps.w_gate}, x, stream_q_);
    apply_maps({{&maps.w1, h_}, {&maps.w_gate, gate_}}, from);
  } else {
    apply_map(maps.w1, inputs({&maps.w1}, x, stream_q_), h_);
  }
  activate(h_, x.rows * c_.d_feed_forward);
  if (sites_.visits(ModelSite::kNeurons)) {
    hidden_rows_.data = h_;
    sites_.visit(ModelSite::kNeurons, hidden_rows_);
  }
  apply_map(maps.w2, inputs({&maps.w2}, {h_, x.rows, c_.d_feed_forward}, hidden_q_), y);
}

/// Each expert takes the rows that it has a share in, one expert after another, so that the sum of a row has one order whatever
/// the other rows are.
void ModelPass::apply_experts(const ModelLayer& layer, const DenseRows& x, float* y) noexcept {
  const Index d = x.width;
  const Index experts = layer.experts.size();
  apply_map(layer.router, inputs({&layer.router}, x, stream_q_), shares_);
  for (Index r = 0; r < x.rows; ++r) {
    share_row(shares_ + r * experts, experts, c_.experts_per_token, c_.normalized_experts);
  }
  std::fill_n(y, x.rows * d, 0.0F);
  for (Index e = 0; e < experts; ++e) {
    const auto share_of = [&](Index r) { return shares_[r * experts + e]; };
    Index count = 0;
    for (Index r = 0; r < x.rows; ++r) {
      if (share_of(r) != 0.0F) {
        std::memcpy(routed_ + count++ * d, x.x + r * d, bytes_of(d));
      }
    }
    if (count == 0) {
      continue;
    }
    apply_feed_forward(layer.experts[e], {routed_, count, d}, made_);
    const float* made = made_;
    for (Index r = 0; r < x.rows; ++r) {
      const float share = share_of(r);
      for (Index i = 0; share != 0.0F && i < d; ++i) {
        y[r * d + i] += share * *made++;
      }
    }
  }
}

void ModelPass::feed_forward(const ModelLayer& layer, const float* x, const Rows& rows,
                             float* y) noexcept {
  const Index all = rows.count(needs_.batch);
  for (Index first = 0; first < all; first += kHiddenTokens) {
    const Index count = std::min(kHiddenTokens, all - first);
    const DenseRows part = {x + first * c_.d_model, count, c_.d_model};
    float* to = y + first * c_.d_model;
    hidden_rows_ = {
        nullptr, 0,    c_.d_feed_forward, rows.per_batch, sites_.piece().begin + rows.first,
        first,   count};
    if (layer.config.num_experts > 0) {
      apply_experts(layer, part, to);
    } else {
      apply_feed_forward(layer, part, to);
    }
  }
}

// --------------------------------------------------------------------------------------------- layers

/// The rows that go on after layer n: all of them, but in the last layer only those that something is asked of.
ModelPass::Rows ModelPass::rows_after(Index n, const ModelPiece& piece) const noexcept {
  if (n < c_.num_layers - 1 || needs_.every_row) {
    return {piece.tokens(), 0};
  }
  return is_last(piece) ? Rows{1, piece.tokens() - 1} : Rows{0, 0};
}

/// The steps of layer n in place, as run_block() calls them: x_ is the stream, a_ what a part reads, s_ what it gives.
class ModelPass::Block {
 public:
  Block(ModelPass& pass, Index n, const ModelPiece& piece, const Rows& rows) noexcept
      : p_(pass),
        n_(n),
        layer_(pass.state_.layers[n]),
        piece_(piece),
        rows_(rows),
        count_(pass.needs_.batch * piece.tokens()) {}

  float* normalize_input(Sublayer part, const float* x) noexcept {
    p_.normalize(norm_of(part), x, p_.a_, count_);
    return p_.a_;
  }
  float* normalize_output(Sublayer part, float* y) noexcept {
    const bool attention = part == Sublayer::kAttention;
    p_.normalize(attention ? layer_.post_norm1 : layer_.post_norm2, y, y, count_);
    visit_added(part, y);
    return y;
  }
  float* normalize_sum(Sublayer part, float* x) noexcept {
    p_.normalize(norm_of(part), x, x, count_);
    visit_sum(part, x);
    return x;
  }
  float* compute(Sublayer part, float* x) noexcept {
    if (part == Sublayer::kAttention) {
      attention(x);
    } else if (part == Sublayer::kCross) {
      p_.cross(n_, piece_, x, rows_);
    } else {
      p_.feed_forward(layer_, x, rows_, p_.s_);
    }
    part_ = part;
    if (!layer_.config.norms.output) {
      visit_added(part, p_.s_);
    }
    return p_.s_;
  }
  float* add(float* x, const float* y) noexcept {
    p_.add(x, y, count_ * p_.c_.d_model);
    if (!layer_.config.norms.sum) {
      visit_sum(part_, x);
    }
    return x;
  }
  [[nodiscard]] bool crosses() const noexcept { return layer_.config.crosses; }
  [[nodiscard]] bool goes_on() const noexcept { return count_ > 0; }

 private:
  [[nodiscard]] const ModelNorm& norm_of(Sublayer part) const noexcept {
    return part == Sublayer::kAttention ? layer_.norm1
           : part == Sublayer::kCross   ? layer_.norm_cross
                                        : layer_.norm2;
  }
  /// What a part adds to the stream, and the stream after the first of them.
  void visit_added(Sublayer part, float* y) noexcept {
    p_.visit_stream(part == Sublayer::kAttention ? ModelSite::kAttention
                    : part == Sublayer::kCross   ? ModelSite::kCross
                                                 : ModelSite::kFeedForward,
                    y, rows_);
  }
  void visit_sum(Sublayer part, float* x) noexcept {
    if (part == Sublayer::kAttention) {
      p_.visit_stream(ModelSite::kMiddle, x, rows_);
    }
  }
  /// Of all tokens; after it the stream has only the rows that go on.
  void attention(const float* x) noexcept {
    p_.project(layer_, piece_, x, rows_);
    const LayerAttention& a = layer_.config.attention;
    const PassHeads heads = p_.heads(piece_, rows_);
    const Index queries = rows_.count(p_.needs_.batch);
    const bool rotated = a.qk_norm_of == QkNorm::kRotated;
    if (a.qk_norm && !rotated) {
      p_.normalize_heads(layer_, queries, count_);
    }
    p_.plan_.rotate(heads, a);
    if (a.qk_norm && rotated) {
      p_.normalize_heads(layer_, queries, count_);
    }
    const Rows all{piece_.tokens(), 0};
    p_.visit(ModelSite::kQ, p_.q_, rows_, {a.num_heads, a.d_k});
    p_.visit(ModelSite::kK, p_.k_, all, {a.num_kv_heads, a.d_k});
    p_.visit(ModelSite::kV, p_.v_, all, {a.num_kv_heads, a.d_k});
    p_.attend(n_, heads);
    count_ = queries;
    if (rows_.per_batch == 1 && piece_.tokens() > 1) {
      p_.copy_last(piece_, p_.x_, p_.x_);
    }
    if (!goes_on()) {
      return;
    }
    p_.visit(ModelSite::kZ, p_.o_, rows_, {a.num_heads, a.d_k});
    p_.read_heads(n_, rows_);
    p_.apply_map(layer_.attention.wo,
                 p_.inputs({&layer_.attention.wo}, {p_.o_, count_, a.q_width()}, p_.stream_q_),
                 p_.s_);
  }

  ModelPass& p_;
  Index n_;
  const ModelLayer& layer_;
  const ModelPiece& piece_;
  const Rows& rows_;
  Index count_;                           ///< rows of the stream
  Sublayer part_ = Sublayer::kAttention;  ///< that was computed last
};

/// The stream before the first layer that is computed.
void ModelPass::begin(const ModelPiece& piece) noexcept {
  const ModelBegin& given = args_.begin;
  if (given.stream.absent()) {
    embed(piece);
  }
  for (Index b = 0; !given.stream.absent() && b < needs_.batch; ++b) {
    std::memcpy(x_ + b * piece.tokens() * c_.d_model, given.stream.at(b, piece.begin),
                bytes_of(piece.tokens() * c_.d_model));
  }
  sites_.select(given.layer, piece);
  if (given.layer == 0) {
    visit_stream(ModelSite::kEmbed, x_, {piece.tokens(), 0});
  }
}

void ModelPass::run(const ModelPiece& piece) noexcept {
  plan_.begin(piece);
  begin(piece);
  Rows rows{piece.tokens(), 0};
  for (Index n = args_.begin.layer; n < c_.num_layers; ++n) {
    rows = rows_after(n, piece);
    sites_.select(n, piece);
    Block block(*this, n, piece, rows);
    run_block(state_.layers[n].config, block, x_);
    visit_stream(ModelSite::kResidual, x_, rows);
    read_logits();
    read_lens();
  }
  finish(piece, rows);
}

}  // namespace qkv
