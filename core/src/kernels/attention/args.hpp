// What the attention kernels are given: plain structs, because units of instruction sets take nothing
// else of the library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qkv::kernels {

using Index = std::ptrdiff_t;

/// A row of queries: query `query` of query head `head`, counted within its group.
struct Row {
  Index head, query;
};

/// An array with a contiguous piece for every row; null for none.
template <class T>
struct RowArray {
  T* data;  ///< of head 0, and of query 0 unless the field says another
  Index head_stride, query_stride;
};

/// An array with an element for every row and key; null for none.
template <class T>
struct ScoreArray {
  const T* data;
  Index head_stride, query_stride, key_stride;
};

/// Keys in a block: whole panels for every instruction set. 64 keys of d = 64 are 16 kB of K and as
/// much of V, which with the tile of scores stay in a 48 kB L1.
inline constexpr Index kKeyBlock = 64;

/// Keys in a piece. The running softmax of a row begins anew with each and the results are joined in order, so that several
/// threads may go over the keys of a few rows, and rows have the same bits whether they do or not.
inline constexpr Index kPieceKeys = 1024;

/// Most rows of a group whose pieces are computed one by one: one block of every instruction set.
inline constexpr Index kPieceRows = 16;

/// The numbers in panels of keys and blocks of values.
enum class KeyFormat : std::uint8_t {
  kF32,
  kBf16,  ///< as HalfPanels has them: half as many floats
  kInt8,  ///< as int8_places.hpp says
};

/// A key/value head of one batch row.
struct KeyArgs {
  Index count;            ///< keys in use; none past them is read
  const float* k_panels;  ///< pack() of K transposed: d_k x count, in the format
  /// V in blocks of kKeyBlock rows and what is left, each pack() of its rows.
  const float* v_blocks;
  Index v_rows;  ///< rows of V in all blocks, count or more
  KeyFormat format;
};

/// Which keys a query may read by its position alone: query i is at i + offset, key j at j.
struct ReachArgs {
  std::int64_t offset;
  bool causal;                ///< key j <= i + offset
  std::int64_t window_left;   ///< j >= i + offset - left; -1 for none
  std::int64_t window_right;  ///< j <= i + offset + right; -1 for none
};

/// How products become scores.
struct ScoreArgs {
  float scale;                    ///< on q.k
  float softcap;                  ///< c in c tanh(s / c); 0 for none
  float inverse_temperature;      ///< on scores, after the maximum is subtracted
  const float* slopes;            ///< bias -slope |i + offset - j|
  ScoreArray<std::uint8_t> mask;  ///< 0 excludes
  ScoreArray<float> bias[2];      ///< both are added, and -inf excludes
};

struct DropoutArgs {
  std::uint32_t below;  ///< weights whose 24 random bits are below it are dropped; 0 for none
  float keep_factor;    ///< 1 / (1 - dropout rate), on the weights that stay
  std::uint64_t key;    ///< of this batch row
  Index first_head;     ///< the number of the group's head 0 among all query heads
};

/// What is done with the pieces of the keys.
enum class PieceStep : std::uint8_t {
  kAll,      ///< computed and joined
  kCompute,  ///< piece `piece` alone is computed, and its state is kept
  kJoin,     ///< what was kept is joined
};

/// The pieces of the keys of one block of rows; for kAll nothing else is needed.
struct PieceArgs {
  PieceStep step;
  Index piece;
  float* states;  ///< state_floats(dv) for each piece, aligned to 64 bytes
};

/// Rows of a group: the query heads of one batch row that read the same key/value head. Row r is query
/// r / heads of head r % heads, so that later rows read at least the keys of earlier ones.
struct GroupArgs {
  Index heads;               ///< query heads in the group
  Index row_begin, row_end;  ///< rows to compute
  Index dk, dv;
  RowArray<const float> q;
  RowArray<float> out;
  RowArray<float> lse;      ///< null or one for each row
  RowArray<float> entropy;  ///< likewise
  KeyArgs keys;
  ReachArgs reach;
  ScoreArgs score;
  const float* sinks;  ///< a logit of each head without a key, in the denominator only
  DropoutArgs dropout;
  PieceArgs pieces;
  /// Of the rows, the first of them at [0]: the running maximum of the scores, -inf without keys.
  float* row_max;
  float* row_sum;  ///< likewise: sum of exp((s - max) / temperature), with the sink; 0 without keys
  float* scratch;  ///< group_scratch(dk, dv) floats, aligned to 64 bytes
  /// For kInt8 alone: kKeyBlock keys or values of float32, in whole words and panels, aligned to 64 bytes.
  float* wide;
};

/// Second pass over rows [row_begin, row_end), finished and within those of GroupArgs: their weights.
struct WeighArgs {
  Index row_begin, row_end;
  Index columns;            ///< keys of a row of `weights`, those past the keys in use included
  Index first_query;        ///< whose weights are at weights.data
  RowArray<float> weights;  ///< [columns] for every row
};

/// Scores of rows [row_begin, row_end) before the softmax, -inf where excluded if they are biased.
struct LogitsArgs {
  Index row_begin, row_end;
  Index columns;
  bool capped;             ///< after the softcap
  bool biased;             ///< after the softcap and all biases
  Index first_query;       ///< whose scores are at logits.data
  RowArray<float> logits;  ///< [columns] for every row
};

}  // namespace qkv::kernels
