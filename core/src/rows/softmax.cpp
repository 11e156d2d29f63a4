#include "qkv/softmax.hpp"

#include "check/check_elementwise.hpp"
#include "isa/isa_dispatch.hpp"

namespace qkv {

Status softmax(TensorView<const float> x, TensorView<float> out,
               const SoftmaxOptions& options) noexcept {
  constexpr const char* kName = "softmax";
  QKV_RETURN_IF_ERROR(check_elementwise(kName, x, out));
  int axis = options.axis;
  QKV_RETURN_IF_ERROR(resolve_axis(kName, x.rank, axis));
  QKV_RETURN_IF_ERROR(check_temperature(kName, options.temperature));
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  if (x.size() == 0) {
    return {};
  }
  const AxisExtents extents = extents_around(x, axis);
  table->softmax({.outer = extents.outer,
                  .n = extents.n,
                  .inner = extents.inner,
                  .x = x.data,
                  .out = out.data,
                  .temperature = options.temperature});
  return {};
}

}  // namespace qkv
