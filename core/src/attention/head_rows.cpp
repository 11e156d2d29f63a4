#include "attention/head_rows.hpp"

#include <algorithm>
#include <cmath>

#include "attention/kv_cache_access.hpp"
#include "base/portable_math.hpp"

namespace qkv {
namespace {

/// Weights in place of scores.
void weigh(float* row, Index keys) noexcept {
  const float most = *std::max_element(row, row + keys);
  if (std::isinf(most) && most < 0.0F) {
    std::fill_n(row, keys, 0.0F);
    return;
  }
  const auto exponential = [&](Index j) {
    return natural_power(static_cast<double>(row[j]) - static_cast<double>(most));
  };
  double total = 0.0;
  for (Index j = 0; j < keys; ++j) {
    total += exponential(j);
  }
  for (Index j = 0; j < keys; ++j) {
    row[j] = static_cast<float>(exponential(j) / total);
  }
}

/// An excluded key stays so, whatever its number became.
void exclude(const float* scores, Index keys, float* row, float number) noexcept {
  for (Index j = 0; j < keys; ++j) {
    row[j] = scores[j] == -INFINITY ? number : row[j];
  }
}

}  // namespace

const float* HeadValues::at(Index j, float* row) const noexcept {
  if (!args.cache) {
    return args.v.at(batch, kv_head, j);
  }
  KvCacheAccess::rows(*args.cache)
      .read_value(KvCacheAccess::v_blocks(*args.cache, batch, kv_head), j, row);
  return row;
}

void change_row(const HeadRowChanges& changes, const HeadRow& row, const HeadValues& values,
                Index keys, float* memory, float* out) noexcept {
  const Index dv = values.args.out.extent(3);
  const auto of_keys = static_cast<Index>(Workspace::padded(static_cast<std::size_t>(keys)));
  const float* scores = memory;
  float* weights = memory + of_keys;
  float* value = weights + of_keys;
  auto* sum = reinterpret_cast<double*>(value + Workspace::padded(static_cast<std::size_t>(dv)));
  std::copy_n(scores, keys, weights);
  changes.change_scores(row, weights);
  exclude(scores, keys, weights, -INFINITY);
  changes.read_scores(row, weights);
  weigh(weights, keys);
  changes.change_weights(row, weights);
  exclude(scores, keys, weights, 0.0F);
  changes.read_weights(row, weights);
  std::fill_n(sum, dv, 0.0);
  for (Index j = 0; j < keys; ++j) {
    if (weights[j] != 0.0F) {
      const float* v = values.at(j, value);
      for (Index e = 0; e < dv; ++e) {
        sum[e] += static_cast<double>(weights[j]) * static_cast<double>(v[e]);
      }
    }
  }
  std::transform(sum, sum + dv, out, [](double x) { return static_cast<float>(x); });
}

}  // namespace qkv
