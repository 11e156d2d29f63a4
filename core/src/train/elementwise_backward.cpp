#include <algorithm>
#include <cmath>

#include "check_elementwise.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/softmax.hpp"
#include "share.hpp"
#include "train_dispatch.hpp"

namespace qkv::train {
namespace {

/// `given` and `dx` dense and of the shape of d_out; dx apart from both or exactly one of them.
Status check_gradient(const Caller& caller, const TensorView<const float>& d_out, const char* name,
                      const TensorView<const float>& given, const TensorView<float>& dx) noexcept {
  QKV_RETURN_IF_ERROR(check_rank(caller, "d_out", d_out.rank));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, "d_out", d_out, d_out));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, name, given, d_out));
  QKV_RETURN_IF_ERROR(check_dense_like(caller, "dx", dx, d_out));
  const TensorView<const float> none;
  return check_apart(caller, {{"dx", dx}},
                     {{"d_out", dx.data == d_out.data ? none : d_out},
                      {name, dx.data == given.data ? none : given}});
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
  QKV_RETURN_IF_ERROR(check_gradient(kName, d_out, "x", x, dx));
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

Status softmax_backward(TensorView<const float> d_out, TensorView<const float> out,
                        TensorView<float> dx, const SoftmaxOptions& options) noexcept {
  constexpr const char* kName = "softmax_backward";
  QKV_RETURN_IF_ERROR(check_gradient(kName, d_out, "out", out, dx));
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
