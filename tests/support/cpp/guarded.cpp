#include "guarded.hpp"

#include <cstdlib>
#include <cstring>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#define QKV_TEST_HAS_PAGES 1
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace qkv::test {
namespace {

constexpr unsigned char kFill = 0xFF;

std::size_t page_size() {
#if defined(QKV_TEST_HAS_PAGES)
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#else
  return 256;  // of canary bytes
#endif
}

}  // namespace

GuardedBytes::GuardedBytes(std::size_t bytes, Edge edge) : bytes_(bytes), guard_(page_size()) {
  const std::size_t inside = (bytes + guard_ - 1) / guard_ * guard_;
  mapped_ = inside + 2 * guard_;
#if defined(QKV_TEST_HAS_PAGES)
  void* mapping =
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    std::abort();
  }
  memory_ = static_cast<unsigned char*>(mapping);
  std::memset(memory_, kFill, mapped_);
  mprotect(memory_, guard_, PROT_NONE);
  mprotect(memory_ + guard_ + inside, guard_, PROT_NONE);
#else
  memory_ = static_cast<unsigned char*>(std::malloc(mapped_));
  std::memset(memory_, kFill, mapped_);
#endif
  data_ = memory_ + guard_ + (edge == Edge::kEnd ? inside - bytes : 0);
}

GuardedBytes::~GuardedBytes() {
#if defined(QKV_TEST_HAS_PAGES)
  munmap(memory_, mapped_);
#else
  std::free(memory_);
#endif
}

bool GuardedBytes::intact() const {
#if defined(QKV_TEST_HAS_PAGES)
  const unsigned char* from = memory_ + guard_;
  const unsigned char* to = memory_ + mapped_ - guard_;
#else
  const unsigned char* from = memory_;
  const unsigned char* to = memory_ + mapped_;
#endif
  for (const unsigned char* p = from; p < to; ++p) {
    if ((p < data_ || p >= data_ + bytes_) && *p != kFill) {
      return false;
    }
  }
  return true;
}

void GuardedBytes::make_read_only() {
#if defined(QKV_TEST_HAS_PAGES)
  mprotect(memory_ + guard_, mapped_ - 2 * guard_, PROT_READ);
#endif
}

}  // namespace qkv::test
