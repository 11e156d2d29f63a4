#include <algorithm>
#include <cmath>

#include "check_elementwise.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/softmax.hpp"
#include "share.hpp"
#include "train_dispatch.hpp"

namespace qkv::train {
namespace {

/// An array of the forward pass, and what is written for it, by the names that messages give them.
struct Pair {
  const char* name;
  TensorView<const float> given;
  const char* gradient_name;
  TensorView<float> gradient;
};

/// Both dense and of the shape of d_out; the gradient apart from both or exactly one of them.
Status check_gradient(const Caller& caller, const TensorView<const float>& d_out,
                      const Pair& pair) noexcept {
  QKV_RETURN_IF_ERROR(check_rank(caller, "d_out", d_out.rank));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, "d_out", d_out, d_out));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, pair.name, pair.given, d_out));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, pair.gradient_name, pair.gradient, d_out));
  const TensorView<const float> none;
  const float* to = pair.gradient.data;
  return check_apart(caller, {{pair.gradient_name, pair.gradient}},
                     {{"d_out", to == d_out.data ? none : d_out},
                      {pair.name, to == pair.given.data ? none : pair.given}});
}

kernels::ElementwiseBackward kernel_of(const kernels::TrainTable& table,
                                       Activation activation) noexcept {
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

Status activate_backward(TensorView<const float> d_out, TensorView<const float> x,
                         TensorView<float> dx, Activation activation) noexcept {
  constexpr const char* kName = "activate_backward";
  QKV_RETURN_IF_ERROR(check_gradient(kName, d_out, {"x", x, "dx", dx}));
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  const kernels::ElementwiseBackward kernel = kernel_of(*kernels.backward, activation);
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

Status gate_backward(const GateBackwardArgs& args, Activation activation) noexcept {
  constexpr const char* kName = "gate_backward";
  QKV_RETURN_IF_ERROR(check_gradient(kName, args.d_out, {"x", args.x, "dx", args.dx}));
  QKV_RETURN_IF_ERROR(check_gradient(kName, args.d_out, {"y", args.y, "dy", args.dy}));
  const TensorView<const float> none;
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"dx", args.dx}, {"dy", args.dy}},
                                  {{"x", args.dy.data == args.x.data ? none : args.x},
                                   {"y", args.dx.data == args.y.data ? none : args.y}}));
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  if (activation != Activation::kSilu && activation != Activation::kGelu) {
    return refuse(StatusCode::kInvalidArgument, kName, "@activation is {}, expected kSilu or kGelu",
                  activation);
  }
  const kernels::ElementwiseBackwardArgs each{.n = args.x.size(),
                                              .d_out = args.d_out.data,
                                              .x = args.x.data,
                                              .y = args.y.data,
                                              .dx = args.dx.data,
                                              .dy = args.dy.data};
  (activation == Activation::kSilu ? kernels.backward->silu_times
                                   : kernels.backward->gelu_times)(each);
  return {};
}

Status softmax_backward(TensorView<const float> d_out, TensorView<const float> out,
                        TensorView<float> dx, const SoftmaxOptions& options) noexcept {
  constexpr const char* kName = "softmax_backward";
  QKV_RETURN_IF_ERROR(check_gradient(kName, d_out, {"out", out, "dx", dx}));
  int axis = options.axis;
  QKV_RETURN_IF_ERROR(resolve_axis(kName, d_out.rank, axis));
  if (!(std::isnormal(options.temperature) && options.temperature > 0.0F)) {
    return refuse(StatusCode::kInvalidArgument, kName,
                  "@temperature is {}, expected a number of at least 1.18e-38",
                  options.temperature);
  }
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  if (d_out.size() == 0) {
    return {};
  }
  kernels::SoftmaxBackwardArgs args{.outer = 1,
                                    .n = d_out.extent(axis),
                                    .inner = 1,
                                    .d_out = d_out.data,
                                    .out = out.data,
                                    .dx = dx.data,
                                    .temperature = options.temperature};
  for (int i = 0; i < d_out.rank; ++i) {
    (i < axis ? args.outer : args.inner) *= i == axis ? 1 : d_out.extent(i);
  }
  kernels.backward->softmax_backward(args);
  return {};
}

}  // namespace qkv::train
