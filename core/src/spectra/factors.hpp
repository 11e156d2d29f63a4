// What the spectra of products share: their arguments, and the memory of their decompositions.
#pragma once

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"
#include "spectra/eigen_inside.hpp"

namespace qkv {

/// A matrix of float32 as Eigen sees it, with any strides.
using FloatMatrix = qkv_eigen::Map<const qkv_eigen::MatrixXf, 0,
                                   qkv_eigen::Stride<qkv_eigen::Dynamic, qkv_eigen::Dynamic>>;

/// A matrix of a view of rank 2.
inline FloatMatrix matrix_of(const TensorView<const float>& view) noexcept {
  return {view.data, view.extent(0), view.extent(1), {view.stride(1), view.stride(0)}};
}

/// Matrix `a` of a stack. An empty one may have no address, or strides that lead anywhere.
inline FloatMatrix matrix_of(const TensorView<const float>& stack, Index a) noexcept {
  const bool empty = stack.extent(1) == 0 || stack.extent(2) == 0;
  TensorView<const float> view(empty ? stack.data : stack.data + a * stack.stride(0),
                               {stack.extent(1), stack.extent(2)});
  view.strides = {stack.stride(1), stack.stride(2)};
  return matrix_of(view);
}

/// Blocks of products in Eigen are made for caches of these sizes, wherever they run.
inline void fix_blocks() noexcept {
  static const bool fixed = (qkv_eigen::setCpuCacheSizes(32 << 10, 256 << 10, 2 << 20), true);
  static_cast<void>(fixed);
}

/// An array that is read: any strides that are not negative.
inline Status check_strided(const Caller& caller, const char* name, TensorView<const float> view,
                            Extents expected) noexcept {
  Index& last = view.strides[static_cast<std::size_t>(expected.rank) - 1];
  last = last >= 0 ? 1 : last;
  return check_array(caller, name, view, expected);
}

/// Doubles for Eigen: a sum of products of two extents each.
struct Product {
  Index a, b;
};
[[nodiscard]] inline Status begin_arena(Workspace& workspace,
                                        std::initializer_list<Product> products, double*& block,
                                        std::size_t& count) noexcept {
  // A hundred small blocks and what precedes them.
  count = 4096;
  for (const Product& product : products) {
    count = capped_sum({count, capped_product(product.a, product.b)});
  }
  QKV_RETURN_IF_ERROR(workspace.begin(Workspace::padded_as<double>(count)));
  block = workspace.take_as<double>(count);
  fix_blocks();
  return {};
}

/// Copies a vector to an array of one axis, if it is there.
template <class Values>
void copy_to(const TensorView<float>& to, const Values& values) noexcept {
  for (Index i = 0; !to.absent() && i < to.extent(0); ++i) {
    *to.at(i) = static_cast<float>(values[i]);
  }
}

/// Part `a` of an array along its first axis; absent of one that is.
inline TensorView<float> part_of(const TensorView<float>& view, Index a) noexcept {
  TensorView<float> part;
  if (view.absent()) {
    return part;
  }
  part.data = view.size() == 0 ? view.data : view.data + a * view.stride(0);
  part.rank = view.rank - 1;
  for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(view.rank); ++axis) {
    part.shape[axis] = view.shape[axis + 1];
    part.strides[axis] = view.strides[axis + 1];
  }
  return part;
}

/// 1, or -1 if that makes the element of largest size positive. Of those that are as large to within 2^-20 the first counts, so that
/// rounding does not choose.
template <class Values>
double upright(const Values& values) noexcept {
  const double most = values.size() == 0 ? 0.0 : values.cwiseAbs().maxCoeff();
  for (Index i = 0; i < values.size(); ++i) {
    if (std::fabs(values[i]) >= most * (1.0 - 0x1p-20)) {
      return values[i] < 0.0 ? -1.0 : 1.0;
    }
  }
  return 1.0;
}

}  // namespace qkv
