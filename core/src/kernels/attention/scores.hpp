// Scores of a block of queries against a block of keys: products, scale, softcap, bias, exclusion.
#pragma once

#include "kernels/attention/mask.hpp"
#include "kernels/attention/widen.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// Queries in a block: whole tiles, which share every block of keys while it is in L1. 48 were as fast
/// with AVX-512 and, in WebAssembly, up to 2048 tokens, and 5 % slower at 32,768.
template <class Isa>
inline constexpr Index kQueryBlock = Index{Isa::kTileRows} * (24 / Isa::kTileRows);

/// What there is to do for a block of queries against a block of keys.
enum class BlockKind : std::uint8_t {
  kExcluded,  ///< nothing: no query may read any of the keys
  kPlain,     ///< every query may read all keys of a full block, and its products are its scores
  kMixed,
};

/// Blocks of keys whose kinds are found together: the mask of each row is then read front to back. One
/// block at a time every row would be a cache line for itself, and waiting for those took longer than
/// computing the blocks that were left.
inline constexpr Index kKinds = 32;

/// The block of queries being worked on, its memory in GroupArgs::scratch.
template <class Isa>
struct QueryBlock {
  Vec<Isa> sum[kQueryBlock<Isa>];      ///< of the weights e, lane by lane
  Vec<Isa> log_sum[kQueryBlock<Isa>];  ///< likewise, of e log2(e), for the entropy
  Index first = 0, rows = 0;
  KeyRange all;             ///< the keys that reach leaves to every row
  BlockKind kinds[kKinds];  ///< of the blocks of keys around the one being worked on
  Row row[kQueryBlock<Isa>];
  RowMasks masks[kQueryBlock<Isa>];
  float* q;       ///< [kQueryBlock, dk]: the queries times the scale
  float* scores;  ///< [kQueryBlock, kKeyBlock]: scores, then weights before division by the sum
  float* add;     ///< [kKeyBlock]: bias of one row, -inf where a mask or a bias excludes
  float* sums_v;  ///< [kQueryBlock, dv rounded up to panels]: weights times V
  float* state;   ///< [kQueryBlock, state_row()]: of the pieces of keys before this one
  float max[kQueryBlock<Isa>];
  bool has_key[kQueryBlock<Isa>];
};

/// Floats that keep the state of a row between two pieces of keys: its sums of weights times V, then in a vector each the sums of
/// its weights and of e log2(e), and its maximum with whether there was a key.
template <class Isa>
constexpr Index state_row(Index dv) noexcept {
  return round_up(dv, kPanel<Isa>) + 3 * kWidth<Isa>;
}

/// Of a block of rows. In 64 bits, because the product need not fit an Index of 32.
template <class Isa>
std::uint64_t state_floats(Index dv) noexcept {
  static_assert(kQueryBlock<Isa> >= kPieceRows);
  constexpr auto kPad = static_cast<std::uint64_t>(kPanel<Isa>);
  const std::uint64_t width = (static_cast<std::uint64_t>(dv) + kPad - 1) / kPad * kPad;
  return static_cast<std::uint64_t>(kQueryBlock<Isa>) * (width + 3 * kWidth<Isa>);
}

template <class Isa>
std::uint64_t group_scratch(Index dk, Index dv) noexcept {
  constexpr auto kRound = static_cast<std::uint64_t>(kWidth<Isa> + kPanel<Isa> + kKeyBlock);
  const std::uint64_t row =
      static_cast<std::uint64_t>(dk) + static_cast<std::uint64_t>(dv) + kRound;
  return static_cast<std::uint64_t>(kQueryBlock<Isa>) * row + kKeyBlock + state_floats<Isa>(dv);
}

template <class Isa>
inline QueryBlock<Isa> make_query_block(const GroupArgs& args) noexcept {
  QueryBlock<Isa> block;
  block.scores = args.scratch;
  block.add = block.scores + kQueryBlock<Isa> * kKeyBlock;
  block.sums_v = block.add + kKeyBlock;
  block.state = block.sums_v + kQueryBlock<Isa> * round_up(args.dv, kPanel<Isa>);
  block.q = block.state + kQueryBlock<Isa> * state_row<Isa>(args.dv);
  return block;
}

/// key_range() of row r of the block. Both ends grow with r.
template <class Isa>
inline KeyRange range_of(const GroupArgs& args, const QueryBlock<Isa>& block, Index r) noexcept {
  return key_range(args, block.row[r].query);
}

