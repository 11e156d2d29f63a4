/// @file
/// TensorView: a pointer, extents and strides. Owns nothing, copies for free.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "qkv/version.hpp"

namespace qkv {

/// Extents, strides and positions, in elements.
using Index = std::ptrdiff_t;

namespace detail {
/// a * b and a + b, or the greatest Index where that is none: extents of arrays that exist stay below it,
/// those of an array without elements, or with a stride of 0, may be anything.
[[nodiscard]] constexpr Index saturated_product(Index a, Index b) noexcept {
  Index product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<Index>::max() : product;
}
[[nodiscard]] constexpr Index saturated_sum(Index a, Index b) noexcept {
  Index sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Index>::max() : sum;
}
}  // namespace detail

/// A view of up to four dimensions. Strides are in elements, may be zero (a broadcast dimension)
/// and are never negative; the last axis of q, k, v and out must be contiguous (stride 1). No two
/// elements of what is written share a place. Operators refuse what does not keep to this.
///
/// What is written shares no element with what is read either, unless an operator says that it may. Views
/// may take turns in the same memory, as the parts of a fused projection do, so where one has gaps, operators do not
/// compare element by element: they refuse an output that begins where an input does, that has an end in an input without
/// gaps or the other way round, or that is without gaps and longer than the gaps of an input around it.
template <class T>
struct TensorView {
  static constexpr int kMaxRank = 4;  ///< most axes a view can have

  T* data = nullptr;                      ///< the first element; may be null where there are none
  int rank = 0;                           ///< axes in use
  std::array<Index, kMaxRank> shape{};    ///< extents of the first `rank` axes
  std::array<Index, kMaxRank> strides{};  ///< elements from one position to the next, for each axis

  /// An absent view.
  constexpr TensorView() noexcept = default;

  /// Row-major and dense: the last extent varies fastest. `extents` has 1 to 4 entries. Of more, the view keeps the first four and
  /// their number as its rank, and every function refuses it.
  constexpr TensorView(T* pointer, std::initializer_list<Index> extents) noexcept
      : data(pointer), rank(static_cast<int>(extents.size())) {
    int axis = 0;
    for (Index extent : extents) {
      if (axis == kMaxRank) {
        break;
      }
      shape[static_cast<std::size_t>(axis++)] = extent;
    }
    Index stride = 1;
    for (int i = axis - 1; i >= 0; --i) {
      strides[static_cast<std::size_t>(i)] = stride;
      stride = detail::saturated_product(stride, shape[static_cast<std::size_t>(i)]);
    }
  }

  /// Reading through a view of mutable data.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_same_v<U, T>>>
  constexpr TensorView(const TensorView<U>& other) noexcept  // NOLINT(google-explicit-constructor)
      : data(other.data), rank(other.rank), shape(other.shape), strides(other.strides) {}

  /// shape[axis]. Precondition: 0 <= axis < kMaxRank.
  [[nodiscard]] constexpr Index extent(int axis) const noexcept {
    return shape[static_cast<std::size_t>(axis)];
  }
  /// strides[axis]. Precondition: 0 <= axis < kMaxRank.
  [[nodiscard]] constexpr Index stride(int axis) const noexcept {
    return strides[static_cast<std::size_t>(axis)];
  }
  /// True for a view that was never given an array, which is how optional arguments are left out.
  [[nodiscard]] constexpr bool absent() const noexcept { return rank == 0; }

  /// Number of elements, the greatest Index where there is no such number; 1 for rank 0.
  [[nodiscard]] constexpr Index size() const noexcept {
    Index product = 1;
    for (int i = 0; i < rank && i < kMaxRank; ++i) {
      product = detail::saturated_product(product, extent(i));
    }
    return product;
  }

  /// Address of element (i0, i1, ...) of the leading axes; the axes not named count as 0. Nothing is
  /// checked.
  template <class... I>
  [[nodiscard]] constexpr T* at(I... index) const noexcept {
    static_assert(sizeof...(I) <= kMaxRank);
    Index offset = 0;
    int axis = 0;
    ((offset += static_cast<Index>(index) * stride(axis++)), ...);
    return data + offset;
  }
};

/// `[batch, tokens, num_heads * d]` (heads side by side, as a projection writes them) seen as
/// `[batch, num_heads, tokens, d]`. No element moves; nothing is checked.
template <class T>
[[nodiscard]] constexpr TensorView<T> split_heads(T* data, Index batch, Index tokens,
                                                  Index num_heads, Index d) noexcept {
  TensorView<T> view(data, {batch, num_heads, tokens, d});
  const Index row = detail::saturated_product(num_heads, d);
  view.strides = {detail::saturated_product(tokens, row), d, row, 1};
  return view;
}

}  // namespace qkv
