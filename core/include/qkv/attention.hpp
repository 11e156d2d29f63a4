/// @file
/// Scaled dot-product attention.
#pragma once

#include <cstdint>
#include <optional>

#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

class KvCache;

/// Drops weights at random, as in training: a weight is kept with probability 1 - rate and then divided
/// by that probability. The seed, batch row, head, query and key decide which, and nothing else does.
struct Dropout {
  float rate = 0.0F;       ///< in [0, 1)
  std::uint64_t seed = 0;  ///< any; the same seed drops the same weights
};

/// How scores become weights. The defaults are plain attention over all keys.
struct AttentionOptions {
  /// Factor on q.k. Default 1/sqrt(d_k), which keeps the variance of the logits at 1 for
  /// unit-variance q and k (Vaswani et al. 2017, section 3.2.1). Finite.
  std::optional<float> scale = std::nullopt;
  /// c > 0: scores become c tanh(s / c), before any bias. 0 for none. Finite.
  float softcap = 0.0F;
  /// tau > 0: logits are divided by it before the softmax. Towards 0 the weights tend to the
  /// argmax, towards infinity to the mean over the allowed keys. A normal, finite float.
  float temperature = 1.0F;
  /// Key j may be read by query i only if j <= i + offset.
  bool causal = false;
  /// Position of query 0 minus that of key 0 (beyond 2^61 either way: 2^61); causality, the window and
  /// ALiBi measure by it. With a cache the default is its length before the call, and without one 0 when
  /// Tq == Tk; otherwise those three need it, because libraries disagree: 0 aligns the top-left
  /// corners, Tk - Tq the bottom-right. A negative one leaves the leading rows without any key.
  std::optional<Index> causal_offset = std::nullopt;
  /// The same for each batch row, [B]; instead of causal_offset.
  TensorView<const std::int32_t> causal_offsets = {};
  /// With p = i + offset, query i may read keys p - window_left <= j <= p + window_right, both ends
  /// included; -1 = unbounded, the default of both.
  Index window_left = -1;
  Index window_right = -1;  ///< see window_left
  /// Keys in use of each batch row, [B], 0 to Tk; absent means all. Those past it are never read.
  TensorView<const std::int32_t> key_lengths = {};
  /// Nonzero = may attend. Rank 1 to 4, broadcast right-aligned to [B, Hq, Tq, Tk].
  TensorView<const std::uint8_t> mask = {};
  /// Added to the scores, where -inf excludes the key. Rank 1 to 4, broadcast right-aligned to
  /// [B, Hq, Tq, Tk].
  TensorView<const float> additive_mask = {};
  /// A second array that is added to the scores, with the rules of additive_mask.
  TensorView<const float> bias = {};
  /// [Hq]: adds -slope |i + offset - j| (ALiBi, Press et al. 2022); alibi_slopes() has the paper's.
  TensorView<const float> alibi_slopes = {};
  /// [Hq]: a logit, not divided by the temperature, that joins the maximum and the denominator of
  /// every row of its head but has no value: weights then sum to less than 1.
  TensorView<const float> sinks = {};
  /// Default rate 0, none.
  Dropout dropout = {};
};

/// The step after which scores are written to `logits`.
enum class LogitStage : std::uint8_t {
  kRaw,     ///< scale * q.k
  kCapped,  ///< after the softcap
  kBiased,  ///< after all biases, -inf where excluded; before the temperature
};

/// What else the call should write. Absent views cost nothing.
struct AttentionExtras {
  /// [B, Hq, row_end - row_begin, Tk]: the weights that multiply v, of these query rows. Contiguous
  /// last axis.
  TensorView<float> weights = {};
  /// [B, Hq, row_end - row_begin, Tk]: scores at `logit_stage`; -inf past the keys in use.
  TensorView<float> logits = {};
  /// The step after which `logits` are taken.
  LogitStage logit_stage = LogitStage::kBiased;
  /// Query rows [row_begin, row_end) for `weights` and `logits`; default all.
  Index row_begin = 0;
  Index row_end = -1;  ///< below 0 means Tq
  /// [B, Hq, Tq]: log of the sum of exp(logit / temperature) over the allowed keys, and the sink;
  /// -inf if no key is allowed.
  TensorView<float> lse = {};
  /// [B, Hq, Tq]: -sum_j p_j ln p_j over the keys of each row before dropout, in nats, between 0 and
  /// ln Tk without a sink; 0 if no key is allowed.
  TensorView<float> entropy = {};
};

/// What attention() reads and writes.
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
  AttentionOptions options = {};  ///< how scores become weights
  AttentionExtras extras = {};    ///< what to write besides out
  /// When given, k and v hold the new tokens: they are appended, and the queries read everything the
  /// cache then holds, so that Tk below is its new length.
  KvCache* cache = nullptr;
};

