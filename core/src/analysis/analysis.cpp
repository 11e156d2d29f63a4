#include "qkv/analysis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/double_scratch.hpp"
#include "base/portable_math.hpp"
#include "check/check.hpp"

namespace qkv {
namespace {

/// -sum w ln w over n weights.
double entropy_of(const float* weights, Index n) noexcept {
  double sum = 0.0;
  for (Index j = 0; j < n; ++j) {
    sum += entropy_term(static_cast<double>(weights[j]));
  }
  return sum;
}

Status check_row_shapes(const char* function, const TensorView<const float>& weights,
                        const TensorView<float>& out) noexcept {
  QKV_RETURN_IF_ERROR(check_rank(function, "weights", weights.rank));
  constexpr std::array<Index, 4> kAll = {kAny, kAny, kAny, kAny};
  QKV_RETURN_IF_ERROR(check_array(function, "weights", weights, {kAll, weights.rank}));
  std::array<Index, 4> rows = weights.shape;
  rows[0] = weights.rank == 1 ? 1 : rows[0];
  QKV_RETURN_IF_ERROR(check_output(function, "out", out, {rows, std::max(weights.rank - 1, 1)}));
  return check_apart(function, {{"out", out}}, {{"weights", weights}});
}

/// The same array with rank 4; its last axis becomes axis `last`, and the axes that it lacks have one element each.
template <class T>
TensorView<T> widened(const TensorView<T>& view, int last) noexcept {
  TensorView<T> wide(view.data, {1, 1, 1, 1});
  for (int axis = 0; axis < view.rank; ++axis) {
    const int place = last + 1 - view.rank + axis;
    const auto to = static_cast<std::size_t>(place);
    wide.shape[to] = view.extent(axis);
    wide.strides[to] = view.stride(axis);
  }
  return wide;
}

/// The four numbers of a head, as sums over its rows.
struct Sums {
  double entropy = 0.0, distance = 0.0, max_weight = 0.0, first_key = 0.0;
};

/// The greater; NaN if either is.
float greater(float a, float b) noexcept { return b > a || std::isnan(b) ? b : a; }

/// `position` is that of the query, key 0 being at 0.
void add_row(const float* weights, Index tk, double position, Sums& sums) noexcept {
  float most = weights[0];
  double distance = 0.0;
  for (Index j = 0; j < tk; ++j) {
    most = greater(most, weights[j]);
    distance += static_cast<double>(weights[j]) * std::fabs(position - static_cast<double>(j));
  }
  sums.entropy += entropy_of(weights, tk);
  sums.distance += distance;
  sums.max_weight += static_cast<double>(most);
  sums.first_key += static_cast<double>(weights[0]);
}

Sums head_sums(const TensorView<const float>& weights, Index b, Index h, Index offset) noexcept {
  Sums sums;
  for (Index i = 0; weights.extent(3) > 0 && i < weights.extent(2); ++i) {
    add_row(weights.at(b, h, i), weights.extent(3),
            static_cast<double>(i) + static_cast<double>(offset), sums);
  }
  return sums;
}

/// Row i of A_l times its sum, which is returned.
double layer_row(const TensorView<const float>& weights, Index layer, Index i,
                 double* row) noexcept {
  const Index heads = weights.extent(1);
  const Index t = weights.extent(3);
  std::fill_n(row, t, 0.0);
  for (Index h = 0; h < heads; ++h) {
    const float* w = weights.at(layer, h, i);
    for (Index j = 0; j < t; ++j) {
      row[j] += static_cast<double>(w[j]);
    }
  }
  row[i] += static_cast<double>(heads);  // all times 2 H, which the division takes out
  double sum = 0.0;
  for (Index j = 0; j < t; ++j) {
    sum += row[j];
  }
  return sum;
}

}  // namespace

Status row_entropy(TensorView<const float> weights, TensorView<float> out) noexcept {
  QKV_RETURN_IF_ERROR(check_row_shapes("row_entropy", weights, out));
  if (out.size() == 0) {
    return {};  // without walking along axes that may be any length
  }
  const TensorView<const float> wide = widened(weights, 3);
  const TensorView<float> results = widened(out, 2);
  for (Index a = 0; a < wide.extent(0); ++a) {
    for (Index b = 0; b < wide.extent(1); ++b) {
      for (Index c = 0; c < wide.extent(2); ++c) {
        // Rows without elements have no address.
        const double entropy =
            wide.extent(3) > 0 ? entropy_of(wide.at(a, b, c), wide.extent(3)) : 0.0;
        *results.at(a, b, c) = static_cast<float>(entropy);
      }
    }
  }
  return {};
}

Status head_statistics(TensorView<const float> weights, const HeadStatistics& out,
                       Index offset) noexcept {
  constexpr const char* kName = "head_statistics";
  QKV_RETURN_IF_ERROR(check_array(kName, "weights", weights, {kAny, kAny, kAny, kAny}));
  const struct {
    const char* name;
    const TensorView<float>& view;
    double Sums::* sum;
  } parts[] = {{"entropy", out.entropy, &Sums::entropy},
               {"distance", out.distance, &Sums::distance},
               {"max_weight", out.max_weight, &Sums::max_weight},
               {"first_key", out.first_key, &Sums::first_key}};
  for (const auto& part : parts) {
    QKV_RETURN_IF_ERROR(
        check_output_if_given(kName, part.name, part.view, {weights.extent(0), weights.extent(1)}));
  }
  QKV_RETURN_IF_ERROR(check_apart(kName,
                                  {{"entropy", out.entropy},
                                   {"distance", out.distance},
                                   {"max_weight", out.max_weight},
                                   {"first_key", out.first_key}},
                                  {{"weights", weights}}));
  const bool wanted = std::any_of(std::begin(parts), std::end(parts), [](const auto& part) {
    return !part.view.absent() && part.view.size() > 0;
  });
  if (!wanted) {
    return {};  // without walking along axes that may be any length
  }
  const double rows = weights.extent(2) > 0 ? static_cast<double>(weights.extent(2)) : 1.0;
  for (Index b = 0; b < weights.extent(0); ++b) {
    for (Index h = 0; h < weights.extent(1); ++h) {
      const Sums sums = head_sums(weights, b, h, offset);
      for (const auto& part : parts) {
        if (!part.view.absent()) {
          *part.view.at(b, h) = static_cast<float>(sums.*part.sum / rows);
        }
      }
    }
  }
  return {};
}

Status attention_rollout(TensorView<const float> weights, TensorView<float> out,
                         Workspace& workspace) noexcept {
  constexpr const char* kName = "attention_rollout";
  std::array<Index, 4> expected = {kAny, kAny, kAny, kAny};
  QKV_RETURN_IF_ERROR(check_array(kName, "weights", weights, {expected, 4}));
  const Index t = weights.extent(3);
  expected = {kAny, kAny, t, t};
  QKV_RETURN_IF_ERROR(check_array(kName, "weights", weights, {expected, 4}));
  if (weights.extent(1) == 0) {
    return refuse(StatusCode::kShapeMismatch, kName, "@weights is {}, expected at least 1 head",
                  Extents(weights));
  }
  QKV_RETURN_IF_ERROR(check_output(kName, "out", out, {t, t}));
  if (t == 0) {
    return {};  // however many layers
  }
  double* row = nullptr;
  QKV_RETURN_IF_ERROR(begin_doubles(workspace, t, detail::saturated_sum(t, t + 1), row));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"out", out}}, {{"weights", weights}}));
  double* rolled = row + t;
  double* next = rolled + t * t;
  for (Index i = 0; i < t * t; ++i) {
    rolled[i] = i % (t + 1) == 0 ? 1.0 : 0.0;
  }
  for (Index layer = 0; layer < weights.extent(0); ++layer) {
    for (Index i = 0; i < t; ++i) {
      const double sum = layer_row(weights, layer, i, row);
      std::fill_n(next + i * t, t, 0.0);
      for (Index k = 0; k < t; ++k) {
        add_times(row[k] / sum, rolled + k * t, t, next + i * t);
      }
    }
    std::swap(rolled, next);
  }
  for (Index i = 0; i < t; ++i) {
    for (Index j = 0; j < t; ++j) {
      *out.at(i, j) = static_cast<float>(rolled[i * t + j]);
    }
  }
  return {};
}

}  // namespace qkv
