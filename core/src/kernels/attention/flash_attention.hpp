// Attention over one key/value head in tiles: scores of a block of queries against a block of keys, a running
// maximum and sum for each row, and an output that is rescaled whenever the maximum moves
// (Milakov & Gimelshein 2018, Dao et al. 2022). Nothing of size T x T exists.
//
// Blocks and pieces of keys start at fixed positions and every row is computed by the same operations in the same
// order wherever it stands in its tile, so neither neighbours nor later tokens can change a bit of
// it.
#pragma once

#include <limits>

#include "kernels/attention/dropout.hpp"
#include "kernels/attention/scores.hpp"
#include "kernels/exp.hpp"
#include "kernels/log.hpp"

namespace qkv::kernels {

/// exp((s - base) / tau) as a power of two: the factor on s - base.
static inline float exponent_scale(const GroupArgs& args) noexcept {
  return args.score.inverse_temperature * kLog2E;
}

/// Lets row r's maximum grow to that of `largest`, and brings what was summed before to its scale.
template <class Isa>
inline void raise_max(const GroupArgs& args, QueryBlock<Isa>& block, Index r,
                      Vec<Isa> largest) noexcept {
  using V = Vec<Isa>;
  const float old_max = block.max[r];
  if (!xsimd::any(largest > V(old_max))) {
    return;  // most blocks after the first few
  }
  block.max[r] = xsimd::reduce_max(largest);
  if (old_max == kMinusInfinity) {
    return;  // nothing was summed
  }
  const V fall = (V(old_max) - V(block.max[r])) * V(exponent_scale(args));
  const V shrink = exp2_weight<Isa>(fall);
  if (args.entropy.data) {
    // e log2(e) becomes e 2^fall (log2(e) + fall); where 2^fall is 0, fall may be infinite.
    const V moved = shrink * (block.log_sum[r] + fall * block.sum[r]);
    block.log_sum[r] = xsimd::select(shrink == V(0.0F), V(0.0F), moved);
  }
  block.sum[r] = block.sum[r] * shrink;
  const Index width = round_up(args.dv, kPanel<Isa>);
  float* sums = block.sums_v + r * width;
  for (Index d = 0; d < width; d += kWidth<Isa>) {
    (V::load_aligned(sums + d) * shrink).store_aligned(sums + d);
  }
}

/// Turns the first `count` scores of row r into weights relative to its maximum. Those of at most
/// 2^-62.5 become 0, in every kind of block alike, so that the kind changes no bit.
template <class Isa, bool kEntropy>
[[gnu::always_inline]] inline void exponentiate(const GroupArgs& args, QueryBlock<Isa>& block,
                                                Index r, Index count) noexcept {
  using V = Vec<Isa>;
  // Without any key so far the maximum is -inf; measuring from 0 then makes every weight 2^-inf = 0.
  const V base(block.max[r] == kMinusInfinity ? 0.0F : block.max[r]);
  const V scale(exponent_scale(args));
  float* row = block.scores + r * kKeyBlock;
  V sum = block.sum[r];
  V log_sum = block.log_sum[r];
  for (Index j = 0; j < count; j += kWidth<Isa>) {
    const V x = (V::load_aligned(row + j) - base) * scale;
    const V p = exp2_weight<Isa>(x);
    p.store_aligned(row + j);
    sum = sum + p;
    if constexpr (kEntropy) {
      // Where p is 0 x may be -inf, and their product NaN.
      log_sum = log_sum + xsimd::select(p == V(0.0F), V(0.0F), p * x);
    }
  }
  block.sum[r] = sum;
  block.log_sum[r] = log_sum;
}

/// One step of the running softmax: the block's scores against keys [k0, k0 + keys) turned into
/// weights.
template <class Isa>
inline void softmax_step(const GroupArgs& args, QueryBlock<Isa>& block, Index k0, Index keys,
                         bool plain) noexcept {
  const Index count = plain ? kKeyBlock : round_up(keys, kPanel<Isa>);
  for (Index r = 0; r < block.rows; ++r) {
    block.has_key[r] |= plain;
    raise_max(args, block, r,
              plain ? largest_score(block, r) : finish_scores(args, block, r, k0, keys));
    if (args.entropy.data) {
      exponentiate<Isa, true>(args, block, r, count);
    } else {
      exponentiate<Isa, false>(args, block, r, count);
    }
    drop_weights(args.dropout, block.row[r], k0, keys, block.scores + r * kKeyBlock);
  }
}

/// True when no element of the first b.k rows of these panels is NaN or infinite: x * 0 is 0 only for
/// finite x. `columns` says how many panels there are.
template <class Isa, class Right>
inline bool panels_are_finite(const Right& b, Index columns) noexcept {
  using V = Vec<Isa>;
  V sum(0.0F);
  for (Index panel = 0; panel * kPanel<Isa> < columns; ++panel) {
    for (Index kk = 0; kk < b.k; ++kk) {
      V row[Isa::kTileVectors];
      load_row<Isa>(b, panel, kk, row);
      for (const V& numbers : row) {
        sum = sum + numbers * V(0.0F);
      }
    }
  }
  return xsimd::all(sum == V(0.0F));
}

/// The values of these keys of the block at k0; of 8 bits when widen_values() has been called for it.
template <class Isa, class Right>
inline Right values_of(const GroupArgs& args, Index k0, KeyRange keys) noexcept {
  if (!Right::kHalves && args.keys.format == KeyFormat::kInt8) {
    return {args.wide + keys.begin * kPanel<Isa>, kWideValuePanel<Isa>, keys.end - keys.begin};
  }
  constexpr Index kRow = floats_of_row<Isa>(Right{});
  const Index panels = round_up(args.dv, kPanel<Isa>) / kPanel<Isa>;
  const float* block = args.keys.v_blocks + k0 * panels * kRow;
  return {block + keys.begin * kRow, keys_from(k0, args.keys.v_rows) * kRow, keys.end - keys.begin};
}

/// Whether the values of keys [k0, k0 + keys) are.
template <class Isa>
inline bool values_are_finite(const GroupArgs& args, Index k0, Index keys) noexcept {
  const KeyRange all{0, keys};
  return with_panels(args, [&]<class Right>(Right /*kind*/) {
    return panels_are_finite<Isa>(values_of<Isa, Right>(args, k0, all), args.dv);
  });
}

/// sums_v[r] += weights[r, from:from+count] * V[from:from+count] for `rows` rows.
template <class Isa>
inline void multiply_pv(const GroupArgs& args, const QueryBlock<Isa>& block, Index r, int rows,
                        Index k0, KeyRange keys) noexcept {
  const Index width = round_up(args.dv, kPanel<Isa>);
  float* sums = block.sums_v + r * width;
  with_panels(args, [&]<class Right>(Right /*kind*/) {
    multiply<Isa>(rows, width / kPanel<Isa>, {block.scores + r * kKeyBlock + keys.begin, kKeyBlock},
                  values_of<Isa, Right>(args, k0, keys), {sums, width}, sums, width);
  });
}

/// The same for a block of keys whose values are not all finite: 0 * NaN is NaN, so excluded keys
/// must not be multiplied at all. Runs of allowed keys go through the same tile; the bits equal
/// those of the plain path, where an excluded key adds a zero.
template <class Isa>
inline void multiply_pv_skipping(const GroupArgs& args, const QueryBlock<Isa>& block, Index k0,
                                 Index keys) noexcept {
  for (Index r = 0; r < block.rows; ++r) {
    const KeyRange allowed = within_block(range_of(args, block, r), k0, keys);
    for (Index j = allowed.begin; j < allowed.end;) {
      Index stop = j;
      while (stop < allowed.end && unmasked(block.masks[r], k0 + stop)) {
        ++stop;
      }
      if (stop > j) {
        multiply_pv<Isa>(args, block, r, 1, k0, {j, stop});
      }
      j = stop + 1;
    }
  }
}

/// The denominator of a row. Its numbers are relative to exp(top): the greater of the keys' maximum
/// and the sink, both as logits.
struct RowTotal {
  float factor;  ///< what makes sums over keys, which are relative to the maximum, so
  float total;   ///< of the keys' weights and the sink's
  float top;
  float rise;  ///< top less the maximum
};

template <class Isa>
inline RowTotal total_of(const GroupArgs& args, const QueryBlock<Isa>& block, Index r) noexcept {
  using V = Vec<Isa>;
  float sum = sum_lanes<Isa>(block.sum[r]);
  const float max = block.max[r] * args.score.inverse_temperature;
  const bool has_sink = block.has_key[r] && args.sinks;
  // A row whose allowed scores are all -inf has no softmax, unless a sink takes all of it: 0 / 0, as
  // IEEE says.
  if (block.has_key[r] && block.max[r] == kMinusInfinity && !has_sink) {
    sum = std::numeric_limits<float>::quiet_NaN();
  }
  if (!has_sink) {
    return {1.0F, sum, max, 0.0F};
  }
  const float sink = args.sinks[block.row[r].head];
  const float above = sink - max;
  if (!(above > 0.0F)) {
    return {1.0F, sum + exp_nonpositive<Isa>(V(above)).get(0), max, 0.0F};
  }
  const float factor = exp_nonpositive<Isa>(V(-above)).get(0);
  return {factor, sum * factor + 1.0F, sink, above};
}

/// With Z the denominator, e_j = exp(x_j) and p_j = e_j / Z:
///
///     lse = top + ln Z
///     H = -sum_j p_j ln p_j = (sum_j p_j) ln Z - sum_j p_j x_j
///
/// Without a sink sum_j p_j is 1; with one it is what the sink leaves.
template <class Isa>
inline void write_statistics(const GroupArgs& args, const QueryBlock<Isa>& block, Index r,
                             RowTotal row) noexcept {
  const double log_total = natural_log(static_cast<double>(row.total));
  if (args.lse.data) {
    auto lse = static_cast<float>(static_cast<double>(row.top) + log_total);
    // A small temperature may make a finite score infinite, and -inf says that there is no key.
    if (is_finite_number(block.max[r])) {
      lse = lse < -kMostFinite ? -kMostFinite : (lse > kMostFinite ? kMostFinite : lse);
    }
    *piece_of(args.lse, block.row[r]) = lse;
  }
  if (!args.entropy.data) {
    return;
  }
  const auto keys = static_cast<double>(sum_lanes<Isa>(block.sum[r]) * row.factor);
  const auto total = static_cast<double>(row.total);
  double entropy = total >= 0.0 ? 0.0 : total;  // NaN stays
  if (keys > 0.0) {
    const double log_z = log_total + static_cast<double>(row.rise);
    const auto log_sum = static_cast<double>(sum_lanes<Isa>(block.log_sum[r]) * row.factor);
    entropy = (keys * log_z - static_cast<double>(kLn2) * log_sum) / total;
    entropy = entropy < 0.0 ? 0.0 : entropy;
  }
  *piece_of(args.entropy, block.row[r]) = static_cast<float>(entropy);
}

/// Divides by the sum and writes rows and their statistics.
template <class Isa>
inline void write_rows(const GroupArgs& args, QueryBlock<Isa>& block) noexcept {
  using V = Vec<Isa>;
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index r = 0; r < block.rows; ++r) {
    const RowTotal row = total_of(args, block, r);
    args.row_max[block.first + r - args.row_begin] = block.max[r];
    args.row_sum[block.first + r - args.row_begin] = row.total / row.factor;
    if (args.lse.data || args.entropy.data) {
      write_statistics(args, block, r, row);
    }
    float* sums = block.sums_v + r * width;
    for (Index d = 0; block.has_key[r] && d < width; d += kWidth<Isa>) {
      const V o = quotient<Isa>(V::load_aligned(sums + d) * V(row.factor), V(row.total));
      // Excluded keys may have added zeros of either sign; 0 - 0 and 0 + 0 are both +0.
      (o + V(0.0F)).store_aligned(sums + d);
    }
    float* out = piece_of(args.out, block.row[r]);
    for (Index d = 0; d < args.dv; ++d) {
      out[d] = sums[d];
    }
  }
}

