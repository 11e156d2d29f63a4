/// @file
/// Layer normalisation and RMS normalisation.
#pragma once

#include <cstdint>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The norms that layers choose from.
enum class NormType : std::uint8_t {
  kLayer,  ///< layer_norm()
  kRms,    ///< rms_norm()
};

/// The place of the norm of a sub-layer in a block.
enum class NormPlacement : std::uint8_t {
  kPre,   ///< x + sub(norm(x)), as GPT-2 and most since (Xiong et al. 2020)
  kPost,  ///< norm(x + sub(x)), as the paper (Vaswani et al. 2017, section 3.1)
  /// x + norm(sub(x)), as OLMo 2 (Team OLMo et al. 2025, section 3.2). For LanguageModel and its trainer; TransformerBlock refuses it.
  kAfter,
};

/// The options of layer_norm() and rms_norm().
struct NormOptions {
  /// Factors, one for each normalised element: shape [n] or that of the normalised axes. Absent
  /// means 1.
  TensorView<const float> gamma = {};
  /// Terms, likewise. Absent means 0. Only for layer_norm().
  TensorView<const float> beta = {};
  /// First normalised axis; the last is always the last of x. Negative counts from the end.
  int axis = -1;
  /// Inside the root. Finite, >= 0.
  float epsilon = 1e-5F;
};

/// Layer normalisation (Ba, Kiros & Hinton 2016; ONNX LayerNormalization-17) over the n elements of
/// the axes from `axis` to the last:
///
///     mean = sum(x) / n,  variance = sum((x - mean)^2) / n,  s = sqrt(variance + epsilon)
///     out  = (x - mean) / s * gamma + beta
///
/// `x` is dense, of rank 1 to 4; `out` is dense, has its shape, and may be x itself. Arrays without
/// elements are fine. A constant row gives beta exactly, even with epsilon = 0. A row that holds
/// NaN or infinity gives NaN and leaves other rows alone; no finite row overflows.
///
/// Error bound against exact arithmetic on the same inputs, for n <= 2^24, with u = 2^-24,
/// z = (x - mean) / s and q = u |mean| / s:
///
///     |out - exact| <= u (|gamma| (22 + 18 |z|) (1 + 2 q)^2 + |exact|), plus 2^-149
///
/// It does not grow with n, and q counts only for rows that are constant to their last bits.
///
/// Errors, each naming the argument; nothing is written then:
/// - kInvalidArgument: a null pointer where elements exist, an array that is not dense, arrays that
///   overlap, epsilon not finite or negative.
/// - kShapeMismatch: x of rank 0, out of another shape than x, gamma or beta that do not fit.
/// - kOutOfRange: axis outside [-rank, rank).
/// - kUnsupported: no kernels, see active_isa().
Status layer_norm(TensorView<const float> x, TensorView<float> out,
                  const NormOptions& options) noexcept;

/// RMS normalisation (Zhang & Sennrich 2019; ONNX RMSNormalization-23) over the same axes:
///
///     out = x / sqrt(sum(x^2) / n + epsilon) * gamma
///
/// All else as for layer_norm(), but a row of zeros gives 0, infinity gives NaN in its own place
/// and 0 in the rest of its row, and the bound for n <= 2^24 is
///
///     |out - exact| <= 14 u |exact|, plus 2^-149 (1 + |gamma|)
///
/// Errors: as layer_norm(), and kInvalidArgument when beta is given.
Status rms_norm(TensorView<const float> x, TensorView<float> out,
                const NormOptions& options) noexcept;

}  // namespace qkv
