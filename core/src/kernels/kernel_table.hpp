// What an ISA unit in src/isa/arch provides: plain structs in, function pointers out. A public operator
// fetches this table once per call and never asks again which machine it is on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/args.hpp"

namespace qkv::kernels {

/// b[kk, j] = b[kk * row_stride + j * column_stride], k x n, into panels of ceil(n / panel) * panel
/// columns; `panels` is aligned to 64 bytes.
struct PackArgs {
  const float* b;
  Index row_stride, column_stride;
  Index k, n;
  float* panels;
};

/// c[m, n] = a[m, k] * b + bias. `bias` is null or padded with anything to whole panels. For gemm_int8() the rows of a
/// are those of quantize(), and b_panels are those that byte_dot.hpp describes.
struct GemmArgs {
  Index m, n, k;
  const float* a;
  Index a_stride;
  const float* b_panels;
  const float* bias;
  float* c;
  Index c_stride;
};

/// Where a panel keeps the number of a column among its numbers of 16 bits: two are in one lane, of a column of the first
/// vector and of one of the second.
static constexpr Index half_place(Index column, Index panel) noexcept {
  const Index width = panel / 2;
  return column < width ? 2 * column : 2 * (column - width) + 1;
}

/// Weights of 8 bits that share a scale, along k.
inline constexpr Index kInt8Block = 32;

/// How weights of 8 bits lie in a panel. For each block of inputs: the scales of the columns, 16 bits each, those of the
/// panel's first vector and of its second in turns; then the weights of the first `group` inputs of each column,
/// those of the next inputs, and so on.
struct Int8Layout {
  Index group;                ///< inputs whose weights lie side by side
  std::uint8_t flip;          ///< bits of each weight that are the other way round
  Index floats_of_row_block;  ///< floats that quantize() makes of a block of a row
};

/// Rows of k floats as gemm_int8() reads them, ceil(k / kInt8Block) blocks of Int8Layout::floats_of_row_block floats
/// for each row.
struct QuantizeArgs {
  Index rows, k;
  const float* x;  ///< [rows, k]
  float* to;
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

/// Tokens of a row that go through all layers of a model at a time where there is a session: few enough for their activations
/// to stay in a cache, and whole register tiles of every instruction set, as the rows that are left of a tile take longer.
inline constexpr Index kPieceTokens = 240;

struct KernelTable {
  const char* isa;
  Index panel;  ///< columns of a packed panel
  /// Floats of GroupArgs::scratch.
  std::uint64_t (*group_scratch)(Index dk, Index dv) noexcept;
  void (*pack)(const PackArgs&) noexcept;
  void (*gemm)(const GemmArgs&) noexcept;
  void (*gemm_bf16)(const GemmArgs&) noexcept;
  void (*gemm_int8)(const GemmArgs&) noexcept;
  void (*quantize)(const QuantizeArgs&) noexcept;
  Int8Layout int8;
  void (*attend)(const GroupArgs&) noexcept;
  void (*weigh)(const GroupArgs&, const WeighArgs&) noexcept;
  void (*logits)(const GroupArgs&, const LogitsArgs&) noexcept;
  void (*normalize)(const NormArgs&) noexcept;
  void (*softmax)(const SoftmaxArgs&) noexcept;
  void (*sinusoid_rows)(const SinusoidArgs&) noexcept;
  void (*rotate)(const RotateArgs&) noexcept;
  Elementwise relu, gelu, gelu_tanh, silu;
  Elementwise silu_times;  ///< out = silu(x) * y
  Elementwise add;         ///< out = x + y
  Elementwise multiply;    ///< out = x * y
};

}  // namespace qkv::kernels
