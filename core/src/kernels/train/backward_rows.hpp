// The rows of a key/value head as the gradients of attention read them: their memory, what is computed of them before any
// block is visited, and a block placed on some of them.
#pragma once

#include "kernels/attention/flash_attention.hpp"
#include "kernels/train/dot.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// The rows of a group, laid out for the products they take part in. Rows are those of GroupArgs; a block is
/// kQueryBlock of them, and its panels are those of pack() for as many rows as the block has.
struct BackwardRows {
  float* q;             ///< [rows, dk]: queries times the scale
  float* d_out;         ///< [rows, dv]
  float* q_panels;      ///< of each block: dk rounded up to panels
  float* d_out_panels;  ///< of each block: dv rounded up to panels
  float* dq;            ///< [rows, dk rounded up to panels]: sums before the scale
  float* delta;         ///< [rows]: D = dO . O
  /// [rows]: lse, 0 where the row has no key; the maximum of the scores of a measured row.
  float* base;
  float* share;   ///< [rows]: 1 / sum of exp(x - maximum) of a measured row; 0 of others
  float* sink;    ///< [rows]: of a measured row, the weight of the sink
  float* finite;  ///< of each block: 1 if neither q nor d_out holds NaN or infinity
};

/// What one block of queries and one block of keys are worked on in.
template <class Isa>
struct BackwardBlock {
  QueryBlock<Isa> query;
  BackwardRows rows;
  float* d_scores;  ///< [kQueryBlock, kKeyBlock]: dO V^T, then the gradient of the products
  float* dropped;   ///< likewise: the weights after dropout
  float* capped;    ///< likewise: products, where a softcap needs them
  float* dk;        ///< [kKeyBlock, dk rounded up to panels]
  float* dv;        ///< [kKeyBlock, dv rounded up to panels]
};

/// Floats of BackwardArgs::scratch, in 64 bits because sizes need not fit an Index of 32.
template <class Isa>
std::uint64_t backward_scratch(Index rows, Index dk, Index dv) noexcept {
  constexpr auto kBlock = static_cast<std::uint64_t>(kQueryBlock<Isa>);
  constexpr auto kPad = static_cast<std::uint64_t>(kPanel<Isa>);
  const std::uint64_t blocks = (static_cast<std::uint64_t>(rows) + kBlock - 1) / kBlock;
  const auto widths = static_cast<std::uint64_t>(dk) + static_cast<std::uint64_t>(dv) + 2 * kPad;
  const std::uint64_t of_row = 3 * widths + 4;
  // Of each of 17 pieces up to 15 floats more.
  return blocks * (kBlock * of_row + 1) + kKeyBlock * (4 * kBlock + widths + 1) +
         std::uint64_t{17} * 16;
}

/// Cuts the scratch. Every piece begins on a multiple of 16 floats, because tiles load panels aligned.
template <class Isa>
inline BackwardBlock<Isa> make_backward_block(const BackwardArgs& args) noexcept {
  constexpr Index kBlock = kQueryBlock<Isa>;
  const GroupArgs& group = args.group;
  const Index padded = round_up(group.row_end, kBlock);
  const Index dk_width = round_up(group.dk, kPanel<Isa>);
  const Index dv_width = round_up(group.dv, kPanel<Isa>);
  float* next = args.scratch;
  const auto take = [&next](Index count) {
    float* piece = next;
    next += round_up(count, 16);
    return piece;
  };
  BackwardBlock<Isa> block;
  block.query.scores = take(kBlock * kKeyBlock);
  block.query.add = take(kKeyBlock);
  block.d_scores = take(kBlock * kKeyBlock);
  block.query.sums_v = block.d_scores;  // of no columns, in measure_rows()
  block.dropped = take(kBlock * kKeyBlock);
  block.capped = take(kBlock * kKeyBlock);
  block.dk = take(kKeyBlock * dk_width);
  block.dv = take(kKeyBlock * dv_width);
  block.rows.q = take(padded * group.dk);
  block.rows.d_out = take(padded * group.dv);
  block.rows.q_panels = take(padded * dk_width);
  block.rows.d_out_panels = take(padded * dv_width);
  block.rows.dq = take(padded * dk_width);
  block.rows.delta = take(padded);
  block.rows.base = take(padded);
  block.rows.share = take(padded);
  block.rows.sink = take(padded);
  block.rows.finite = take(padded / kBlock);
  return block;
}

/// True when none of n elements is NaN or infinite.
template <class Isa>
inline bool is_finite(const float* x, Index n) noexcept {
  using V = Vec<Isa>;
  V sum(0.0F);
  visit<Isa>(x, n, 0.0F, [&](Index, V some) { sum = sum + some * V(0.0F); });
  return xsimd::all(sum == V(0.0F));
}

