/// @file
/// Rotary position embedding: positions as rotations of queries and keys.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/positional.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// How a model reaches beyond the length it was trained on. With w_i = base^(-2i / r):
///
/// - kNone:   w_i
/// - kLinear: w_i / factor, the same as dividing positions (Chen et al. 2023)
/// - kNtk:    w_i factor^(-2i / (r - 2)), which is base' = base factor^(r / (r - 2)): the first
///            frequency stays, the last is divided by exactly `factor` ("NTK-aware")
/// - kYarn:   (1 - g_i) w_i + g_i w_i / factor (Peng et al. 2023, section 3.2), and cos and sin are
///            multiplied by the attention factor (section 3.4). The ramp g_i rises from 0 for pairs
///            that turn at least beta_fast times within original_length to 1 for those that turn at
///            most beta_slow times:
///
///                g_i     = clamp((i - low) / (high - low), 0, 1)
///                low     = max(floor(pair(beta_fast)), 0)
///                high    = max(min(ceil(pair(beta_slow)), r - 1), low), + 0.001 if equal to low
///                pair(n) = r ln(original_length / (2 pi n)) / (2 ln base)
///
///            Linear in i between whole numbers, as in the authors' code and every checkpoint that
///            was trained with it; the paper's text has a ramp that is linear in the turns.
/// - kLlama3: (1 - g_i) w_i / factor + g_i w_i, where g_i is linear in the turns (Llama 3.1's own code):
///
///                g_i = clamp((original_length w_i / (2 pi) - low) / (high - low), 0, 1)
///
///            with low_frequency_factor and high_frequency_factor as low and high
/// - kFactors: w_i / factors[i], and cos and sin are multiplied by the attention factor (LongRoPE, Ding et al. 2024, where a
///            search found the factors)
struct RotaryScaling {
  /// The ways above.
  enum class Type : std::uint8_t {
    kNone,     ///< positions as they are
    kLinear,   ///< positions divided by factor
    kNtk,      ///< a greater base
    kYarn,     ///< fast pairs as they are, slow ones divided
    kLlama3,   ///< likewise, by another rule
    kFactors,  ///< each pair divided by its own factor
  };
  Type type = Type::kNone;  ///< which of them
  /// By how much the context is stretched. Finite, >= 1; 1 without a type and with kFactors.
  double factor = 1.0;
  /// kYarn, kLlama3: the length the model was trained on, >= 1.
  Index original_length = 0;
  /// kYarn: turns within original_length from which a pair stays as it is, and up to which it is
  /// stretched in full. Finite, beta_fast > beta_slow > 0.
  double beta_fast = 32.0;
  double beta_slow = 1.0;  ///< see beta_fast
  /// kYarn, kFactors: finite, > 0. Default 0.1 ln(factor) + 1 with kYarn, 1 with kFactors.
  std::optional<double> attention_factor = std::nullopt;
  /// kLlama3: turns within original_length up to which a pair is stretched in full, and from which it stays as it
  /// is. Finite, high_frequency_factor > low_frequency_factor > 0.
  double low_frequency_factor = 1.0;
  double high_frequency_factor = 4.0;  ///< see low_frequency_factor
  /// kFactors: one for each pair, [r / 2], each finite and at least w_i / 2: no pair turns by more than 2 from one position to
  /// the next, for which the error bounds hold. Layers and models keep a copy.
  TensorView<const float> factors = {};
};

