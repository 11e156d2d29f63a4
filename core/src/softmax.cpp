#include "qkv/softmax.hpp"

#include <cmath>

#include "check_elementwise.hpp"
#include "isa_dispatch.hpp"

namespace qkv {

Status softmax(TensorView<const float> x, TensorView<float> out,
               const SoftmaxOptions& options) noexcept {
  constexpr const char* kName = "softmax";
  QKV_RETURN_IF_ERROR(check_elementwise(kName, x, out));
  int axis = options.axis;
  QKV_RETURN_IF_ERROR(resolve_axis(kName, x.rank, axis));
  if (!(std::isnormal(options.temperature) && options.temperature > 0.0F)) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "@temperature is {}, expected a number of at least 1.18e-38",
                  options.temperature);
  }
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  if (x.size() == 0) {
    return {};
  }
  kernels::SoftmaxArgs args{.outer = 1,
                            .n = x.extent(axis),
                            .inner = 1,
                            .x = x.data,
                            .out = out.data,
                            .temperature = options.temperature};
  for (int i = 0; i < x.rank; ++i) {
    (i < axis ? args.outer : args.inner) *= i == axis ? 1 : x.extent(i);
  }
  table->softmax(args);
  return {};
}

}  // namespace qkv
