/// @file
/// Activation functions.
#pragma once

#include <cstdint>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The functions of activate().
enum class Activation : std::uint8_t {
  kRelu,      ///< max(x, 0)
  kGelu,      ///< x Phi(x) = x / 2 (1 + erf(x / sqrt(2)))
  kGeluTanh,  ///< x / 2 (1 + tanh(g)), g = sqrt(2 / pi) (x + 0.044715 x^3)
  kSilu,      ///< x sigmoid(x) = x / (1 + exp(-x))
};

/// out = f(x) for each element (Hendrycks & Gimpel 2016 for the GELUs; ONNX Relu, Gelu-20).
///
/// `x` is dense, of rank 1 to 4; `out` is dense, has its shape, and may be x itself. Arrays without
/// elements are fine. NaN gives NaN. f(+inf) = +inf; f(-inf) is 0 or -0, and so is f of every
/// number far enough below 0: GELU ends at -13.3, its tanh form at -10.1, SiLU at -87.4.
///
/// Error bound against the exact f of the same x, with u = 2^-24, y = f(x) and g as above:
///
///     ReLU         exact
///     GELU         |out - y| <= u |y| (22 + x^2 / 2), plus 2^-125
///     GELU, tanh   |out - y| <= u |y| (8 + 8 |g|), plus 2^-122
///     SiLU         |out - y| <= 8 u |y|, plus 2^-119
///
/// where x^2 and |g| count for x < 0 only. The tails are accurate relative to y, which erf and tanh
/// in float are not: they cancel against the 1.
///
/// Errors, each naming the argument; nothing is written then:
/// - kInvalidArgument: a null pointer where elements exist, an array that is not dense, arrays that
///   overlap, an `activation` that is none of these.
/// - kShapeMismatch: x of rank 0, out of another shape than x.
/// - kUnsupported: no kernels, see active_isa().
Status activate(TensorView<const float> x, TensorView<float> out, Activation activation) noexcept;

}  // namespace qkv