/// The state of the block's rows before any key.
template <class Isa>
inline void clear_rows(const GroupArgs& args, QueryBlock<Isa>& block) noexcept {
  for (Index r = 0; r < block.rows; ++r) {
    block.max[r] = kMinusInfinity;
    block.sum[r] = Vec<Isa>(0.0F);
    block.log_sum[r] = Vec<Isa>(0.0F);
    block.has_key[r] = false;
  }
  for (Index i = 0; i < block.rows * round_up(args.dv, kPanel<Isa>); ++i) {
    block.sums_v[i] = 0.0F;
  }
}

/// Places the block on rows from `first` and says which keys any of them may read, from the start of
/// a key block.
template <class Isa>
inline KeyRange begin_rows(const GroupArgs& args, QueryBlock<Isa>& block, Index first,
                           Index row_end) noexcept {
  block.first = first;
  block.rows = row_end - first < kQueryBlock<Isa> ? row_end - first : kQueryBlock<Isa>;
  clear_rows(args, block);
  for (Index r = 0; r < block.rows; ++r) {
    block.row[r] = row_at(args, first + r);
    block.masks[r] = masks_of(args, block.row[r]);
    const float* q = piece_of(args.q, block.row[r]);
    for (Index d = 0; d < args.dk; ++d) {
      block.q[r * args.dk + d] = q[d] * args.score.scale;
    }
  }
  const KeyRange least = range_of(args, block, 0);
  const KeyRange most = range_of(args, block, block.rows - 1);
  block.all = {most.begin, least.end};
  return {least.begin / kKeyBlock * kKeyBlock, most.end};
}

/// Keys of the block at k0 that lie before `end`.
static inline Index keys_from(Index k0, Index end) noexcept {
  return end - k0 < kKeyBlock ? end - k0 : kKeyBlock;
}

/// Calls f(r, rows) for each tile of the block's rows.
template <class Isa, class F>
inline void for_tiles(const QueryBlock<Isa>& block, F f) noexcept {
  for (Index r = 0; r < block.rows; r += Isa::kTileRows) {
    const Index left = block.rows - r;
    f(r, static_cast<int>(left < Isa::kTileRows ? left : Isa::kTileRows));
  }
}

/// f() of the panels that keys and values are multiplied from, by their format.
template <class F>
[[gnu::always_inline]] inline auto with_panels(const GroupArgs& args, const F& f) noexcept {
  return args.keys.format == KeyFormat::kBf16 ? f(HalfPanels{}) : f(Panels{});
}

/// The keys from k0 on; of 8 bits those that widen_keys() was called for last.
template <class Isa, class Right>
inline Right keys_of(const GroupArgs& args, Index k0) noexcept {
  if (!Right::kHalves && args.keys.format == KeyFormat::kInt8) {
    return {args.wide, wide_key_panel<Isa>(args.dk), args.dk};
  }
  const Index panel = args.dk * floats_of_row<Isa>(Right{});
  return {args.keys.k_panels + k0 / kPanel<Isa> * panel, panel, args.dk};
}

/// The keys whose scores are computed.
enum class ScoredKeys : std::uint8_t {
  kAll,
  kReached,  ///< of a tile of rows up to the last one that reach leaves to any of them; what lies after it is undefined
};

/// Products of the block's scaled queries with keys [k0, k0 + keys), which `k` begins with.
template <class Isa, class Right>
inline void multiply_keys(const GroupArgs& args, const QueryBlock<Isa>& block, const Right& k,
                          Index k0, Index keys, ScoredKeys scored) noexcept {
  for_tiles(block, [&](Index r, int rows) {
    const Index end =
        scored == ScoredKeys::kAll ? k0 + keys : range_of(args, block, r + rows - 1).end;
    const Index panels = round_up(clamp(end - k0, 0, keys), kPanel<Isa>) / kPanel<Isa>;
    multiply<Isa>(rows, panels, {block.q + r * args.dk, args.dk}, k, {nullptr, 0},
                  block.scores + r * kKeyBlock, kKeyBlock);
  });
}

template <class Isa>
inline void multiply_qk(const GroupArgs& args, const QueryBlock<Isa>& block, Index k0, Index keys,
                        ScoredKeys scored = ScoredKeys::kAll) noexcept {
  if (args.keys.format == KeyFormat::kInt8) {
    widen_keys<Isa>(args, k0, round_up(keys, kPanel<Isa>) / kPanel<Isa>);
  }
  with_panels(args, [&]<class Right>(Right /*kind*/) {
    multiply_keys(args, block, keys_of<Isa, Right>(args, k0), k0, keys, scored);
  });
}

