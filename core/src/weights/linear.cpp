#include "qkv/linear.hpp"

#include <algorithm>
#include <utility>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check_elementwise.hpp"
#include "isa/isa_dispatch.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"

namespace qkv {
namespace {

using kernels::KernelTable;

constexpr const char* kLinearForward = "Linear::forward";

/// Floats of W that linear() packs at a time: 1 MB, which a second-level cache keeps for the product.
constexpr Index kSliceFloats = 1 << 18;

/// The sizes of W by its layout; meaningful once check_weights() has seen them.
WeightMatrix matrix_of(const LinearWeights& weights) noexcept {
  const int in = weights.layout == WeightLayout::kInOut ? 0 : 1;
  return {"w",
          "bias",
          weights.w,
          weights.bias,
          weights.w.extent(in),
          weights.w.extent(1 - in),
          weights.layout};
}

/// A matrix of rank 2 without empty axes, and a bias that fits.
Status check_weights(const Caller& caller, const WeightMatrix& matrix) noexcept {
  QKV_RETURN_IF_ERROR(check_layout(caller, "layout", matrix.layout));
  QKV_RETURN_IF_ERROR(check_array(caller, "w", matrix.weight, {kAny, kAny}));
  if (matrix.in < 1 || matrix.out < 1) {
    return refuse(StatusCode::kShapeMismatch, caller, "@w is {}, expected extents of at least 1",
                  Extents(matrix.weight));
  }
  return check_linear(caller, matrix);
}

/// x is [..., in] and `result` [..., out] with the same axes before, both dense.
Status check_rows(const Caller& caller, const WeightMatrix& matrix,
                  const TensorView<const float>& x, const TensorView<float>& result) noexcept {
  QKV_RETURN_IF_ERROR(check_rank(caller, "x", x.rank));
  const auto last = static_cast<std::size_t>(x.rank) - 1;
  TensorView<const float> expected = x;
  std::fill(expected.shape.begin(), expected.shape.begin() + x.rank - 1, kAny);
  expected.shape[last] = matrix.in;
  QKV_RETURN_IF_ERROR(check_dense_like(caller, "x", x, expected));
  expected.shape = x.shape;
  expected.shape[last] = matrix.out;
  return check_dense_like(caller, "out", result, expected);
}

Index rows_of(const TensorView<const float>& x, Index in) noexcept { return x.size() / in; }

/// Columns of W that are packed at a time: whole panels, all of them if they are few.
Index columns_at_once(const KernelTable& table, const WeightMatrix& matrix) noexcept {
  const Index panels = (matrix.out - 1) / table.panel + 1;
  const Index fit = std::max<Index>(1, kSliceFloats / matrix.in / table.panel);
  return std::min(panels, fit) * table.panel;
}

/// Columns of packed panels.
std::size_t whole_panels(const KernelTable& table, Index out) noexcept {
  return capped_product((out - 1) / table.panel + 1, table.panel);
}

/// Packs columns [first, first + count) of W, panel by panel on the threads of `pool`.
void pack_columns(const KernelTable& table, ThreadPool* pool, const WeightMatrix& matrix,
                  std::pair<Index, Index> columns, float* panels) noexcept {
  const Index first = columns.first;
  const bool in_out = matrix.layout == WeightLayout::kInOut;
  const Index row_stride = matrix.weight.stride(in_out ? 0 : 1);
  const Index column_stride = matrix.weight.stride(in_out ? 1 : 0);
  const Index panels_of = std::max<Index>(1, kShareElements / matrix.in / table.panel);
  share(pool, columns.second, panels_of * table.panel, [&](Index begin, Index end) noexcept {
    table.pack({.b = matrix.weight.data + (first + begin) * column_stride,
                .row_stride = row_stride,
                .column_stride = column_stride,
                .k = matrix.in,
                .n = end - begin,
                .panels = panels + begin * matrix.in});
  });
}

}  // namespace

Status linear(const LinearArgs& args, Workspace& workspace) noexcept {
  constexpr const char* kName = "linear";
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kName, table));
  const WeightMatrix matrix = matrix_of({args.w, args.bias, args.layout});
  QKV_RETURN_IF_ERROR(check_weights(kName, matrix));
  QKV_RETURN_IF_ERROR(check_rows(kName, matrix, args.x, args.out));
  QKV_RETURN_IF_ERROR(
      check_apart(kName, {{"out", args.out}}, {{"x", args.x}, {"w", args.w}, {"bias", args.bias}}));
  QKV_RETURN_IF_ERROR(workspace.begin(linear_scratch(*table, args)));
  apply_linear(*table, args, workspace);
  return {};
}

