#include <algorithm>
#include <utility>

#include "base/portable_math.hpp"
#include "qkv/spectra.hpp"
#include "spectra/factors.hpp"
#include "spectra/product.hpp"

namespace qkv {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A factor [n, k] = Q R P^T with at least as many rows as columns.
class Triangular {
 public:
  explicit Triangular(Matrix factor) : store_(std::move(factor)), qr_(store_) {}

  /// The square matrix (R P^T)^T.
  [[nodiscard]] Matrix turned() const {
    Matrix turned = Matrix::Zero(store_.cols(), store_.cols());
    for (Index j = 0; j < store_.cols(); ++j) {
      const Index to = qr_.colsPermutation().indices()[j];
      turned.row(to).head(j + 1) = store_.col(j).head(j + 1).transpose();
    }
    return turned;
  }
  /// Q times a square matrix.
  [[nodiscard]] Matrix q_times(const Matrix& right) const {
    Matrix product = Matrix::Zero(store_.rows(), right.cols());
    product.topRows(right.rows()) = right;
    for (Index j = store_.cols(); j-- > 0;) {
      const Index rows = store_.rows() - j;
      reflect(store_.col(j).tail(rows - 1), qr_.hCoeffs()[j], product.bottomRows(rows));
    }
    return product;
  }

 private:
  Matrix store_;
  qkv_eigen::ColPivHouseholderQR<Block> qr_;  // in the place of the factor
};

/// Both factors, [m, r] and [n, r]. Where k is not the smallest extent, one of them is the product and the other one is 1.
Matrix first_factor(const FloatMatrix& left, const FloatMatrix& right, Index r) {
  if (r == left.cols()) {
    return left.cast<double>();
  }
  if (r == left.rows()) {
    return Matrix::Identity(r, r);
  }
  Matrix product = Matrix::Zero(left.rows(), r);
  add_product(left.transpose().cast<double>(), right.cast<double>(), product);
  return product;
}
Matrix second_factor(const FloatMatrix& left, const FloatMatrix& right, Index r) {
  if (r == left.cols()) {
    return right.transpose().cast<double>();
  }
  if (r != left.rows()) {
    return Matrix::Identity(r, r);
  }
  Matrix product = Matrix::Zero(right.cols(), r);
  add_product(right.cast<double>(), left.transpose().cast<double>(), product);
  return product;
}

#if EIGEN_VERSION_AT_LEAST(3, 4, 90)
using Svd = qkv_eigen::JacobiSVD<Matrix, static_cast<int>(qkv_eigen::NoQRPreconditioner) |
                                             static_cast<int>(qkv_eigen::ComputeThinU) |
                                             static_cast<int>(qkv_eigen::ComputeThinV)>;
inline void decompose(Svd& svd, const Matrix& of, bool /*vectors*/) { svd.compute(of); }
#else
using Svd = qkv_eigen::JacobiSVD<Matrix, qkv_eigen::NoQRPreconditioner>;
inline void decompose(Svd& svd, const Matrix& of, bool vectors) {
  constexpr unsigned kBoth = qkv_eigen::ComputeThinU | qkv_eigen::ComputeThinV;
  svd.compute(of, vectors ? kBoth : 0U);
}
#endif

/// One product, whose numbers are finite.
class Spectrum {
 public:
  Spectrum(const FloatMatrix& left, const FloatMatrix& right, Index r, bool vectors)
      : left_(first_factor(left, right, r)), right_(second_factor(left, right, r)) {
    Matrix core = Matrix::Zero(r, r);
    add_product(left_.turned(), right_.turned(), core);
    decompose(svd_, core, vectors);
  }
  [[nodiscard]] const Vector& values() const { return svd_.singularValues(); }
  [[nodiscard]] Matrix left_vectors() const { return left_.q_times(svd_.matrixU()); }
  [[nodiscard]] Matrix right_vectors() const { return right_.q_times(svd_.matrixV()); }

