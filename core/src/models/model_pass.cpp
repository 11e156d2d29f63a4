#include "models/model_pass.hpp"

#include <cstring>

#include "models/block.hpp"
#include "positions/sinusoidal.hpp"
#include "rows/activation_kernel.hpp"
#include "rows/over_rows.hpp"
#include "weights/weight_rows.hpp"

namespace qkv {
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

// --------------------------------------------------------------------------------------------- layers

/// The rows that go on after layer n: all of them, but in the last layer only those that a result needs.
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
