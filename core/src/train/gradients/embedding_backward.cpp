#include <algorithm>

#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "positions/rotary_plan.hpp"
#include "qkv/train/embedding.hpp"

namespace qkv::train {

Status embedding_backward(TensorView<const float> d_out, TensorView<const std::int32_t> ids,
                          TensorView<float> d_table) noexcept {
  constexpr const char* kName = "embedding_backward";
  QKV_RETURN_IF_ERROR(check_dense(kName, "d_table", d_table, {kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_dense(kName, "ids", ids, {kAny}));
  const Index n = ids.extent(0);
  const Index width = d_table.extent(1);
  QKV_RETURN_IF_ERROR(check_dense(kName, "d_out", d_out, {n, width}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"d_table", d_table}}, {{"d_out", d_out}, {"ids", ids}}));
  QKV_RETURN_IF_ERROR(check_ids(kName, "ids", ids, d_table.extent(0)));
  std::fill_n(d_table.data, d_table.size(), 0.0F);
  for (Index i = 0; i < n; ++i) {
    float* to = d_table.data + ids.data[i] * width;
    for (Index d = 0; d < width; ++d) {
      to[d] += d_out.data[i * width + d];
    }
  }
  return {};
}

Status rotary_embedding_backward(TensorView<const float> d_out, TensorView<float> dx,
                                 const RotaryOptions& options, Workspace& workspace) noexcept {
  constexpr const char* kName = "rotary_embedding_backward";
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  return turn_heads(kName, *table, {"d_out", d_out, "dx", dx, true}, options, workspace);
}

}  // namespace qkv::train
