#include "memory_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

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
  std::array<std::pair<Index, Index>, TensorView<float>::kMaxRank> axes{};  // stride, extent
  for (int axis = 0; axis < rank; ++axis) {
    axes[static_cast<std::size_t>(axis)] = {strides[axis], shape[axis]};
  }
  // All four, also those not in use: g++ 12 takes the sort of a part for a sort of 16 and warns.
  std::sort(axes.begin(), axes.end());
  Index reach = 0;  // of the axes with smaller strides
  for (const auto& [stride, extent] : axes) {
    if (extent <= 1) {
      continue;
    }
    if (stride <= reach) {
      return false;
    }
    reach = saturated_sum(reach, saturated_product(extent - 1, stride));
  }
  return true;
}

}  // namespace qkv
