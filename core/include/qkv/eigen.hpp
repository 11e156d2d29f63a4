/// @file
/// Zero-copy bridges to Eigen (>= 3.4). Header-only and apart from qkv.hpp, so that only those who
/// include it need Eigen.
#pragma once

#include <Eigen/Core>

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

/// The other way: a dense row-major Eigen matrix as a rank-2 view.
template <class Derived>
[[nodiscard]] TensorView<const typename Derived::Scalar> as_view(
    const Eigen::PlainObjectBase<Derived>& matrix) noexcept {
  static_assert(Derived::IsRowMajor, "qkv is row-major");
  return {matrix.data(), {matrix.rows(), matrix.cols()}};
}

}  // namespace qkv
