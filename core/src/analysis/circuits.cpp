#include "qkv/circuits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/double_scratch.hpp"
#include "base/portable_math.hpp"
#include "check/check.hpp"

namespace qkv {
namespace {

double dot(const double* a, const double* b, Index n) noexcept {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

/// A matrix of [n, k], with any strides.
struct Columns {
  const float* data;
  Index n, k, stride_n, stride_k;
};

/// R of `columns` = Q R, which is [n, k], with orthonormal columns of Q: by the modified method of Gram and Schmidt, whose R is as
/// good as Householder's (Bjorck 1967). `rows`: k rows of n, for Q; below its diagonal `r` is left as it is.
void triangulate(const Columns& columns, double* rows, double* r) noexcept {
  const auto [data, n, k, stride_n, stride_k] = columns;
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < n; ++j) {
      rows[i * n + j] = static_cast<double>(data[j * stride_n + i * stride_k]);
    }
  }
  for (Index i = 0; i < k; ++i) {
    double* q = rows + i * n;
    const double size = std::sqrt(dot(q, q, n));
    r[i * k + i] = std::isfinite(size) ? size : std::numeric_limits<double>::quiet_NaN();
    for (Index j = 0; j < n; ++j) {
      q[j] = size == 0.0 ? 0.0 : q[j] / size;
    }
    for (Index other = i + 1; other < k; ++other) {
      double* row = rows + other * n;
      const double factor = r[i * k + other] = dot(q, row, n);
      add_times(-factor, q, n, row);
    }
  }
}

/// Turns rows a and b so that they are orthogonal (Jacobi); false if they are already, as far as doubles tell.
bool turn(double* a, double* b, Index n) noexcept {
  const double aa = dot(a, a, n);
  const double bb = dot(b, b, n);
  const double ab = dot(a, b, n);
  if (!(std::fabs(ab) > 0x1p-51 * (std::sqrt(aa) * std::sqrt(bb)))) {
    return false;
  }
  const double zeta = (bb - aa) / (2.0 * ab);
  const double tangent =
      std::copysign(1.0, zeta) / (std::fabs(zeta) + std::sqrt(1.0 + zeta * zeta));
  const double cosine = 1.0 / std::sqrt(1.0 + tangent * tangent);
  const double sine = cosine * tangent;
  for (Index j = 0; j < n; ++j) {
    const double before = a[j];
    a[j] = cosine * before - sine * b[j];
    b[j] = sine * before + cosine * b[j];
  }
  return true;
}

/// k singular values, in no order: those of left right^T and, past the smaller of their n, zeros. With left = Q1 R1 and right = Q2 R2 they
/// are those of R1 R2^T, whose rows are turned in pairs until all are orthogonal. Sweeps converge quadratically: matrices of 128
/// rows took at most 12.
double* singular_values(const Columns& left, const Columns& right, double* scratch) noexcept {
  constexpr int kMostSweeps = 60;
  const Index k = left.k;
  double* r1 = scratch;
  double* r2 = r1 + k * k;
  double* core = r2 + k * k;
  triangulate(left, core + k * k, r1);
  triangulate(right, core + k * k, r2);
  for (Index i = 0; i < k * k; ++i) {
    const Index from = std::max(i / k, i % k);
    core[i] = dot(r1 + i / k * k + from, r2 + i % k * k + from, k - from);
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
    turned = false;
    for (Index i = 0; i < k * k; ++i) {
      if (i / k < i % k) {
        turned |= turn(core + i / k * k, core + i % k * k, k);
      }
    }
  }
  for (Index i = 0; i < k; ++i) {
    r1[i] = std::sqrt(dot(core + i * k, core + i * k, k));
  }
  return r1;
}

/// A factor: any strides that are not negative.
Status check_factor(const Caller& caller, const char* name, TensorView<const float> view,
                    Extents expected) noexcept {
  Index& last = view.strides[static_cast<std::size_t>(expected.rank) - 1];
  last = last >= 0 ? 1 : last;
  return check_array(caller, name, view, expected);
}

/// Scratch for k singular values of a product whose outer sizes are m and n.
Status begin_product(Workspace& workspace, Index k, Index m, Index n, double*& scratch) noexcept {
  const Index triangles = detail::saturated_product(3, k);
  return begin_doubles(workspace, k, detail::saturated_sum(std::max(m, n), triangles), scratch);
}

}  // namespace

Status product_singular_values(TensorView<const float> left, TensorView<const float> right,
                               std::span<double> out, Workspace& workspace) noexcept {
  constexpr const char* kName = "product_singular_values";
  QKV_RETURN_IF_ERROR(check_factor(kName, "left", left, {kAny, kAny}));
  const Index k = left.extent(1);
  QKV_RETURN_IF_ERROR(check_factor(kName, "right", right, {k, kAny}));
  const Index count = std::min({left.extent(0), k, right.extent(1)});
  if (static_cast<Index>(out.size()) != count) {
    return refuse(StatusCode::kShapeMismatch, kName, "@out is {}, expected {}",
                  Extents({static_cast<Index>(out.size())}), Extents({count}));
  }
  if (count == 0) {
    return {};
  }
  double* scratch = nullptr;
  QKV_RETURN_IF_ERROR(begin_product(workspace, k, left.extent(0), right.extent(1), scratch));
  double* values =
      singular_values({left.data, left.extent(0), k, left.stride(0), left.stride(1)},
                      {right.data, right.extent(1), k, right.stride(1), right.stride(0)}, scratch);
  std::sort(values, values + k, [](double a, double b) { return a > b; });
  std::copy_n(values, count, out.begin());
  return {};
}

double effective_rank(std::span<const double> singular_values) noexcept {
  double sum = 0.0;
  for (const double value : singular_values) {
    sum += value;
  }
  double entropy = 0.0;
  for (const double value : singular_values) {
    entropy += value == 0.0 ? 0.0 : entropy_term(value / sum);
  }
  if (std::isnan(entropy)) {
    return entropy;  // power_of_two() is for numbers
  }
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  return sum == 0.0 ? 0.0 : power_of_two(kLog2E * entropy);
}

Status effective_rank(TensorView<const float> left, TensorView<const float> right,
                      TensorView<float> out, Workspace& workspace) noexcept {
  constexpr const char* kName = "effective_rank";
  QKV_RETURN_IF_ERROR(check_factor(kName, "left", left, {kAny, kAny, kAny}));
  const Index count = left.extent(0);
  const Index k = left.extent(2);
  QKV_RETURN_IF_ERROR(check_factor(kName, "right", right, {count, k, kAny}));
  QKV_RETURN_IF_ERROR(check_output(kName, "out", out, {count}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"out", out}}, {{"left", left}, {"right", right}}));
  double* scratch = nullptr;
  QKV_RETURN_IF_ERROR(begin_product(workspace, k, left.extent(1), right.extent(2), scratch));
  for (Index a = 0; a < count; ++a) {
    // An empty factor may have no address, or strides that lead anywhere.
    const auto matrix = [a](const TensorView<const float>& of) {
      const bool empty = of.extent(1) == 0 || of.extent(2) == 0;
      return empty ? of.data : of.data + a * of.stride(0);
    };
    const double* values = singular_values(
        {matrix(left), left.extent(1), k, left.stride(1), left.stride(2)},
        {matrix(right), right.extent(2), k, right.stride(2), right.stride(1)}, scratch);
    *out.at(a) = static_cast<float>(effective_rank({values, static_cast<std::size_t>(k)}));
  }
  return {};
}

}  // namespace qkv
