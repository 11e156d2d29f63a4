// What every operator should give: the formulas of the public headers in double precision, one
// plain loop after another. No tiles, no running maximum, nothing shared with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "qkv/attention.hpp"
#include "qkv/multi_head_attention.hpp"
#include "qkv/positional.hpp"

namespace qkv::test::oracle {

template <class T>
struct Inputs {
  TensorView<const T> q, k, v;
};

struct RowId {
  Index b, h, i;
};

/// One query row of attention(), and what the error bounds say about it is made of.
struct Row {
  std::vector<double> weights, out;
  double lse = -std::numeric_limits<double>::infinity();
  double entropy = 0.0;
  std::vector<bool> readable;  ///< which keys this row may read, and how many
  Index allowed = 0;
  double logit_size =
      0.0;  ///< A = max over allowed j of (|scale| sum |q k| + sum |bias|) / temperature, or |sink|
  double value_size = 0.0;  ///< V = max |v| over allowed j
};

/// Element (b, h, i, j) of a view that broadcasts right-aligned.
template <class T>
T broadcast_at(const TensorView<const T>& view, RowId row, Index j) {
  const Index at[4] = {row.b, row.h, row.i, j};
  Index offset = 0;
  for (int axis = 0; axis < view.rank; ++axis) {
    offset += view.extent(axis) == 1 ? 0 : at[4 - view.rank + axis] * view.stride(axis);
  }
  return view.data[offset];
}

/// Position of the query minus that of key j, in 64 bits wherever an Index has fewer. The header says
/// that offsets beyond 2^61 are 2^61.
inline std::int64_t distance(const AttentionOptions& options, RowId row, Index j) {
  const std::int64_t offset = options.causal_offsets.absent()
                                  ? options.causal_offset.value_or(0)
                                  : Index{*options.causal_offsets.at(row.b)};
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  return row.i - j + std::clamp(offset, -kFar, kFar);
}

inline bool may_read(const AttentionOptions& options, RowId row, Index j) {
  const auto excludes = [&](const TensorView<const float>& bias) {
    return !bias.absent() && broadcast_at(bias, row, j) == -INFINITY;
  };
  const std::int64_t left = distance(options, row, j);
  return !(options.causal && left < 0) &&
         !(options.window_left >= 0 && left > options.window_left) &&
         !(options.window_right >= 0 && -left > options.window_right) &&
         !(!options.key_lengths.absent() && j >= *options.key_lengths.at(row.b)) &&
         !(!options.mask.absent() && broadcast_at(options.mask, row, j) == 0) &&
         !excludes(options.bias) && !excludes(options.additive_mask);
}

/// The score of key j before the temperature, from scale * q.k, and in `size` the sum of the sizes
/// that rounding errors are proportional to.
inline double biased_score(const AttentionOptions& options, RowId row, Index j, double s,
                           double& size) {
  const double cap = options.softcap;
  s = cap > 0 ? cap * std::tanh(s / cap) : s;
  const auto add = [&](double bias) {
    s += bias;
    size += std::abs(bias);
  };
  for (const auto* bias : {&options.bias, &options.additive_mask}) {
    if (!bias->absent()) {
      add(static_cast<double>(broadcast_at(*bias, row, j)));
    }
  }
  if (!options.alibi_slopes.absent()) {
    const auto away = static_cast<double>(std::abs(distance(options, row, j)));
    add(-static_cast<double>(*options.alibi_slopes.at(row.h)) * away);
  }
  return s;
}

template <class T>
Row attention_row(const Inputs<T>& in, const AttentionOptions& options, RowId row) {
  const Index tk = in.k.extent(2);
  const Index dk = in.q.extent(3);
  const Index dv = in.v.extent(3);
  const Index kv_head = row.h / (in.q.extent(1) / in.k.extent(1));
  const double scale = options.scale ? static_cast<double>(*options.scale)
                                     : 1.0 / std::sqrt(static_cast<double>(dk));
  const double temperature = options.temperature;

  Row result;
  result.weights.assign(static_cast<std::size_t>(tk), 0.0);
  result.out.assign(static_cast<std::size_t>(dv), 0.0);
  std::vector<double> logits(static_cast<std::size_t>(tk));
  std::vector<Index> allowed;
  double largest = -std::numeric_limits<double>::infinity();
  for (Index j = 0; j < tk; ++j) {
    result.readable.push_back(may_read(options, row, j));
    if (!result.readable.back()) {
      continue;
    }
    double dot = 0.0;
    double size = 0.0;
    for (Index d = 0; d < dk; ++d) {
      const double product = static_cast<double>(*in.q.at(row.b, row.h, row.i, d)) *
                             static_cast<double>(*in.k.at(row.b, kv_head, j, d));
      dot += product;
      size += std::abs(product);
    }
    size *= std::abs(scale);
    const double logit = biased_score(options, row, j, scale * dot, size) / temperature;
    logits[static_cast<std::size_t>(j)] = logit;
    largest = logit > largest ? logit : largest;
    result.logit_size = std::max(result.logit_size, size / temperature);
    allowed.push_back(j);
  }
  result.allowed = static_cast<Index>(allowed.size());
  if (allowed.empty()) {
    return result;
  }
  double sum = 0.0;
  if (!options.sinks.absent()) {
    const double sink = *options.sinks.at(row.h);
    largest = std::max(largest, sink);
    result.logit_size = std::max(result.logit_size, std::abs(sink));
    sum = std::exp(sink - largest);
  }
  for (Index j : allowed) {
    sum += std::exp(logits[static_cast<std::size_t>(j)] - largest);
  }
  result.lse = largest + std::log(sum);
  for (Index j : allowed) {
    const double log_weight = logits[static_cast<std::size_t>(j)] - result.lse;
    const double weight = std::exp(logits[static_cast<std::size_t>(j)] - largest) / sum;
    result.weights[static_cast<std::size_t>(j)] = weight;
    result.entropy -= weight == 0.0 ? 0.0 : weight * log_weight;
    for (Index d = 0; d < dv; ++d) {
      const double value = *in.v.at(row.b, kv_head, j, d);
      result.out[static_cast<std::size_t>(d)] += weight * value;
      result.value_size = std::max(result.value_size, std::abs(value));
    }
  }
  return result;
}

/// y = x W + b for rows of x, and size = |x| |W| + |b|, which rounding errors are proportional to.
struct Product {
  std::vector<double> value, size;
};

/// `weight` is [in, out] with any strides; `bias` may be absent.
inline Product linear(const std::vector<double>& x, const TensorView<const float>& weight,
                      const TensorView<const float>& bias) {
  const Index in = weight.extent(0);
  const Index out = weight.extent(1);
  const Index rows = in == 0 ? 0 : static_cast<Index>(x.size()) / in;
  Product y;
  for (Index r = 0; r < rows; ++r) {
    for (Index o = 0; o < out; ++o) {
      double value = bias.absent() ? 0.0 : static_cast<double>(*bias.at(o));
      double size = std::abs(value);
      for (Index i = 0; i < in; ++i) {
        const double product =
            x[static_cast<std::size_t>(r * in + i)] * static_cast<double>(*weight.at(i, o));
        value += product;
        size += std::abs(product);
      }
      y.value.push_back(value);
      y.size.push_back(size);
    }
  }
  return y;
}

/// Heads side by side in `array`, seen apart.
inline TensorView<const double> heads(const std::vector<double>& array, Index batch, Index tokens,
                                      Index num_heads) {
  const Index vectors = batch * tokens * num_heads;
  const Index d = vectors == 0 ? 0 : static_cast<Index>(array.size()) / vectors;
  return split_heads<const double>(array.data(), batch, tokens, num_heads, d);
}

/// One element of the sinusoidal encoding; `column` counts within a row of d_model.
inline double sinusoid(double position, Index column, Index d_model,
                       const SinusoidOptions& options) {
  const Index sines = (d_model + 1) / 2;
  const bool interleaved = options.layout == SinusoidLayout::kInterleaved;
  const Index pair = interleaved ? column / 2 : column % sines;
  const bool sine = interleaved ? column % 2 == 0 : column < sines;
  const double angle = position * std::pow(options.base, -2.0 * static_cast<double>(pair) /
                                                             static_cast<double>(d_model));
  return sine ? std::sin(angle) : std::cos(angle);
}

}  // namespace qkv::test::oracle
