#include "qkv/activation.hpp"

#include "check/check_elementwise.hpp"
#include "isa/isa_dispatch.hpp"
#include "rows/activation_kernel.hpp"

namespace qkv {

Status activate(TensorView<const float> x, TensorView<float> out, Activation activation) noexcept {
  constexpr const char* kName = "activate";
  QKV_RETURN_IF_ERROR(check_elementwise(kName, x, out));
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  const kernels::Elementwise kernel = activation_kernel(*table, activation);
  if (!kernel) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "@activation is {}, expected a value of Activation", activation);
  }
  kernel({.n = x.size(), .x = x.data, .y = nullptr, .out = out.data});
  return {};
}

}  // namespace qkv