/// Whether no element of the block's sums is NaN or infinite.
template <class Isa>
inline bool sums_are_finite(const GroupArgs& args, const QueryBlock<Isa>& block) noexcept {
  using V = Vec<Isa>;
  V sum(0.0F);
  for (Index i = 0; i < block.rows * round_up(args.dv, kPanel<Isa>); i += kWidth<Isa>) {
    sum = sum + V::load_aligned(block.sums_v + i) * V(0.0F);
  }
  return xsimd::all(sum == V(0.0F));
}

/// The state of a block of rows after keys [range) alone. With `skips` the values of excluded keys
/// are not multiplied where a value is not finite. Returns whether there is a block of keys of which some are excluded.
template <class Isa>
[[gnu::noinline]] bool attend_keys(const GroupArgs& args, QueryBlock<Isa>& block, KeyRange range,
                                   bool skips) noexcept {
  bool mixed = false;
  clear_rows(args, block);
  for (Index k0 = range.begin; k0 < range.end; k0 += kKeyBlock) {
    const Index keys = keys_from(k0, range.end);
    const BlockKind kind = kind_at(args, block, range, k0);
    if (kind == BlockKind::kExcluded) {
      continue;
    }
    const bool plain = kind == BlockKind::kPlain;
    mixed |= !plain;
    multiply_qk(args, block, k0, keys, ScoredKeys::kReached);
    softmax_step(args, block, k0, keys, plain);
    if (args.keys.format == KeyFormat::kInt8) {
      widen_values<Isa>(args, k0, keys);
    }
    if (!plain && skips && !values_are_finite<Isa>(args, k0, keys)) {
      multiply_pv_skipping(args, block, k0, keys);
      continue;
    }
    for_tiles(block, [&](Index r, int rows) {
      // Weights past the last key of the tile's last row are zero.
      const Index last = range_of(args, block, r + rows - 1).end;
      multiply_pv(args, block, r, rows, k0, {0, clamp(last - k0, 0, keys)});
    });
  }
  return mixed;
}

