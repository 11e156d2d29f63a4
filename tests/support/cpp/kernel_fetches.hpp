// How often a call asks which kernels are active.
#pragma once

namespace qkv::test {

/// While it lives, counts how often the core fetches its kernel table, and selects another instruction set after each time,
/// if there is another: a call that fetches twice has two tables in its hands. The linker leads requests here
/// (tests/CMakeLists.txt). One at a time; afterwards the choice is automatic again.
class KernelFetches {
 public:
  KernelFetches() noexcept;
  ~KernelFetches();
  KernelFetches(const KernelFetches&) = delete;
  KernelFetches& operator=(const KernelFetches&) = delete;

  [[nodiscard]] int count() const noexcept;
};

}  // namespace qkv::test
