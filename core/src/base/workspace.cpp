#include "qkv/workspace.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "base/message.hpp"

namespace qkv {
namespace {

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> allocations{0};

}  // namespace

Status AlignedBuffer::reserve(std::size_t count) noexcept {
  if (count <= capacity_) {
    return {};
  }
  constexpr std::size_t kMost = (std::numeric_limits<std::size_t>::max() - kAlignment) / 4;
  float* block = nullptr;
  const std::size_t padded = Workspace::padded(count < kMost ? count : 0);
  if (count < kMost) {
    block = static_cast<float*>(std::aligned_alloc(kAlignment, padded * sizeof(float)));
  }
  if (!block) {
    const std::uint64_t floats = count;  // as many bits where addresses have 32
    constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint64_t>::max();
    return out_of_memory("out of memory: {} bytes could not be allocated",
                         floats < kMostBytes / sizeof(float) ? floats * sizeof(float) : kMostBytes);
  }
  release();
  data_ = block;
  capacity_ = padded;
  live_bytes.fetch_add(padded * sizeof(float), std::memory_order_relaxed);
  allocations.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void AlignedBuffer::release() noexcept {
  if (data_) {
    live_bytes.fetch_sub(capacity_ * sizeof(float), std::memory_order_relaxed);
    std::free(data_);
  }
  data_ = nullptr;
  capacity_ = 0;
}

std::size_t allocated_bytes() noexcept { return live_bytes.load(std::memory_order_relaxed); }
std::size_t allocation_count() noexcept { return allocations.load(std::memory_order_relaxed); }

}  // namespace qkv
