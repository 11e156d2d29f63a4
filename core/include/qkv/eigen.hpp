/// @file
/// Zero-copy bridges to Eigen (>= 3.4). Header-only and apart from qkv.hpp, so that only code that
/// includes it needs Eigen.
#pragma once

#if !__has_include(<Eigen/Core>)
#error "qkv/eigen.hpp needs Eigen >= 3.4: find_package(Eigen3) and link Eigen3::Eigen"
#endif
#include <Eigen/Core>
#if !EIGEN_VERSION_AT_LEAST(3, 4, 0)
#error "qkv/eigen.hpp needs Eigen >= 3.4, and this one is older"
#endif
#include <type_traits>
#include <utility>

#include "qkv/tensor_view.hpp"

namespace qkv {

/// A dense row-major Eigen matrix of T, const or not.
template <class T>
using RowMajorMatrix =
    Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What as_matrix() returns: an Eigen map of const or mutable elements with any strides.
template <class T>
using MatrixMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const RowMajorMatrix<T>, RowMajorMatrix<T>>,
               0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// The last two axes of `view` as an Eigen matrix, at position `leading...` of the axes before
/// them: as_matrix(q, b, h) is the [T, d] matrix of one head. Reads and writes go to the same
/// memory. Precondition: rank 2 plus one for each leading index.
template <class T, class... I>
[[nodiscard]] MatrixMap<T> as_matrix(const TensorView<T>& view, I... leading) noexcept {
  return MatrixMap<T>(view.at(leading...), view.extent(view.rank - 2), view.extent(view.rank - 1),
                      Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(view.stride(view.rank - 2),
                                                                    view.stride(view.rank - 1)));
}

namespace detail {

/// The element of an Eigen matrix or expression as it may be used: const where it is read-only.
/// What cannot be viewed does not compile, and says why.
template <class Matrix>
struct EigenElement {
  using Plain = std::remove_cvref_t<Matrix>;
  static_assert((Plain::Flags & Eigen::DirectAccessBit) != 0,
                "only what lies in memory can be viewed: store the result of the expression first");
  static_assert(std::is_lvalue_reference_v<Matrix> ||
                    !std::is_base_of_v<Eigen::PlainObjectBase<Plain>, Plain>,
                "this matrix is gone before the view of it can be used: keep it in a variable");
  static_assert(
      Plain::IsRowMajor && Plain::InnerStrideAtCompileTime == 1,
      "qkv is row-major: use qkv::RowMajorMatrix, or the transpose() of a column-major one");
  using type =
      std::remove_pointer_t<decltype(std::declval<std::remove_reference_t<Matrix>&>().data())>;
};

}  // namespace detail

/// The other way: a row-major Eigen matrix as a rank-2 view of the same memory, read-only if the
/// matrix is. Takes blocks, maps and the transpose() of a column-major matrix as well. A product or
/// another expression without memory, a temporary matrix and a column-major one do not compile.
template <class Matrix>
[[nodiscard]] TensorView<typename detail::EigenElement<Matrix>::type> as_view(
    Matrix&& matrix) noexcept {
  TensorView<typename detail::EigenElement<Matrix>::type> view(matrix.data(),
                                                               {matrix.rows(), matrix.cols()});
  view.strides[0] = matrix.outerStride();
  return view;
}

/// An Eigen matrix of tokens, `[T, num_heads * d]`, seen as `[1, num_heads, T, d]`, which is what
/// attention() reads and writes. Takes what as_view() takes; so the queries of a fused projection
/// are split_heads(qkv.leftCols(n), num_heads). Precondition: num_heads divides the columns.
template <class Matrix>
[[nodiscard]] TensorView<typename detail::EigenElement<Matrix>::type> split_heads(
    Matrix&& matrix, Index num_heads) noexcept {
  const Index d = matrix.cols() / num_heads;
  auto view = split_heads(matrix.data(), 1, matrix.rows(), num_heads, d);
  view.strides[0] = matrix.rows() * matrix.outerStride();
  view.strides[2] = matrix.outerStride();
  return view;
}

}  // namespace qkv
