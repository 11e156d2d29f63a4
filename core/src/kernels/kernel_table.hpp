// What an ISA unit in src/isa/arch provides: plain structs in, function pointers out. A public operator
// fetches this table once per call and never asks again which machine it is on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/args.hpp"
#include "kernels/product/panels.hpp"

namespace qkv::kernels {

/// b[kk, j] = b[kk * row_stride + j * column_stride], k x n, into panels of ceil(n / panel) * panel
/// columns; `panels` is aligned to 64 bytes.
struct PackArgs {
  const float* b;
  Index row_stride, column_stride;
  Index k, n;
  float* panels;
};

/// What a raised number of binary16 (weights/raised_halves.hpp) stands for, divided by the float that has its bits where a float has
/// sign, exponent and fraction: binary16 counts exponents from 15 and float32 from 127, and raising added 10.
inline constexpr float kRaisedUnit = 0x1p102F;

/// c[m, n] = a[m, k] * b + bias. `bias` is null or padded with anything to whole panels. b_panels are as panels.hpp
/// describes them; rows of a are those that the format reads.
struct GemmArgs {
  Index m, n, k;
  const float* a;
  Index a_stride;
  const float* b_panels;
  const float* bias;
  float* c;
  Index c_stride;
  bool raised = false;  ///< whether binary16 panels are
};

/// A part of one column of a panel: `count` inputs from `first`, with which a block begins.
struct PanelPart {
  std::byte* panel;
  Index column, first, count;
  bool raised = false;  ///< of binary16
};

/// kInt8Block weights of one column as whole numbers; each stands for scale * number + offset. Scale and offset are binary16.
struct CodedBlock {
  std::uint16_t scale;
  std::uint16_t offset;  ///< of 4 bits alone, whose numbers are 0 to 15
  /// Of 4 bits half as many bytes, as files have them: in the low bits of byte i is number i, in the high ones number i + 16.
  std::int8_t numbers[kInt8Block];
};

/// Number i of a block, of so many bits.
static constexpr int number_of(const CodedBlock& block, Index i, int bits) noexcept {
  const std::int8_t byte = block.numbers[bits == 8 ? i : i % (kInt8Block / 2)];
  return bits == 8 ? byte : byte >> (i < kInt8Block / 2 ? 0 : 4) & 15;
}

/// What a product reads as rows.
enum class RowKind : std::uint8_t {
  kBytes,   ///< quantised, to meet weights of 8 bits
  kCodes,   ///< quantised, to meet codes of 4 bits
  kFloats,  ///< float32
};
inline constexpr std::size_t kQuantizedKinds = 2;

/// A number format of packed weights: how much memory it takes, and the kernels that know how it lies in a panel.
struct PanelFormat {
  const char* name;
  /// The magnitude from which on the format has no numbers, for messages; null where float32 has none either.
  const char* most;
  Index block_inputs;  ///< inputs that share what a block has once
  Index block_bytes;   ///< of so many inputs of a whole panel
  RowKind rows;        ///< that the product reads
  void (*product)(const GemmArgs&) noexcept;
  /// Rounds any number of weights, from the first of a block on. Returns false when a number or a scale would not be finite; for
  /// float32 and bfloat16 always true. Null where keep_large() is the only way in.
  bool (*write)(const PanelPart&, const float* weights) noexcept;
  /// Null where the format has blocks.
  void (*read)(const PanelPart&, float* weights) noexcept;
  int bits;  ///< of the numbers of blocks; 0 where the format has none, and no functions for them
  /// Keeps blocks as they are, one after another. Returns false when a scale or an offset is not finite.
  bool (*keep)(const PanelPart&, const CodedBlock*) noexcept;
  /// The block at PanelPart::first, as it was kept.
  void (*take)(const PanelPart&, CodedBlock&) noexcept;
  /// The same for a block of block_inputs numbers as a file has it, where the format has those of a type of files.
  bool (*keep_large)(const PanelPart&, const std::byte* block) noexcept;
  void (*take_large)(const PanelPart&, std::byte* block) noexcept;
  /// For numbers of 16 bits, null for others: keeps those of a file as they are, at any address and `stride` bytes apart; NaN
  /// becomes a quiet one. Returns what write() would.
  bool (*copy)(const PanelPart&, const std::byte* numbers, Index stride) noexcept;
  /// Whether a full matrix should be raised (weights/raised_halves.hpp): binary16 where no instruction converts it.
  bool raises = false;
};

/// Formats of a KernelTable, in the order of WeightFormat.
inline constexpr std::size_t kFormats = 6;

/// Rows of k floats as products with blocks read them, ceil(k / kInt8Block) blocks of RowQuantizer::block_floats floats
/// for each row.
struct QuantizeArgs {
  Index rows, k;
  const float* x;  ///< [rows, k]
  float* to;
};

/// What makes quantised rows of a kind. An instruction set for which the two kinds are the same has one function for both.
struct RowQuantizer {
  void (*quantize)(const QuantizeArgs&) noexcept;
  Index block_floats;  ///< that it makes of kInt8Block numbers
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

/// to[i] = 2^(scale (x[i] - most)) in double precision, for n numbers of which no finite one is above `most`; 0 below 2^-1000 and
/// of NaN.
struct ExponentialsArgs {
  static constexpr Index kLanes = 8;  ///< numbers that are added side by side
  Index n;
  const float* x;
  double most;
  double scale;  ///< positive
  double* to;    ///< aligned to 64 bytes; has room for whole kLanes, and gets zeros after n
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
  /// The instruction set of all kernels but those for bytes, which may have the same.
  const char* base;
  Index panel;  ///< columns of a packed panel
  /// Floats of GroupArgs::scratch.
  std::uint64_t (*group_scratch)(Index dk, Index dv) noexcept;
  /// Floats from the state of one piece to that of the next, in PieceArgs::states.
  std::uint64_t (*state_floats)(Index dv) noexcept;
  void (*pack)(const PackArgs&) noexcept;
  void (*gemm)(const GemmArgs&) noexcept;
  PanelFormat formats[kFormats];
  RowQuantizer quantizers[kQuantizedKinds];  ///< by RowKind
  void (*attend)(const GroupArgs&) noexcept;
  void (*weigh)(const GroupArgs&, const WeighArgs&) noexcept;
  void (*logits)(const GroupArgs&, const LogitsArgs&) noexcept;
  void (*normalize)(const NormArgs&) noexcept;
  void (*softmax)(const SoftmaxArgs&) noexcept;
  /// The largest of n numbers, NaN passed over; -infinity if there is nothing else.
  float (*largest)(const float* x, Index n) noexcept;
  /// Returns the sum of all, in an order that is the same on every instruction set.
  double (*exponentials)(const ExponentialsArgs&) noexcept;
  void (*sinusoid_rows)(const SinusoidArgs&) noexcept;
  void (*rotate)(const RotateArgs&) noexcept;
  Elementwise relu, gelu, gelu_tanh, silu;
  Elementwise silu_times;  ///< out = silu(x) * y
  Elementwise add;         ///< out = x + y
  Elementwise multiply;    ///< out = x * y
};

}  // namespace qkv::kernels