/// The state of a block of rows after keys [range) alone. An excluded key whose value is NaN or infinite makes sums NaN, 0 * NaN
/// being NaN, and they stay so. Then they are computed once more without it, and with `skips` whatever follows: the bits are
/// the same, and to look through all values beforehand took 3 to 10 % of the time.
template <class Isa>
inline void attend_piece(const GroupArgs& args, QueryBlock<Isa>& block, KeyRange range,
                         bool& skips) noexcept {
  const bool mixed = attend_keys(args, block, range, skips);
  if (mixed && !skips && !sums_are_finite(args, block)) {
    skips = true;
    attend_keys(args, block, range, skips);
  }
}

/// Keeps the state of a block of rows in `to`.
template <class Isa>
[[gnu::noinline]] void keep_rows(const GroupArgs& args, const QueryBlock<Isa>& block,
                                 float* to) noexcept {
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index r = 0; r < block.rows; ++r, to += state_row<Isa>(args.dv)) {
    for (Index d = 0; d < width; ++d) {
      to[d] = block.sums_v[r * width + d];
    }
    block.sum[r].store_aligned(to + width);
    block.log_sum[r].store_aligned(to + width + kWidth<Isa>);
    to[width + 2 * kWidth<Isa>] = block.max[r];
    to[width + 2 * kWidth<Isa> + 1] = block.has_key[r] ? 1.0F : 0.0F;
  }
}

