/// @file
/// Softmax over one axis, for scores that are not attention's own.
#pragma once

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The options of softmax().
struct SoftmaxOptions {
  /// The axis whose elements sum to 1; this one alone, not those after it as in NormOptions. Negative
  /// counts from the end.
  int axis = -1;
  /// tau > 0: elements are divided by it first. Towards 0 the largest takes all, ties sharing it;
  /// large values make all weights equal.
  float temperature = 1.0F;
};

/// Softmax over one axis (ONNX Softmax-13, with a temperature). For every row x of the n elements along
/// `axis`:
///
///     y_i = exp((x_i - max(x)) / temperature) / sum_j exp((x_j - max(x)) / temperature)
///
/// `x` is dense, of rank 1 to 4; `out` is dense, has its shape, and may be x itself. Arrays without
/// elements are fine. The last axis is the fastest; along the others neighbouring rows are computed
/// together. No finite row overflows, and -inf gives 0. A row that holds NaN or +inf, or nothing but
/// -inf, has no softmax: it is NaN from end to end, as the formula says and as in PyTorch and ONNX's
/// reference. Other rows are left alone.
///
/// Error bound against exact arithmetic on the same inputs, for n <= 2^24, with u = 2^-24 and
/// d_i = (max(x) - x_i) / temperature:
///
///     |out_i - y_i| <= u y_i (3 (d_i + ln n) + 26), plus 2^-125
///
/// The exponent (x - max) log2(e) / temperature takes three roundings, 3 u d in all, and 2^x four u more.
/// The sum inherits them weighted by y, where the mean of d is at most ln n, and adds 15 u of its own:
/// 16 terms for a lane, then double precision. The reciprocal and the product are the last two.
///
/// Errors, each naming the argument; nothing is written then:
/// - kInvalidArgument: a null pointer where elements exist, an array that is not dense, arrays that
///   overlap, temperature not a positive normal float.
/// - kShapeMismatch: x of rank 0, out of another shape than x.
/// - kOutOfRange: axis outside [-rank, rank).
/// - kUnsupported: no kernels, see active_isa().
Status softmax(TensorView<const float> x, TensorView<float> out,
               const SoftmaxOptions& options) noexcept;

}  // namespace qkv
