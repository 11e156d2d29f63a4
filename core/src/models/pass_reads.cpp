// What is read of a pass and takes products of its own: what heads bring, and what the stream would become.
#include <algorithm>
#include <cmath>

#include "attention/kv_cache_access.hpp"
#include "models/head_product.hpp"
#include "models/model_pass.hpp"

namespace qkv {

/// The entropies of the piece, to where they are requested.
void ModelPass::read_entropy() noexcept {
  const ModelReading* reading = sites_.reading(ModelSite::kEntropy);
  if (!reading) {
    return;
  }
  const auto [first, last] = sites_.rows_read(*reading);
  const TensorView<float>& from = sites_.entropy;
  for (Index i = 0; i < from.extent(0) * from.extent(1); ++i) {
    const Index b = i / from.extent(1);
    const Index h = i % from.extent(1);
    for (Index t = first; t < last; ++t) {
      *reading->to.at(b, h, t - reading->row_begin) = *from.at(b, h, t - sites_.piece().begin);
    }
  }
}

/// z W_O of each head.
void ModelPass::read_heads(Index n, const Rows& rows) noexcept {
  const ModelReading* reading = sites_.reading(ModelSite::kHeads);
  if (!reading) {
    return;
  }
  const auto [first, last] = sites_.rows_read(*reading);
  const Index width = c_.num_heads * c_.d_k;
  const HeadProduct product{state_.layers[n].attention.wo, c_.d_k, pool_, products_};
  for (Index b = 0; first < last && b < needs_.batch; ++b) {
    const Index row = b * rows.per_batch + first - sites_.piece().begin - rows.first;
    product.multiply(*state_.kernels, {.rows = last - first,
                                       .x = o_ + row * width,
                                       .x_stride = width,
                                       .group = 1,
                                       .y = reading->to.at(b, 0, first - reading->row_begin),
                                       .y_stride = reading->to.stride(2),
                                       .y_head_stride = reading->to.stride(1)});
  }
}

/// Each weight times |v W_O| of its key and head, for all rows that were written.
void ModelPass::weigh_by_norms(Index n, const TensorView<float>& weights) noexcept {
  const Index keys = weights.absent() ? 0 : weights.extent(3);
  const Index of_kv = c_.num_kv_heads * c_.d_k;
  const Index of_row = c_.num_heads * c_.d_model;
  const Index group = c_.num_heads / c_.num_kv_heads;
  const KvCache* cache = this->cache(n);
  const HeadProduct product{state_.layers[n].attention.wo, c_.d_k, pool_, products_};
  for (Index b = 0; b < weights.extent(0); ++b) {
    for (Index first = 0; first < keys; first += kNormKeys) {
      const Index count = std::min(kNormKeys, keys - first);
      const float* v = v_ + (b * keys + first) * of_kv;  // without a cache all are of this piece
      for (Index i = 0; cache && i < count * c_.num_kv_heads; ++i) {
        v = values_;
        const Index kv = i % c_.num_kv_heads;
        KvCacheAccess::rows(*cache).read_value(KvCacheAccess::v_blocks(*cache, b, kv),
                                               first + i / c_.num_kv_heads, values_ + i * c_.d_k);
      }
      product.multiply(*state_.kernels, {.rows = count,
                                         .x = v,
                                         .x_stride = of_kv,
                                         .group = group,
                                         .y = brought_,
                                         .y_stride = of_row,
                                         .y_head_stride = c_.d_model});
      for (Index i = 0; i < count * c_.num_heads; ++i) {
        const float* row = brought_ + i * c_.d_model;
        double squares = 0.0;
        for (Index d = 0; d < c_.d_model; ++d) {
          squares += static_cast<double>(row[d]) * static_cast<double>(row[d]);
        }
        const auto length = static_cast<float>(std::sqrt(squares));
        for (Index r = 0; r < weights.extent(2); ++r) {
          float& w = weights.at(b, i % c_.num_heads, r)[first + i / c_.num_heads];
          w = w != 0.0F ? w * length : 0.0F;
        }
      }
    }
  }
}

/// The logits of the stream after the selected layer.
void ModelPass::read_logits() noexcept {
  const ModelReading* reading = sites_.reading(ModelSite::kLogits);
  if (!reading) {
    return;
  }
  const auto [first, last] = sites_.rows_read(*reading);
  const Index tokens = sites_.piece().tokens();
  const float* y = last_norm(needs_.batch * tokens);
  for (Index b = 0; first < last && b < needs_.batch; ++b) {
    write_logits(y + (b * tokens + first - sites_.piece().begin) * c_.d_model, last - first,
                 reading->to.at(b, first - reading->row_begin));
  }
}

/// The likeliest tokens of the stream after the selected layer, a few rows at a time.
void ModelPass::read_lens() noexcept {
  const ModelLens* lens = sites_.lens();
  if (!lens) {
    return;
  }
  const auto [first, last] = sites_.rows_read(*lens);
  const Index tokens = sites_.piece().tokens();
  const float* y = last_norm(needs_.batch * tokens);
  for (Index b = 0; b < needs_.batch; ++b) {
    for (Index t = first; t < last; t += kLogitRows) {
      const Index count = std::min(kLogitRows, last - t);
      write_logits(y + (b * tokens + t - sites_.piece().begin) * c_.d_model, count, logits_);
      read_guesses(*lens, {b, t - lens->row_begin}, count);
    }
  }
}

/// Of rows of logits_, for the rows from at[1] on of batch row at[0] of a lens.
void ModelPass::read_guesses(const ModelLens& lens, std::array<Index, 2> at, Index count) noexcept {
  const Index v = head_outputs(c_);
  const Index top = lens.ids.extent(2);
  for (Index r = 0; r < count; ++r) {
    const float* row = logits_ + r * v;
    std::int32_t* ids = lens.ids.at(at[0], at[1] + r);
    Index held = 0;
    for (Index id = 0; id < v; ++id) {
      if (held == top && !(row[id] > row[ids[top - 1]])) {
        continue;
      }
      Index place = held < top ? held++ : top - 1;
      for (; place > 0 && row[id] > row[ids[place - 1]]; --place) {
        ids[place] = ids[place - 1];
      }
      ids[place] = static_cast<std::int32_t>(id);
    }
  }
  state_.kernels->softmax(
      {.outer = count, .n = v, .inner = 1, .x = logits_, .out = logits_, .temperature = 1.0F});
  for (Index r = 0; r < count; ++r) {
    const std::int32_t* ids = lens.ids.at(at[0], at[1] + r);
    for (Index i = 0; i < top; ++i) {
      lens.probabilities.at(at[0], at[1] + r)[i] = logits_[r * v + ids[i]];
    }
  }
}

}  // namespace qkv
