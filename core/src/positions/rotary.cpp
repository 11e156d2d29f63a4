#include "qkv/rotary.hpp"

#include <algorithm>
#include <cstring>

#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "positions/rotary_frequencies.hpp"
#include "positions/rotary_plan.hpp"

namespace qkv {
namespace {

void copy_rows(const RotaryPlan& plan, Index b, const RotaryRows& rows) noexcept {
  const RotaryOptions& o = plan.options;
  const Index pairs = plan.pairs();
  const auto bytes = static_cast<std::size_t>(pairs) * sizeof(float);
  for (Index t = 0; t < plan.shape.tokens; ++t) {
    const Index p = o.cos.rank == 2 ? position_of(o, b, t) : 0;
    std::memcpy(rows.cos + t * pairs, o.cos.rank == 2 ? o.cos.at(p) : o.cos.at(b, t), bytes);
    std::memcpy(rows.sin + t * pairs, o.sin.rank == 2 ? o.sin.at(p) : o.sin.at(b, t), bytes);
  }
}

/// out is x's own memory only when it is x.
Status check_in_place(const Caller& caller, const HeadTurn& turn) noexcept {
  const auto& [x_name, x, out_name, out, inverse] = turn;
  for (int axis = 0; x.data == out.data && x.size() > 0 && axis < 3; ++axis) {
    if (x.extent(axis) > 1 && x.stride(axis) != out.stride(axis)) {
      return refuse(StatusCode::kInvalidArgument, caller,
                    "axis {} of {} has stride {}, expected {} as in {}, whose memory it is", axis,
                    Argument{out_name}, out.stride(axis), x.stride(axis), Argument{x_name});
    }
  }
  return {};
}

/// [.., T, r / 2] as batch and tokens; a table without batch rows has one.
RotaryShape table_shape(const TensorView<float>& cos) noexcept {
  const auto doubled = [](Index pairs) { return detail::saturated_product(2, pairs); };
  return cos.rank == 3 ? RotaryShape{cos.extent(0), cos.extent(1), doubled(cos.extent(2))}
                       : RotaryShape{1, cos.extent(0), doubled(cos.extent(1))};
}

Status check_table_outputs(const Caller& caller, const TensorView<float>& cos,
                           const TensorView<float>& sin) noexcept {
  if (cos.rank == 3) {
    QKV_RETURN_IF_ERROR(check_dense(caller, "cos", cos, {kAny, kAny, kAny}));
    return check_dense(caller, "sin", sin, {cos.extent(0), cos.extent(1), cos.extent(2)});
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, "cos", cos, {kAny, kAny}));
  return check_dense(caller, "sin", sin, {cos.extent(0), cos.extent(1)});
}

}  // namespace

RotaryRows take_rows(const RotaryPlan& plan, Workspace& workspace) noexcept {
  const auto size = static_cast<std::size_t>(plan.shape.tokens * plan.pairs());
  float* cos = workspace.take(size);
  return {cos, workspace.take(size)};
}

void fill_angles(const RotaryPlan& plan, Index b, const RotaryRows& rows) noexcept {
  if (!plan.options.cos.absent()) {
    copy_rows(plan, b, rows);
    return;
  }
  const RotaryFrequencies frequencies(plan.options);
  const double factor = frequencies.attention_factor();
  const Index pairs = plan.pairs();
  for (Index i = 0; i < pairs; ++i) {
    AngleColumn column(frequencies.at(i));
    for (Index t = 0; t < plan.shape.tokens; ++t) {
      const auto [sine, cosine] = column.at(position_of(plan.options, b, t));
      rows.cos[t * pairs + i] = static_cast<float>(factor * cosine);
      rows.sin[t * pairs + i] = static_cast<float>(factor * sine);
    }
  }
}

void rotate_heads(const RotaryPlan& plan, const RotaryRows& rows, Index b,
                  const TensorView<const float>& x, const TensorView<float>& out) noexcept {
  const Index pairs = plan.pairs();
  const auto bytes = static_cast<std::size_t>(plan.shape.d) * sizeof(float);
  // So many tokens are still in the cache when they are turned.
  constexpr Index kTokens = 32;
  for (Index h = 0; h < x.extent(1); ++h) {
    for (Index first = 0; first < plan.shape.tokens; first += kTokens) {
      const Index tokens = std::min(kTokens, plan.shape.tokens - first);
      for (Index t = first; x.data != out.data && t < first + tokens; ++t) {
        // Rows of out may lie across those of x where both have gaps, which is not looked for.
        std::memmove(out.at(b, h, t), x.at(b, h, t), bytes);
      }
      plan.kernels->rotate({.tokens = tokens,
                            .pairs = pairs,
                            .x = out.at(b, h, first),
                            .stride = out.stride(2),
                            .cos = rows.cos + first * pairs,
                            .sin = rows.sin + first * pairs,
                            .interleaved = plan.options.interleaved});
    }
  }
}

