/// @file
/// Positional encodings.
#pragma once

#include <cstdint>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The order of the sines and cosines in the row of a position.
enum class SinusoidLayout : std::uint8_t {
  kInterleaved,   ///< sin, cos, sin, cos, ... as in the paper
  kConcatenated,  ///< all sines, then all cosines
};

/// Which sinusoids. The defaults are the paper's.
struct SinusoidOptions {
  /// Wavelengths run from 2 pi to 2 pi base. Finite, at least 1: below it angles would outgrow
  /// positions, and the error bound with them.
  double base = 10000.0;
  /// Order of the columns.
  SinusoidLayout layout = SinusoidLayout::kInterleaved;
};

/// Largest |position| (and |shift|) with a stated error; beyond it is kOutOfRange.
inline constexpr Index kMaxPosition = Index{1} << 20;

/// Sinusoidal encoding of positions offset, offset + 1, ... (Vaswani et al. 2017, section 3.5):
///
///     PE(p, 2i) = sin(p w_i),  PE(p, 2i + 1) = cos(p w_i),  w_i = base^(-2i / d_model)
///
/// `table` is [length, d_model], contiguous; d_model may be odd (the last column is then a sine,
/// and kConcatenated has one sine more than cosines). Angles are formed in double precision and
/// each value is rounded once, so |error| <= 1.2e-7 at every position; row p is bit for bit the
/// same for every `offset` that a table may start at. Errors: kInvalidArgument (null data, base not finite
/// or below 1, a layout that is none), kShapeMismatch (rank other than 2, d_model 0), kOutOfRange (a
/// position beyond kMaxPosition), kUnsupported (no kernels, see active_isa()). Allocates nothing.
Status sinusoidal_encoding(TensorView<float> table, Index offset,
                           const SinusoidOptions& options) noexcept;

/// The rotations M_k with PE(p + k) = M_k PE(p) for every p: one 2x2 block for each frequency,
///
///     [  cos(k w_i)  sin(k w_i) ]
///     [ -sin(k w_i)  cos(k w_i) ]
///
/// acting on (sin, cos). `blocks` is [ceil(d_model / 2), 2, 2], contiguous; k may be negative.
/// |PE(p + k) - M_k PE(p)| <= 2.4e-7 for float32 encodings. For odd d_model the last block acts on
/// the last sine and on a cosine that the encoding does not hold.
/// Errors: as sinusoidal_encoding.
Status sinusoidal_shift_blocks(TensorView<float> blocks, Index k, Index d_model,
                               const SinusoidOptions& options) noexcept;

/// The same M_k as one matrix acting on a whole encoding row in the given layout: `matrix` is
/// [d_model, d_model], contiguous, zero outside the blocks.
/// Errors: as above, and kUnsupported for odd d_model: its last sine has no cosine beside it, and
/// no matrix can shift it.
Status sinusoidal_shift_matrix(TensorView<float> matrix, Index k,
                               const SinusoidOptions& options) noexcept;

}  // namespace qkv
