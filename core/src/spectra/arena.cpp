#include "spectra/arena.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace qkv {
namespace {

thread_local EigenArena* current = nullptr;
thread_local std::size_t overflow_count = 0;
thread_local std::size_t peak_bytes = 0;

}  // namespace

/// Before each block. Blocks are given back in nearly the order of a stack: one in the middle is marked, and room is made when all after
/// it have gone.
struct alignas(16) EigenArena::Header {
  Header* before;
  bool used;
};

EigenArena::EigenArena(double* block, std::size_t count) noexcept
    : outer_(current),
      begin_(reinterpret_cast<std::byte*>(block)),
      end_(begin_ + count * sizeof(double)),
      top_(begin_) {
  current = this;
  peak_bytes = 0;
}

EigenArena::~EigenArena() { current = outer_; }

std::size_t EigenArena::overflows() noexcept { return overflow_count; }
std::size_t EigenArena::peak() noexcept {
  return (peak_bytes + sizeof(double) - 1) / sizeof(double);
}

bool EigenArena::owns(const void* block) const noexcept {
  const auto* at = static_cast<const std::byte*>(block);
  return at >= begin_ && at < end_;
}

void* EigenArena::take_here(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + 15) / 16 * 16;
  const auto left = static_cast<std::size_t>(end_ - top_);
  if (rounded < bytes || left < sizeof(Header) || left - sizeof(Header) < rounded) {
    return nullptr;
  }
  last_ = new (top_) Header{last_, true};
  std::byte* const block = top_ + sizeof(Header);
  top_ = block + rounded;
  peak_bytes = std::max(peak_bytes, static_cast<std::size_t>(top_ - begin_));
  return block;
}

void EigenArena::give_here(void* block) noexcept {
  reinterpret_cast<Header*>(static_cast<std::byte*>(block) - sizeof(Header))->used = false;
  while (last_ != nullptr && !last_->used) {
    top_ = reinterpret_cast<std::byte*>(last_);
    last_ = last_->before;
  }
}

void* EigenArena::take(std::size_t bytes) noexcept {
  if (current != nullptr) {
    if (void* const block = current->take_here(bytes)) {
      return block;
    }
    ++overflow_count;
  }
  return std::malloc(bytes);
}

void EigenArena::give(void* block) noexcept {
  if (current != nullptr && current->owns(block)) {
    current->give_here(block);
  } else {
    std::free(block);
  }
}

}  // namespace qkv
