// Additive attention in double precision, written from the formulas, and calls of it that own their arrays.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "oracle.hpp"
#include "problem.hpp"
#include "qkv/train/additive_attention.hpp"

namespace qkv::test {

using Doubles = std::vector<double>;

struct AdditiveSizes {
  Index batch, tq, tk, da, dv;
};

/// Numbers of a call with projected queries and keys.
struct AdditiveNumbers {
  Doubles q, k, v, values;
};

/// Its gradients and the sizes that their rounding errors are proportional to (M in the header).
struct AdditiveGradients {
  oracle::Product dq, dk, dv, d_values;
};

/// e_ij = v . tanh(q_i + k_j), a = softmax over the keys in use, c_i = sum_j a_ij value_j.
class ExactAdditive {
 public:
  /// `lengths` is empty for all keys.
  ExactAdditive(const AdditiveSizes& sizes, const AdditiveNumbers& numbers,
                std::vector<std::int32_t> lengths)
      : s_(sizes), a_(numbers), lengths_(std::move(lengths)) {}

  [[nodiscard]] Index keys(Index b) const {
    return lengths_.empty() ? s_.tk : Index{lengths_[at(b)]};
  }
  [[nodiscard]] double tangent(Index b, Index i, Index j, Index d) const {
    return std::tanh(a_.q[at((b * s_.tq + i) * s_.da + d)] + a_.k[at((b * s_.tk + j) * s_.da + d)]);
  }
  /// [B, Tq, Tk].
  [[nodiscard]] Doubles weights() const {
    Doubles to(at(s_.batch * s_.tq * s_.tk));
    for (Index b = 0; b < s_.batch; ++b) {
      for (Index i = 0; i < s_.tq; ++i) {
        double* row = to.data() + (b * s_.tq + i) * s_.tk;
        double total = 0.0;
        for (Index j = 0; j < keys(b); ++j) {
          double score = 0.0;
          for (Index d = 0; d < s_.da; ++d) {
            score += a_.v[at(d)] * tangent(b, i, j, d);
          }
          row[j] = std::exp(score);  // scores of tests are small
          total += row[j];
        }
        for (Index j = 0; j < keys(b); ++j) {
          row[j] /= total;
        }
      }
    }
    return to;
  }
  /// [B, Tq, d_v]: of these weights, with the sizes of the terms.
  [[nodiscard]] oracle::Product context(const Doubles& weights) const {
    oracle::Product to = zeros(s_.batch * s_.tq * s_.dv);
    for_pairs([&](Index b, Index i, Index j) {
      for (Index c = 0; c < s_.dv; ++c) {
        add(to, (b * s_.tq + i) * s_.dv + c,
            weights[at((b * s_.tq + i) * s_.tk + j)] * value(b, j, c));
      }
    });
    return to;
  }
  [[nodiscard]] double loss(const Doubles& d_context) const {
    const oracle::Product of = context(weights());
    double sum = 0.0;
    for (std::size_t i = 0; i < d_context.size(); ++i) {
      sum += d_context[i] * of.value[i];
    }
    return sum;
  }
  /// Of loss(d_context), for weights that weights() or the library gave.
  [[nodiscard]] AdditiveGradients gradients(const Doubles& d_context, const Doubles& a) const {
    AdditiveGradients to{zeros(s_.batch * s_.tq * s_.da), zeros(s_.batch * s_.tk * s_.da),
                         zeros(s_.da), zeros(s_.batch * s_.tk * s_.dv)};
    // dA and G of each pair, and their means over the keys of a row.
    const oracle::Product of = products(d_context);
    oracle::Product mean = zeros(s_.batch * s_.tq);
    for_pairs([&](Index b, Index i, Index j) {
      const std::size_t pair = at((b * s_.tq + i) * s_.tk + j);
      mean.value[at(b * s_.tq + i)] += a[pair] * of.value[pair];
      mean.size[at(b * s_.tq + i)] += a[pair] * of.size[pair];
    });
    for_pairs([&](Index b, Index i, Index j) {
      const std::size_t pair = at((b * s_.tq + i) * s_.tk + j);
      const std::size_t row = at(b * s_.tq + i);
      const double de = a[pair] * (of.value[pair] - mean.value[row]);
      const double size = a[pair] * (of.size[pair] + mean.size[row]);
      for (Index d = 0; d < s_.da; ++d) {
        const double t = tangent(b, i, j, d);
        const double v = a_.v[at(d)];
        add(to.dq, (b * s_.tq + i) * s_.da + d, v * de * (1 - t * t), std::abs(v) * size);
        add(to.dk, (b * s_.tk + j) * s_.da + d, v * de * (1 - t * t), std::abs(v) * size);
        add(to.dv, d, de * t, size);
      }
      for (Index c = 0; c < s_.dv; ++c) {
        add(to.d_values, (b * s_.tk + j) * s_.dv + c,
            a[pair] * d_context[at((b * s_.tq + i) * s_.dv + c)]);
      }
    });
    return to;
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  static oracle::Product zeros(Index n) { return {Doubles(at(n)), Doubles(at(n))}; }
  static void add(oracle::Product& to, Index i, double term, double size) {
    to.value[at(i)] += term;
    to.size[at(i)] += size;
  }
  static void add(oracle::Product& to, Index i, double term) { add(to, i, term, std::abs(term)); }
  [[nodiscard]] double value(Index b, Index j, Index c) const {
    return a_.values[at((b * s_.tk + j) * s_.dv + c)];
  }
  /// Every pair whose key is in use.
  template <class F>
  void for_pairs(const F& f) const {
    for (Index b = 0; b < s_.batch; ++b) {
      for (Index i = 0; i < s_.tq; ++i) {
        for (Index j = 0; j < keys(b); ++j) {
          f(b, i, j);
        }
      }
    }
  }
  [[nodiscard]] oracle::Product products(const Doubles& d_context) const {
    oracle::Product to = zeros(s_.batch * s_.tq * s_.tk);
    for_pairs([&](Index b, Index i, Index j) {
      for (Index c = 0; c < s_.dv; ++c) {
        add(to, (b * s_.tq + i) * s_.tk + j,
            d_context[at((b * s_.tq + i) * s_.dv + c)] * value(b, j, c));
      }
    });
    return to;
  }

  const AdditiveSizes s_;
  const AdditiveNumbers& a_;
  const std::vector<std::int32_t> lengths_;
};

/// A call with projected queries and keys, forward and backward.
struct AdditiveProblem {
  AdditiveProblem(const AdditiveSizes& sizes, std::uint64_t seed) : s(sizes) {
    Random random(seed);
    q = random_floats(random, s.batch * s.tq * s.da);
    k = random_floats(random, s.batch * s.tk * s.da);
    v = random_floats(random, s.da);
    values = random_floats(random, s.batch * s.tk * s.dv);
    d_context = random_floats(random, s.batch * s.tq * s.dv);
    context.assign(d_context.size(), kUntouched);
    weights.assign(static_cast<std::size_t>(s.batch * s.tq * s.tk), kUntouched);
    dq.assign(q.size(), kUntouched);
    dk.assign(k.size(), kUntouched);
    dv.assign(v.size(), kUntouched);
    d_values.assign(values.size(), kUntouched);
  }
  [[nodiscard]] train::ProjectedAdditiveArgs forward() {
    return {.q = {q.data(), {s.batch, s.tq, s.da}},
            .k = {k.data(), {s.batch, s.tk, s.da}},
            .v = {v.data(), {s.da}},
            .values = {values.data(), {s.batch, s.tk, s.dv}},
            .key_lengths = lengths_view(),
            .context = {context.data(), {s.batch, s.tq, s.dv}},
            .weights = {weights.data(), {s.batch, s.tq, s.tk}}};
  }
  [[nodiscard]] train::ProjectedAdditiveBackwardArgs backward() {
    const train::ProjectedAdditiveArgs f = forward();
    return {.d_context = {d_context.data(), {s.batch, s.tq, s.dv}},
            .q = f.q,
            .k = f.k,
            .v = f.v,
            .values = f.values,
            .key_lengths = f.key_lengths,
            .weights = f.weights,
            .dq = {dq.data(), {s.batch, s.tq, s.da}},
            .dk = {dk.data(), {s.batch, s.tk, s.da}},
            .dv = {dv.data(), {s.da}},
            .d_values = {d_values.data(), {s.batch, s.tk, s.dv}}};
  }
  void run() {
    require_ok(train::projected_additive_attention(forward(), workspace));
    require_ok(train::projected_additive_attention_backward(backward(), workspace));
  }
  [[nodiscard]] AdditiveNumbers numbers() const {
    return {{q.begin(), q.end()},
            {k.begin(), k.end()},
            {v.begin(), v.end()},
            {values.begin(), values.end()}};
  }

