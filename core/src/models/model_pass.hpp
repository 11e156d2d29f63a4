// One pass of a LanguageModel: what is computed at a time, and where.
#pragma once

#include <array>
#include <initializer_list>
#include <utility>

#include "models/model_state.hpp"
#include "models/pass_needs.hpp"
#include "models/pass_plan.hpp"
#include "models/pass_sites.hpp"
#include "weights/linear_product.hpp"

namespace qkv {

constexpr std::size_t bytes_of(Index floats) noexcept {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

/// Computes pieces. Everything was checked, and the workspace has begun with room for all of it.
class ModelPass {
 public:
  ModelPass(const ModelState& state, const LanguageModel::ForwardArgs& args,
            const ModelNeeds& needs, PassPlan& plan, Workspace& workspace) noexcept;

  void run(const ModelPiece& piece) noexcept;

 private:
  /// Rows of the stream that go on: all tokens of the piece, or those of the last of each batch row.
  struct Rows {
    Index per_batch;  ///< rows of each batch row
    Index first;      ///< the token that the first of them is
    [[nodiscard]] Index count(Index batch) const noexcept { return batch * per_batch; }
  };

  /// Quantised rows, and where they are.
  struct Quantized {
    float* memory;
    QuantizedRows rows;
  };

  void normalize(const ModelNorm& norm, const float* x, float* out, Index rows,
                 Index width) const noexcept;
  void normalize(const ModelNorm& norm, const float* x, float* out, Index rows) const noexcept {
    normalize(norm, x, out, rows, c_.d_model);
  }
  void add(float* x, const float* y, Index elements) const noexcept;
  /// The inputs of these maps, quantised in `to` where one of them reads such rows.
  LinearRows inputs(std::initializer_list<const PackedLinear*> maps, const DenseRows& rows,
                    Quantized& to) const noexcept;
  void apply_map(const PackedLinear& map, const LinearRows& from, float* to) const noexcept;
  /// Maps of the same inputs.
  void apply_maps(std::initializer_list<LinearOutput> maps, const LinearRows& from) const noexcept;

  void begin(const ModelPiece& piece) noexcept;
  void embed(const ModelPiece& piece) noexcept;
  void add_positions(const ModelPiece& piece) noexcept;

  class Block;
  void copy_last(const ModelPiece& piece, const float* from, float* to) const noexcept;
  void project(const ModelLayer& layer, const ModelPiece& piece, const float* a,
               const Rows& rows) noexcept;
  void normalize_heads(const ModelLayer& layer, Index queries, Index keys) noexcept;
  [[nodiscard]] PassHeads heads(const ModelPiece& piece, const Rows& rows) const noexcept;
  /// The cache of layer n for a set of rows; null without sessions.
  [[nodiscard]] KvCache* cache(Index n, Index set = 0) const noexcept {
    return sessions_.any() ? &sessions_[set]->caches_[n] : nullptr;
  }
  /// The heads of a set of rows.
  [[nodiscard]] PassHeads set_of(const PassHeads& all, Index set) const noexcept;
  void attend(Index n, const PassHeads& heads) noexcept;
  void attend_and_read(Index n, const PassHeads& heads) noexcept;
  void cross(Index n, const ModelPiece& piece, const float* x, const Rows& rows) noexcept;

  void activate(float* h, Index elements) const noexcept;
  template <class Maps>
  void apply_feed_forward(const Maps& maps, const DenseRows& x, float* y) noexcept;
  void apply_experts(const ModelLayer& layer, const DenseRows& x, float* y) noexcept;
  void feed_forward(const ModelLayer& layer, const float* x, const Rows& rows, float* y) noexcept;

  /// Reads and changes rows of a site: [rows, heads, width], or [rows, width] without heads.
  void visit(ModelSite site, float* data, const Rows& rows, std::pair<Index, Index> axes) noexcept {
    if (sites_.visits(site)) {
      sites_.visit(site, {data, axes.first, axes.second, rows.per_batch,
                          sites_.piece().begin + rows.first, 0, rows.count(needs_.batch)});
    }
  }
  void visit_stream(ModelSite site, float* data, const Rows& rows) noexcept {
    visit(site, data, rows, {0, c_.d_model});
  }
  void read_entropy() noexcept;
  void read_heads(Index n, const Rows& rows) noexcept;
  void weigh_by_norms(Index n, const TensorView<float>& weights) noexcept;
  void read_logits() noexcept;
  void read_lens() noexcept;
  void read_guesses(const ModelLens& lens, std::array<Index, 2> at, Index count) noexcept;

  [[nodiscard]] Rows rows_after(Index n, const ModelPiece& piece) const noexcept;
  [[nodiscard]] const float* transform(const float* x, Index rows) noexcept;
  void write_logits(const float* x, Index rows, float* to) noexcept;
  [[nodiscard]] const float* last_norm(Index rows) noexcept;
  void write_surprisal(const ModelPiece& piece, const float* y) noexcept;
  [[nodiscard]] Index last_row(const ModelPiece& piece, const Rows& rows, Index b) const noexcept;
  void write_pooled_logits(const ModelPiece& piece, const Rows& rows, const float* y) noexcept;
  void write_result_logits(const ModelPiece& piece, const Rows& rows, const float* y) noexcept;
  void finish(const ModelPiece& piece, const Rows& rows) noexcept;
  [[nodiscard]] bool is_last(const ModelPiece& piece) const noexcept {
    return piece.end == needs_.length;
  }

  const ModelState& state_;
  const LanguageModelConfig& c_;
  const LanguageModel::ForwardArgs& args_;
  CallSessions sessions_;
  const ModelNeeds& needs_;
  PassPlan& plan_;
  PassSites sites_;
  Workspace& workspace_;
  ThreadPool* pool_;
  float *x_, *a_, *s_;               ///< the stream, its norm, and what a sub-layer gives
  float *q_, *k_, *v_, *o_;          ///< heads side by side
  float *h_, *gate_;                 ///< of the feed-forward layer
  float *shares_, *routed_, *made_;  ///< of the experts: see ModelNeeds
  Quantized stream_q_;               ///< of the stream or of the heads: what inputs() made last
  Quantized hidden_q_;               ///< of the hidden layer
  float* logits_;
  float* pooled_;             ///< one row of the stream for each row of the batch
  float* products_;           ///< of HeadProduct
  float *brought_, *values_;  ///< what keys bring: see ModelNeeds
  float* entropy_;
  SiteRows hidden_rows_{};  ///< of the hidden layer, without data
  std::size_t mark_ = 0;    ///< of the workspace, after these
};

}  // namespace qkv
