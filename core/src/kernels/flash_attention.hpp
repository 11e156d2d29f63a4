// Attention over one head in tiles: scores of a block of queries against a block of keys, a running
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

/// One step of the running softmax for row r: the new maximum, the scores turned into weights
/// relative to it, and what was summed before brought to the same scale.
template <class Isa>
inline void softmax_step(const HeadArgs& args, QueryBlock<Isa>& block, Index r, Index k0,
                         Index keys) noexcept {
  using V = Vec<Isa>;
  const float block_max = finish_scores(args, block, r, k0, keys);
  const float old_max = block.max[r];
  const float new_max = block_max > old_max ? block_max : old_max;
  // Without any key so far both are -inf; measuring from 0 then makes every weight exp(-inf) = 0.
  const V base(new_max == kMinusInfinity ? 0.0F : new_max);
  const V inverse_temperature(args.inverse_temperature);

  float* row = block.scores + r * kKeyBlock;
  V sum(0.0F);
  for (Index j = 0; j < round_up(keys, kPanel<Isa>); j += kWidth<Isa>) {
    const V s = V::load_aligned(row + j);
    const V p = exp_nonpositive<Isa>((s - base) * inverse_temperature);
    p.store_aligned(row + j);
    sum = sum + p;
  }
  const V shrink = exp_nonpositive<Isa>((V(old_max) - base) * inverse_temperature);
  const float factor = shrink.get(0);
  block.max[r] = new_max;
  block.sum[r] = block.sum[r] * factor + sum_lanes<Isa>(sum);
  drop_weights(args, block.first + r, k0, keys, row);
  if (factor != 1.0F) {
    const Index width = round_up(args.dv, kPanel<Isa>);
    float* sums = block.sums_v + r * width;
    for (Index d = 0; d < width; d += kWidth<Isa>) {
      (V::load_aligned(sums + d) * shrink).store_aligned(sums + d);
    }
  }
}

/// True when none of the block's values is NaN or infinite: x * 0 is 0 only for finite x.
template <class Isa>
inline bool values_are_finite(const HeadArgs& args, Index k0, Index keys) noexcept {
  using V = Vec<Isa>;
  V sum(0.0F);
  for (Index column = 0; column < args.dv; column += kPanel<Isa>) {
    const float* panel =
        args.v_panels + column / kPanel<Isa> * args.v_panel_stride + k0 * kPanel<Isa>;
    for (Index i = 0; i < keys * kPanel<Isa>; i += kWidth<Isa>) {
      const V v = V::load_aligned(panel + i);
      sum = sum + v * V(0.0F);
    }
  }
  return xsimd::all(sum == V(0.0F));
}

/// sums_v[r] += weights[r, from:from+count] * V[from:from+count] for `rows` rows.
template <class Isa>
inline void multiply_pv(const HeadArgs& args, const QueryBlock<Isa>& block, Index r, int rows,
                        Index k0, Index from, Index count) noexcept {
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index column = 0; column < args.dv; column += kPanel<Isa>) {
    const float* panel =
        args.v_panels + column / kPanel<Isa> * args.v_panel_stride + (k0 + from) * kPanel<Isa>;
    float* sums = block.sums_v + r * width + column;
    tile_rows<Isa>(rows, count, block.scores + r * kKeyBlock + from, kKeyBlock, panel, sums, width,
                   sums, width);
  }
}

/// The same for a block of keys whose values are not all finite: 0 * NaN is NaN, so excluded keys
/// must not be multiplied at all. Runs of allowed keys go through the same tile; the bits equal
/// those of the plain path, where an excluded key adds a zero.
template <class Isa>
inline void multiply_pv_skipping(const HeadArgs& args, const QueryBlock<Isa>& block, Index k0,
                                 Index keys) noexcept {
  for (Index r = 0; r < block.rows; ++r) {
    const Index i = block.first + r;
    const KeyRange allowed = within_block(key_range(args, i), k0, keys);
    for (Index j = allowed.begin; j < allowed.end;) {
      Index stop = j;
      while (stop < allowed.end && unmasked(args, i, k0 + stop)) {
        ++stop;
      }
      if (stop > j) {
        multiply_pv<Isa>(args, block, r, 1, k0, j, stop - j);
      }
      j = stop + 1;
    }
  }
}

/// Lets the sink into row r's denominator: the factor that its sums take and the new sum.
template <class Isa>
inline float add_sink(const HeadArgs& args, QueryBlock<Isa>& block, Index r) noexcept {
  using V = Vec<Isa>;
  const float above = args.sink - block.max[r] * args.inverse_temperature;
  if (!(above > 0.0F)) {
    block.sum[r] += exp_nonpositive<Isa>(V(above)).get(0);
    return 1.0F;
  }
  const float factor = exp_nonpositive<Isa>(V(-above)).get(0);
  block.sum[r] = block.sum[r] * factor + 1.0F;
  return factor;
}

/// Divides by the sum and writes rows and their statistics.
template <class Isa>
inline void write_rows(const HeadArgs& args, QueryBlock<Isa>& block) noexcept {
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index r = 0; r < block.rows; ++r) {
    // A row whose allowed scores are all -inf has no softmax: 0 / 0, as IEEE says.
    if (block.has_key[r] && block.max[r] == kMinusInfinity) {
      block.sum[r] = std::numeric_limits<float>::quiet_NaN();
    }
    const float factor = args.has_sink && block.has_key[r] ? add_sink(args, block, r) : 1.0F;
    args.row_max[block.first + r] = block.max[r];
    args.row_sum[block.first + r] = block.sum[r] / factor;
    float* out = args.out + (block.first + r) * args.out_stride;
    const float* sums = block.sums_v + r * width;
    for (Index d = 0; d < args.dv; ++d) {
      out[d] = block.has_key[r] ? sums[d] * factor / block.sum[r] : 0.0F;
    }
  }
}

template <class Isa>
void attend(const HeadArgs& args) noexcept {
  QueryBlock<Isa> block = make_query_block<Isa>(args);
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index first = 0; first < args.tq; first += kQueryBlock<Isa>) {
    const KeyRange range = begin_rows(args, block, first, args.tq);
    for (Index i = 0; i < block.rows * width; ++i) {
      block.sums_v[i] = 0.0F;
    }
    for (Index k0 = range.begin; k0 < range.end; k0 += kKeyBlock) {
      const Index keys = args.tk - k0 < kKeyBlock ? args.tk - k0 : kKeyBlock;
      multiply_qk(args, block, k0, keys);
      for (Index r = 0; r < block.rows; ++r) {
        softmax_step(args, block, r, k0, keys);
      }
      if (!values_are_finite<Isa>(args, k0, keys)) {
        multiply_pv_skipping(args, block, k0, keys);
        continue;
      }
      for (Index r = 0; r < block.rows; r += Isa::kTileRows) {
        const Index left = block.rows - r;
        multiply_pv(args, block, r, static_cast<int>(left < Isa::kTileRows ? left : Isa::kTileRows),
                    k0, 0, keys);
      }
    }
    write_rows(args, block);
  }
}

}  // namespace qkv::kernels
