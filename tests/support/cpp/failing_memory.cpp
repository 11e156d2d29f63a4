#include "failing_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr int kNone = -1;

std::atomic<bool> watching{false};
std::atomic<int> which{kNone};
std::atomic<int> aligned{0};
std::atomic<int> others{0};
std::atomic<bool> has_failed{false};

/// Counts a request and says whether it fails.
bool fails(std::atomic<int>& kind) noexcept {
  if (!watching.load(std::memory_order_relaxed)) {
    return false;
  }
  const int number = aligned + others;
  ++kind;
  has_failed = has_failed || number == which;
  return number == which;
}

}  // namespace

// The linker's names for what calls the function, and for the function itself (--wrap). What operator new
// is called depends on what a size_t is.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
#if defined(__wasm32__)
#define QKV_WRAPPED_NEW __wrap__Znwj
#define QKV_REAL_NEW __real__Znwj
#else
#define QKV_WRAPPED_NEW __wrap__Znwm
#define QKV_REAL_NEW __real__Znwm
#endif
extern "C" {
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* block, std::size_t size);
void* QKV_REAL_NEW(std::size_t size);

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(aligned) ? nullptr : __real_aligned_alloc(alignment, size);
}
void* __wrap_malloc(std::size_t size) { return fails(others) ? nullptr : __real_malloc(size); }
void* __wrap_calloc(std::size_t count, std::size_t size) {
  return fails(others) ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* block, std::size_t size) {
  return fails(others) ? nullptr : __real_realloc(block, size);
}
void* QKV_WRAPPED_NEW(std::size_t size) {
  if (fails(others)) {
    throw std::bad_alloc();
  }
  return QKV_REAL_NEW(size);
}
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace qkv::test {

FailingMemory::FailingMemory(int request) noexcept {
  which = request;
  aligned = others = 0;
  has_failed = false;
  watching = true;
}
FailingMemory::~FailingMemory() { watching = false; }
int FailingMemory::aligned_requests() const noexcept { return aligned; }
int FailingMemory::other_requests() const noexcept { return others; }
bool FailingMemory::failed() const noexcept { return has_failed; }

}  // namespace qkv::test