/// How sums relative to `max` change when they are made relative to `top`.
template <class Isa>
struct Move {
  Move(const GroupArgs& args, float max, float top) noexcept
      // Without any key the sums are 0, or NaN.
      : fall(Vec<Isa>(max == kMinusInfinity ? 0.0F : max - top) * Vec<Isa>(exponent_scale(args))),
        shrink(exp2_weight<Isa>(fall)) {}
  /// As raise_max() does it.
  [[nodiscard]] Vec<Isa> log_sum(Vec<Isa> log_sum, Vec<Isa> sum) const noexcept {
    return xsimd::select(shrink == Vec<Isa>(0.0F), Vec<Isa>(0.0F), shrink * (log_sum + fall * sum));
  }
  Vec<Isa> fall, shrink;
};

/// Joins the state of a block of rows with the one in `from`: the bits are the same if the two change places.
template <class Isa>
[[gnu::noinline]] void join_rows(const GroupArgs& args, QueryBlock<Isa>& block,
                                 const float* from) noexcept {
  using V = Vec<Isa>;
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index r = 0; r < block.rows; ++r, from += state_row<Isa>(args.dv)) {
    const float kept_max = from[width + 2 * kWidth<Isa>];
    const V kept_sum = V::load_aligned(from + width);
    const float top = kept_max > block.max[r] ? kept_max : block.max[r];
    const Move<Isa> kept(args, kept_max, top);
    const Move<Isa> own(args, block.max[r], top);
    block.max[r] = top;
    block.has_key[r] |= from[width + 2 * kWidth<Isa> + 1] != 0.0F;
    if (args.entropy.data) {
      block.log_sum[r] = own.log_sum(block.log_sum[r], block.sum[r]) +
                         kept.log_sum(V::load_aligned(from + width + kWidth<Isa>), kept_sum);
    }
    block.sum[r] = block.sum[r] * own.shrink + kept_sum * kept.shrink;
    float* sums = block.sums_v + r * width;
    for (Index d = 0; d < width; d += kWidth<Isa>) {
      (V::load_aligned(sums + d) * own.shrink + V::load_aligned(from + d) * kept.shrink)
          .store_aligned(sums + d);
    }
  }
}