/// c tanh(s / c). From 16 on tanh is 1 and is not computed: it turns a number into an int, which neither larger
/// ones nor NaN can be.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> cap_score(Vec<Isa> s, Vec<Isa> cap) noexcept {
  using V = Vec<Isa>;
  const V x = quotient<Isa>(s, cap);
  const V most = V(16.0F);
  const V bounded = xsimd::select(x > -most, xsimd::select(x < most, x, most), -most);
  return xsimd::select(xsimd::isnan(x), x, cap * xsimd::tanh(bounded));
}

/// The finite number that is nearest to x; NaN stays.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> nearest_finite(Vec<Isa> x) noexcept {
  using V = Vec<Isa>;
  const V most(kMostFinite);
  return xsimd::select(x < -most, -most, xsimd::select(x > most, most, x));
}

/// a + b; with kBounded bounded_sum() of lanes.
template <class Isa, bool kBounded>
[[gnu::always_inline]] inline Vec<Isa> sum_of_scores(Vec<Isa> a, Vec<Isa> b) noexcept {
  if constexpr (!kBounded) {
    return a + b;
  }
  const Vec<Isa> most(kMostFinite);
  return xsimd::select((xsimd::abs(a) <= most) & (xsimd::abs(b) <= most),
                       nearest_finite<Isa>(a + b), a + b);
}

/// How far one row's scores are from its products: softcap, ALiBi and the biases, in this order. With kBounded a finite sum
/// stays finite.
template <class Isa, bool kBounded>
struct Adjustment {
  float softcap;     ///< 0 for none
  float slope;       ///< 0 for none
  const float* add;  ///< null for none

  /// For scores of keys that lie `distance` after the query; `j` is that of the first one in its block.
  [[gnu::always_inline]] Vec<Isa> operator()(Vec<Isa> s, Vec<Isa> distance,
                                             Index j) const noexcept {
    using V = Vec<Isa>;
    if (softcap > 0.0F) {
      s = cap_score<Isa>(s, V(softcap));
    }
    if (slope != 0.0F) {
      const V penalty = V(slope) * xsimd::abs(distance);
      s = sum_of_scores<Isa, kBounded>(s, -(kBounded ? nearest_finite<Isa>(penalty) : penalty));
    }
    if (add) {
      const V bias = V::load_aligned(add + j);
      s = xsimd::select(bias == V(kMinusInfinity), V(kMinusInfinity),
                        sum_of_scores<Isa, kBounded>(s, bias));
    }
    return s;
  }
};

/// The kind of a block of keys for row r alone. kMixed is always right; the kind changes no bit.
template <class Isa>
inline BlockKind kind_for(const GroupArgs& args, const QueryBlock<Isa>& block, Index r, Index k0,
                          Index keys) noexcept {
  const bool reach_all = block.all.begin <= k0 && k0 + kKeyBlock <= block.all.end;
  Readable readable = Readable::kAll;
  if (has_masks(args)) {
    readable = readable_keys(
        block.masks[r], k0,
        reach_all ? KeyRange{0, kKeyBlock} : within_block(range_of(args, block, r), k0, keys));
  }
  if (readable == Readable::kNone) {
    return BlockKind::kExcluded;
  }
  const bool adjusts = args.score.softcap > 0.0F || args.score.slopes;
  return readable == Readable::kAll && reach_all && !adjusts ? BlockKind::kPlain
                                                             : BlockKind::kMixed;
}

/// The kind of the block at k0 in `range`, the keys of the block of queries. Called for one block after
/// another from the first on.
template <class Isa>
inline BlockKind kind_at(const GroupArgs& args, QueryBlock<Isa>& block, KeyRange range,
                         Index k0) noexcept {
  const Index n = (k0 - range.begin) / kKeyBlock % kKinds;
  const Index rows = has_masks(args) ? block.rows : 1;  // without masks they are all alike
  for (Index r = 0; n == 0 && r < rows; ++r) {
    for (Index m = 0; m < kKinds && k0 + m * kKeyBlock < range.end; ++m) {
      const Index at = k0 + m * kKeyBlock;
      if (r > 0 && block.kinds[m] == BlockKind::kMixed) {
        continue;
      }
      const BlockKind kind = kind_for(args, block, r, at, keys_from(at, range.end));
      block.kinds[m] = r == 0 || kind == block.kinds[m] ? kind : BlockKind::kMixed;
    }
  }
  return block.kinds[n];
}

