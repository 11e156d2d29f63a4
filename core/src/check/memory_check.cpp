#include "check/memory_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace qkv {

using detail::saturated_product;
using detail::saturated_sum;

namespace {

/// The axes along which a view moves, ordered by stride.
struct Axes {
  struct Axis {
    Index stride, extent;
  };
  std::array<Axis, TensorView<float>::kMaxRank> at;
  std::size_t count = 0;

  /// Each axis is put where it belongs: for at most four, std::sort would be 6 kB of a .wasm.
  Axes(int rank, const Index* shape, const Index* strides) noexcept {
    for (int axis = 0; axis < rank; ++axis) {
      if (shape[axis] <= 1) {
        continue;  // its stride is never used
      }
      std::size_t place = count++;
      for (; place > 0 && at[place - 1].stride > strides[axis]; --place) {
        at[place] = at[place - 1];
      }
      at[place] = {strides[axis], shape[axis]};
    }
  }

  /// How far the last element is from the first by axes up to `axis`, of which those before reach `before`.
  [[nodiscard]] Index reach_with(std::size_t axis, Index before) const noexcept {
    return saturated_sum(before, saturated_product(at[axis].extent - 1, at[axis].stride));
  }

  /// The most elements of memory between two of the view that are not the view's.
  [[nodiscard]] Index largest_gap() const noexcept {
    Index gap = 0;
    Index reach = 0;
    for (std::size_t i = 0; i < count; ++i) {
      gap = std::max(gap, at[i].stride - reach - 1);
      reach = reach_with(i, reach);
    }
    return gap;
  }
};

}  // namespace

MemorySpan::MemorySpan(const void* data, std::size_t element, int rank, const Index* shape,
                       const Index* strides) noexcept {
  if (rank <= 0 || rank > TensorView<float>::kMaxRank || !data) {
    return;  // of a rank that no view has nothing is read
  }
  Index reach = 1;
  Index distinct = 1;
  for (int axis = 0; axis < rank; ++axis) {
    if (shape[axis] <= 0) {
      return;
    }
    // The stride of an axis with one element is never used.
    const Index stride = shape[axis] > 1 ? strides[axis] : 0;
    reach = saturated_sum(reach, saturated_product(shape[axis] - 1, stride));
    distinct = saturated_product(distinct, stride == 0 ? 1 : shape[axis]);
  }
  begin_ = reinterpret_cast<std::uintptr_t>(data);
  // What would reach past the end of memory ends there.
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(reach), element, &bytes) ||
      __builtin_add_overflow(begin_, bytes, &end_)) {
    end_ = std::numeric_limits<std::size_t>::max();
  }
  filled_ = distinct == reach;
  gap_ = static_cast<std::size_t>(Axes(rank, shape, strides).largest_gap());
  if (__builtin_mul_overflow(gap_, element, &gap_)) {
    gap_ = std::numeric_limits<std::size_t>::max();
  }
}

bool MemorySpan::holds_an_end_of(const MemorySpan& other) const noexcept {
  const auto holds = [&](std::size_t at) { return at >= begin_ && at < end_; };
  return filled_ && (holds(other.begin_) || holds(other.end_ - 1));
}

bool MemorySpan::bridges_a_gap_of(const MemorySpan& other) const noexcept {
  return filled_ && begin_ < other.end_ && other.begin_ < end_ && end_ - begin_ > other.gap_;
}

bool MemorySpan::meets(const MemorySpan& other) const noexcept {
  if (begin_ == end_ || other.begin_ == other.end_) {
    return false;
  }
  return begin_ == other.begin_ || holds_an_end_of(other) || other.holds_an_end_of(*this) ||
         bridges_a_gap_of(other) || other.bridges_a_gap_of(*this);
}

Status check_apart(const Caller& caller, NamedSpans outputs, NamedSpans inputs) noexcept {
  for (const NamedSpan& out : outputs) {
    const auto shared = [&](const NamedSpan& other) { return out.span.meets(other.span); };
    const auto* input = std::find_if(inputs.begin(), inputs.end(), shared);
    const auto* output = std::find_if(outputs.begin(), &out, shared);
    if (input != inputs.end() || output != &out) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "{} overlaps {}, expected separate memory", Argument{out.name},
                    Argument{input != inputs.end() ? input->name : output->name});
    }
  }
  return {};
}

bool elements_are_apart(int rank, const Index* shape, const Index* strides) noexcept {
  const Axes axes(rank, shape, strides);
  Index reach = 0;  // of the axes with smaller strides
  for (std::size_t i = 0; i < axes.count; ++i) {
    if (axes.at[i].stride <= reach) {
      return false;
    }
    reach = axes.reach_with(i, reach);
  }
  return true;
}

}  // namespace qkv