template <class Isa>
void attend(const GroupArgs& args) noexcept {
  QueryBlock<Isa> block = make_query_block<Isa>(args);
  const PieceStep step = args.pieces.step;
  const auto state = static_cast<Index>(state_floats<Isa>(args.dv));
  bool skips = false;
  for (Index first = args.row_begin; first < args.row_end; first += kQueryBlock<Isa>) {
    const KeyRange range = begin_rows(args, block, first, args.row_end);
    const Index begin = range.begin / kPieceKeys;
    const Index end = (range.end + kPieceKeys - 1) / kPieceKeys;
    for (Index n = begin; n < end; ++n) {
      if (step == PieceStep::kCompute && n != args.pieces.piece) {
        continue;
      }
      float* kept = step == PieceStep::kAll ? block.state : args.pieces.states + n * state;
      if (step != PieceStep::kJoin) {
        const Index first_key = n == begin ? range.begin : n * kPieceKeys;
        const Index last_key = n + 1 == end ? range.end : (n + 1) * kPieceKeys;
        attend_piece(args, block, {first_key, last_key}, skips);
      }
      if (step == PieceStep::kJoin || (step == PieceStep::kAll && n > begin)) {
        join_rows(args, block, kept);
      }
      if (step == PieceStep::kCompute || (step == PieceStep::kAll && n + 1 < end)) {
        keep_rows(args, block, kept);
      }
    }
    if (step != PieceStep::kCompute) {
      write_rows(args, block);
    }
  }
}

}  // namespace qkv::kernels