  /// All that they write.
  [[nodiscard]] std::vector<float> written() const {
    return joined({&context, &weights, &dq, &dk, &dv, &d_values});
  }

  AdditiveSizes s;
  Workspace workspace;
  std::vector<std::int32_t> lengths;  ///< empty for all keys
  std::vector<float> q, k, v, values, d_context, context, weights, dq, dk, dv, d_values;

 private:
  [[nodiscard]] TensorView<const std::int32_t> lengths_view() const {
    return lengths.empty() ? TensorView<const std::int32_t>{}
                           : TensorView<const std::int32_t>(lengths.data(), {s.batch});
  }
};

/// Sizes of a call with its projections.
struct AdditiveLayerSizes {
  AdditiveSizes of;
  Index ds, dh;
};

/// A call with its projections, forward and backward.
struct AdditiveLayerProblem {
  AdditiveLayerProblem(const AdditiveLayerSizes& sizes, std::uint64_t seed) : size(sizes) {
    const AdditiveSizes& of = size.of;
    Random random(seed);
    s = random_floats(random, of.batch * of.tq * size.ds);
    h = random_floats(random, of.batch * of.tk * size.dh);
    w = random_floats(random, size.ds * of.da, 0.5F);
    u = random_floats(random, size.dh * of.da, 0.5F);
    v = random_floats(random, of.da);
    values = random_floats(random, of.batch * of.tk * of.dv);
    d_context = random_floats(random, of.batch * of.tq * of.dv);
    context.assign(d_context.size(), kUntouched);
    weights.assign(static_cast<std::size_t>(of.batch * of.tq * of.tk), kUntouched);
    for (auto [gradient, array] :
         {std::pair{&ds, &s}, {&dh, &h}, {&dw, &w}, {&du, &u}, {&dv, &v}, {&d_values, &values}}) {
      gradient->assign(array->size(), kUntouched);
    }
  }
  [[nodiscard]] train::AdditiveAttentionArgs forward() {
    const AdditiveSizes& of = size.of;
    train::AdditiveAttentionArgs args{
        .s = {s.data(), {of.batch, of.tq, size.ds}},
        .h = {h.data(), {of.batch, of.tk, size.dh}},
        .score = {{w.data(), {size.ds, of.da}}, {u.data(), {size.dh, of.da}}, {v.data(), {of.da}}},
        .values = {values.data(), {of.batch, of.tk, of.dv}},
        .context = {context.data(), {of.batch, of.tq, of.dv}},
        .weights = {weights.data(), {of.batch, of.tq, of.tk}}};
    if (!lengths.empty()) {
      args.key_lengths = {lengths.data(), {of.batch}};
    }
    return args;
  }
  [[nodiscard]] train::AdditiveAttentionBackwardArgs backward() {
    const AdditiveSizes& of = size.of;
    const train::AdditiveAttentionArgs f = forward();
    return {.d_context = {d_context.data(), {of.batch, of.tq, of.dv}},
            .s = f.s,
            .h = f.h,
            .score = f.score,
            .values = f.values,
            .key_lengths = f.key_lengths,
            .weights = f.weights,
            .ds = {ds.data(), {of.batch, of.tq, size.ds}},
            .dh = {dh.data(), {of.batch, of.tk, size.dh}},
            .d_values = {d_values.data(), {of.batch, of.tk, of.dv}},
            .dw = {dw.data(), {size.ds, of.da}},
            .du = {du.data(), {size.dh, of.da}},
            .dv = {dv.data(), {of.da}}};
  }
  void run() {
    require_ok(train::additive_attention(forward(), workspace));
    require_ok(train::additive_attention_backward(backward(), workspace));
  }

  /// All that they write.
  [[nodiscard]] std::vector<float> written() const {
    return joined({&context, &weights, &ds, &dh, &dw, &du, &dv, &d_values});
  }

  AdditiveLayerSizes size;
  Workspace workspace;
  std::vector<std::int32_t> lengths;
  std::vector<float> s, h, w, u, v, values, d_context, context, weights;
  std::vector<float> ds, dh, dw, du, dv, d_values;
};

}  // namespace qkv::test
