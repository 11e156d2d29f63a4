#include "compare.hpp"

#include <algorithm>
#include <cstdio>

namespace qkv::test {

namespace {

/// In units of the bound; infinite where a number is missing.
double ratio_of(double computed, double exact, double bound) {
  if (!std::isfinite(bound) || bound < 0.0) {
    return INFINITY;
  }
  if (computed == exact) {
    return 0.0;
  }
  const double error = std::abs(computed - exact);
  return std::isfinite(error) ? error / bound : INFINITY;
}

/// With what precedes the numbers, as in a sentence.
std::string sentence(const Quantity& quantity, const char* format, double value, double limit) {
  char text[160];
  std::snprintf(text, sizeof(text), format, value, limit);
  return quantity.name() + ": " + text + "; " + quantity.worst();
}

}  // namespace

void Quantity::add(double computed, double exact, double bound, double scale) {
  const double ratio = ratio_of(computed, exact, bound);
  const std::size_t position = count_++;
  if (ratio > ratio_ || position == 0) {
    ratio_ = ratio;
    char text[160];
    std::snprintf(text, sizeof(text), "value %zu is %.9g, exactly %.17g, bound %.3g", position,
                  computed, exact, bound);
    worst_ = text;
  }
  if (scale != 0.0) {
    const double vacuity = bound / scale;
    vacuity_ = std::isnan(vacuity) || vacuity < 0.0 ? INFINITY : std::max(vacuity, vacuity_);
  }
}

std::string problem_with(const Quantity& quantity, Bounds bounds, const double* ceiling) {
  if (quantity.lacks_values()) {
    return quantity.name() + ": nothing was compared";
  }
  if (!(quantity.ratio() <= 1.0)) {
    return sentence(quantity, "error / bound is %.3g, at most 1 is allowed", quantity.ratio(), 1.0);
  }
  if (bounds == Bounds::kMeaningful && !(quantity.vacuity() <= bounds::kMeaningful)) {
    return sentence(quantity, "bound / size is %.3g, above %.3g it says nothing",
                    quantity.vacuity(), bounds::kMeaningful);
  }
  if (!ceiling) {
    return sentence(quantity, "error / bound is %.3g and has no ceiling in ceilings.def",
                    quantity.ratio(), 0.0);
  }
  if (quantity.ratio() > *ceiling) {
    return sentence(quantity, "error / bound is %.3g, its ceiling (ceilings.def) is %.3g",
                    quantity.ratio(), *ceiling);
  }
  return "";
}

namespace {

/// The bounds grow with the keys as if all roundings pointed one way, and the errors do not: of rows of
/// 256 keys a ceiling for all would allow 30 times what is measured. A sink that takes most of a row
/// costs its entropy 30 times more than others, well within the bound.
std::string family(const AttentionOptions& options, Index tk) {
  return std::string(options.sinks.absent() ? "" : ", sinks") + (tk < 64    ? ""
                                                                 : tk < 256 ? ", 64 keys or more"
                                                                            : ", 256 keys or more");
}

struct RowOutputs {
  RowOutputs(const std::string& what, const std::string& family)
      : lse(what + " lse", family),
        weights(what + " weights", family),
        tiny_weights(what + " weights < 2^-100", family),
        entropy(what + " entropy", family) {}

