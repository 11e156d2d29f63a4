// What a pass reads and changes at its sites, beside its results.
#pragma once

#include <span>
#include <utility>

#include "attention/head_rows.hpp"
#include "models/pass_plan.hpp"

namespace qkv {

/// Rows of a site that are there, one after another: row r is token first + r % per_batch of the call, of batch row r / per_batch.
struct SiteRows {
  float* data;  ///< [count, heads, width]: of row `begin`
  Index heads;  ///< side by side; 0 for a site without heads, which has one of `width`
  Index width;
  Index per_batch;  ///< rows of each batch row
  Index first;      ///< the token of the call that the first of them is
  Index begin, count;

  [[nodiscard]] Index batch_of(Index r) const noexcept { return r / per_batch; }
  [[nodiscard]] Index token_of(Index r) const noexcept { return first + r % per_batch; }
};

/// The readings, edits and lenses of a call.
class PassSites final : public HeadRowChanges {
 public:
  /// `keys`: those that the session holds in the end.
  PassSites(const LanguageModel::ForwardArgs& args, Index length, Index keys) noexcept
      : readings_(args.readings),
        edits_(args.edits),
        lenses_(args.lenses),
        length_(length),
        keys_(keys) {}

  /// Turns to layer n and a piece; what follows is about these, and does nothing where nothing is requested.
  void select(Index n, const ModelPiece& piece) noexcept;
  /// The token of the piece that the first query of attention is.
  void begin_queries(Index first) noexcept { first_query_ = first; }

  /// Whether anything is read or changed at a site.
  [[nodiscard]] bool visits(ModelSite site) const noexcept { return (visited_ & bit(site)) != 0; }
  /// Whether rows of scores or weights are, or what is made of them.
  [[nodiscard]] bool visits_rows() const noexcept {
    using enum ModelSite;
    return (visited_ & (bit(kScores) | bit(kWeights) | bit(kEntropy) | bit(kNormWeights))) != 0;
  }
  /// Changes what is at the site, then reads it.
  void visit(ModelSite site, const SiteRows& rows) const noexcept {
    if (visits(site)) {
      change(site, rows);
      read(site, rows);
    }
  }

  [[nodiscard]] const ModelPiece& piece() const noexcept { return piece_; }
  /// The reading of a site; null for none.
  [[nodiscard]] const ModelReading* reading(ModelSite site) const noexcept;
  /// The tokens of this piece, of the call, that a reading asks for.
  [[nodiscard]] std::pair<Index, Index> rows_read(const ModelReading& reading) const noexcept;
  /// The lens of the layer; null for none.
  [[nodiscard]] const ModelLens* lens() const noexcept;
  [[nodiscard]] std::pair<Index, Index> rows_read(const ModelLens& lens) const noexcept;

  /// The part of a reading of rows of keys that the piece writes; what rows have of later keys becomes `later`. Absent where the
  /// piece has none of its rows.
  [[nodiscard]] TensorView<float> rows_of(const ModelReading* reading, float later) const noexcept;
  /// This, where scores or weights of the layer are changed; otherwise null.
  [[nodiscard]] const HeadRowChanges* changes() const noexcept {
    return changes_rows_ ? this : nullptr;
  }

  // Rows of attention, counted from the first query.
  [[nodiscard]] bool changes(const HeadRow& row) const noexcept override;
  void change_scores(const HeadRow& row, float* scores) const noexcept override;
  void read_scores(const HeadRow& row, const float* scores) const noexcept override;
  void change_weights(const HeadRow& row, float* weights) const noexcept override;
  void read_weights(const HeadRow& row, const float* weights) const noexcept override;

  TensorView<float> entropy;  ///< [B, H, queries] of the piece, where it is read

 private:
  static constexpr std::uint32_t bit(ModelSite site) noexcept {
    return std::uint32_t{1} << static_cast<int>(site);
  }
  void change(ModelSite site, const SiteRows& rows) const noexcept;
  void read(ModelSite site, const SiteRows& rows) const noexcept;
  void change_row(ModelSite site, const HeadRow& row, Index width, float* numbers) const noexcept;
  [[nodiscard]] HeadRow of_call(const HeadRow& row) const noexcept;
  void read_row(ModelSite site, const HeadRow& row, const float* numbers) const noexcept;

  std::span<const ModelReading> readings_;
  std::span<const ModelEdit> edits_;
  std::span<const ModelLens> lenses_;
  Index length_, keys_;
  Index layer_ = 0;
  Index first_query_ = 0;
  std::uint32_t visited_ = 0;  ///< sites, by bit()
  bool changes_rows_ = false;
  ModelPiece piece_{};
};

}  // namespace qkv
