#include <algorithm>

#include "check_elementwise.hpp"
#include "float_count.hpp"
#include "packed_linear.hpp"
#include "qkv/train/linear.hpp"
#include "share.hpp"
#include "train_dispatch.hpp"

namespace qkv::train {
namespace {

constexpr const char* kName = "linear_backward";

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

Status check(const LinearBackwardArgs& args, Sizes& sizes) noexcept {
  QKV_RETURN_IF_ERROR(check_layout(kName, "layout", args.layout));
  QKV_RETURN_IF_ERROR(check_array(kName, "w", args.w, {kAny, kAny}));
  const bool in_out = args.layout == WeightLayout::kInOut;
  sizes.in = args.w.extent(in_out ? 0 : 1);
  sizes.out = args.w.extent(in_out ? 1 : 0);
  if (sizes.in < 1 || sizes.out < 1) {
    return refuse(StatusCode::kShapeMismatch, kName, "@w is {}, expected extents of at least 1",
                  Extents(args.w));
  }
  QKV_RETURN_IF_ERROR(check_rank(kName, "x", args.x.rank));
  const TensorView<const float> x = with_last(args.x, sizes.in);
  QKV_RETURN_IF_ERROR(check_dense_like(kName, "x", args.x, x));
  QKV_RETURN_IF_ERROR(check_dense_like(kName, "d_out", args.d_out, with_last(args.x, sizes.out)));
  if (!args.dx.absent()) {
    QKV_RETURN_IF_ERROR(check_dense_like(kName, "dx", args.dx, x));
  }
  if (!args.dw.absent()) {
    QKV_RETURN_IF_ERROR(check_dense_like(kName, "dw", args.dw, args.w));
  }
  if (!args.d_bias.absent()) {
    QKV_RETURN_IF_ERROR(check_dense(kName, "d_bias", args.d_bias, {sizes.out}));
  }
  sizes.rows = args.x.size() / sizes.in;
  return check_apart(kName, {{"dx", args.dx}, {"dw", args.dw}, {"d_bias", args.d_bias}},
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

}  // namespace

Status linear_backward(const LinearBackwardArgs& args, Workspace& workspace) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  Sizes sizes;
  QKV_RETURN_IF_ERROR(check(args, sizes));
  const bool in_out = args.layout == WeightLayout::kInOut;
  TransposedProduct dw{args.x.data, args.d_out.data, args.dw.data, sizes.rows, sizes.in, sizes.out};
  if (!in_out) {  // [out, in]: dy^T x
    dw = {args.d_out.data, args.x.data, args.dw.data, sizes.rows, sizes.out, sizes.in};
  }
  const std::uint64_t columns = whole_panels(dw.n, kernels.forward->panel);
  // linear() comes first and begins the workspace anew, with room for this as well.
  const std::size_t panels = args.dw.absent() ? 0 : capped_product(columns, sizes.rows);
  QKV_RETURN_IF_ERROR(workspace.begin(Workspace::padded(panels)));
  if (!args.dx.absent()) {
    LinearArgs turned;
    turned.x = args.d_out;
    turned.w = args.w;
    turned.layout = in_out ? WeightLayout::kOutIn : WeightLayout::kInOut;
    turned.out = args.dx;
    QKV_RETURN_IF_ERROR(linear(turned, workspace));
  }
  if (!args.dw.absent()) {
    QKV_RETURN_IF_ERROR(workspace.begin(Workspace::padded(panels)));
    const bool worth = static_cast<double>(sizes.rows) * static_cast<double>(sizes.in) *
                           static_cast<double>(sizes.out) >=
                       kWorthSharing;
    multiply(kernels, worth ? workspace.pool() : nullptr, dw, workspace.take(panels));
  }
  if (!args.d_bias.absent()) {
    sum_rows(workspace.pool(), args.d_out.data, sizes, args.d_bias.data);
  }
  return {};
}

}  // namespace qkv::train