 private:
  Triangular left_, right_;
  Svd svd_;
};

/// Numbers that are not finite have no decomposition.
bool is_finite(const FloatMatrix& left, const FloatMatrix& right) noexcept {
  return left.allFinite() && right.allFinite();
}

/// The shapes of the factors, and r.
Status check_factors(const Caller& caller, const TensorView<const float>& left,
                     const TensorView<const float>& right, Index& r) noexcept {
  QKV_RETURN_IF_ERROR(check_strided(caller, "left", left, {kAny, kAny, kAny}));
  QKV_RETURN_IF_ERROR(
      check_strided(caller, "right", right, {left.extent(0), left.extent(2), kAny}));
  r = std::min({left.extent(1), left.extent(2), right.extent(2)});
  return {};
}

/// Memory for the decompositions of one product of the stack.
Status begin_spectrum(Workspace& workspace, const TensorView<const float>& left,
                      const TensorView<const float>& right, bool vectors, double*& block,
                      std::size_t& count) noexcept {
  const Index m = left.extent(1);
  const Index k = left.extent(2);
  const Index n = right.extent(2);
  const Index r = std::min({m, k, n});
  const Index both = detail::saturated_sum(m, n);
  return begin_arena(workspace,
                     {{both, detail::saturated_product(vectors ? 2 : 1, r)},
                      {r < k ? both : 0, detail::saturated_product(2, k)},
                      {detail::saturated_product(7, r), r},
                      {256, r}},
                     block, count);
}

/// Turns both vectors of a pair so that the left one is upright.
void write_vectors(const Spectrum& spectrum, const TensorView<float>& left,
                   const TensorView<float>& right) noexcept {
  const Matrix u = spectrum.left_vectors();
  const Matrix v = spectrum.right_vectors();
  for (Index j = 0; j < u.cols(); ++j) {
    const double side = upright(u.col(j));
    for (Index i = 0; !left.absent() && i < u.rows(); ++i) {
      *left.at(i, j) = static_cast<float>(side * u(i, j));
    }
    for (Index i = 0; !right.absent() && i < v.rows(); ++i) {
      *right.at(i, j) = static_cast<float>(side * v(i, j));
    }
  }
}

void fill(const TensorView<float>& view, float value) noexcept {
  for (Index i = 0; i < view.extent(0); ++i) {
    for (Index j = 0; j < view.extent(1); ++j) {
      *view.at(i, j) = value;
    }
  }
}

}  // namespace

Status singular_values(TensorView<const float> left, TensorView<const float> right,
                       const SingularValueOutputs& out, Workspace& workspace) noexcept {
  constexpr const char* kName = "singular_values";
  Index r = 0;
  QKV_RETURN_IF_ERROR(check_factors(kName, left, right, r));
  const Index count = left.extent(0);
  QKV_RETURN_IF_ERROR(check_output(kName, "values", out.values, {count, r}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(kName, "left_vectors", out.left, {count, left.extent(1), r}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(kName, "right_vectors", out.right, {count, right.extent(2), r}));
  QKV_RETURN_IF_ERROR(check_apart(
      kName, {{"values", out.values}, {"left_vectors", out.left}, {"right_vectors", out.right}},
      {{"left", left}, {"right", right}}));
  if (count == 0 || r == 0) {
    return {};
  }
  const bool vectors = !out.left.absent() || !out.right.absent();
  double* block = nullptr;
  std::size_t doubles = 0;
  QKV_RETURN_IF_ERROR(begin_spectrum(workspace, left, right, vectors, block, doubles));
  const EigenArena arena(block, doubles);
  for (Index a = 0; a < count; ++a) {
    const TensorView<float> values = part_of(out.values, a);
    const TensorView<float> u = part_of(out.left, a);
    const TensorView<float> v = part_of(out.right, a);
    if (is_finite(matrix_of(left, a), matrix_of(right, a))) {
      const Spectrum spectrum(matrix_of(left, a), matrix_of(right, a), r, vectors);
      copy_to(values, spectrum.values());
      if (vectors) {
        write_vectors(spectrum, u, v);
      }
      continue;
    }
    copy_to(values, Vector::Constant(r, kNaN));
    fill(u, static_cast<float>(kNaN));
    fill(v, static_cast<float>(kNaN));
  }
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
  return sum == 0.0 ? 0.0 : natural_power(entropy);
}

Status effective_rank(TensorView<const float> left, TensorView<const float> right,
                      TensorView<float> out, Workspace& workspace) noexcept {
  constexpr const char* kName = "effective_rank";
  Index r = 0;
  QKV_RETURN_IF_ERROR(check_factors(kName, left, right, r));
  QKV_RETURN_IF_ERROR(check_output(kName, "out", out, {left.extent(0)}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"out", out}}, {{"left", left}, {"right", right}}));
  double* block = nullptr;
  std::size_t doubles = 0;
  if (r > 0) {
    QKV_RETURN_IF_ERROR(begin_spectrum(workspace, left, right, false, block, doubles));
  }
  const EigenArena arena(block, doubles);
  for (Index a = 0; a < left.extent(0); ++a) {
    double rank = 0.0;
    if (r > 0 && is_finite(matrix_of(left, a), matrix_of(right, a))) {
      const Spectrum spectrum(matrix_of(left, a), matrix_of(right, a), r, false);
      rank = effective_rank({spectrum.values().data(), static_cast<std::size_t>(r)});
    } else if (r > 0) {
      rank = kNaN;
    }
    *out.at(a) = static_cast<float>(rank);
  }
  return {};
}

}  // namespace qkv
