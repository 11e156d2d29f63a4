#include "memory_check.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace qkv {

MemorySpan::MemorySpan(const void* data, std::size_t element, int rank, const Index* shape,
                       const Index* strides) noexcept {
  if (rank <= 0 || !data) {
    return;
  }
  std::size_t last = 0;
  std::size_t distinct = 1;
  for (int axis = 0; axis < rank; ++axis) {
    if (shape[axis] <= 0) {
      return;
    }
    last += static_cast<std::size_t>(shape[axis] - 1) * static_cast<std::size_t>(strides[axis]);
    distinct *= strides[axis] == 0 ? 1 : static_cast<std::size_t>(shape[axis]);
  }
  begin_ = reinterpret_cast<std::uintptr_t>(data);
  end_ = begin_ + (last + 1) * element;
  filled_ = distinct == last + 1;
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

Status check_apart(const char* function, std::initializer_list<NamedSpan> outputs,
                   std::initializer_list<NamedSpan> inputs) noexcept {
  for (const NamedSpan& out : outputs) {
    const auto shared = [&](const NamedSpan& other) { return out.span.meets(other.span); };
    const auto* input = std::find_if(inputs.begin(), inputs.end(), shared);
    const auto* output = std::find_if(outputs.begin(), &out, shared);
    if (input != inputs.end() || output != &out) {
      return Status::error(StatusCode::kInvalidArgument,
                           "%s: %s is in the memory of %s, expected memory of its own", function,
                           out.name, input != inputs.end() ? input->name : output->name);
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
    reach += (extent - 1) * stride;
  }
  return true;
}

}  // namespace qkv