/// Which rotations. The defaults turn all of d, in halves, from position 0 on.
struct RotaryOptions {
  /// Position of the first token. 0 when `positions` are given, or one row of cos for each token.
  Index offset = 0;
  /// [T], or [B, T]: one position for each token, instead of offset, offset + 1, ...
  TensorView<const std::int32_t> positions = {};
  /// Wavelengths run from 2 pi to 2 pi base. Finite, >= 1; > 1 with kYarn.
  double base = 10000.0;
  /// r: how many of the d dimensions are rotated, from the first on; the others are copied. Even;
  /// 0 means d.
  Index rotary_dim = 0;
  /// Pairs are (2i, 2i + 1) when true (RoFormer, GPT-J), (i, i + r / 2) when false (GPT-NeoX,
  /// Llama).
  bool interleaved = false;
  /// Default none.
  RotaryScaling scaling = {};
  /// Both or neither: tables instead of `base` and `scaling`. [P, r / 2], read at row `position`
  /// (0 <= position < P), or [B, T, r / 2], one row for each token, and then without positions.
  /// The last axis is contiguous. rotary_table() makes such tables.
  TensorView<const float> cos = {};
  TensorView<const float> sin = {};  ///< as cos
};

/// Rotary position embedding (Su et al. 2021, RoFormer, section 3.2.2): pair i of the token at
/// position p is turned by the angle p w_i,
///
///     y1 = cos(p w_i) x1 - sin(p w_i) x2
///     y2 = sin(p w_i) x1 + cos(p w_i) x2,      w_i = base^(-2i / r), i < r / 2
///
/// Turning q at position m and k at position n turns their product by (m - n) w_i alone, so the
/// same distance gives the same scores everywhere in the sequence; a rotation by position -p undoes
/// that by position p. Queries and keys are rotated, values are not.
///
/// `x` and `out` are [B, H, T, d] with any strides and a contiguous last axis; split_heads() makes
/// such a view of [B, T, H * d]. `out` may be x itself (the same data and strides); otherwise they
/// must not overlap. B, H and T may be 0.
///
/// Cosines and sines are formed in double precision and rounded once. A token's row depends on its
/// position alone, bit for bit: not on T, on the other tokens or on the head. Error bound, with
/// u = 2^-24 and `a` the attention factor (1 but for kYarn and kFactors), for every |position| <= kMaxPosition:
///
///     |y - exact| <= 3.1 u a sqrt(x1^2 + x2^2) + 2^-148
///
/// and hence |q'.k' - exact| <= 9 u a^2 sum_i |q_i| |k_i| over pairs, when q'.k' is formed exactly.
/// With tables given, |y - exact| <= 2.1 u (|c x1| + |s x2|) + 2^-148 for those cosines and sines,
/// likewise y2. NaN and infinity stay within their pair.
///
/// Scratch: T r floats, the rotations of one batch row (of all, unless positions differ by row).
/// Errors; nothing is written then:
/// - kInvalidArgument: null data, a strided last axis, arrays that overlap, base, scaling or its
///   parts without meaning, a factor without a type, cos without sin, scaling beside tables, offset
///   beside positions, offset or positions beside rows for each token, out on x with other strides.
/// - kShapeMismatch: x, out, positions, cos or sin of a shape that does not fit.
/// - kOutOfRange: rotary_dim odd, negative or above d (or d odd when it is left to d); a position
///   beyond kMaxPosition or outside the given table.
/// - kOutOfMemory: the workspace could not grow.
Status rotary_embedding(TensorView<const float> x, TensorView<float> out,
                        const RotaryOptions& options, Workspace& workspace) noexcept;

/// The cosines and sines that rotary_embedding() rotates by, for layers and caches that use them
/// again: passing them as options.cos and options.sin gives the same bits.
///
/// `cos` and `sin` are contiguous, [T, r / 2] or [B, T, r / 2]; positions come from
/// options.offset or options.positions ([T], or [B, T] for rank 3). [P, r / 2] with offset 0 is the
/// table of the positions 0 .. P - 1. options.rotary_dim is r or 0; options.interleaved is not
/// looked at. |error| <= 0.54 u in each value, 1.04 u a with kYarn and kFactors.
/// Errors: as above, and kInvalidArgument when options has tables itself. Allocates nothing.
Status rotary_table(TensorView<float> cos, TensorView<float> sin,
                    const RotaryOptions& options) noexcept;

}  // namespace qkv
