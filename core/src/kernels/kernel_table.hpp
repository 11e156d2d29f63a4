// What a page in src/arch provides: plain structs in, function pointers out. A public operator
// fetches this table once per call and never asks again which machine it is on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qkv::kernels {

using Index = std::ptrdiff_t;

/// b[kk, j] = b[kk * row_stride + j * column_stride], k x n, into panels of ceil(n / panel) * panel
/// columns; `panels` is aligned to 64 bytes.
struct PackArgs {
  const float* b;
  Index row_stride, column_stride;
  Index k, n;
  float* panels;
};

/// c[m, n] = a[m, k] * b + bias. `bias` is null or padded with anything to whole panels.
struct GemmArgs {
  Index m, n, k;
  const float* a;
  Index a_stride;
  const float* b_panels;
  const float* bias;
  float* c;
  Index c_stride;
};

/// Rows [row_begin, row_end) of one query head of one batch row against its packed key/value head.
struct HeadArgs {
  Index row_begin, row_end;
  Index tk, dk, dv;  ///< tk counts the keys in use; none past them is read
  const float* q;    ///< of row 0: [row_end, dk]
  Index q_stride;
  const float* k_panels;      ///< pack() of K transposed: dk x tk
  const float* v_panels;      ///< pack() of V: tk x dv, or the first tk of more rows
  Index v_panel_stride;       ///< floats from one panel of V to the next
  float scale;                ///< on q.k
  float softcap;              ///< c in c tanh(s / c); 0 for none
  float inverse_temperature;  ///< on scores, after the maximum is subtracted
  std::int64_t offset;        ///< position of query 0 minus that of key 0
  bool causal;                ///< key j <= i + offset
  std::int64_t window_left;   ///< j >= i + offset - left; -1 for none
  std::int64_t window_right;  ///< j <= i + offset + right; -1 for none
  float alibi_slope;          ///< bias -slope |i + offset - j|; 0 for none
  /// Null, or element (i, j) at i * strides[0] + j * strides[1].
  const std::uint8_t* mask;
  Index mask_strides[2];
  const float* bias[2];  ///< likewise; both are added, and -inf excludes
  Index bias_strides[2][2];
  bool has_sink;  ///< a logit without a key, in the denominator only
  float sink;
  std::uint32_t drop_below;   ///< weights whose 24 random bits are below it are dropped; 0 for none
  float keep_factor;          ///< 1 / (1 - dropout rate), on the weights that stay
  std::uint64_t dropout_key;  ///< of this batch row and head
  float* out;                 ///< of row 0: [row_end, dv]
  Index out_stride;
  /// Of the rows, the first of them at [0]: the running maximum of the scores, -inf without keys.
  float* row_max;
  float* row_sum;  ///< likewise: sum of exp((s - max) / temperature), with the sink; 0 without keys
  float* scratch;  ///< head_scratch(dk, dv) floats, aligned to 64 bytes
};

/// Second pass over rows [row_begin, row_end), finished and within those of HeadArgs: their weights.
struct WeighArgs {
  Index row_begin, row_end;
  Index columns;   ///< keys of a row of `weights`, those past HeadArgs::tk included
  float* weights;  ///< null or [row_end - row_begin, columns]
  Index weights_stride;
  float* log_sums;  ///< null or [row_end - row_begin]: sum_j exp(x_j) x_j, x = (s - max) / tau
};

enum class LogitStage : std::uint8_t { kRaw, kCapped, kBiased };

/// Scores of rows [row_begin, row_end) before the softmax.
struct LogitsArgs {
  Index row_begin, row_end;
  Index columns;
  LogitStage stage;
  float* logits;  ///< [row_end - row_begin, columns]
  Index logits_stride;
};

/// Rows of n elements, one after another; out may be x.
struct NormArgs {
  Index rows, n;
  const float* x;
  float* out;
  const float* gamma;  ///< null or [n]
  const float* beta;   ///< null or [n]
  float epsilon;
  bool centre;  ///< layer norm; otherwise RMS norm
};

/// Softmax over the middle one of three dense axes, n elements; out may be x.
struct SoftmaxArgs {
  Index outer, n, inner;
  const float* x;
  float* out;
  float temperature;  ///< positive and normal
};

/// Rows of a sinusoidal encoding, kPairs frequencies of it: in double precision, rounded once.
struct SinusoidArgs {
  static constexpr Index kPairs = 16;
  struct Row {
    double sine[kPairs], cosine[kPairs];
  };
  Index rows;
  Row anchor;        ///< where the rows count from
  const Row* steps;  ///< [rows]: how far from there
  float* sine;       ///< of row 0, pair 0
  float* cosine;
  Index spread;          ///< floats from one pair to the next: 2 when sine and cosine alternate
  Index stride;          ///< floats from one row to the next
  Index sines, cosines;  ///< how many pairs exist; an odd width has one cosine less
};

/// The pairs of each token's row: (i, i + pairs), or (2i, 2i + 1) when interleaved.
struct RotateArgs {
  Index tokens, pairs;
  float* x;  ///< [tokens, >= 2 * pairs], in place
  Index stride;
  const float* cos;  ///< [tokens, pairs]
  const float* sin;
  bool interleaved;
};

/// n elements; out may be x or y.
struct ElementwiseArgs {
  Index n;
  const float* x;
  const float* y;  ///< read by functions of two arguments only
  float* out;
};
using Elementwise = void (*)(const ElementwiseArgs&) noexcept;

struct KernelTable {
  const char* isa;
  Index panel;  ///< columns of a packed panel
  /// Floats of HeadArgs::scratch.
  std::uint64_t (*head_scratch)(Index dk, Index dv) noexcept;
  void (*pack)(const PackArgs&) noexcept;
  void (*gemm)(const GemmArgs&) noexcept;
  void (*attend)(const HeadArgs&) noexcept;
  void (*weigh)(const HeadArgs&, const WeighArgs&) noexcept;
  void (*logits)(const HeadArgs&, const LogitsArgs&) noexcept;
  void (*normalize)(const NormArgs&) noexcept;
  void (*softmax)(const SoftmaxArgs&) noexcept;
  void (*sinusoid_rows)(const SinusoidArgs&) noexcept;
  void (*rotate)(const RotateArgs&) noexcept;
  Elementwise relu, gelu, gelu_tanh, silu;
  Elementwise silu_times;  ///< out = silu(x) * y
  Elementwise add;         ///< out = x + y
};

}  // namespace qkv::kernels
