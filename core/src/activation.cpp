#include "qkv/activation.hpp"

#include "activation_kernel.hpp"
#include "check_elementwise.hpp"
#include "isa_dispatch.hpp"

namespace qkv {

kernels::Elementwise activation_kernel(const kernels::KernelTable& table,
                                       Activation activation) noexcept {
  switch (activation) {
    case Activation::kRelu:
      return table.relu;
    case Activation::kGelu:
      return table.gelu;
    case Activation::kGeluTanh:
      return table.gelu_tanh;
    case Activation::kSilu:
      return table.silu;
  }
  return nullptr;
}

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
