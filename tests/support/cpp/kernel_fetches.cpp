#include "kernel_fetches.hpp"

#include <cstring>

#include "isa/isa_dispatch.hpp"
#include "qkv/isa.hpp"

namespace qkv::test {

// The linker's names for what calls qkv::require_kernels(), and for the function itself (--wrap).
#define QKV_REQUIRE_KERNELS "_ZN3qkv15require_kernelsERKNS_6CallerERPKNS_7kernels11KernelTableE"
Status real_require_kernels(const Caller& caller, const kernels::KernelTable*& table) noexcept
    __asm__("__real_" QKV_REQUIRE_KERNELS);
Status counted_require_kernels(const Caller& caller, const kernels::KernelTable*& table) noexcept
    __asm__("__wrap_" QKV_REQUIRE_KERNELS);

namespace {

struct Fetches {
  bool counted = false;
  int count = 0;
};
Fetches kernel_fetches;

/// An instruction set that this machine has and that is not `active`; null for none.
const char* another_isa(const char* active) noexcept {
  for (int i = 0; i < isa_count(); ++i) {
    if (isa_supported(i) && std::strcmp(isa_name(i), active) != 0) {
      return isa_name(i);
    }
  }
  return nullptr;
}

}  // namespace

Status counted_require_kernels(const Caller& caller, const kernels::KernelTable*& table) noexcept {
  Status status = real_require_kernels(caller, table);
  if (kernel_fetches.counted && status.ok()) {
    ++kernel_fetches.count;
    if (const char* other = another_isa(table->isa)) {
      static_cast<void>(select_isa(other));
    }
  }
  return status;
}

KernelFetches::KernelFetches() noexcept { kernel_fetches = {true, 0}; }
KernelFetches::~KernelFetches() {
  kernel_fetches.counted = false;
  static_cast<void>(select_isa(nullptr));
}
int KernelFetches::count() const noexcept { return kernel_fetches.count; }

}  // namespace qkv::test
