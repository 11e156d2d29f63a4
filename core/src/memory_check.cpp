#include "memory_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace qkv {

using detail::saturated_product;
using detail::saturated_sum;

MemorySpan::MemorySpan(const void* data, std::size_t element, int rank, const Index* shape,
                       const Index* strides) noexcept {
  if (rank <= 0 || !data) {
    return;
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
}

bool MemorySpan::holds_an_end_of(const MemorySpan& other) const noexcept {
  const auto holds = [&](std::size_t at) { return at >= begin_ && at < end_; };
  return filled_ && (holds(other.begin_) || holds(other.end_ - 1));
}

bool MemorySpan::meets(const MemorySpan& other) const noexcept {
  if (begin_ == end_ || other.begin_ == other.end_) {
    return false;
  }
  return begin_ == other.begin_ || holds_an_end_of(other) || other.holds_an_end_of(*this);
}

Status check_apart(const Caller& caller, std::initializer_list<NamedSpan> outputs,
                   std::initializer_list<NamedSpan> inputs) noexcept {
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
  struct Axis {
    Index stride, extent;
  };
  // Ordered by stride as each axis is put in: for at most four, std::sort would be 6 kB of a .wasm.
  std::array<Axis, TensorView<float>::kMaxRank> axes;
  std::size_t count = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (shape[axis] <= 1) {
      continue;  // its stride is never used
    }
    std::size_t at = count++;
    for (; at > 0 && axes[at - 1].stride > strides[axis]; --at) {
      axes[at] = axes[at - 1];
    }
    axes[at] = {strides[axis], shape[axis]};
  }
  Index reach = 0;  // of the axes with smaller strides
  for (std::size_t i = 0; i < count; ++i) {
    if (axes[i].stride <= reach) {
      return false;
    }
    reach = saturated_sum(reach, saturated_product(axes[i].extent - 1, axes[i].stride));
  }
  return true;
}

}  // namespace qkv
