// Argument checks shared by the operators: the sentences a caller reads when something does not
// fit.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/message.hpp"
#include "check/memory_check.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// A rank from 1 to the most that a view has.
inline Status check_rank(const Caller& caller, const char* name, int rank) noexcept {
  constexpr int kMost = TensorView<float>::kMaxRank;
  return rank >= 1 && rank <= kMost
             ? Status{}
             : refuse(StatusCode::kShapeMismatch, caller, "{} has rank {}, expected 1 to {}",
                      Argument{name}, rank, kMost);
}

/// A size of a layer or a cache, at least `least`.
inline Status check_size(const Caller& caller, const char* name, Index size,
                         Index least = 1) noexcept {
  return size >= least ? Status{}
                       : refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected at least {}",
                                Argument{name}, size, least);
}

/// A value of an enumeration, whose last one is `last`.
template <class T>
Status check_choice(const Caller& caller, const char* name, T value, T last) noexcept {
  return value <= last ? Status{}
                       : refuse(StatusCode::kInvalidArgument, caller, "{} is {}, expected 0 to {}",
                                Argument{name}, value, last);
}

/// Most steps that are counted: every count up to here has a double of its own, in which files and JavaScript keep it.
inline constexpr std::int64_t kMostSteps = (std::int64_t{1} << 53) - 1;

/// A number of steps, which has 64 bits also where a size has 32.
inline Status check_steps(const Caller& caller, const char* name, std::int64_t steps) noexcept {
  if (steps > kMostSteps) {
    return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected at most {}", Argument{name},
                  steps, kMostSteps);
  }
  return steps >= 0 ? Status{}
                    : refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected at least 0",
                             Argument{name}, steps);
}

/// What is added inside of a norm's root.
inline Status check_epsilon(const Caller& caller, const char* name, float epsilon) noexcept {
  return std::isfinite(epsilon) && epsilon >= 0.0F
             ? Status{}
             : refuse(StatusCode::kInvalidArgument, caller,
                      "{} is {}, expected a finite number of at least 0", Argument{name}, epsilon);
}

/// What logits are divided by: normal, so that its inverse is finite.
inline Status check_temperature(const Caller& caller, float temperature) noexcept {
  return std::isnormal(temperature) && temperature > 0.0F
             ? Status{}
             : refuse(StatusCode::kInvalidArgument, caller,
                      "@temperature is {}, expected a number of at least 1.18e-38", temperature);
}

/// Numbers of rows of a table: ids is [n] and dense.
inline Status check_ids(const Caller& caller, const char* name,
                        const TensorView<const std::int32_t>& ids, Index rows) noexcept {
  for (Index i = 0; i < ids.extent(0); ++i) {
    if (ids.data[i] < 0 || ids.data[i] >= rows) {
      return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected [0, {})",
                    Argument{name, i}, ids.data[i], rows);
    }
  }
  return {};
}

/// Strides may be 0, which repeats what is read, but not negative.
template <class T>
Status check_strides(const Caller& caller, const char* name, const TensorView<T>& view) noexcept {
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.stride(axis) < 0 && view.extent(axis) > 1) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "axis {} of {} has stride {}, expected at least 0", axis, Argument{name},
                    view.stride(axis));
    }
  }
  return {};
}

/// Rank, extents (kAny matches everything), no negative extent or stride, data present where elements
/// are, and a contiguous last axis.
template <class T>
Status check_array(const Caller& caller, const char* name, const TensorView<T>& view,
                   Extents expected) noexcept {
  bool fits = view.rank == expected.rank;
  for (int axis = 0; axis < expected.rank; ++axis) {
    const Index extent = expected.data[axis];
    fits = fits && view.extent(axis) >= 0 && (extent == kAny || view.extent(axis) == extent);
  }
  if (!fits) {
    return refuse(StatusCode::kShapeMismatch, caller, "{} is {}, expected {}", Argument{name},
                  Extents(view), expected);
  }
  if (view.size() == 0) {
    return {};
  }
  if (!view.data) {
    return refuse(StatusCode::kInvalidArgument, caller, "{} has no data, expected {} elements",
                  Argument{name}, Extents(view));
  }
  if (view.stride(view.rank - 1) != 1 && view.extent(view.rank - 1) > 1) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "the last axis of {} has stride {}, expected 1", Argument{name},
                  view.stride(view.rank - 1));
  }
  return check_strides(caller, name, view);
}

/// check_array() for arrays that are written, no element of which may be another's too.
template <class T>
Status check_output(const Caller& caller, const char* name, const TensorView<T>& view,
                    Extents expected) noexcept {
  QKV_RETURN_IF_ERROR(check_array(caller, name, view, expected));
  if (view.size() == 0 || elements_are_apart(view.rank, view.shape.data(), view.strides.data())) {
    return {};
  }
  return refuse(StatusCode::kInvalidArgument, caller,
                "{} has strides {} for {}, expected strides with which no two elements overlap",
                Argument{name}, Extents(view.strides, view.rank), Extents(view));
}

/// check_array() for arrays that must be dense in row-major order.
template <class T>
Status check_dense(const Caller& caller, const char* name, const TensorView<T>& view,
                   Extents expected) noexcept {
  QKV_RETURN_IF_ERROR(check_array(caller, name, view, expected));
  Index stride = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    if (view.extent(axis) > 1 && view.stride(axis) != stride) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "axis {} of {} has stride {}, expected {} (contiguous)", axis, Argument{name},
                    view.stride(axis), stride);
    }
    stride = detail::saturated_product(stride, view.extent(axis));
  }
  return {};
}

/// check_dense() for arrays that may be absent.
template <class T>
Status check_dense_if_given(const Caller& caller, const char* name, const TensorView<T>& view,
                            Extents expected) noexcept {
  return view.absent() ? Status{} : check_dense(caller, name, view, expected);
}

/// check_output() for arrays that may be absent.
template <class T>
Status check_output_if_given(const Caller& caller, const char* name, const TensorView<T>& view,
                             Extents expected) noexcept {
  return view.absent() ? Status{} : check_output(caller, name, view, expected);
}

/// Keys in use of each batch row, 0 to tk, for each of `batch` rows; may be absent.
inline Status check_key_lengths(const Caller& caller, const TensorView<const std::int32_t>& lengths,
                                Index batch, Index tk) noexcept {
  if (lengths.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_array(caller, "key_lengths", lengths, {batch}));
  for (Index b = 0; b < batch; ++b) {
    if (*lengths.at(b) < 0 || *lengths.at(b) > tk) {
      return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected 0 to {}",
                    Argument{"key_lengths", b}, *lengths.at(b), tk);
    }
  }
  return {};
}

/// `view` stretched right-aligned to [B, Hq, Tq, Tk]: extents of 1 get stride 0. kShapeMismatch
/// when an extent is neither 1 nor the target's. An absent view stays absent.
template <class T>
Status broadcast_to(const Caller& caller, const char* name, TensorView<T>& view,
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
    return refuse(StatusCode::kShapeMismatch, caller,
                  "{} is {}, expected a shape that broadcasts to {}", Argument{name}, Extents(view),
                  Extents(target, 4));
  }
  QKV_RETURN_IF_ERROR(check_strides(caller, name, view));
  if (!view.data && wide.size() > 0) {
    return refuse(StatusCode::kInvalidArgument, caller, "{} has no data, expected {} elements",
                  Argument{name}, Extents(view));
  }
  view = wide;
  return {};
}

}  // namespace qkv
