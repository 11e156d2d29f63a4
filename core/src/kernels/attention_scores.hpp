// Scores of a block of queries against a block of keys: products, scale, softcap, bias, exclusion.
#pragma once

#include "kernels/attention_mask.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// Keys in a block: whole panels for every instruction set. 64 keys of d = 64 are 16 kB of K and as
/// much of V, which with the tile of scores stay in a 48 kB L1.
inline constexpr Index kKeyBlock = 64;

/// Queries in a block.
template <class Isa>
inline constexpr Index kQueryBlock = Index{Isa::kTileRows} * (24 / Isa::kTileRows);

/// The block of queries being worked on, its memory in HeadArgs::scratch.
template <class Isa>
struct QueryBlock {
  Index first = 0, rows = 0;
  float* scores;  ///< [kQueryBlock, kKeyBlock]: scores, then weights before division by the sum
  float* add;     ///< [kKeyBlock]: bias of one row, -inf where a mask or a bias excludes
  float* sums_v;  ///< [kQueryBlock, dv rounded up to panels]: weights times V
  float max[kQueryBlock<Isa>];
  float sum[kQueryBlock<Isa>];
  bool has_key[kQueryBlock<Isa>];
};

template <class Isa>
Index head_scratch(Index dv) noexcept {
  return kQueryBlock<Isa> * (kKeyBlock + round_up(dv, kPanel<Isa>)) + kKeyBlock;
}

template <class Isa>
inline QueryBlock<Isa> make_query_block(const HeadArgs& args) noexcept {
  QueryBlock<Isa> block;
  block.scores = args.scratch;
  block.add = block.scores + kQueryBlock<Isa> * kKeyBlock;
  block.sums_v = block.add + kKeyBlock;
  return block;
}

/// Places the block on rows from `first` and says which keys any of them may read, from the start of
/// a key block.
template <class Isa>
inline KeyRange begin_rows(const HeadArgs& args, QueryBlock<Isa>& block, Index first,
                           Index row_end) noexcept {
  block.first = first;
  block.rows = row_end - first < kQueryBlock<Isa> ? row_end - first : kQueryBlock<Isa>;
  for (Index r = 0; r < block.rows; ++r) {
    block.max[r] = kMinusInfinity;
    block.sum[r] = 0.0F;
    block.has_key[r] = false;
  }
  return {key_range(args, first).begin / kKeyBlock * kKeyBlock,
          key_range(args, first + block.rows - 1).end};
}

/// Products q.k of the block's queries with keys [k0, k0 + keys).
template <class Isa>
inline void multiply_qk(const HeadArgs& args, const QueryBlock<Isa>& block, Index k0,
                        Index keys) noexcept {
  for (Index column = 0; column < keys; column += kPanel<Isa>) {
    const float* panel = args.k_panels + (k0 + column) * args.dk;
    for (Index r = 0; r < block.rows; r += Isa::kTileRows) {
      const Index left = block.rows - r;
      const int rows = static_cast<int>(left < Isa::kTileRows ? left : Isa::kTileRows);
      tile_rows<Isa>(rows, args.dk, args.q + (block.first + r) * args.q_stride, args.q_stride,
                     panel, nullptr, 0, block.scores + r * kKeyBlock + column, kKeyBlock);
    }
  }
}

/// c tanh(s / c).
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> cap_score(Vec<Isa> s, Vec<Isa> cap) noexcept {
  return cap * xsimd::tanh(s / cap);
}

/// Everything that a plain call leaves out, for scores of keys that stand `distance` after the query:
/// softcap, ALiBi and the biases, in this order.
template <class Isa>
inline Vec<Isa> adjust_score(const HeadArgs& args, Vec<Isa> s, Vec<Isa> distance,
                             const float* add) noexcept {
  using V = Vec<Isa>;
  if (args.softcap > 0.0F) {
    s = cap_score<Isa>(s, V(args.softcap));
  }
  if (args.alibi_slope != 0.0F) {
    s = s - V(args.alibi_slope) * xsimd::abs(distance);
  }
  if (add) {
    const V bias = V::load_aligned(add);
    s = xsimd::select(bias == V(kMinusInfinity), V(kMinusInfinity), s + bias);
  }
  return s;
}

/// Turns row r of products q.k into scores: -inf where excluded and beyond the last key. Exclusion is
/// a select, never arithmetic, so a NaN in an excluded place disappears. Returns the largest score.
template <class Isa>
inline float finish_scores(const HeadArgs& args, QueryBlock<Isa>& block, Index r, Index k0,
                           Index keys) noexcept {
  using V = Vec<Isa>;
  const Index i = block.first + r;
  const KeyRange allowed = within_block(key_range(args, i), k0, keys);
  const bool masks = has_masks(args);
  block.has_key[r] |=
      masks ? fill_add(args, i, k0, allowed, block.add) : allowed.begin < allowed.end;
  const bool adjust = masks || args.softcap > 0.0F || args.alibi_slope != 0.0F;

  float* row = block.scores + r * kKeyBlock;
  const V excluded(kMinusInfinity);
  const V begin(static_cast<float>(allowed.begin));
  const V end(static_cast<float>(allowed.end));
  const V query(static_cast<float>(i + args.offset - k0));
  V lane = lane_numbers<Isa>();
  V largest = excluded;
  for (Index j = 0; j < round_up(keys, kPanel<Isa>); j += kWidth<Isa>) {
    V s = V::load_aligned(row + j) * V(args.scale);
    if (adjust) {
      s = adjust_score<Isa>(args, s, lane - query, masks ? block.add + j : nullptr);
    }
    s = xsimd::select((lane >= begin) & (lane < end), s, excluded);
    s.store_aligned(row + j);
    largest = xsimd::max(largest, s);
    lane = lane + V(static_cast<float>(kWidth<Isa>));
  }
  return xsimd::reduce_max(largest);
}

}  // namespace qkv::kernels