void rotate_in_place(const RotaryPlan& plan, Workspace& workspace,
                     std::initializer_list<TensorView<float>> views) noexcept {
  const RotaryRows rows = take_rows(plan, workspace);
  for (Index b = 0; plan.shape.tokens > 0 && b < plan.shape.batch; ++b) {
    if (b == 0 || !plan.shared) {
      fill_angles(plan, b, rows);
    }
    for (const TensorView<float>& view : views) {
      rotate_heads(plan, rows, b, view, view);
    }
  }
}

Status turn_heads(const Caller& caller, const kernels::KernelTable& table, const HeadTurn& turn,
                  const RotaryOptions& options, Workspace& workspace) noexcept {
  const auto& [x_name, x, out_name, out, inverse] = turn;
  QKV_RETURN_IF_ERROR(check_array(caller, x_name, x, {kAny, kAny, kAny, kAny}));
  QKV_RETURN_IF_ERROR(
      check_output(caller, out_name, out, {x.extent(0), x.extent(1), x.extent(2), x.extent(3)}));
  QKV_RETURN_IF_ERROR(check_in_place(caller, turn));
  RotaryPlan plan;
  QKV_RETURN_IF_ERROR(
      plan_rotary(caller, table, options, {x.extent(0), x.extent(2), x.extent(3)}, plan));
  if (x.size() == 0) {
    return {};
  }
  QKV_RETURN_IF_ERROR(workspace.begin(plan.scratch));
  QKV_RETURN_IF_ERROR(check_apart(caller, {{out_name, out}},
                                  {{x_name, x.data == out.data ? TensorView<const float>{} : x},
                                   {"positions", options.positions},
                                   {"cos", options.cos},
                                   {"sin", options.sin},
                                   {"scaling.factors", options.scaling.factors}}));
  const RotaryRows rows = take_rows(plan, workspace);
  for (Index b = 0; b < plan.shape.batch; ++b) {
    if (b == 0 || !plan.shared) {
      fill_angles(plan, b, rows);
      for (Index i = 0; inverse && i < plan.shape.tokens * plan.pairs(); ++i) {
        rows.sin[i] = -rows.sin[i];
      }
    }
    rotate_heads(plan, rows, b, x, out);
  }
  return {};
}

Status rotary_embedding(TensorView<const float> x, TensorView<float> out,
                        const RotaryOptions& options, Workspace& workspace) noexcept {
  constexpr const char* kName = "rotary_embedding";
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  return turn_heads(kName, *table, {"x", x, "out", out, false}, options, workspace);
}

Status rotary_table(TensorView<float> cos, TensorView<float> sin,
                    const RotaryOptions& options) noexcept {
  constexpr const char* kName = "rotary_table";
  if (!options.cos.absent() || !options.sin.absent()) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "options has {}, expected none: this call makes them",
                  options.cos.absent() ? "@sin" : "@cos");
  }
  QKV_RETURN_IF_ERROR(check_table_outputs(kName, cos, sin));
  const RotaryShape shape = table_shape(cos);
  // A number of dimensions that no table has is left to plan_rotary().
  const bool possible = options.rotary_dim > 0 && options.rotary_dim % 2 == 0;
  if (possible && options.rotary_dim != shape.d) {
    return refuse(StatusCode::kShapeMismatch, kName,
                  "@cos is {}, expected rows of @rotary_dim / 2 = {}", Extents(cos),
                  options.rotary_dim / 2);
  }
  RotaryPlan plan;
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  QKV_RETURN_IF_ERROR(plan_rotary(kName, *table, options, shape, plan));
  QKV_RETURN_IF_ERROR(check_apart(
      kName, {{"cos", cos}, {"sin", sin}},
      {{"positions", options.positions}, {"scaling.factors", options.scaling.factors}}));
  const Index row_size = shape.tokens * plan.pairs();
  for (Index b = 0; b < shape.batch && row_size > 0; ++b) {
    fill_angles(plan, b, {cos.data + b * row_size, sin.data + b * row_size});
  }
  return {};
}

}  // namespace qkv
