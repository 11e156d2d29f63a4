#include <algorithm>
#include <complex>
#include <utility>

#include "qkv/spectra.hpp"
#include "spectra/factors.hpp"
#include "spectra/product.hpp"

namespace qkv {
namespace {

using Complex = std::complex<double>;
using Complexes = qkv_eigen::VectorXcd;

/// Rows of the inner axis that are widened at a time.
constexpr Index kRows = 64;

/// first * second, of [r, n] and [n, r], in double precision.
Matrix small_product(const FloatMatrix& first, const FloatMatrix& second) {
  Matrix sum = Matrix::Zero(first.rows(), second.cols());
  for (Index from = 0; from < first.cols(); from += kRows) {
    const Index rows = std::min(kRows, first.cols() - from);
    const Matrix a = first.middleCols(from, rows).transpose().cast<double>();
    const Matrix b = second.middleRows(from, rows).cast<double>();
    add_product(a, b, sum);
  }
  return sum;
}

/// The eigenvalues of the blocks of a real Schur form: numbers, and 2 x 2 for two that are conjugate.
void read_schur(const Matrix& t, Complexes& values) {
  for (Index i = 0; i < t.rows(); ++i) {
    if (i + 1 == t.rows() || t(i + 1, i) == 0.0) {
      values[i] = t(i, i);
      continue;
    }
    const double half = 0.5 * (t(i, i) - t(i + 1, i + 1));
    const double root = std::sqrt(std::fabs(half * half + t(i + 1, i) * t(i, i + 1)));
    values[i] = Complex(t(i + 1, i + 1) + half, root);
    values[i + 1] = std::conj(values[i]);
    ++i;
  }
}

/// Not by hypot(), whose last bit depends on the C library. Sizes of products of float32 have squares.
double size_of(const Complex& value) noexcept {
  return std::sqrt(value.real() * value.real() + value.imag() * value.imag());
}

/// By size, then by the real part, then by the imaginary one.
bool goes_first(const Complex& a, const Complex& b) noexcept {
  const double sizes[] = {size_of(a), size_of(b)};
  if (sizes[0] != sizes[1]) {
    return sizes[0] > sizes[1];
  }
  return a.real() != b.real() ? a.real() > b.real() : a.imag() > b.imag();
}

/// By insertion: there are as many as a head has dimensions, and std::sort() would be 4 kB of the package's module.
void put_in_order(Complexes& values) noexcept {
  for (Index i = 1; i < values.size(); ++i) {
    for (Index j = i; j > 0 && goes_first(values[j], values[j - 1]); --j) {
      std::swap(values[j], values[j - 1]);
    }
  }
}

/// False if the iteration does not converge, which no matrix of finite numbers is known for.
bool find(const Matrix& matrix, Complexes& values) {
  const qkv_eigen::HessenbergDecomposition<Matrix> hessenberg(matrix);
  qkv_eigen::RealSchur<Matrix> schur(matrix.rows());
  schur.computeFromHessenberg(Matrix(hessenberg.matrixH()), Matrix(), false);
  if (schur.info() != qkv_eigen::Success) {
    return false;
  }
  read_schur(schur.matrixT(), values);
  put_in_order(values);
  return true;
}

void write(const Complexes& values, const EigenvalueOutputs& out, Index a) noexcept {
  double sum = 0.0;
  double sizes = 0.0;
  for (Index i = 0; i < values.size(); ++i) {
    sum += values[i].real();
    sizes += size_of(values[i]);
    if (!out.real.absent()) {
      *out.real.at(a, i) = static_cast<float>(values[i].real());
    }
    if (!out.imaginary.absent()) {
      *out.imaginary.at(a, i) = static_cast<float>(values[i].imag());
    }
  }
  if (!out.copying.absent()) {
    *out.copying.at(a) = static_cast<float>(sizes == 0.0 ? 0.0 : sum / sizes);
  }
}

}  // namespace

Status eigenvalues(TensorView<const float> left, TensorView<const float> right,
                   const EigenvalueOutputs& out, Workspace& workspace) noexcept {
  constexpr const char* kName = "eigenvalues";
  QKV_RETURN_IF_ERROR(check_strided(kName, "left", left, {kAny, kAny, kAny}));
  const Index count = left.extent(0);
  const Index m = left.extent(1);
  const Index k = left.extent(2);
  QKV_RETURN_IF_ERROR(check_strided(kName, "right", right, {count, k, m}));
  const Index r = std::min(m, k);
  QKV_RETURN_IF_ERROR(check_output_if_given(kName, "real", out.real, {count, r}));
  QKV_RETURN_IF_ERROR(check_output_if_given(kName, "imaginary", out.imaginary, {count, r}));
  QKV_RETURN_IF_ERROR(check_output_if_given(kName, "copying", out.copying, {count}));
  QKV_RETURN_IF_ERROR(check_apart(
      kName, {{"real", out.real}, {"imaginary", out.imaginary}, {"copying", out.copying}},
      {{"left", left}, {"right", right}}));
  double* block = nullptr;
  std::size_t doubles = 0;
  QKV_RETURN_IF_ERROR(begin_arena(workspace, {{detail::saturated_product(7, r), r}, {5 * kRows, r}},
                                  block, doubles));
  const EigenArena arena(block, doubles);
  for (Index a = 0; a < count; ++a) {
    const FloatMatrix first = matrix_of(left, a);
    const FloatMatrix second = matrix_of(right, a);
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    Complexes values = Complexes::Constant(r, Complex(kNaN, kNaN));
    if (r > 0 && first.allFinite() && second.allFinite()) {
      const bool swapped = k < m;
      if (!find(swapped ? small_product(second, first) : small_product(first, second), values)) {
        values.setConstant(Complex(kNaN, kNaN));
      }
    }
    write(values, out, a);
  }
  return {};
}

}  // namespace qkv
