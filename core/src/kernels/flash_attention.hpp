// Attention over one key/value head in tiles: scores of a block of queries against a block of keys, a running
// maximum and sum for each row, and an output that is rescaled whenever the maximum moves
// (Milakov & Gimelshein 2018, Dao et al. 2022). Nothing of size T x T exists.
//
// Blocks start at fixed positions and every row is computed by the same operations in the same
// order wherever it stands in its tile, so neither neighbours nor later tokens can change a bit of
// it.
#pragma once

#include <limits>

#include "kernels/attention_scores.hpp"
#include "kernels/exp.hpp"

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
  const V shrink = exp2_weight<Isa>((V(old_max) - V(block.max[r])) * V(exponent_scale(args)));
  block.sum[r] = block.sum[r] * shrink;
  const Index width = round_up(args.dv, kPanel<Isa>);
  float* sums = block.sums_v + r * width;
  for (Index d = 0; d < width; d += kWidth<Isa>) {
    (V::load_aligned(sums + d) * shrink).store_aligned(sums + d);
  }
}

/// Turns the first `count` scores of row r into weights relative to its maximum. Those of at most
/// 2^-62.5 become 0, in every kind of block alike, so that the kind changes no bit.
template <class Isa>
[[gnu::always_inline]] inline void exponentiate(const GroupArgs& args, QueryBlock<Isa>& block,
                                                Index r, Index count) noexcept {
  using V = Vec<Isa>;
  // Without any key so far the maximum is -inf; measuring from 0 then makes every weight 2^-inf = 0.
  const V base(block.max[r] == kMinusInfinity ? 0.0F : block.max[r]);
  const V scale(exponent_scale(args));
  float* row = block.scores + r * kKeyBlock;
  V sum = block.sum[r];
  for (Index j = 0; j < count; j += kWidth<Isa>) {
    const V p = exp2_weight<Isa>((V::load_aligned(row + j) - base) * scale);
    p.store_aligned(row + j);
    sum = sum + p;
  }
  block.sum[r] = sum;
}

/// One step of the running softmax: the block's scores against keys [k0, k0 + keys) turned into
/// weights.
template <class Isa>
inline void softmax_step(const GroupArgs& args, QueryBlock<Isa>& block, Index k0, Index keys,
                         bool plain) noexcept {
  for (Index r = 0; r < block.rows; ++r) {
    if (plain) {
      block.has_key[r] = true;
      raise_max(args, block, r, largest_score(block, r));
      exponentiate(args, block, r, kKeyBlock);
    } else {
      raise_max(args, block, r, finish_scores(args, block, r, k0, keys));
      exponentiate(args, block, r, round_up(keys, kPanel<Isa>));
    }
    drop_weights(args.dropout, block.row[r], k0, keys, block.scores + r * kKeyBlock);
  }
}

/// True when none of the values of keys [k0, k0 + keys) is NaN or infinite: x * 0 is 0 only for
/// finite x.
template <class Isa>
inline bool values_are_finite(const GroupArgs& args, Index k0, Index keys) noexcept {
  using V = Vec<Isa>;
  V sum(0.0F);
  for (Index column = 0; column < args.dv; column += kPanel<Isa>) {
    const float* panel =
        args.keys.v_panels + column / kPanel<Isa> * args.keys.v_panel_stride + k0 * kPanel<Isa>;
    for (Index i = 0; i < keys * kPanel<Isa>; i += kWidth<Isa>) {
      sum = sum + V::load_aligned(panel + i) * V(0.0F);
    }
  }
  return xsimd::all(sum == V(0.0F));
}