/// Fills BackwardRows from the arrays of the call and sets dq to 0.
template <class Isa>
inline void prepare_rows(const BackwardArgs& args, const BackwardRows& rows) noexcept {
  constexpr Index kBlock = kQueryBlock<Isa>;
  const GroupArgs& group = args.group;
  const Index dk_width = round_up(group.dk, kPanel<Isa>);
  const Index dv_width = round_up(group.dv, kPanel<Isa>);
  for (Index r = 0; r < group.row_end; ++r) {
    const Row at = row_at(group, r);
    const float* q = piece_of(group.q, at);
    const float* d_out = piece_of(args.d_out, at);
    for (Index d = 0; d < group.dk; ++d) {
      rows.q[r * group.dk + d] = q[d] * group.score.scale;
    }
    for (Index d = 0; d < group.dv; ++d) {
      rows.d_out[r * group.dv + d] = d_out[d];
    }
    for (Index d = 0; d < dk_width; ++d) {
      rows.dq[r * dk_width + d] = 0.0F;
    }
    rows.delta[r] = dot<Isa>(d_out, piece_of(args.out, at), group.dv);
    const float lse = *piece_of(args.lse, at);
    rows.base[r] = lse == kMinusInfinity ? 0.0F : lse;
    rows.share[r] = 0.0F;
  }
  for (Index first = 0; first < group.row_end; first += kBlock) {
    const Index count = group.row_end - first < kBlock ? group.row_end - first : kBlock;
    const float* q = rows.q + first * group.dk;
    const float* d_out = rows.d_out + first * group.dv;
    pack<Isa>({q, group.dk, 1, count, group.dk, rows.q_panels + first * dk_width});
    pack<Isa>({d_out, group.dv, 1, count, group.dv, rows.d_out_panels + first * dv_width});
    rows.finite[first / kBlock] =
        is_finite<Isa>(q, count * group.dk) && is_finite<Isa>(d_out, count * group.dv) ? 1.0F
                                                                                       : 0.0F;
  }
}

/// Sizes of lse from which on its error counts: below, a weight is off by at most 2^-18 of itself.
inline constexpr float kCoarseLse = 64.0F;

/// Whether lse has the weights of row r too coarsely. NaN and infinity have no weights.
static inline bool is_coarse(const BackwardArgs& args, Index r) noexcept {
  const float lse = *piece_of(args.lse, row_at(args.group, r));
  return is_finite_number(lse) && (lse >= kCoarseLse || lse <= -kCoarseLse);
}

/// Measures the rows of the block at `first` whose lse is coarse: maximum and sum with the bits of the forward pass.
template <class Isa>
inline void measure_rows(const BackwardArgs& args, BackwardBlock<Isa>& block,
                         Index first) noexcept {
  GroupArgs group = args.group;
  group.dv = 0;
  group.entropy = {};
  group.dropout.below = 0;
  QueryBlock<Isa>& query = block.query;
  query.q = block.rows.q + first * group.dk;
  const KeyRange range = begin_rows(group, query, first, group.row_end);
  for (Index k0 = range.begin; k0 < range.end; k0 += kKeyBlock) {
    const Index keys = keys_from(k0, range.end);
    const BlockKind kind = kind_at(group, query, range, k0);
    if (kind != BlockKind::kExcluded) {
      multiply_qk(group, query, k0, keys);
      softmax_step(group, query, k0, keys, kind == BlockKind::kPlain);
    }
  }
  for (Index r = 0; r < query.rows; ++r) {
    if (!is_coarse(args, first + r)) {
      continue;  // its neighbours change no bit of a row
    }
    const RowTotal row = total_of(group, query, r);
    block.rows.base[first + r] = query.max[r];
    block.rows.share[first + r] = row.factor / row.total;
    if (group.sinks) {
      const float below = group.sinks[query.row[r].head] - row.top;
      block.rows.sink[first + r] = exp_nonpositive<Isa>(Vec<Isa>(below)).get(0) / row.total;
    }
  }
}

/// Measures where it is needed.
template <class Isa>
inline void measure_coarse_rows(const BackwardArgs& args, BackwardBlock<Isa>& block) noexcept {
  for (Index first = 0; first < args.group.row_end; first += kQueryBlock<Isa>) {
    const Index left = args.group.row_end - first;
    const Index end = first + (left < kQueryBlock<Isa> ? left : kQueryBlock<Isa>);
    Index r = first;
    while (r < end && !is_coarse(args, r)) {
      ++r;
    }
    if (r < end) {
      measure_rows(args, block, first);
    }
  }
}

/// Places the block on rows from `first`. Returns the keys that any of them may read.
template <class Isa>
inline KeyRange place_rows(const BackwardArgs& args, BackwardBlock<Isa>& block,
                           Index first) noexcept {
  const GroupArgs& group = args.group;
  QueryBlock<Isa>& query = block.query;
  const Index left = group.row_end - first;
  query.first = first;
  query.rows = left < kQueryBlock<Isa> ? left : kQueryBlock<Isa>;
  query.q = block.rows.q + first * group.dk;
  const KeyRange least = key_range(group, row_at(group, first).query);
  const KeyRange most = key_range(group, row_at(group, first + query.rows - 1).query);
  query.all = {most.begin, least.end};
  return {least.begin, most.end};
}

/// The other fields of QueryBlock that finish_scores() and kind_for() read, for rows that read some key of the block.
template <class Isa>
inline void describe_rows(const BackwardArgs& args, QueryBlock<Isa>& query) noexcept {
  for (Index r = 0; r < query.rows; ++r) {
    query.row[r] = row_at(args.group, query.first + r);
    query.masks[r] = masks_of(args.group, query.row[r]);
    query.has_key[r] = false;
  }
}

}  // namespace qkv::kernels
