// Memory that cannot be had, whenever a test wants it so.
#pragma once

namespace qkv::test {

/// While it lives, the request for memory number `which` (from 0) fails, and that one alone. Requests are
/// those of the core, which has one way to ask (aligned_alloc), and of everything else that is linked
/// statically: malloc and its kind, and operator new, which the core must not call. The linker leads them
/// here (tests/CMakeLists.txt). One at a time.
class FailingMemory {
 public:
  explicit FailingMemory(int which) noexcept;
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  /// Requests of the core so far, and of others.
  [[nodiscard]] int aligned_requests() const noexcept;
  [[nodiscard]] int other_requests() const noexcept;
  /// Whether the one that was to fail has come.
  [[nodiscard]] bool failed() const noexcept;
};

}  // namespace qkv::test
