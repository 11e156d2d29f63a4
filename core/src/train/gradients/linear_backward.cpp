#include <algorithm>

#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check_elementwise.hpp"
#include "isa/train_dispatch.hpp"
#include "train/gradients/linear_gradients.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"

namespace qkv::train {
namespace {

constexpr const char* kLinearBackward = "linear_backward";

/// Columns of d_bias that one task sums.
constexpr Index kBiasColumns = 64;

/// The shape of `like` with another last extent.
template <class T>
TensorView<const float> with_last(const TensorView<T>& like, Index last) noexcept {
  TensorView<const float> shape;
  shape.rank = like.rank;
  shape.shape = like.shape;
  shape.shape[static_cast<std::size_t>(like.rank) - 1] = last;
  return shape;
}

struct Sizes {
  Index rows = 0, in = 0, out = 0;
};

Status check(const LinearBackwardArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_layout(kLinearBackward, "layout", args.layout));
  QKV_RETURN_IF_ERROR(check_array(kLinearBackward, "w", args.w, {kAny, kAny}));
  const bool in_out = args.layout == WeightLayout::kInOut;
  const Index in = args.w.extent(in_out ? 0 : 1);
  const Index out = args.w.extent(in_out ? 1 : 0);
  if (in < 1 || out < 1) {
    return refuse(StatusCode::kShapeMismatch, kLinearBackward,
                  "@w is {}, expected extents of at least 1", Extents(args.w));
  }
  QKV_RETURN_IF_ERROR(check_rank(kLinearBackward, "x", args.x.rank));
  const TensorView<const float> x = with_last(args.x, in);
  QKV_RETURN_IF_ERROR(check_dense_like(kLinearBackward, "x", args.x, x));
  QKV_RETURN_IF_ERROR(
      check_dense_like(kLinearBackward, "d_out", args.d_out, with_last(args.x, out)));
  if (!args.dx.absent()) {
    QKV_RETURN_IF_ERROR(check_dense_like(kLinearBackward, "dx", args.dx, x));
  }
  if (!args.dw.absent()) {
    QKV_RETURN_IF_ERROR(check_dense_like(kLinearBackward, "dw", args.dw, args.w));
  }
  QKV_RETURN_IF_ERROR(check_dense_if_given(kLinearBackward, "d_bias", args.d_bias, {out}));
  return check_apart(kLinearBackward, {{"dx", args.dx}, {"dw", args.dw}, {"d_bias", args.d_bias}},
                     {{"d_out", args.d_out}, {"x", args.x}, {"w", args.w}});
}

/// c = a^T b, [m, n], for a [rows, m] and b [rows, n], both dense.
struct TransposedProduct {
  const float* a;
  const float* b;
  float* c;
  Index rows, m, n;
};

void multiply(const TrainKernels& kernels, ThreadPool* pool, const TransposedProduct& p,
              float* panels) noexcept {
  const Index panel = kernels.forward->panel;
  // Whole panels of one task: a panel stays in the cache while all rows of c pass it.
  const Index at_once =
      std::max<Index>(1, kShareElements / std::max<Index>(1, p.m) / panel) * panel;
  share(pool, p.n, at_once, [&](Index begin, Index end) noexcept {
    float* own = panels + begin * p.rows;
    kernels.forward->pack({.b = p.b + begin,
                           .row_stride = p.n,
                           .column_stride = 1,
                           .k = p.rows,
                           .n = end - begin,
                           .panels = own});
    kernels.backward->gemm_transposed({.m = p.m,
                                       .n = end - begin,
                                       .k = p.rows,
                                       .a = p.a,
                                       .a_stride = p.m,
                                       .b_panels = own,
                                       .bias = nullptr,
                                       .c = p.c + begin,
                                       .c_stride = p.n});
  });
}

void sum_rows(ThreadPool* pool, const float* d_out, const Sizes& sizes, float* d_bias) noexcept {
  share(pool, sizes.out, kBiasColumns, [&](Index begin, Index end) noexcept {
    for (Index first = begin; first < end; first += kBiasColumns) {
      const Index count = std::min(kBiasColumns, end - first);
      double sums[kBiasColumns] = {};
      for (Index row = 0; row < sizes.rows; ++row) {
        for (Index j = 0; j < count; ++j) {
          sums[j] += static_cast<double>(d_out[row * sizes.out + first + j]);
        }
      }
      for (Index j = 0; j < count; ++j) {
        d_bias[first + j] = static_cast<float>(sums[j]);
      }
    }
  });
}

bool is_in_out(const LinearBackwardArgs& args) noexcept {
  return args.layout == WeightLayout::kInOut;
}

Sizes sizes_of(const LinearBackwardArgs& args) noexcept {
  const Index in = args.w.extent(is_in_out(args) ? 0 : 1);
  return {args.x.size() / in, in, args.w.extent(is_in_out(args) ? 1 : 0)};
}

/// dx = dy W^T, a linear map by the weights turned.
LinearArgs turned(const LinearBackwardArgs& args) noexcept {
  LinearArgs map;
  map.x = args.d_out;
  map.w = args.w;
  map.layout = is_in_out(args) ? WeightLayout::kOutIn : WeightLayout::kInOut;
  map.out = args.dx;
  return map;
}

/// x^T dy, or dy^T x for weights that are [out, in].
TransposedProduct product_of(const LinearBackwardArgs& args, const Sizes& s) noexcept {
  return is_in_out(args)
             ? TransposedProduct{args.x.data, args.d_out.data, args.dw.data, s.rows, s.in, s.out}
             : TransposedProduct{args.d_out.data, args.x.data, args.dw.data, s.rows, s.out, s.in};
}

std::size_t panels_of(const TrainKernels& kernels, const TransposedProduct& dw) noexcept {
  return capped_product(whole_panels(dw.n, kernels.forward->panel), dw.rows);
}

}  // namespace