/// The largest score of each lane of row r, for a plain block.
template <class Isa>
inline Vec<Isa> largest_score(const QueryBlock<Isa>& block, Index r) noexcept {
  using V = Vec<Isa>;
  constexpr Index kWidthHere = kWidth<Isa>;
  static_assert(kKeyBlock % (4 * kWidthHere) == 0);
  const float* row = block.scores + r * kKeyBlock;
  V largest[4];  // four chains, because one would wait for every comparison
  for (int c = 0; c < 4; ++c) {
    largest[c] = V::load_aligned(row + c * kWidthHere);
  }
#pragma GCC unroll 4
  for (Index j = 4 * kWidthHere; j < kKeyBlock; j += 4 * kWidthHere) {
    for (int c = 0; c < 4; ++c) {
      largest[c] = larger<Isa>(largest[c], V::load_aligned(row + j + c * kWidthHere));
    }
  }
  return larger<Isa>(larger<Isa>(largest[0], largest[1]), larger<Isa>(largest[2], largest[3]));
}

/// finish_scores() of keys [k0 + allowed), whose biases are in block.add.
template <class Isa, bool kBounded>
[[gnu::always_inline]] inline Vec<Isa> adjust_scores(const GroupArgs& args, QueryBlock<Isa>& block,
                                                     Index r, Index k0, KeyRange allowed,
                                                     Index keys) noexcept {
  using V = Vec<Isa>;
  const Row at = block.row[r];
  const bool masks = has_masks(args);
  const Adjustment<Isa, kBounded> adjusted{.softcap = args.score.softcap,
                                           .slope = element_of(args.score.slopes, at.head),
                                           .add = masks ? block.add : nullptr};
  const bool adjust = masks || args.score.softcap > 0.0F || args.score.slopes;

  float* row = block.scores + r * kKeyBlock;
  const V excluded(kMinusInfinity);
  const V begin(static_cast<float>(allowed.begin));
  const V end(static_cast<float>(allowed.end));
  const V query(static_cast<float>(at.query + args.reach.offset - k0));
  V lane = lane_numbers<Isa>();
  V largest = excluded;
  for (Index j = 0; j < round_up(keys, kPanel<Isa>); j += kWidth<Isa>) {
    V s = V::load_aligned(row + j);
    if (adjust) {
      s = adjusted(s, lane - query, j);
    }
    s = xsimd::select((lane >= begin) & (lane < end), s, excluded);
    s.store_aligned(row + j);
    largest = larger<Isa>(largest, s);
    lane = lane + V(static_cast<float>(kWidth<Isa>));
  }
  return largest;
}

/// The same from the products on, which are computed once more.
template <class Isa>
[[gnu::noinline]] Vec<Isa> adjust_again(const GroupArgs& args, QueryBlock<Isa>& block, Index r,
                                        Index k0, KeyRange allowed, Index keys) noexcept {
  with_panels(args, [&]<class Right>(Right /*kind*/) {
    multiply<Isa>(1, round_up(keys, kPanel<Isa>) / kPanel<Isa>, {block.q + r * args.dk, args.dk},
                  keys_of<Isa, Right>(args, k0), {nullptr, 0}, block.scores + r * kKeyBlock,
                  kKeyBlock);
  });
  return adjust_scores<Isa, true>(args, block, r, k0, allowed, keys);
}

/// Whether a finite sum that became infinite could count among scores with these largest ones: beside a score above -2^120
/// the lowest float weighs nothing, as -inf does.
template <class Isa>
[[gnu::always_inline]] inline bool needs_bounds(Vec<Isa> largest) noexcept {
  using V = Vec<Isa>;
  return !xsimd::any(largest > V(-0x1p120F)) || xsimd::any(largest > V(kMostFinite));
}

/// Turns row r of products into scores: -inf where excluded and beyond the last key. Exclusion is a
/// select, never arithmetic, so a NaN in an excluded place disappears. Returns the largest score of
/// each lane. A sum of finite numbers that leaves the range of float counts as the nearest float; to find that out afterwards
/// costs nothing, and adding biases with it takes twice as long.
template <class Isa>
inline Vec<Isa> finish_scores(const GroupArgs& args, QueryBlock<Isa>& block, Index r, Index k0,
                              Index keys) noexcept {
  const KeyRange allowed = within_block(range_of(args, block, r), k0, keys);
  const bool any = has_masks(args) ? fill_add(block.masks[r], k0, allowed, block.add)
                                   : allowed.begin < allowed.end;
  block.has_key[r] |= any;
  const Vec<Isa> largest = adjust_scores<Isa, false>(args, block, r, k0, allowed, keys);
  if (any && has_sums(args) && (is_flat(args) || needs_bounds<Isa>(largest))) {
    return adjust_again(args, block, r, k0, allowed, keys);
  }
  return largest;
}

}  // namespace qkv::kernels
