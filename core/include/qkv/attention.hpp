/// @file
/// Scaled dot-product attention.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// How scores become weights. The defaults are plain attention over all keys.
struct AttentionOptions {
  /// Factor on q.k. Default 1/sqrt(d_k), which keeps the variance of the logits at 1 for
  /// unit-variance q and k (Vaswani et al. 2017, section 3.2.1). Finite.
  std::optional<float> scale;
  /// tau > 0: logits are divided by it before the softmax. Towards 0 the weights tend to the
  /// argmax, towards infinity to the mean over the allowed keys. A normal, finite float.
  float temperature = 1.0F;
  /// Key j may be read by query i only if j <= i + causal_offset.
  bool causal = false;
  /// Absolute position of query 0 minus that of key 0. Defaults to 0 when Tq == Tk and must be
  /// given otherwise, because libraries disagree: 0 aligns the top-left corners, Tk - Tq the
  /// bottom-right. Negative offsets leave the leading rows without any key. Only with `causal`.
  std::optional<Index> causal_offset;
  /// Nonzero = may attend. Rank 1 to 4, broadcast right-aligned to [B, Hq, Tq, Tk].
  TensorView<const std::uint8_t> mask;
  /// Added to the scaled scores; -inf excludes the key. Rank 1 to 4, broadcast right-aligned to
  /// [B, Hq, Tq, Tk].
  TensorView<const float> bias;
};

/// What else the call should write. Absent views cost nothing.
struct AttentionExtras {
  /// [B, Hq, row_end - row_begin, Tk]: softmax weights of these query rows. Contiguous last axis.
  TensorView<float> weights;
  /// Query rows [row_begin, row_end) for `weights`; row_end < 0 means Tq.
  Index row_begin = 0;
  Index row_end = -1;
  /// [B, Hq, Tq]: log of the sum of exp(logit / temperature) over the allowed keys; -inf if none.
  TensorView<float> lse;
  /// [B, Hq, Tq]: entropy of each row of weights in nats, between 0 and ln Tk; 0 if no key is
  /// allowed.
  TensorView<float> entropy;
};

struct AttentionArgs {
  /// [B, Hq, Tq, d_k]. The last axis is contiguous here and in k, v and out; use split_heads() for
  /// arrays that keep heads side by side.
  TensorView<const float> q;
  /// [B, Hkv, Tk, d_k], Hq a multiple of Hkv: query head h reads key/value head h / (Hq / Hkv).
  TensorView<const float> k;
  /// [B, Hkv, Tk, d_v].
  TensorView<const float> v;
  /// [B, Hq, Tq, d_v]. Must not overlap any input.
  TensorView<float> out;
  AttentionOptions options;
  AttentionExtras extras;
};

/// Scaled dot-product attention, for every batch row b, query head h and query i:
///
///     s_j   = scale * (q_i . k_j) + bias_ij
///     p     = softmax over allowed j of s_j / temperature
///     out_i = sum_j p_j v_j
///
/// with exclusion by `mask`, `bias` = -inf and `causal`, combined by "and". Computed in tiles with
/// a running maximum (Milakov & Gimelshein 2018; Dao et al. 2022), so no T x T array ever exists.
///
/// Guarantees
/// - A row with no allowed key gives zeros in out and weights, lse = -inf, entropy 0.
/// - An excluded key contributes exactly nothing, even if its k or v holds NaN or infinity.
/// - NaN or infinity in an allowed place reaches the rows that may read it and no other.
/// - Changing a key or value that row i may not read leaves row i bit for bit as it was; the same
///   holds for other batch rows and heads.
///
/// Error bound against exact arithmetic on the same inputs, with u = 2^-24 and, for the row at
/// hand, A = max over allowed j of (|scale| sum_d |q_d k_jd| + |bias_j|) / temperature and
/// V = max |v|:
///
///     |out - exact|    <= u V (2 (d_k + 6) A + 3 Tk + 40)
///     |weights - exact| <= u w (2 (d_k + 6) A + Tk + 40),     w the exact weight, plus 2^-126
///     |lse - exact|    <= u ((d_k + 6) A + Tk + 40 + |lse|)
///     |entropy - exact| <= u (2 (d_k + 6) A + 2 Tk + 80) (ln Tk + 2)
///
/// The d_k term is the dot product, the Tk term the sum over keys, the constant the exponential and
/// the divisions. Tests enforce these numbers.
///
/// Errors, each naming the argument, what it was and what was expected; nothing is written then:
/// - kInvalidArgument: a null pointer where elements exist, a strided last axis, scale not finite,
///   temperature not a positive normal float, causal_offset without causal or missing when
///   Tq != Tk.
/// - kShapeMismatch: wrong rank, extents that do not fit, Hq not a multiple of Hkv, d_k or d_v 0.
/// - kOutOfRange: rows outside [0, Tq].
/// - kOutOfMemory: the workspace could not grow to attention_scratch_bytes().
/// - kUnsupported: no kernels, see active_isa().
///
/// Any of B, Hq, Tq may be 0 (nothing to do); Tk = 0 means no key is allowed.
Status attention(const AttentionArgs& args, Workspace& workspace) noexcept;

/// Bytes of workspace the call takes: one key/value head, packed, and one tile; O(Tk (d_k + d_v)).
/// With extras, O(Tq) more. 0 for arguments that attention() would refuse.
[[nodiscard]] std::size_t attention_scratch_bytes(const AttentionArgs& args) noexcept;

}  // namespace qkv