/// sums_v[r] += weights[r, from:from+count] * V[from:from+count] for `rows` rows.
template <class Isa>
inline void multiply_pv(const GroupArgs& args, const QueryBlock<Isa>& block, Index r, int rows,
                        Index k0, KeyRange keys) noexcept {
  const Index width = round_up(args.dv, kPanel<Isa>);
  float* sums = block.sums_v + r * width;
  multiply<Isa>(rows, width / kPanel<Isa>, {block.scores + r * kKeyBlock + keys.begin, kKeyBlock},
                {args.keys.v_panels + (k0 + keys.begin) * kPanel<Isa>, args.keys.v_panel_stride,
                 keys.end - keys.begin},
                {sums, width}, sums, width);
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

/// Adds the sink to the denominator. Returns the factor that the caller must apply to the accumulators:
/// a sink above all scores becomes the maximum.
template <class Isa>
inline float add_sink(float sink, float max, float& sum) noexcept {
  using V = Vec<Isa>;
  const float above = sink - max;
  if (!(above > 0.0F)) {
    sum += exp_nonpositive<Isa>(V(above)).get(0);
    return 1.0F;
  }
  const float factor = exp_nonpositive<Isa>(V(-above)).get(0);
  sum = sum * factor + 1.0F;
  return factor;
}

/// Divides by the sum and writes rows and their statistics.
template <class Isa>
inline void write_rows(const GroupArgs& args, QueryBlock<Isa>& block) noexcept {
  using V = Vec<Isa>;
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index r = 0; r < block.rows; ++r) {
    const bool has_key = block.has_key[r];
    const bool has_sink = has_key && args.sinks;
    float sum = sum_lanes<Isa>(block.sum[r]);
    // A row whose allowed scores are all -inf has no softmax, unless a sink takes all of it: 0 / 0, as
    // IEEE says.
    if (has_key && block.max[r] == kMinusInfinity && !has_sink) {
      sum = std::numeric_limits<float>::quiet_NaN();
    }
    const float factor = has_sink
                             ? add_sink<Isa>(element_of(args.sinks, block.row[r].head),
                                             block.max[r] * args.score.inverse_temperature, sum)
                             : 1.0F;
    args.row_max[block.first + r - args.row_begin] = block.max[r];
    args.row_sum[block.first + r - args.row_begin] = sum / factor;
    float* sums = block.sums_v + r * width;
    for (Index d = 0; has_key && d < width; d += kWidth<Isa>) {
      const V o = V::load_aligned(sums + d) * V(factor) / V(sum);
      // Excluded keys may have added zeros of either sign; 0 - 0 and 0 + 0 are both +0.
      (o + V(0.0F)).store_aligned(sums + d);
    }
    float* out = piece_of(args.out, block.row[r]);
    for (Index d = 0; d < args.dv; ++d) {
      out[d] = sums[d];
    }
  }
}

template <class Isa>
void attend(const GroupArgs& args) noexcept {
  QueryBlock<Isa> block = make_query_block<Isa>(args);
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index first = args.row_begin; first < args.row_end; first += kQueryBlock<Isa>) {
    const KeyRange range = begin_rows(args, block, first, args.row_end);
    for (Index i = 0; i < block.rows * width; ++i) {
      block.sums_v[i] = 0.0F;
    }
    for (Index k0 = range.begin; k0 < range.end; k0 += kKeyBlock) {
      const Index keys = keys_from(k0, range.end);
      const BlockKind kind = kind_of(args, block, k0, keys);
      if (kind == BlockKind::kExcluded) {
        continue;
      }
      const bool plain = kind == BlockKind::kPlain;
      multiply_qk(args, block, k0, keys);
      softmax_step(args, block, k0, keys, plain);
      if (!plain && !values_are_finite<Isa>(args, k0, keys)) {
        multiply_pv_skipping(args, block, k0, keys);
        continue;
      }
      for_tiles(block, [&](Index r, int rows) {
        // Weights past the last key of the tile's last row are zero.
        const Index last = range_of(args, block, r + rows - 1).end;
        multiply_pv(args, block, r, rows, k0, {0, clamp(last - k0, 0, keys)});
      });
    }
    write_rows(args, block);
  }
}

}  // namespace qkv::kernels
