// Checks for operators that take an array of any rank and give one of the same shape.
#pragma once

#include "check/check.hpp"

namespace qkv {

/// check_dense() for the shape of another array.
template <class T, class U>
Status check_dense_like(const Caller& caller, const char* name, const TensorView<T>& view,
                        const TensorView<U>& like) noexcept {
  const auto& s = like.shape;
  switch (like.rank) {
    case 1:
      return check_dense(caller, name, view, {s[0]});
    case 2:
      return check_dense(caller, name, view, {s[0], s[1]});
    case 3:
      return check_dense(caller, name, view, {s[0], s[1], s[2]});
    default:
      return check_dense(caller, name, view, {s[0], s[1], s[2], s[3]});
  }
}

/// `x` dense and of rank 1 to 4, `out` dense and of its shape.
inline Status check_elementwise(const Caller& caller, const TensorView<const float>& x,
                                const TensorView<float>& out) noexcept {
  QKV_RETURN_IF_ERROR(check_rank(caller, "x", x.rank));
  for (int axis = 0; axis < x.rank; ++axis) {
    if (x.extent(axis) < 0) {
      return refuse(StatusCode::kShapeMismatch, caller, "@x is {}, expected extents of at least 0",
                    Extents(x));
    }
  }
  QKV_RETURN_IF_ERROR(check_dense_like(caller, "x", x, x));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, "out", out, x));
  return out.data == x.data ? Status{} : check_apart(caller, {{"out", out}}, {{"x", x}});
}

/// `axis` counted from the front.
inline Status resolve_axis(const Caller& caller, int rank, int& axis) noexcept {
  if (axis < -rank || axis >= rank) {
    return refuse(StatusCode::kOutOfRange, caller, "@axis is {}, expected [-{}, {})", axis, rank,
                  rank);
  }
  axis += axis < 0 ? rank : 0;
  return {};
}

/// A dense array seen from one of its axes, of n elements.
struct AxisExtents {
  Index outer = 1, n, inner = 1;
};

inline AxisExtents extents_around(const TensorView<const float>& x, int axis) noexcept {
  AxisExtents extents{.n = x.extent(axis)};
  for (int i = 0; i < x.rank; ++i) {
    (i < axis ? extents.outer : extents.inner) *= i == axis ? 1 : x.extent(i);
  }
  return extents;
}

}  // namespace qkv