std::size_t linear_backward_scratch(const TrainKernels& kernels,
                                    const LinearBackwardArgs& args) noexcept {
  const std::size_t dx = args.dx.absent() ? 0 : linear_scratch(*kernels.forward, turned(args));
  const std::size_t dw =
      args.dw.absent() ? 0 : panels_of(kernels, product_of(args, sizes_of(args)));
  return std::max(dx, Workspace::padded(dw));  // one after the other
}

void apply_linear_backward(const TrainKernels& kernels, const LinearBackwardArgs& args,
                           Workspace& workspace) noexcept {
  const Sizes sizes = sizes_of(args);
  if (!args.dx.absent()) {
    apply_linear(*kernels.forward, turned(args), workspace);
  }
  if (!args.dw.absent() && sizes.rows == 0) {  // x may be null
    std::fill_n(args.dw.data, args.dw.size(), 0.0F);
  } else if (!args.dw.absent()) {
    const TransposedProduct dw = product_of(args, sizes);
    const bool worth = static_cast<double>(sizes.rows) * static_cast<double>(sizes.in) *
                           static_cast<double>(sizes.out) >=
                       kWorthSharing;
    const std::size_t mark = workspace.mark();
    multiply(kernels, worth ? workspace.pool() : nullptr, dw,
             workspace.take(panels_of(kernels, dw)));
    workspace.rewind(mark);
  }
  if (!args.d_bias.absent()) {
    sum_rows(workspace.pool(), args.d_out.data, sizes, args.d_bias.data);
  }
}

Status linear_backward(const LinearBackwardArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kLinearBackward, kernels));
  QKV_RETURN_IF_ERROR(check(args));
  QKV_RETURN_IF_ERROR(workspace.begin(linear_backward_scratch(kernels, args)));
  apply_linear_backward(kernels, args, workspace);
  return {};
}

}  // namespace qkv::train
