#include "qkv/activation.hpp"

#include "check_elementwise.hpp"
#include "isa_dispatch.hpp"

namespace qkv {
namespace {

/// Null for a value from outside the enumeration.
kernels::Elementwise kernel_of(const kernels::KernelTable& table, Activation activation) noexcept {
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

}  // namespace

Status activate(TensorView<const float> x, TensorView<float> out, Activation activation) noexcept {
  constexpr const char* kName = "activate";
  QKV_RETURN_IF_ERROR(check_elementwise(kName, x, out));
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  const kernels::Elementwise kernel = kernel_of(*table, activation);
  if (!kernel) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "@activation is {}, expected a value of Activation", activation);
  }
  kernel({.n = x.size(), .x = x.data, .y = nullptr, .out = out.data});
  return {};
}

}  // namespace qkv
