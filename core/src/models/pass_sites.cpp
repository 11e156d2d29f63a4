#include "models/pass_sites.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/portable_math.hpp"

namespace qkv {
namespace {

[[nodiscard]] bool has(const ModelRange& range, Index i) noexcept {
  return i >= range.begin && (range.end < 0 || i < range.end);
}

/// The layer of which a site is read and changed while layer n is selected.
[[nodiscard]] Index layer_of(ModelSite site, Index n) noexcept { return has_layers(site) ? n : 0; }

/// One row of the last axis of `value` or `add`.
struct Operand {
  const float* data = nullptr;
  Index stride = 0;

  /// Of batch row b, head h and row r of what is chosen.
  Operand(const TensorView<const float>& view, Index b, Index h, Index r) noexcept {
    if (!view.absent()) {
      data = view.rank == 4 ? view.at(b, h, r) : view.at(b, r);
      stride = view.stride(view.rank - 1);
    }
  }
  [[nodiscard]] float at(Index i) const noexcept { return data[i * stride]; }
};

/// Numbers [first, end) of a row, as an edit says; operands count from `first`.
void change_numbers(const ModelEdit& edit, const Operand& value, const Operand& add, Index first,
                    Index end, float* x) noexcept {
  for (Index i = first; i < end; ++i) {
    if (edit.scale) {
      x[i] *= *edit.scale;
    }
    if (value.data) {
      x[i] = value.at(i - first);
    }
    if (add.data) {
      x[i] += add.at(i - first);
    }
  }
}

}  // namespace

void PassSites::select(Index n, const ModelPiece& piece) noexcept {
  layer_ = n;
  piece_ = piece;
  visited_ = 0;
  const auto add = [&](ModelSite site, Index layer) {
    visited_ |= layer == layer_of(site, n) ? bit(site) : 0;
  };
  for (const ModelReading& each : readings_) {
    add(each.site, each.layer);
  }
  changes_rows_ = false;
  for (const ModelEdit& each : edits_) {
    add(each.site, each.layer);
    changes_rows_ = changes_rows_ || (has_keys(each.site) && each.layer == n);
  }
}

const ModelReading* PassSites::reading(ModelSite site) const noexcept {
  if (!visits(site)) {
    return nullptr;
  }
  const Index layer = layer_of(site, layer_);
  const auto found = std::find_if(
      readings_.begin(), readings_.end(),
      [&](const ModelReading& each) { return each.site == site && each.layer == layer; });
  return found != readings_.end() ? &*found : nullptr;
}

std::pair<Index, Index> PassSites::rows_read(const ModelReading& reading) const noexcept {
  const Index end = reading.row_end < 0 ? length_ : reading.row_end;
  const Index first = std::max(reading.row_begin, piece_.begin);
  return {first, std::max(first, std::min(end, piece_.end))};
}

std::pair<Index, Index> PassSites::rows_read(const ModelLens& lens) const noexcept {
  return rows_read(ModelReading{.row_begin = lens.row_begin, .row_end = lens.row_end});
}

const ModelLens* PassSites::lens() const noexcept {
  const auto found = std::find_if(lenses_.begin(), lenses_.end(),
                                  [&](const ModelLens& each) { return each.layer == layer_; });
  return found == lenses_.end() ? nullptr : &*found;
}

// ------------------------------------------------------------------------------------- rows of sites

/// The numbers of a row of the last axis, `width` of them.
void PassSites::change_row(ModelSite site, const HeadRow& row, Index width,
                           float* numbers) const noexcept {
  const Index layer = layer_of(site, layer_);
  for (const ModelEdit& edit : edits_) {
    if (edit.site != site || edit.layer != layer || !has(edit.batch, row.batch) ||
        !has(edit.rows, row.query) || (edit.head >= 0 && edit.head != row.head)) {
      continue;
    }
    const Index b = row.batch - edit.batch.begin;
    const Index h = edit.head >= 0 ? 0 : row.head;
    const Index r = row.query - edit.rows.begin;
    const ModelRange& last = has_keys(site) ? edit.keys : edit.columns;
    // Keys of later pieces are not there yet, and are excluded.
    const Index end = last.end < 0 ? width : std::min(last.end, width);
    change_numbers(edit, {edit.value, b, h, r}, {edit.add, b, h, r}, last.begin, end, numbers);
  }
}

void PassSites::change(ModelSite site, const SiteRows& rows) const noexcept {
  const Index heads = std::max<Index>(rows.heads, 1);
  for (Index i = 0; i < rows.count * heads; ++i) {
    const Index r = rows.begin + i / heads;
    change_row(site, {rows.batch_of(r), i % heads, rows.token_of(r)}, rows.width,
               rows.data + i * rows.width);
  }
}

void PassSites::read(ModelSite site, const SiteRows& rows) const noexcept {
  const ModelReading* reading = this->reading(site);
  if (!reading) {
    return;
  }
  const auto [first, last] = rows_read(*reading);
  const Index heads = std::max<Index>(rows.heads, 1);
  for (Index i = 0; i < rows.count * heads; ++i) {
    const Index r = rows.begin + i / heads;
    const Index token = rows.token_of(r);
    if (token < first || token >= last) {
      continue;
    }
    const Index at = token - reading->row_begin;
    float* to = rows.heads > 0 ? reading->to.at(rows.batch_of(r), i % heads, at)
                               : reading->to.at(rows.batch_of(r), at);
    std::memcpy(to, rows.data + i * rows.width,
                static_cast<std::size_t>(rows.width) * sizeof(float));
  }
}

// ----------------------------------------------------------------------------- scores and their rows

bool PassSites::changes(const HeadRow& row) const noexcept {
  const Index token = piece_.begin + first_query_ + row.query;
  return std::any_of(edits_.begin(), edits_.end(), [&](const ModelEdit& edit) {
    return (edit.site == ModelSite::kScores || edit.site == ModelSite::kWeights) &&
           edit.layer == layer_ && has(edit.batch, row.batch) && has(edit.rows, token) &&
           (edit.head < 0 || edit.head == row.head);
  });
}

HeadRow PassSites::of_call(const HeadRow& row) const noexcept {
  return {row.batch, row.head, piece_.begin + first_query_ + row.query};
}

void PassSites::change_scores(const HeadRow& row, float* scores) const noexcept {
  change_row(ModelSite::kScores, of_call(row), piece_.before + piece_.end, scores);
}

void PassSites::read_scores(const HeadRow& row, const float* scores) const noexcept {
  read_row(ModelSite::kScores, of_call(row), scores);
}

void PassSites::change_weights(const HeadRow& row, float* weights) const noexcept {
  change_row(ModelSite::kWeights, of_call(row), piece_.before + piece_.end, weights);
}

void PassSites::read_weights(const HeadRow& row, const float* weights) const noexcept {
  const HeadRow at = of_call(row);
  read_row(ModelSite::kWeights, at, weights);
  read_row(ModelSite::kNormWeights, at, weights);
  if (entropy.absent()) {
    return;
  }
  double nats = 0.0;
  for (Index j = 0; j < piece_.before + piece_.end; ++j) {
    const auto w = static_cast<double>(weights[j]);
    nats -= w != 0.0 ? w * natural_log(w) : 0.0;
  }
  *entropy.at(row.batch, row.head, row.query) = static_cast<float>(nats);
}

void PassSites::read_row(ModelSite site, const HeadRow& row, const float* numbers) const noexcept {
  const ModelReading* reading = this->reading(site);
  if (!reading) {
    return;
  }
  const auto [first, last] = rows_read(*reading);
  if (row.query >= first && row.query < last) {
    std::memcpy(reading->to.at(row.batch, row.head, row.query - reading->row_begin), numbers,
                static_cast<std::size_t>(piece_.before + piece_.end) * sizeof(float));
  }
}

/// The part of a reading of keys that the piece writes; what its later keys have is `later`.
TensorView<float> PassSites::rows_of(const ModelReading* reading, float later) const noexcept {
  if (!reading) {
    return {};
  }
  const auto [first, last] = rows_read(*reading);
  if (first >= last) {
    return {};  // the first of no rows has no address
  }
  TensorView<float> to = reading->to;
  to.data += (first - reading->row_begin) * to.stride(2);
  to.shape[2] = last - first;
  if (to.rank == 4) {
    const Index keys = piece_.before + piece_.end;
    for (Index i = 0; i < to.extent(0) * to.extent(1) * to.extent(2); ++i) {
      const Index of_batch = i / to.extent(2);
      float* row = to.at(of_batch / to.extent(1), of_batch % to.extent(1), i % to.extent(2));
      std::fill_n(row + keys, keys_ - keys, later);
    }
    to.shape[3] = keys;
  }
  return to;
}

}  // namespace qkv