  Quantity lse, weights;
  Quantity tiny_weights;  // there the absolute part of the bound rules
  Quantity entropy;
};

/// What attention() and a layer write beside their main output; `Bound` is either's.
template <class Bound>
void compare_extras(const AttentionExtras& extras, oracle::RowId id, const oracle::Row& row,
                    const Bound& bound, RowOutputs& to) {
  const auto& [b, h, i] = id;
  const auto entropy_bound = [&] {
    if constexpr (requires { bound.entropy(); }) {
      return bound.entropy();
    } else {
      return bound.entropy(row.entropy);
    }
  };
  const bool empty = row.allowed == 0;
  if (!extras.lse.absent()) {
    const double computed = *extras.lse.at(b, h, i);
    empty ? to.lse.add_exact(computed, -INFINITY)
          : to.lse.add(computed, row.lse, bound.lse(row.lse), std::max(1.0, std::abs(row.lse)));
  }
  if (!extras.entropy.absent()) {
    const double computed = *extras.entropy.at(b, h, i);
    empty ? to.entropy.add_exact(computed, 0.0)
          : to.entropy.add(computed, row.entropy, entropy_bound(), 1.0);
  }
  const Index end = extras.weights.absent() ? 0 : extras.row_begin + extras.weights.extent(2);
  if (!extras.weights.absent() && i >= extras.row_begin && i < end) {
    for (std::size_t j = 0; j < row.weights.size(); ++j) {
      const double computed = *extras.weights.at(b, h, i - extras.row_begin, j);
      const double exact = row.weights[j];
      if (!row.readable[j]) {
        to.weights.add_exact(computed, 0.0);
      } else if (exact < 0x1p-100) {
        to.tiny_weights.add(computed, exact, bound.weight(exact));
      } else {
        to.weights.add(computed, exact, bound.weight(exact), exact);
      }
    }
  }
}

Comparison collect(Quantity main, const RowOutputs& rows, const AttentionExtras& extras) {
  Comparison comparison{{std::move(main)}};
  if (!extras.lse.absent()) {
    comparison.quantities.push_back(rows.lse);
  }
  if (!extras.weights.absent()) {
    // Weights may be all of one kind.
    Quantity weights = rows.weights;
    Quantity tiny_weights = rows.tiny_weights;
    (weights.lacks_values() ? weights : tiny_weights).may_be_empty();
    comparison.quantities.push_back(weights);
    comparison.quantities.push_back(tiny_weights);
  }
  if (!extras.entropy.absent()) {
    comparison.quantities.push_back(rows.entropy);
  }
  return comparison;
}

}  // namespace

Comparison compare_attention(const AttentionArgs& args) {
  const oracle::Inputs<float> inputs{args.q, args.k, args.v};
  const Index dv = args.v.extent(3);
  const std::string of = family(args.options, args.k.extent(2));
  Quantity out("attention out", of);
  RowOutputs rows("attention", of);
  for (Index b = 0; b < args.q.extent(0); ++b) {
    for (Index h = 0; h < args.q.extent(1); ++h) {
      for (Index i = 0; i < args.q.extent(2); ++i) {
        const oracle::Row row = oracle::attention_row(inputs, args.options, {b, h, i});
        const auto bound = bounds::attention(row, args.q.extent(3), args.k.extent(2));
        for (Index d = 0; d < dv; ++d) {
          const double computed = *args.out.at(b, h, i, d);
          row.allowed == 0 ? out.add_exact(computed, 0.0)
                           : out.add(computed, row.out[static_cast<std::size_t>(d)], bound.out(),
                                     row.value_size);
        }
        compare_extras(args.extras, {b, h, i}, row, bound, rows);
      }
    }
  }
  return collect(std::move(out), rows, args.extras);
}

namespace {

/// Errors of the projections of query row (b, h, i) and of what it may read, as bounds.hpp says.
bounds::LayerRowBound layer_row_bound(const oracle::LayerInputs& in, const oracle::Layer& exact,
                                      oracle::RowId id, const oracle::Row& row) {
  const auto& c = in.c;
  const Index batch = in.x.extent(0);
  const Index tq = in.x.extent(1);
  const Index tk = in.context.extent(1);
  const Index kv = id.h / (c.num_heads / c.num_kv_heads);
  const auto q = oracle::heads(exact.q.value, batch, tq, c.num_heads);
  const auto k = oracle::heads(exact.k.value, batch, tk, c.num_kv_heads);
  const auto q_error = oracle::heads(exact.q.error, batch, tq, c.num_heads);
  const auto k_error = oracle::heads(exact.k.error, batch, tk, c.num_kv_heads);
  const auto v_error = oracle::heads(exact.v.error, batch, tk, c.num_kv_heads);
  const double scale = in.options.scale ? std::abs(static_cast<double>(*in.options.scale))
                                        : 1.0 / std::sqrt(static_cast<double>(c.d_k));
  double logit_shift = 0.0;
  double value_shift = 0.0;
  for (Index j = 0; j < tk; ++j) {
    if (!oracle::may_read(in.options, id, j)) {
      continue;
    }
    double shift = 0.0;
    for (Index d = 0; d < c.d_k; ++d) {
      const double eq = *q_error.at(id.b, id.h, id.i, d);
      const double ek = *k_error.at(id.b, kv, j, d);
      shift += std::abs(*q.at(id.b, id.h, id.i, d)) * ek + eq * std::abs(*k.at(id.b, kv, j, d)) +
               eq * ek;
    }
    logit_shift =
        std::max(logit_shift, scale * shift / static_cast<double>(in.options.temperature));
    for (Index d = 0; d < c.d_v; ++d) {
      value_shift = std::max(value_shift, *v_error.at(id.b, kv, j, d));
    }
  }
  auto kernel = bounds::attention(row, c.d_k, tk);
  kernel.logit_size += logit_shift;
  kernel.value_size += value_shift;
  return {kernel, logit_shift, value_shift, row.value_size};
}

}  // namespace

Comparison compare_layer(const oracle::LayerInputs& in, const LayerOutputs& computed) {
  return compare_layer(in, computed, oracle::layer(in));
}

Comparison compare_layer(const oracle::LayerInputs& in, const LayerOutputs& computed,
                         const oracle::Layer& exact) {
  const auto& c = in.c;
  const Index batch = in.x.extent(0);
  const Index tq = in.x.extent(1);
  const std::string of = family(in.options, in.context.extent(1));
  RowOutputs rows("layer", of);
  std::vector<double> o_error(exact.o.size());
  std::size_t next = 0;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < c.num_heads; ++h) {
      for (Index i = 0; i < tq; ++i) {
        const oracle::Row& row = exact.rows[next++];
        const auto bound = layer_row_bound(in, exact, {b, h, i}, row);
        compare_extras(computed.extras, {b, h, i}, row, bound, rows);
        for (Index d = 0; d < c.d_v; ++d) {
          o_error[static_cast<std::size_t>(((b * tq + i) * c.num_heads + h) * c.d_v + d)] =
              row.allowed == 0 ? 0.0 : bound.out();
        }
      }
    }
  }
  Quantity y("layer y", of);
  const Index width = c.num_heads * c.d_v;
  for (Index r = 0; r < batch * tq; ++r) {
    for (Index m = 0; m < c.d_model; ++m) {
      const auto at = static_cast<std::size_t>(r * c.d_model + m);
      double carried = 0.0;
      for (Index i = 0; i < width; ++i) {
        carried += o_error[static_cast<std::size_t>(r * width + i)] *
                   std::abs(static_cast<double>(*in.w.wo.at(i, m)));
      }
      const double size = exact.y.size[at];
      y.add(computed.y.data[at], exact.y.value[at],
            carried + bounds::product(width, size + carried), size);
    }
  }
  return collect(std::move(y), rows, computed.extras);
}

