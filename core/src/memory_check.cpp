#include "memory_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

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
};

/// The greatest whole number that is at most a / b, and the least that is at least a / b; b > 0.
std::int64_t quotient_below(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}
std::int64_t quotient_above(std::int64_t a, std::int64_t b) noexcept {
  return -quotient_below(-a, b);
}

/// Looks for a byte that two views share: for steps along the axes of both that lead from the first byte of `a` to that of
/// `b`. Axes with the same stride are one, along which steps of `a` go forth and steps of `b` go back. From the greatest
/// stride to the least, only those numbers of steps are tried after which the smaller strides reach the rest: two or three
/// where rows of both are no longer than the next stride, as those of parts of one array are.
class SharedByte {
 public:
  SharedByte(const MemorySpan& a, const MemorySpan& b) noexcept {
    const auto of_a = a.axes();
    const auto of_b = b.axes();
    std::int64_t least = 0;  // how far the axes so far lead
    std::int64_t most = 0;
    for (std::size_t i = 0, j = 0; i < of_a.size() || j < of_b.size();) {
      const bool forth = j == of_b.size() || (i < of_a.size() && of_a[i].stride <= of_b[j].stride);
      const MemorySpan::Axis axis = forth ? of_a[i++] : of_b[j++];
      if (count_ == 0 || axes_[count_ - 1].stride != axis.stride) {
        axes_[count_++] = {axis.stride, 0, 0, least, most};
      }
      (forth ? axes_[count_ - 1].forth : axes_[count_ - 1].back) += axis.steps;
      (forth ? most : least) += (forth ? axis.steps : -axis.steps) * axis.stride;
    }
  }

  /// Whether there is one, when b begins `distance` bytes after a. False when too many numbers would have to be tried.
  [[nodiscard]] bool exists(std::int64_t distance) noexcept { return search(count_, distance); }

 private:
  struct Axis {
    std::int64_t stride, forth, back;
    std::int64_t least, most;  ///< how far axes with smaller strides lead
  };

  bool search(std::size_t axes, std::int64_t distance) noexcept {
    if (axes == 0) {
      return distance == 0;
    }
    const Axis& axis = axes_[axes - 1];
    const std::int64_t last =
        std::min(axis.forth, quotient_below(distance - axis.least, axis.stride));
    std::int64_t steps = std::max(-axis.back, quotient_above(distance - axis.most, axis.stride));
    for (; steps <= last && left_ > 0; ++steps) {
      --left_;
      if (search(axes - 1, distance - steps * axis.stride)) {
        return true;
      }
    }
    return false;
  }

  std::array<Axis, 2 * MemorySpan::kMostAxes> axes_{};
  std::size_t count_ = 0;
  int left_ = 1000;
};

}  // namespace

MemorySpan::MemorySpan(const void* data, std::size_t element, int rank, const Index* shape,
                       const Index* strides) noexcept {
  if (rank <= 0 || !data || std::any_of(shape, shape + rank, [](Index n) { return n <= 0; })) {
    return;
  }
  // Further than any memory is long, and sums of distances do not overflow.
  constexpr std::int64_t kFarthest = std::int64_t{1} << 61;
  const auto bytes = static_cast<std::int64_t>(element);
  axes_[count_++] = {1, bytes - 1};
  std::int64_t reach = bytes;
  const Axes along(rank, shape, strides);
  for (std::size_t i = 0; i < along.count; ++i) {
    const auto [stride, extent] = along.at[i];
    if (stride <= 0) {  // all steps lead to the same place
      continue;
    }
    std::int64_t step = 0;
    std::int64_t length = 0;
    if (__builtin_mul_overflow(stride, bytes, &step) ||
        __builtin_mul_overflow(step, extent - 1, &length) || length >= kFarthest - reach) {
      // Past the end of memory, and all up to there counts as the view's.
      reach = kFarthest;
      axes_[0].steps = kFarthest - 1;
      count_ = 1;
      break;
    }
    reach += length;
    axes_[count_++] = {step, extent - 1};
  }
  begin_ = reinterpret_cast<std::uintptr_t>(data);
  end_ = begin_ + static_cast<std::uint64_t>(reach);
}

bool MemorySpan::meets(const MemorySpan& other) const noexcept {
  if (begin_ >= other.end_ || other.begin_ >= end_) {
    return false;
  }
  return begin_ == other.begin_ ||
         SharedByte(*this, other).exists(static_cast<std::int64_t>(other.begin_ - begin_));
}

Status check_apart(const Caller& caller, NamedSpans outputs, NamedSpans inputs) noexcept {
  for (const NamedSpan& out : outputs) {
    const auto shared = [&](const NamedSpan& other) { return out.span.meets(other.span); };
    const auto* input = std::find_if(inputs.begin(), inputs.end(), shared);
    const auto* output = std::find_if(outputs.begin(), &out, shared);
    if (input != inputs.end() || output != &out) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "{} is in the memory of {}, expected memory of its own", Argument{out.name},
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
