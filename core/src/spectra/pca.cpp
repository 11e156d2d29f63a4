#include <algorithm>

#include "qkv/spectra.hpp"
#include "spectra/factors.hpp"
#include "spectra/product.hpp"

namespace qkv {
namespace {

/// Rows that are widened at a time.
constexpr Index kRows = 64;

Vector mean_of(const FloatMatrix& x) {
  Vector sum = Vector::Zero(x.cols());
  for (Index row = 0; row < x.rows(); ++row) {
    sum += x.row(row).transpose().cast<double>();
  }
  return sum / static_cast<double>(x.rows());
}

/// Rows [from, from + rows) less the mean, each as a column.
Matrix centred(const FloatMatrix& x, const Vector& mean, Index from, Index rows) {
  Matrix block = x.middleRows(from, rows).transpose().cast<double>();
  block.colwise() -= mean;
  return block;
}

/// to += x^T x, of which the lower half is computed.
void add_gram(const Matrix& x, Matrix& to) {
  for (Index from = 0; from < x.cols(); from += kRows) {
    const Index columns = std::min(kRows, x.cols() - from);
    const Index left = x.cols() - from;
    add_product(x.rightCols(left), x.middleCols(from, columns),
                to.block(from, from, left, columns));
  }
}

/// Eigenvalues of a symmetric matrix, and the eigenvectors of the largest.
class Eigenpairs {
 public:
  /// Of `gram`, of which the lower half is read.
  Eigenpairs(const Matrix& gram, Index count)
      : tridiagonal_(gram), vectors_(gram.rows(), count), values_(count) {
    const Index n = gram.rows();
    const Matrix& packed = tridiagonal_.packedMatrix();
    solver_.computeFromTridiagonal(packed.diagonal(), packed.diagonal(-1));
    values_ = solver_.eigenvalues().reverse().head(count);
    vectors_ = solver_.eigenvectors().rowwise().reverse().leftCols(count);
    for (Index j = n - 1; j-- > 0;) {
      const Index rows = n - 1 - j;
      reflect(packed.col(j).tail(rows - 1), tridiagonal_.householderCoefficients()[j],
              vectors_.bottomRows(rows));
    }
  }
  [[nodiscard]] bool converged() const { return solver_.info() == qkv_eigen::Success; }
  /// The largest first.
  [[nodiscard]] const Vector& values() const { return values_; }
  [[nodiscard]] const Matrix& vectors() const { return vectors_; }

 private:
  qkv_eigen::Tridiagonalization<Matrix> tridiagonal_;
  qkv_eigen::SelfAdjointEigenSolver<Matrix> solver_;
  Matrix vectors_;
  Vector values_;
};

/// The principal components, as far as they are more than rounding.
class Principal {
 public:
  Principal(const FloatMatrix& x, const Vector& mean, Index count)
      : components_(x.cols(), count), values_(count) {
    const bool tall = x.rows() >= x.cols();
    const Index n = std::min(x.rows(), x.cols());
    Matrix gram = Matrix::Zero(n, n);
    Matrix rows;
    if (tall) {
      for (Index from = 0; from < x.rows(); from += kRows) {
        const Index some = std::min(kRows, x.rows() - from);
        add_gram(centred(x, mean, from, some).transpose(), gram);
      }
    } else {
      rows = centred(x, mean, 0, x.rows());
      add_gram(rows, gram);
    }
    total_ = gram.trace();
    const Eigenpairs pairs(gram, count);
    const double largest = std::max(pairs.values()[0], 0.0);
    const double most = static_cast<double>(std::max(x.rows(), x.cols()));
    const double noise = 4.0 * most * 0x1p-52 * largest;
    for (Index i = 0; i < count; ++i) {
      const bool real = pairs.converged() && pairs.values()[i] > noise;
      values_[i] = real ? pairs.values()[i] : 0.0;
      auto component = components_.col(i);
      if (!real) {
        component.setZero();
      } else if (tall) {
        component = pairs.vectors().col(i);
      } else {
        component.noalias() = rows * pairs.vectors().col(i);
        component /= component.norm();
      }
      component *= upright(component);
    }
  }

  /// [d, count]
  [[nodiscard]] const Matrix& components() const { return components_; }
  /// Sums of squares along each.
  [[nodiscard]] const Vector& values() const { return values_; }
  /// Along all.
  [[nodiscard]] double total() const { return total_; }

