// Argument checks shared by the operators: the sentences a caller reads when something does not
// fit.
#pragma once

#include <cstdio>
#include <limits>

#include "memory_check.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// "[2,6,8]", in place. An expected extent of kAny prints as "*", and a rank that no view has as itself.
class ShapeText {
 public:
  static constexpr Index kAny = std::numeric_limits<Index>::min();

  template <class T>
  explicit ShapeText(const TensorView<T>& view) noexcept {
    write(view.shape.data(), view.rank);
  }
  ShapeText(const std::array<Index, TensorView<float>::kMaxRank>& extents, int rank) noexcept {
    write(extents.data(), rank);
  }
  ShapeText(std::initializer_list<Index> shape) noexcept {
    write(shape.begin(), static_cast<int>(shape.size()));
  }
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  void write(const Index* shape, int rank) noexcept {
    if (rank < 0 || rank > TensorView<float>::kMaxRank) {
      std::snprintf(text_, sizeof(text_), "of rank %d", rank);
      return;
    }
    int used = std::snprintf(text_, sizeof(text_), "[");
    for (int i = 0; i < rank; ++i) {
      const char* separator = i + 1 < rank ? "," : "";
      const auto room = sizeof(text_) - static_cast<std::size_t>(used);
      used += shape[i] == kAny ? std::snprintf(text_ + used, room, "*%s", separator)
                               : std::snprintf(text_ + used, room, "%lld%s",
                                               static_cast<long long>(shape[i]), separator);
    }
    std::snprintf(text_ + used, sizeof(text_) - static_cast<std::size_t>(used), "]");
  }
  // 4 extents of at most 20 characters and their separators.
  char text_[96];
};

/// Strides may be 0, which repeats what is read, but not negative.
template <class T>
Status check_strides(const char* function, const char* name, const TensorView<T>& view) noexcept {
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.stride(axis) < 0 && view.extent(axis) > 1) {
      return Status::error(StatusCode::kInvalidArgument,
                           "%s: axis %d of %s has stride %lld, expected at least 0", function, axis,
                           name, static_cast<long long>(view.stride(axis)));
    }
  }
  return {};
}

/// Rank, extents (kAny matches everything), no negative extent or stride, data present where elements
/// are, and a contiguous last axis.
template <class T>
Status check_array(const char* function, const char* name, const TensorView<T>& view,
                   std::initializer_list<Index> expected) noexcept {
  bool fits = view.rank == static_cast<int>(expected.size());
  int axis = 0;
  for (Index extent : expected) {
    fits = fits && view.extent(axis) >= 0 &&
           (extent == ShapeText::kAny || view.extent(axis) == extent);
    ++axis;
  }
  if (!fits) {
    return Status::error(StatusCode::kShapeMismatch, "%s: %s is %s, expected %s", function, name,
                         ShapeText(view).text(), ShapeText(expected).text());
  }
  if (view.size() == 0) {
    return {};
  }
  if (!view.data) {
    return Status::error(StatusCode::kInvalidArgument, "%s: %s has no data, expected %s elements",
                         function, name, ShapeText(view).text());
  }
  if (view.stride(view.rank - 1) != 1 && view.extent(view.rank - 1) > 1) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: the last axis of %s has stride %lld, expected 1", function, name,
                         static_cast<long long>(view.stride(view.rank - 1)));
  }
  return check_strides(function, name, view);
}

/// check_array() for arrays that are written, no element of which may be another's too.
template <class T>
Status check_output(const char* function, const char* name, const TensorView<T>& view,
                    std::initializer_list<Index> expected) noexcept {
  QKV_RETURN_IF_ERROR(check_array(function, name, view, expected));
  if (view.size() == 0 || elements_are_apart(view.rank, view.shape.data(), view.strides.data())) {
    return {};
  }
  return Status::error(StatusCode::kInvalidArgument,
                       "%s: %s has strides %s for %s, expected every element in a place of its own",
                       function, name, ShapeText(view.strides, view.rank).text(),
                       ShapeText(view).text());
}

/// check_array() for arrays that must be dense in row-major order.
template <class T>
Status check_dense(const char* function, const char* name, const TensorView<T>& view,
                   std::initializer_list<Index> expected) noexcept {
  QKV_RETURN_IF_ERROR(check_array(function, name, view, expected));
  Index stride = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    if (view.extent(axis) > 1 && view.stride(axis) != stride) {
      return Status::error(StatusCode::kInvalidArgument,
                           "%s: axis %d of %s has stride %lld, expected %lld (contiguous)",
                           function, axis, name, static_cast<long long>(view.stride(axis)),
                           static_cast<long long>(stride));
    }
    stride = detail::saturated_product(stride, view.extent(axis));
  }
  return {};
}

/// `view` stretched right-aligned to [B, Hq, Tq, Tk]: extents of 1 get stride 0. kShapeMismatch
/// when an extent is neither 1 nor the target's. An absent view stays absent.
template <class T>
Status broadcast_to(const char* function, const char* name, TensorView<T>& view,
                    const std::array<Index, 4>& target) noexcept {
  if (view.absent()) {
    return {};
  }
  TensorView<T> wide;
  wide.data = view.data;
  wide.rank = 4;
  wide.shape = target;
  bool fits = view.rank >= 1 && view.rank <= 4;
  for (int i = 0; fits && i < view.rank; ++i) {
    const std::size_t axis = static_cast<std::size_t>(i) + 4U - static_cast<std::size_t>(view.rank);
    fits = view.extent(i) == target[axis] || view.extent(i) == 1;
    wide.strides[axis] = view.extent(i) == 1 ? 0 : view.stride(i);
  }
  if (!fits) {
    return Status::error(StatusCode::kShapeMismatch,
                         "%s: %s is %s, expected a shape that broadcasts to %s", function, name,
                         ShapeText(view).text(),
                         ShapeText({target[0], target[1], target[2], target[3]}).text());
  }
  QKV_RETURN_IF_ERROR(check_strides(function, name, view));
  if (!view.data && wide.size() > 0) {
    return Status::error(StatusCode::kInvalidArgument, "%s: %s has no data, expected %s elements",
                         function, name, ShapeText(view).text());
  }
  view = wide;
  return {};
}

}  // namespace qkv
