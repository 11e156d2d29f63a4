/// @file
/// The gradient of softmax along an axis, and cross-entropy.
#pragma once

#include <cstdint>

#include "qkv/softmax.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv::train {

/// dx = y (dy - sum y dy) / temperature along options.axis, y = softmax(x / temperature) as softmax() gave
/// it. d_out, out and dx are dense and of one shape; dx may be d_out.
///
/// Error bound with u = 2^-24: |dx - exact| <= 4 u y (|dy| + sum y |dy|) / temperature, for y as given.
///
/// Errors as softmax().
Status softmax_backward(TensorView<const float> d_out, TensorView<const float> out,
                        TensorView<float> dx, const SoftmaxOptions& options) noexcept;

/// What cross_entropy() reads and writes.
struct CrossEntropyArgs {
  TensorView<const float> logits;          ///< [N, V], dense
  TensorView<const std::int32_t> targets;  ///< [N]: a class, or ignore_index
  std::int32_t ignore_index = -1;          ///< such a target does not count
  float label_smoothing = 0.0F;            ///< e in [0, 1]
  TensorView<float> d_logits;              ///< [N, V], dense; may be logits
};

/// What cross_entropy() found.
struct CrossEntropy {
  double loss = 0.0;  ///< mean over the targets that count; 0 if none does
  Index correct = 0;  ///< rows whose greatest logit, the first of equal ones, is the target's
  Index counted = 0;  ///< targets that count
};

/// Mean cross-entropy of rows of logits x against their targets t, with p = softmax(x) and q = 1 - e at the
/// target plus e / V everywhere (Szegedy et al. 2016):
///
///     loss = mean over rows that count of -sum_c q_c ln p_c,   dx = (p - q) / rows that count
///
/// Rows that do not count have gradient 0. The losses of rows are added in double, in their order.
///
/// Error bound for V and rows that count up to 2^24, with u = 2^-24 and d = max x - x of the element:
///
///     |loss of a row - exact| <= u (3 ln V + 20 + max |x| / 16)
///     |dx - exact| <= u (p (3 (d + ln V) + 30) + 6 q) / rows, plus 2^-125
///
/// The sum of exp(-d) is that of softmax(), off by u (3 ln V + 19) of itself, and its logarithm by as much; means
/// of x are made in double. p has the error of softmax(). 1 - e and e / V are rounded once each. To take both from
/// p and to divide by the rows takes four roundings of |p - q| <= p + q, the first of which may be e / V more.
///
/// Errors, each naming the argument; nothing is written then: kShapeMismatch, kInvalidArgument (null data,
/// not dense, overlap), kOutOfRange (a target outside [0, V), a smoothing outside [0, 1]), kOutOfMemory.
Status cross_entropy(const CrossEntropyArgs& args, CrossEntropy& found,
                     Workspace& workspace) noexcept;

}  // namespace qkv::train
