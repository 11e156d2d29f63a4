#include "qkv/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <new>
#include <utility>

#include "check.hpp"
#include "float_count.hpp"
#include "kernels/log.hpp"

namespace qkv {
namespace {

/// -sum w ln w over n weights.
double entropy_of(const float* weights, Index n) noexcept {
  double sum = 0.0;
  for (Index j = 0; j < n; ++j) {
    const auto w = static_cast<double>(weights[j]);
    sum -= w == 0.0 ? 0.0 : w * kernels::natural_log(w);
  }
  return sum;
}

Status check_row_shapes(const char* function, const TensorView<const float>& weights,
                        const TensorView<float>& out) noexcept {
  const auto check = [&](std::initializer_list<Index> rows, std::initializer_list<Index> all) {
    QKV_RETURN_IF_ERROR(check_array(function, "weights", weights, all));
    QKV_RETURN_IF_ERROR(check_output(function, "out", out, rows));
    return check_apart(function, {{"out", out}}, {{"weights", weights}});
  };
  switch (weights.rank) {
    case 1:
      return check({1}, {kAny});
    case 2:
      return check({weights.extent(0)}, {kAny, kAny});
    case 3:
      return check({weights.extent(0), weights.extent(1)}, {kAny, kAny, kAny});
    case 4:
      return check({weights.extent(0), weights.extent(1), weights.extent(2)},
                   {kAny, kAny, kAny, kAny});
    default:
      return check_rank(function, "weights", weights.rank);
  }
}

/// The same array with rank 4; the axes in front have one element each.
TensorView<const float> widened(const TensorView<const float>& view) noexcept {
  TensorView<const float> wide(view.data, {1, 1, 1, 1});
  for (int axis = 0; axis < view.rank; ++axis) {
    const std::size_t to =
        static_cast<std::size_t>(axis) + 4U - static_cast<std::size_t>(view.rank);
    wide.shape[to] = view.extent(axis);
    wide.strides[to] = view.stride(axis);
  }
  return wide;
}

/// Address of the result of row (a, b, c) of the widened weights.
float* row_result(const TensorView<float>& out, int weights_rank, Index a, Index b,
                  Index c) noexcept {
  switch (weights_rank) {
    case 1:
      return out.at(0);
    case 2:
      return out.at(c);
    case 3:
      return out.at(b, c);
    default:
      return out.at(a, b, c);
  }
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

/// a * b as doubles take floats of a workspace, or the most it can be asked for.
std::size_t doubles(Index a, Index b) noexcept {
  return Workspace::padded(capped_product(2, capped_product(a, b)));
}

double* take_doubles(Workspace& workspace, std::size_t floats) noexcept {
  return new (static_cast<void*>(workspace.take(floats))) double[floats / 2];
}

/// Row i of A_l.
void layer_row(const TensorView<const float>& weights, Index layer, Index i, double* row) noexcept {
  const Index heads = weights.extent(1);
  const Index t = weights.extent(3);
  for (Index j = 0; j < t; ++j) {
    row[j] = 0.0;
  }
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
  for (Index j = 0; j < t; ++j) {
    row[j] /= sum;
  }
}

/// to = row * matrix, both of size t.
void times(const double* row, const double* matrix, Index t, double* to) noexcept {
  for (Index j = 0; j < t; ++j) {
    to[j] = 0.0;
  }
  for (Index k = 0; k < t; ++k) {
    const double factor = row[k];
    const double* from = matrix + k * t;
    for (Index j = 0; j < t; ++j) {
      to[j] += factor * from[j];
    }
  }
}

}  // namespace

Status row_entropy(TensorView<const float> weights, TensorView<float> out) noexcept {
  QKV_RETURN_IF_ERROR(check_row_shapes("row_entropy", weights, out));
  if (out.size() == 0) {
    return {};  // without walking along axes that may be any length
  }
  const TensorView<const float> wide = widened(weights);
  for (Index a = 0; a < wide.extent(0); ++a) {
    for (Index b = 0; b < wide.extent(1); ++b) {
      for (Index c = 0; c < wide.extent(2); ++c) {
        // Rows without elements have no address.
        const double entropy =
            wide.extent(3) > 0 ? entropy_of(wide.at(a, b, c), wide.extent(3)) : 0.0;
        *row_result(out, weights.rank, a, b, c) = static_cast<float>(entropy);
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
    if (!part.view.absent()) {
      QKV_RETURN_IF_ERROR(
          check_output(kName, part.name, part.view, {weights.extent(0), weights.extent(1)}));
    }
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
  QKV_RETURN_IF_ERROR(check_array(kName, "weights", weights, {kAny, kAny, kAny, kAny}));
  const Index t = weights.extent(3);
  QKV_RETURN_IF_ERROR(check_array(kName, "weights", weights, {kAny, kAny, t, t}));
  if (weights.extent(1) == 0) {
    return refuse(StatusCode::kShapeMismatch, kName, "@weights is {}, expected at least 1 head",
                  Extents(weights));
  }
  QKV_RETURN_IF_ERROR(check_output(kName, "out", out, {t, t}));
  if (t == 0) {
    return {};
  }
  const std::size_t matrix = doubles(t, t);
  const std::size_t row_size = doubles(t, 1);
  QKV_RETURN_IF_ERROR(workspace.begin(capped_sum({matrix, matrix, row_size})));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"out", out}}, {{"weights", weights}}));
  double* rolled = take_doubles(workspace, matrix);
  double* next = take_doubles(workspace, matrix);
  double* row = take_doubles(workspace, row_size);
  for (Index i = 0; i < t * t; ++i) {
    rolled[i] = i % (t + 1) == 0 ? 1.0 : 0.0;
  }
  for (Index layer = 0; layer < weights.extent(0); ++layer) {
    for (Index i = 0; i < t; ++i) {
      layer_row(weights, layer, i, row);
      times(row, rolled, t, next + i * t);
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