/// Scaled dot-product attention, for every batch row b, query head h and query i, in this order:
///
///     s_j   = scale * (q_i . k_j)
///     s_j   = softcap * tanh(s_j / softcap)                        if a softcap is given
///     s_j   = s_j + biases_ij - slope_h |i + offset - j|           those that are given
///     p     = softmax over allowed j of s_j / temperature          with the sink in the denominator
///     out_i = sum_j dropout(p_j) v_j
///
/// A key is allowed if masks, biases (no -inf), causality, window and key lengths all allow it.
/// Tiles are computed with a running maximum (Milakov & Gimelshein 2018; Dao et al. 2022), so no array
/// of T x T elements is made. Order and offsets follow ONNX Attention-24.
///
/// Guarantees
/// - A row with no allowed key gives zeros in out and weights, lse = -inf, entropy 0.
/// - Only -inf in a mask or bias excludes a key, never the size of a finite number: a sum of finite scores, slopes and biases
///   beyond the range of float counts as the greatest or the lowest float, and lse likewise. So finite numbers leave no row
///   without keys and give no NaN, as long as the products scale q.k are finite.
/// - An excluded key contributes exactly nothing, even if its k or v holds NaN or infinity.
/// - NaN or infinity in an allowed place reaches the rows that may read it and no other.
/// - Changing a key or value that row i may not read leaves row i bit for bit as it was; the same
///   holds for other batch rows and heads.
///
/// Error bound against exact arithmetic on the same inputs, with u = 2^-24 and, for the row at hand,
/// A = max over allowed j of (|scale| sum_d |q_d k_jd| + sum of |biases_j|) / temperature, or the
/// size of the sink if that is greater, and V = max |v| / (1 - dropout rate):
///
///     |out - exact|    <= u V (2 (d_k + 16) A + 3 Tk + 40)
///     |weights - exact| <= w (exp(u (2 (d_k + 16) A + Tk + 40)) - 1) + 2^-126,  w the exact weight
///     |logits - exact| <= u (d_k + 16) A temperature
///     |lse - exact|    <= u ((d_k + 16) A + Tk + 40 + |lse|)
///     |entropy - exact| <= u (2 (d_k + 16) A + 2 Tk + 80) (ln Tk + 2)
///
/// as long as nothing leaves the range of float on the way: scale q_d is 0 or between 2^-126 and 2^128
/// in size, and scores and Tk V stay below 2^128.
///
/// The d_k term is the dot product, the Tk term the sum over keys, the constants the softcap, the
/// biases, the exponential and the divisions. Tests enforce these numbers.
///
/// A key whose weight is at most 2^-62 times the largest of its row may add nothing to out, lse and
/// entropy, depending on the order of keys: weights of at most 2^-62.5 times the largest so far count
/// as 0, because products of them would be subnormal numbers, which processors are slow at. What that
/// changes, at most Tk 2^-61 V, is part of the bounds. The weights that are returned keep such a key
/// down to 2^-126.
///
/// Errors, each naming the argument, what it was and what was expected; nothing is written then, and
/// a cache keeps its length and contents:
/// - kInvalidArgument: a null pointer where elements exist, a strided last axis, a stride below 0, an
///   output with two elements in one place or in the memory of an input or another output, a number
///   that is not finite, a temperature that is not a positive normal float, both causal_offset and
///   causal_offsets, neither where causality, a window or ALiBi needs one, one of them where none of
///   these three is used, no value of LogitStage, an empty cache.
/// - kShapeMismatch: wrong rank, extents that do not fit, Hq not a multiple of Hkv, d_k or d_v 0, a
///   cache of other sizes.
/// - kOutOfRange: rows outside [0, Tq], softcap < 0, window < -1, a key length outside [0, Tk], a
///   dropout rate outside [0, 1), more tokens than the cache has room for.
/// - kOutOfMemory: the workspace could not grow to attention_scratch_bytes().
/// - kUnsupported: no kernels, see active_isa(); a cache made for other kernels.
///
/// Any of B, Hq, Tq may be 0 (nothing to do); Tk = 0 means no key is allowed.
Status attention(const AttentionArgs& args, Workspace& workspace) noexcept;

/// Bytes of workspace that the call takes with so many threads: a tile for each thread, and packed
/// key/value heads (none with a cache). One thread packs one head at a time, O(Tk (d_k + d_v)); several
/// threads pack one head each, or as many heads as fit 8 MB. Returns 0 for arguments that attention()
/// refuses, unless it refuses them because arrays share memory.
[[nodiscard]] std::size_t attention_scratch_bytes(const AttentionArgs& args,
                                                  int threads = 1) noexcept;

}  // namespace qkv
