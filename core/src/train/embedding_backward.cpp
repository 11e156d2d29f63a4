#include <algorithm>

#include "check.hpp"
#include "qkv/train/embedding.hpp"
#include "rotary_internal.hpp"

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
  for (Index i = 0; i < n; ++i) {
    if (ids.data[i] < 0 || ids.data[i] >= d_table.extent(0)) {
      return refuse(StatusCode::kOutOfRange, kName, "{} is {}, expected [0, {})",
                    Argument{"ids", i}, ids.data[i], d_table.extent(0));
    }
  }
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
  QKV_RETURN_IF_ERROR(check_array(kName, "d_out", d_out, {kAny, kAny, kAny, kAny}));
  QKV_RETURN_IF_ERROR(check_output(
      kName, "dx", dx, {d_out.extent(0), d_out.extent(1), d_out.extent(2), d_out.extent(3)}));
  if (d_out.data == dx.data && d_out.strides != dx.strides) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "@dx has strides {}, expected {} as in @d_out, whose memory it is",
                  Extents(dx.strides, 4), Extents(d_out.strides, 4));
  }
  RotaryPlan plan;
  QKV_RETURN_IF_ERROR(
      plan_rotary(kName, options, {d_out.extent(0), d_out.extent(2), d_out.extent(3)}, plan));
  if (d_out.size() == 0) {
    return {};
  }
  QKV_RETURN_IF_ERROR(workspace.begin(plan.scratch));
  QKV_RETURN_IF_ERROR(
      check_apart(kName, {{"dx", dx}},
                  {{"d_out", d_out.data == dx.data ? TensorView<const float>{} : d_out},
                   {"positions", options.positions},
                   {"cos", options.cos},
                   {"sin", options.sin}}));
  const RotaryRows rows = take_rows(plan, workspace);
  for (Index b = 0; b < plan.shape.batch; ++b) {
    if (b == 0 || !plan.shared) {
      fill_rows(plan, b, rows);
      for (Index i = 0; i < plan.shape.tokens * plan.pairs(); ++i) {
        rows.sin[i] = -rows.sin[i];
      }
    }
    rotate_heads(plan, rows, b, d_out, dx);
  }
  return {};
}

}  // namespace qkv::train