 private:
  Matrix components_;
  Vector values_;
  double total_ = 0.0;
};

void write_projections(const FloatMatrix& x, const Vector& mean, const Matrix& components,
                       const TensorView<float>& to) {
  for (Index from = 0; !to.absent() && from < x.rows(); from += kRows) {
    const Index some = std::min(kRows, x.rows() - from);
    Matrix places = Matrix::Zero(components.cols(), some);
    add_product(components, centred(x, mean, from, some), places);
    for (Index i = 0; i < some; ++i) {
      copy_to(part_of(to, from + i), places.col(i));
    }
  }
}

void write(const FloatMatrix& x, const Vector& mean, const Principal& found,
           const PcaOutputs& out) {
  const double divisor = static_cast<double>(std::max<Index>(x.rows() - 1, 1));
  copy_to(out.variances, found.values() / divisor);
  copy_to(out.shares, found.total() > 0.0 ? Vector(found.values() / found.total())
                                          : Vector(Vector::Zero(found.values().size())));
  for (Index i = 0; !out.components.absent() && i < found.values().size(); ++i) {
    copy_to(part_of(out.components, i), found.components().col(i));
  }
  write_projections(x, mean, found.components(), out.projections);
}

/// For rows with a number that is not finite.
void write_nan(const PcaOutputs& out) noexcept {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const auto* view : {&out.components, &out.projections, &out.variances, &out.shares}) {
    const Index columns = view->rank == 2 ? view->extent(1) : 1;
    for (Index i = 0; !view->absent() && i < view->extent(0); ++i) {
      for (Index j = 0; j < columns; ++j) {
        *(view->rank == 2 ? view->at(i, j) : view->at(i)) = kNaN;
      }
    }
  }
}

Status check_outputs(const Caller& caller, const TensorView<const float>& x, Index count,
                     const PcaOutputs& out) noexcept {
  const Index n = x.extent(0);
  const Index d = x.extent(1);
  QKV_RETURN_IF_ERROR(check_output_if_given(caller, "mean", out.mean, {d}));
  QKV_RETURN_IF_ERROR(check_output_if_given(caller, "components", out.components, {count, d}));
  QKV_RETURN_IF_ERROR(check_output_if_given(caller, "variances", out.variances, {count}));
  QKV_RETURN_IF_ERROR(check_output_if_given(caller, "shares", out.shares, {count}));
  QKV_RETURN_IF_ERROR(check_output_if_given(caller, "projections", out.projections, {n, count}));
  return check_apart(caller,
                     {{"mean", out.mean},
                      {"components", out.components},
                      {"variances", out.variances},
                      {"shares", out.shares},
                      {"projections", out.projections}},
                     {{"x", x}});
}

}  // namespace

Status pca(TensorView<const float> x, Index count, const PcaOutputs& out,
           Workspace& workspace) noexcept {
  constexpr const char* kName = "pca";
  QKV_RETURN_IF_ERROR(check_strided(kName, "x", x, {kAny, kAny}));
  const Index n = x.extent(0);
  const Index d = x.extent(1);
  const Index least = std::min(n, d);
  if (count < 0 || count > least) {
    return refuse(StatusCode::kOutOfRange, kName, "@count is {}, expected 0 to {}", count, least);
  }
  QKV_RETURN_IF_ERROR(check_outputs(kName, x, count, out));
  if (n == 0 || d == 0) {
    copy_to(out.mean, Vector::Zero(d));
    return {};
  }
  double* block = nullptr;
  std::size_t doubles = 0;
  QKV_RETURN_IF_ERROR(begin_arena(workspace,
                                  {{detail::saturated_product(4, least), least},
                                   {n < d ? n : 0, d},
                                   {4 * kRows, d},
                                   {count, detail::saturated_sum(d, least + 2 * kRows)}},
                                  block, doubles));
  const EigenArena arena(block, doubles);
  const FloatMatrix rows = matrix_of(x);
  const Vector mean = mean_of(rows);
  copy_to(out.mean, mean);
  if (!mean.allFinite()) {
    write_nan(out);
    return {};
  }
  if (count > 0) {
    write(rows, mean, Principal(rows, mean, count), out);
  }
  return {};
}

}  // namespace qkv