std::size_t linear_scratch(const KernelTable& table, const LinearArgs& args) noexcept {
  const WeightMatrix matrix = matrix_of({args.w, args.bias, args.layout});
  if (rows_of(args.x, matrix.in) == 0) {
    return 0;
  }
  const Index at_once = columns_at_once(table, matrix);
  const std::size_t bias = args.bias.absent() ? 0 : static_cast<std::size_t>(at_once);
  return capped_sum(
      {Workspace::padded(capped_product(at_once, matrix.in)), Workspace::padded(bias)});
}

void apply_linear(const KernelTable& table, const LinearArgs& args, Workspace& workspace) noexcept {
  const WeightMatrix matrix = matrix_of({args.w, args.bias, args.layout});
  const Index rows = rows_of(args.x, matrix.in);
  if (rows == 0) {
    return;
  }
  const std::size_t mark = workspace.mark();
  const Index at_once = columns_at_once(table, matrix);
  float* panels = workspace.take(capped_product(at_once, matrix.in));
  float* bias = args.bias.absent() ? nullptr : workspace.take(static_cast<std::size_t>(at_once));
  for (Index first = 0; first < matrix.out; first += at_once) {
    const Index count = std::min(at_once, matrix.out - first);
    pack_columns(table, workspace.pool(), matrix, {first, count}, panels);
    if (bias) {  // kernels read the bias of whole panels
      std::fill_n(bias, at_once, 0.0F);
      std::copy_n(args.bias.data + first, count, bias);
    }
    apply_columns(table, workspace.pool(), {panels, bias, matrix.in, count, matrix.out},
                  {args.x.data, rows, args.out.data + first});
  }
  workspace.rewind(mark);
}

std::size_t packed_scratch(const KernelTable& table, const LinearArgs& args) noexcept {
  const WeightMatrix matrix = matrix_of({args.w, args.bias, args.layout});
  const std::size_t columns = whole_panels(table, matrix.out);
  return capped_sum({Workspace::padded(capped_product(columns, matrix.in)),
                     Workspace::padded(args.bias.absent() ? 0 : columns)});
}

LinearColumns pack_whole(const KernelTable& table, const LinearArgs& args,
                         Workspace& workspace) noexcept {
  const WeightMatrix matrix = matrix_of({args.w, args.bias, args.layout});
  const std::size_t columns = whole_panels(table, matrix.out);
  float* panels = workspace.take(capped_product(columns, matrix.in));
  pack_columns(table, workspace.pool(), matrix, {0, matrix.out}, panels);
  float* bias = nullptr;
  if (!args.bias.absent()) {
    bias = workspace.take(columns);
    std::fill_n(bias, columns, 0.0F);
    std::copy_n(args.bias.data, matrix.out, bias);
  }
  return {panels, bias, matrix.in, matrix.out, matrix.out};
}

Status Linear::create(const LinearWeights& weights, Linear& map) noexcept {
  constexpr const char* kCreate = "Linear::create";
  Linear built;
  QKV_RETURN_IF_ERROR(require_kernels(kCreate, built.kernels_));
  const WeightMatrix matrix = matrix_of(weights);
  QKV_RETURN_IF_ERROR(check_weights(kCreate, matrix));
  QKV_RETURN_IF_ERROR(pack_linear(*built.kernels_, matrix, built.packed_));
  map = std::move(built);
  return {};
}

Status Linear::forward(TensorView<const float> x, TensorView<float> out,
                       Workspace& workspace) const noexcept {
  if (!kernels_) {
    return refuse(StatusCode::kInvalidArgument, kLinearForward,
                  "the map is empty, expected one made by create()");
  }
  const KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kLinearForward, table));
  QKV_RETURN_IF_ERROR(check_same_kernels(kLinearForward, "the map", kernels_, table));
  WeightMatrix matrix{};
  matrix.in = packed_.in;
  matrix.out = packed_.out;
  QKV_RETURN_IF_ERROR(check_rows(kLinearForward, matrix, x, out));
  QKV_RETURN_IF_ERROR(check_apart(kLinearForward, {{"out", out}}, {{"x", x}}));
  apply(*table, workspace.pool(), packed_, {x.data, rows_of(x, packed_.in), out.data});
  return {};
}

}  // namespace qkv
