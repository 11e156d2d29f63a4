/// @file
/// Biases on the scores that depend on how far query and key are apart.
#pragma once

#include "qkv/positional.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// Slopes of ALiBi (Press et al. 2022, section 3), one for each head; the bias of head h is
/// -slopes[h] |i + offset - j|. For a power of two n,
///
///     m_k = 2^(-8 k / n),  k = 1 .. n
///
/// and for other head counts, as in the authors' code, the slopes of the greatest power of two
/// n < H followed by every second slope of 2n: 2^(-4 / n), 2^(-12 / n), ... `slopes` is [H],
/// contiguous; H may be 0. Formed in double precision and rounded once: |error| <= 1.01 u m with
/// u = 2^-24, and none where m is a power of two.
/// Errors: kInvalidArgument (null data, strided), kShapeMismatch (rank other than 1).
Status alibi_slopes(TensorView<float> slopes) noexcept;

/// How t5_relative_bias() sorts distances.
struct T5Options {
  /// True: one half of the buckets for keys after the query, the other for the rest (encoders).
  /// False: keys after the query share bucket 0 with the query itself (decoders).
  bool bidirectional = true;
  /// From this distance on all keys share the last bucket. Above the number of exact buckets, at
  /// most kMaxPosition.
  Index max_distance = 128;
  /// Absolute position of query 0 minus that of key 0. At most kMaxPosition in size.
  Index offset = 0;
};

/// Most rows of a table of buckets.
inline constexpr Index kMaxT5Buckets = 1024;

/// Bucket of the relative position j - (i + offset) (Raffel et al. 2020, section 2.1, and the
/// authors' code). With N buckets for a direction (num_buckets / 2 when bidirectional, rounded
/// down), of which E = N / 2, rounded down, are exact, the distance n falls into
///
///     n                                                              for n < E
///     min(E + floor(ln(n / E) / ln(max_distance / E) (N - E)), N - 1)  otherwise
///
/// plus N for keys after the query when bidirectional. Boundaries are exact: bucket E + k begins at
/// the least n with n^(N - E) >= max_distance^k E^(N - E - k), and where logarithms in floating
/// point come too close to a whole number to tell, these integers are compared. `options.offset` is
/// not looked at. Returns -1 for numbers that t5_relative_bias() refuses.
[[nodiscard]] Index t5_bucket(Index relative_position, Index num_buckets,
                              const T5Options& options) noexcept;

/// Relative position bias of T5: bias(h, i, j) = table(t5_bucket(j - (i + offset)), h).
///
/// `table` is [num_buckets, H], 2 (4 when bidirectional) to kMaxT5Buckets rows; `bias` is
/// [H, Tq, Tk], any of them may be 0. Both have a contiguous last axis and must not overlap. Values
/// are copied: no error.
/// Errors; nothing is written then:
/// - kInvalidArgument: null data, a strided last axis, arrays that overlap.
/// - kShapeMismatch: ranks, heads that differ, too few or too many buckets.
/// - kOutOfRange: max_distance or offset.
Status t5_relative_bias(TensorView<const float> table, TensorView<float> bias,
                        const T5Options& options) noexcept;

/// Position terms of Transformer-XL (Dai et al. 2019, section 3.3, terms b and d):
///
///     bias(b, h, i, j) = (q(b, h, i) + v(h)) . r(t, h),   t = Tq - 1 - i + j
///
/// `q` is [B, H, Tq, d]; `r` is [Tk + Tq - 1, H * d], heads side by side, its row t the projected
/// encoding of the distance i + (Tk - Tq) - j = Tk - 1 - t, greatest distance first; `v` is [H, d];
/// `bias` is [B, H, Tq, Tk] and must not overlap the others. All have a contiguous last axis; B, H,
/// Tq and Tk may be 0. Not scaled: multiply q and v by the scale of the attention it goes to, or r.
///
/// Error bound with u = 2^-24, d <= 4096: |bias - exact| <= (d + 2) u sum (|q| + |v|) |r|, plus
/// d 2^-149. Allocates nothing. Errors; nothing is written then:
/// - kInvalidArgument: null data, a strided last axis, arrays that overlap.
/// - kShapeMismatch: shapes that do not fit, d = 0.
Status transformer_xl_bias(TensorView<const float> q, TensorView<const float> r,
                           TensorView<const float> v, TensorView<float> bias) noexcept;

}  // namespace qkv
