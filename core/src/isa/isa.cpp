#include "qkv/isa.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <xsimd/xsimd.hpp>

#include "isa/isa_dispatch.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace qkv {
namespace kernels {
#define X(isa, supported) const KernelTable* isa##_kernels() noexcept;
#include "isa/arch/isa_list.def"
#undef X
}  // namespace kernels

namespace {

// xsimd does not detect the extensions of NEON.
#if defined(__aarch64__) && defined(__APPLE__)
bool has_feature(const char* name) noexcept {
  int has = 0;
  std::size_t size = sizeof has;
  return sysctlbyname(name, &has, &size, nullptr, 0) == 0 && has != 0;
}
#endif

/// Whether NEON multiplies bytes by sdot.
[[maybe_unused]] bool has_neon_dot_product() noexcept {
#if defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kDotProduct = 1UL << 20U;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & kDotProduct) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
  return has_feature("hw.optional.arm.FEAT_DotProd");
#else
  return false;
#endif
}

/// Whether it multiplies them by smmla.
[[maybe_unused]] bool has_neon_matrix_product() noexcept {
#if defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kMatrixProduct = 1UL << 13U;  // HWCAP2_I8MM
  return (getauxval(AT_HWCAP2) & kMatrixProduct) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
  return has_feature("hw.optional.arm.FEAT_I8MM");
#else
  return false;
#endif
}

struct Isa {
  const char* name;
  /// Null where this machine cannot run it: its unit may use its instructions to make the table.
  const kernels::KernelTable* kernels;
};

struct IsaList {
  static constexpr int kCount = 0
#define X(isa, supported) +1
#include "isa/arch/isa_list.def"
#undef X
      ;
  Isa entries[kCount];
};

/// The name is in the table of kernels; where there is none it is that of the unit in the list.
Isa entry(const char* unit, const kernels::KernelTable* kernels) noexcept {
  return {kernels ? kernels->isa : unit, kernels};
}

const IsaList& isa_list() noexcept {
  static const IsaList list = [] {
    [[maybe_unused]] const auto cpu = xsimd::available_architectures();
    return IsaList{{
#define X(isa, supported) entry(#isa, (supported) ? kernels::isa##_kernels() : nullptr),
#include "isa/arch/isa_list.def"
#undef X
    }};
  }();
  return list;
}

/// Null when `name` is not in the list or cannot run here.
const kernels::KernelTable* find(const char* name) noexcept {
  for (const Isa& isa : isa_list().entries) {
    if (isa.kernels && std::strcmp(isa.name, name) == 0) {
      return isa.kernels;
    }
  }
  return nullptr;
}

const kernels::KernelTable* best() noexcept {
  for (const Isa& isa : isa_list().entries) {
    if (isa.kernels) {
      return isa.kernels;
    }
  }
  return nullptr;
}

/// Null when QKV_ISA names an instruction set that is unknown or cannot run here.
const kernels::KernelTable* automatic() noexcept {
  static const kernels::KernelTable* const choice = [] {
    const char* name = std::getenv("QKV_ISA");
    return name && *name ? find(name) : best();
  }();
  return choice;
}

/// The names that can be selected here, ", " between them.
struct SupportedNames {
  SupportedNames() noexcept {
    std::size_t end = 0;
    for (const Isa& isa : isa_list().entries) {
      const std::size_t length = std::strlen(isa.name);
      if (!isa.kernels || end + length + 3 > sizeof text) {
        continue;
      }
      if (end > 0) {
        std::memcpy(text + end, ", ", 2);
        end += 2;
      }
      std::memcpy(text + end, isa.name, length);
      end += length;
    }
  }
  char text[96] = {};
};

/// What select_isa chose; null for the automatic choice.
std::atomic<const kernels::KernelTable*> selected{nullptr};

}  // namespace

int isa_count() noexcept { return IsaList::kCount; }

const char* isa_name(int index) noexcept {
  return index < 0 || index >= IsaList::kCount ? nullptr : isa_list().entries[index].name;
}

bool isa_supported(int index) noexcept {
  return index >= 0 && index < IsaList::kCount && isa_list().entries[index].kernels;
}

const kernels::KernelTable* active_kernels() noexcept {
  const kernels::KernelTable* forced = selected.load(std::memory_order_acquire);
  return forced ? forced : automatic();
}

const char* active_isa() noexcept {
  const kernels::KernelTable* active = active_kernels();
  return active ? active->isa : "";
}

Status select_isa(const char* name) noexcept {
  const kernels::KernelTable* choice = nullptr;
  if (name && *name) {
    choice = find(name);
    if (!choice) {
      return refuse(StatusCode::kUnsupported, "select_isa",
                    "@name is '{}', expected one of this build that this machine can run: {}",
                    Verbatim{name}, Verbatim{SupportedNames().text});
    }
  }
  selected.store(choice, std::memory_order_release);
  return {};
}

Status require_kernels(const Caller& caller, const kernels::KernelTable*& table) noexcept {
  table = active_kernels();
  if (table) {
    return {};
  }
  const char* name = std::getenv("QKV_ISA");
  return refuse(StatusCode::kUnsupported, caller,
                "QKV_ISA is '{}', expected one of this build that this machine can run: {}",
                Verbatim{name ? name : ""}, Verbatim{SupportedNames().text});
}

Status check_same_kernels(const Caller& caller, const char* what,
                          const kernels::KernelTable* created_for,
                          const kernels::KernelTable* active) noexcept {
  return created_for == active ? Status{}
                               : refuse(StatusCode::kUnsupported, caller,
                                        "{} was created for {} and {} is active, expected the same",
                                        what, created_for->isa, active->isa);
}

}  // namespace qkv