std::string first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) {
    return "sizes " + std::to_string(a.size()) + " and " + std::to_string(b.size());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto bits_a = std::bit_cast<std::uint32_t>(a[i]);
    const auto bits_b = std::bit_cast<std::uint32_t>(b[i]);
    if (bits_a != bits_b) {
      char text[120];
      std::snprintf(text, sizeof(text), "at %zu: %.9g (%08x) and %.9g (%08x)", i,
                    static_cast<double>(a[i]), bits_a, static_cast<double>(b[i]), bits_b);
      return text;
    }
  }
  return "";
}

std::vector<float> values_of(const TensorView<const float>& view) {
  std::vector<float> values;
  std::array<Index, 4> shape{1, 1, 1, 1};
  std::array<Index, 4> strides{};
  for (int axis = 0; axis < view.rank; ++axis) {
    const auto to = static_cast<std::size_t>(4 - view.rank + axis);
    shape[to] = view.extent(axis);
    strides[to] = view.stride(axis);
  }
  for (Index a = 0; a < shape[0]; ++a) {
    for (Index b = 0; b < shape[1]; ++b) {
      for (Index c = 0; c < shape[2]; ++c) {
        for (Index d = 0; d < shape[3]; ++d) {
          values.push_back(
              view.data[a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]]);
        }
      }
    }
  }
  return values;
}

}  // namespace qkv::test
