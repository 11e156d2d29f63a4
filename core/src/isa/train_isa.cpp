#include <cstring>

#include "isa/isa_dispatch.hpp"
#include "isa/train_dispatch.hpp"

namespace qkv {
namespace kernels {
#define X(isa, supported) const TrainTable* isa##_train_kernels() noexcept;
#include "isa/arch/isa_list.def"
#undef X
}  // namespace kernels

Status require_train_kernels(const Caller& caller, TrainKernels& found) noexcept {
  QKV_RETURN_IF_ERROR(require_kernels(caller, found.forward));
  // Both libraries are compiled for the same instruction sets, so one of these is found.
#define X(unit, supported)                                 \
  if (const auto* table = kernels::unit##_train_kernels(); \
      std::strcmp(table->isa, found.forward->base) == 0) { \
    found.backward = table;                                \
  }
#include "isa/arch/isa_list.def"
#undef X
  return found.backward ? Status{}
                        : refuse(StatusCode::kUnsupported, caller,
                                 "qkv_train has no kernels for {}, expected those of qkv",
                                 Verbatim{found.forward->base});
}

}  // namespace qkv
