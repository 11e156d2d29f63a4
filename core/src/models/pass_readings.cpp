#include "models/pass_readings.hpp"

#include <algorithm>
#include <cstring>

#include "attention/copy_heads.hpp"

namespace qkv {

void PassReadings::select(Index n, const ModelPiece& piece) noexcept {
  const auto found = std::find_if(readings_.begin(), readings_.end(),
                                  [&](const ModelReading& each) { return each.layer == n; });
  layer_ = found == readings_.end() ? nullptr : &*found;
  piece_ = piece;
}

std::pair<Index, Index> PassReadings::rows_read() const noexcept {
  const Index end = layer_->row_end < 0 ? length_ : layer_->row_end;
  return {std::max(layer_->row_begin, piece_.begin), std::min(end, piece_.end)};
}

void PassReadings::write_heads(const PassHeads& heads) const noexcept {
  if (!layer_) {
    return;
  }
  // Tokens [first, last) of the call, to a view whose first row is that of token `begin`.
  const auto copy = [&](TensorView<float> from, Index first, Index last, TensorView<float> to,
                        Index begin) {
    if (to.absent() || first >= last) {
      return;  // the first of no rows has no address
    }
    from.data += (first - piece_.begin) * from.stride(2);
    from.shape[2] = last - first;
    to.data += (first - begin) * to.stride(2);
    to.shape[2] = last - first;
    copy_heads(from, to);
  };
  const auto [first, last] = rows_read();
  copy(heads.q, first, last, layer_->q, layer_->row_begin);
  copy(heads.k, piece_.begin, piece_.end, layer_->k, 0);
  copy(heads.v, piece_.begin, piece_.end, layer_->v, 0);
}

AttentionExtras PassReadings::extras() const noexcept {
  AttentionExtras to;
  if (!layer_) {
    return to;
  }
  if (!layer_->entropy.absent()) {
    to.entropy = layer_->entropy;
    to.entropy.data += piece_.begin * to.entropy.stride(2);
    to.entropy.shape[2] = piece_.tokens();
  }
  const auto [first, last] = rows_read();
  if (layer_->weights.absent() || first >= last) {
    return to;
  }
  to.weights = layer_->weights;
  to.weights.data += (first - layer_->row_begin) * to.weights.stride(2);
  to.weights.shape[2] = last - first;
  const Index keys = piece_.before + piece_.end;
  for (Index b = 0; b < to.weights.extent(0); ++b) {
    for (Index h = 0; h < to.weights.extent(1); ++h) {
      for (Index r = 0; r < last - first; ++r) {
        std::fill_n(to.weights.at(b, h, r) + keys, to.weights.extent(3) - keys, 0.0F);
      }
    }
  }
  to.weights.shape[3] = keys;
  to.row_begin = first - piece_.begin;
  to.row_end = last - piece_.begin;
  return to;
}

void PassReadings::write_residual(const TensorView<const float>& x) const noexcept {
  if (!layer_ || layer_->residual.absent()) {
    return;
  }
  for (Index b = 0; b < x.extent(0); ++b) {
    std::memcpy(layer_->residual.at(b, piece_.begin), x.at(b),
                static_cast<std::size_t>(x.extent(1) * x.extent(2)) * sizeof(float));
  }
}

float* PassReadings::logits(Index b) const noexcept {
  return layer_ && !layer_->logits.absent() ? layer_->logits.at(b, piece_.begin) : nullptr;
}

}  // namespace qkv
