// Gradients in double precision, one plain loop after another, written from the formulas. A test holds them to central
// differences of the forward oracle.
#pragma once

#include "oracle.hpp"

namespace qkv::test::oracle {

/// Gradients of attention() and, for each element, the sizes that its rounding errors are proportional to
/// (qkv/train/attention.hpp).
struct AttentionGradients {
  Product dq, dk, dv, d_bias, d_sinks;
  double logit_size = 0.0;  ///< A, of the row where it is greatest
};

/// What attention_gradients() differentiates. `dropout` is the mask divided by 1 - rate, [B, Hq, Tq, Tk]; empty for none.
/// `weights`, before dropout and of the same shape, take the place of the exact ones; empty for these.
template <class T>
struct AttentionCall {
  Inputs<T> in;
  const AttentionOptions& options;
  TensorView<const float> d_out;
  std::vector<double> dropout = {};
  std::vector<double> weights = {};
};

namespace detail {

inline Product zeros(Index n) {
  Product p;
  p.value.assign(static_cast<std::size_t>(n), 0.0);
  p.size.assign(static_cast<std::size_t>(n), 0.0);
  return p;
}

inline void add(Product& to, Index at, double value, double size) {
  to.value[static_cast<std::size_t>(at)] += value;
  to.size[static_cast<std::size_t>(at)] += size;
}

/// Where element (row, j) of a broadcast array counts, in row-major order of the array's own shape.
inline Index broadcast_index(const TensorView<const float>& view, RowId row, Index j) {
  const Index at[4] = {row.b, row.h, row.i, j};
  Index index = 0;
  for (int axis = 0; axis < view.rank; ++axis) {
    const Index extent = view.extent(axis);
    index = index * extent + (extent == 1 ? 0 : at[4 - view.rank + axis]);
  }
  return index;
}

/// The gradients that one query row gives.
template <class T>
void differentiate_row(const AttentionCall<T>& call, RowId at, AttentionGradients& to) {
  const auto& [q, k, v] = call.in;
  const AttentionOptions& options = call.options;
  const Index tk = k.extent(2);
  const Index dk = q.extent(3);
  const Index dv = v.extent(3);
  const Index kv = at.h / (q.extent(1) / k.extent(1));
  Row row = attention_row(call.in, options, at);
  if (row.allowed == 0) {
    return;
  }
  to.logit_size = std::max(to.logit_size, row.logit_size);
  const double scale = options.scale ? static_cast<double>(*options.scale)
                                     : 1.0 / std::sqrt(static_cast<double>(dk));
  const double temperature = options.temperature;
  const Index rows_before = (at.b * q.extent(1) + at.h) * q.extent(2) + at.i;
  double of_keys = 0.0;
  for (Index j = 0; !call.weights.empty() && j < tk; ++j) {
    const auto n = static_cast<std::size_t>(j);
    row.weights[n] = call.weights[static_cast<std::size_t>(rows_before * tk + j)];
    of_keys += row.weights[n];
  }
  const auto d_out = [&](Index d) {
    return static_cast<double>(*call.d_out.at(at.b, at.h, at.i, d));
  };
  const auto kept = [&](Index j) {
    return call.dropout.empty() ? 1.0
                                : call.dropout[static_cast<std::size_t>(rows_before * tk + j)];
  };
  double keep_most = 1.0;
  std::vector<double> dp(static_cast<std::size_t>(tk));
  std::vector<double> dp_size(static_cast<std::size_t>(tk));
  double delta = 0.0;
  double d_out_size = 0.0;
  for (Index d = 0; d < dv; ++d) {
    d_out_size += std::abs(d_out(d));
  }
  for (Index j = 0; j < tk; ++j) {
    if (!row.readable[static_cast<std::size_t>(j)]) {
      continue;
    }
    double dot = 0.0;
    double size = 0.0;
    for (Index d = 0; d < dv; ++d) {
      const double product = d_out(d) * static_cast<double>(*v.at(at.b, kv, j, d));
      dot += product;
      size += std::abs(product);
    }
    keep_most = std::max(keep_most, kept(j));
    dp[static_cast<std::size_t>(j)] = kept(j) * dot;
    dp_size[static_cast<std::size_t>(j)] = size;
    delta += row.weights[static_cast<std::size_t>(j)] * kept(j) * dot;
  }
  const double delta_size = d_out_size * row.value_size * keep_most;
  for (Index j = 0; j < tk; ++j) {
    const auto n = static_cast<std::size_t>(j);
    if (!row.readable[n]) {
      continue;
    }
    const double p = row.weights[n];
    const double ds = p * (dp[n] - delta) / temperature;
    const double size = p * (dp_size[n] * keep_most + delta_size * keep_most);
    double product = 0.0;
    for (Index d = 0; d < dk; ++d) {
      product += static_cast<double>(*q.at(at.b, at.h, at.i, d)) *
                 static_cast<double>(*k.at(at.b, kv, j, d));
    }
    const double cap = options.softcap;
    const double t = cap > 0 ? std::tanh(scale * product / cap) : 0.0;
    const double through = ds * (1.0 - t * t);
    const Index key = (at.b * k.extent(1) + kv) * tk + j;
    for (Index d = 0; d < dk; ++d) {
      const double of_q = *q.at(at.b, at.h, at.i, d);
      const double of_k = *k.at(at.b, kv, j, d);
      add(to.dq, rows_before * dk + d, scale * through * of_k,
          std::abs(scale * of_k) * size / temperature);
      add(to.dk, key * dk + d, scale * through * of_q, std::abs(scale * of_q) * size / temperature);
    }
    for (Index d = 0; d < dv; ++d) {
      add(to.dv, key * dv + d, p * kept(j) * d_out(d), p * keep_most * std::abs(d_out(d)));
    }
    if (!options.bias.absent()) {
      add(to.d_bias, broadcast_index(options.bias, at, j), ds, size / temperature);
    }
  }
  if (!options.sinks.absent()) {
    const double p = call.weights.empty()
                         ? std::exp(static_cast<double>(*options.sinks.at(at.h)) - row.lse)
                         : 1.0 - of_keys;
    add(to.d_sinks, at.h, -p * delta, p * delta_size);
  }
}

}  // namespace detail

template <class T>
AttentionGradients attention_gradients(const AttentionCall<T>& call) {
  const auto& [q, k, v] = call.in;
  AttentionGradients to;
  to.dq = detail::zeros(q.size());
  to.dk = detail::zeros(k.size());
  to.dv = detail::zeros(v.size());
  to.d_bias = detail::zeros(call.options.bias.absent() ? 0 : call.options.bias.size());
  to.d_sinks = detail::zeros(call.options.sinks.absent() ? 0 : q.extent(1));
  for (Index b = 0; b < q.extent(0); ++b) {
    for (Index h = 0; h < q.extent(1); ++h) {
      for (Index i = 0; i < q.extent(2); ++i) {
        detail::differentiate_row(call, {b, h, i}, to);
      }
    }
  }
  return to;
}

}  // namespace qkv::test::oracle
