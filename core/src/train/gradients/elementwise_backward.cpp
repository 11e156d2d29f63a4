#include "check/check_elementwise.hpp"
#include "isa/train_dispatch.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/softmax.hpp"
#include "rows/activation_kernel.hpp"
#include "train/gradients/with_kernels.hpp"

namespace qkv::train {
namespace {

/// An array of the forward pass, and what is written for it, by the names that messages give them.
struct Pair {
  const char* name;
  TensorView<const float> given;
  const char* gradient_name;
  TensorView<float> gradient;
};

/// An input that an output must be apart from: none if they are one array, as each number is read before it is written.
TensorView<const float> unless_on(const TensorView<const float>& input,
                                  const TensorView<float>& output) noexcept {
  return output.data == input.data ? TensorView<const float>() : input;
}

/// Both dense and of the shape of d_out; the gradient apart from both or exactly one of them.
Status check_gradient(const Caller& caller, const TensorView<const float>& d_out,
                      const Pair& pair) noexcept {
  QKV_RETURN_IF_ERROR(check_rank(caller, "d_out", d_out.rank));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, "d_out", d_out, d_out));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, pair.name, pair.given, d_out));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, pair.gradient_name, pair.gradient, d_out));
  return check_apart(caller, {{pair.gradient_name, pair.gradient}},
                     {{"d_out", unless_on(d_out, pair.gradient)},
                      {pair.name, unless_on(pair.given, pair.gradient)}});
}

}  // namespace

Status activate_backward(TensorView<const float> d_out, TensorView<const float> x,
                         TensorView<float> dx, Activation activation) noexcept {
  constexpr const char* kName = "activate_backward";
  QKV_RETURN_IF_ERROR(check_gradient(kName, d_out, {"x", x, "dx", dx}));
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  const kernels::ElementwiseBackward kernel = activation_kernel(*kernels.backward, activation);
  if (!kernel) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "@activation is {}, expected a value of Activation", activation);
  }
  kernel({.n = x.size(),
          .d_out = d_out.data,
          .x = x.data,
          .y = nullptr,
          .dx = dx.data,
          .dy = nullptr});
  return {};
}

kernels::ElementwiseBackward gate_kernel(const kernels::TrainTable& table,
                                         Activation activation) noexcept {
  switch (activation) {
    case Activation::kSilu:
      return table.silu_times;
    case Activation::kGelu:
      return table.gelu_times;
    case Activation::kGeluTanh:
      return table.gelu_tanh_times;
    default:
      return nullptr;
  }
}

Status gate_backward(const GateBackwardArgs& args, Activation activation) noexcept {
  constexpr const char* kName = "gate_backward";
  QKV_RETURN_IF_ERROR(check_gradient(kName, args.d_out, {"x", args.x, "dx", args.dx}));
  QKV_RETURN_IF_ERROR(check_gradient(kName, args.d_out, {"y", args.y, "dy", args.dy}));
  // Each has been compared with d_out and its own array; what is left is the other array, and the two with each other.
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"dx", args.dx}}, {{"y", unless_on(args.y, args.dx)}}));
  QKV_RETURN_IF_ERROR(
      check_apart(kName, {{"dy", args.dy}}, {{"dx", args.dx}, {"x", unless_on(args.x, args.dy)}}));
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  const kernels::ElementwiseBackward kernel = gate_kernel(*kernels.backward, activation);
  if (!kernel) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "@activation is {}, expected kSilu, kGelu or kGeluTanh", activation);
  }
  kernel({.n = args.x.size(),
          .d_out = args.d_out.data,
          .x = args.x.data,
          .y = args.y.data,
          .dx = args.dx.data,
          .dy = args.dy.data});
  return {};
}

Status softmax_backward(TensorView<const float> d_out, TensorView<const float> out,
                        TensorView<float> dx, const SoftmaxOptions& options) noexcept {
  constexpr const char* kName = "softmax_backward";
  QKV_RETURN_IF_ERROR(check_gradient(kName, d_out, {"out", out, "dx", dx}));
  int axis = options.axis;
  QKV_RETURN_IF_ERROR(resolve_axis(kName, d_out.rank, axis));
  QKV_RETURN_IF_ERROR(check_temperature(kName, options.temperature));
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  if (d_out.size() == 0) {
    return {};
  }
  const AxisExtents extents = extents_around(d_out, axis);
  kernels.backward->softmax_backward({.outer = extents.outer,
                                      .n = extents.n,
                                      .inner = extents.inner,
                                      .d_out = d_out.data,
                                      .out = out.data,
                                      .dx = dx.data,
                                      .temperature = options.temperature});
  return {};
}

}  // namespace qkv::train
