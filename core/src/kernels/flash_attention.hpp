// Attention over one head in tiles: scores of a block of queries against a block of keys, a running
// maximum and sum for each row, and an output that is rescaled whenever the maximum moves
// (Milakov & Gimelshein 2018, Dao et al. 2022). Nothing of size T x T exists.
//
// Blocks start at fixed positions and every row is computed by the same operations in the same
// order wherever it stands in its tile, so neither neighbours nor later tokens can change a bit of
// it.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/exp.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

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
  float* sums_v;  ///< [kQueryBlock, dv rounded up to panels]: weights times V
  float* add;     ///< [kKeyBlock]: bias of one row, -inf where a mask or a bias excludes
  float max[kQueryBlock<Isa>];
  float sum[kQueryBlock<Isa>];
  bool has_key[kQueryBlock<Isa>];  ///< decided on masks alone, never on the scores
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

/// Keys [0, key_end) are those that causality leaves to query i.
inline Index key_end(const HeadArgs& args, Index i) noexcept {
  if (!args.causal) {
    return args.tk;
  }
  const Index end = i + args.causal_offset + 1;
  return end < 0 ? 0 : (end > args.tk ? args.tk : end);
}

/// Whether masks let query i read key j < key_end(i).
inline bool unmasked(const HeadArgs& args, Index i, Index j) noexcept {
  if (args.mask && args.mask[i * args.mask_strides[0] + j * args.mask_strides[1]] == 0) {
    return false;
  }
  return !args.bias ||
         args.bias[i * args.bias_strides[0] + j * args.bias_strides[1]] != kMinusInfinity;
}

/// Fills add[0:keys] for query i and keys from k0, and says whether any of the first `allowed` of
/// them may be read.
inline bool fill_add(const HeadArgs& args, Index i, Index k0, Index allowed, float* add) noexcept {
  bool any = false;
  for (Index j = 0; j < allowed; ++j) {
    const bool may_read = unmasked(args, i, k0 + j);
    const float bias =
        args.bias ? args.bias[i * args.bias_strides[0] + (k0 + j) * args.bias_strides[1]] : 0.0F;
    add[j] = may_read ? bias : kMinusInfinity;
    any |= may_read;
  }
  return any;
}

/// Turns one row of products q.k into scores: scaled, biased, -inf where excluded and beyond the
/// last key. Exclusion is a select, never arithmetic, so a NaN in an excluded place disappears.
/// Returns the largest score.
template <class Isa>
inline float finish_scores(const HeadArgs& args, QueryBlock<Isa>& block, Index r, Index k0,
                           Index keys) noexcept {
  using V = Vec<Isa>;
  const Index i = block.first + r;
  const Index left = key_end(args, i) - k0;
  const Index allowed = left < 0 ? 0 : (left < keys ? left : keys);
  const bool with_add = args.mask || args.bias;
  const bool any = with_add ? fill_add(args, i, k0, allowed, block.add) : allowed > 0;
  block.has_key[r] |= any;

  float* row = block.scores + r * kKeyBlock;
  const V excluded(kMinusInfinity);
  const V end(static_cast<float>(allowed));
  V lane = lane_numbers<Isa>();
  V largest = excluded;
  for (Index j = 0; j < round_up(keys, kPanel<Isa>); j += kWidth<Isa>) {
    V s = V::load_aligned(row + j) * V(args.scale);
    if (with_add) {
      const V add = V::load_aligned(block.add + j);
      s = xsimd::select(add == excluded, excluded, s + add);
    }
    s = xsimd::select(lane < end, s, excluded);
    s.store_aligned(row + j);
    largest = xsimd::max(largest, s);
    lane = lane + V(static_cast<float>(kWidth<Isa>));
  }
  return xsimd::reduce_max(largest);
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

/// One step of the running softmax for row r: the new maximum, the scores turned into weights
/// relative to it, and what was summed before brought to the same scale.
template <class Isa>
inline void softmax_step(const HeadArgs& args, QueryBlock<Isa>& block, Index r, Index keys,
                         float block_max) noexcept {
  using V = Vec<Isa>;
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
    const float* panel = args.v_panels + column * args.tk + k0 * kPanel<Isa>;
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
    const float* panel = args.v_panels + column * args.tk + (k0 + from) * kPanel<Isa>;
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
    const Index left = key_end(args, i) - k0;
    const Index end = left < keys ? left : keys;
    for (Index j = 0; j < end;) {
      Index stop = j;
      while (stop < end && unmasked(args, i, k0 + stop)) {
        ++stop;
      }
      if (stop > j) {
        multiply_pv<Isa>(args, block, r, 1, k0, j, stop - j);
      }
      j = stop + 1;
    }
  }
}

/// Divides by the sum and writes rows and their statistics.
template <class Isa>
inline void write_rows(const HeadArgs& args, const QueryBlock<Isa>& block) noexcept {
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index r = 0; r < block.rows; ++r) {
    // A row whose allowed scores are all -inf has no softmax: 0 / 0, as IEEE says.
    const bool undefined = block.has_key[r] && block.max[r] == kMinusInfinity;
    const float sum = undefined ? std::numeric_limits<float>::quiet_NaN() : block.sum[r];
    args.row_max[block.first + r] = block.max[r];
    args.row_sum[block.first + r] = sum;
    float* out = args.out + (block.first + r) * args.out_stride;
    const float* sums = block.sums_v + r * width;
    for (Index d = 0; d < args.dv; ++d) {
      out[d] = block.has_key[r] ? sums[d] / sum : 0.0F;
    }
  }
}

/// Places the block on its rows and says where the keys end that any of them may read.
template <class Isa>
inline Index begin_rows(const HeadArgs& args, QueryBlock<Isa>& block, Index first,
                        Index row_end) noexcept {
  block.first = first;
  block.rows = row_end - first < kQueryBlock<Isa> ? row_end - first : kQueryBlock<Isa>;
  for (Index r = 0; r < block.rows; ++r) {
    block.max[r] = kMinusInfinity;
    block.sum[r] = 0.0F;
    block.has_key[r] = false;
  }
  return key_end(args, first + block.rows - 1);
}

template <class Isa>
void attend(const HeadArgs& args) noexcept {
  QueryBlock<Isa> block = make_query_block<Isa>(args);
  const Index width = round_up(args.dv, kPanel<Isa>);
  for (Index first = 0; first < args.tq; first += kQueryBlock<Isa>) {
    const Index end = begin_rows(args, block, first, args.tq);
    for (Index i = 0; i < block.rows * width; ++i) {
      block.sums_v[i] = 0.0F;
    }
    for (Index k0 = 0; k0 < end; k0 += kKeyBlock) {
      const Index keys = args.tk - k0 < kKeyBlock ? args.tk - k0 : kKeyBlock;
      multiply_qk(args, block, k0, keys);
      for (Index r = 0; r < block.rows; ++r) {
        softmax_step(args, block, r, keys, finish_scores(args, block, r, k0, keys));
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

/// Weights and the entropy sum of one row over one block of keys, from finished scores.
template <class Isa>
inline float weigh_row(const HeadArgs& args, const QueryBlock<Isa>& block, Index r, Index keys,
                       float* weights) noexcept {
  using V = Vec<Isa>;
  const Index i = block.first + r;
  const V max(args.row_max[i]);
  const V sum(args.row_sum[i]);
  const V excluded(kMinusInfinity);
  float* row = block.scores + r * kKeyBlock;
  V log_sum(0.0F);
  for (Index j = 0; j < round_up(keys, kPanel<Isa>); j += kWidth<Isa>) {
    const V s = V::load_aligned(row + j);
    const V x = (s - max) * V(args.inverse_temperature);
    const V e = exp_nonpositive<Isa>(x);
    // exp(x) x tends to 0; where x is -inf the product would be NaN.
    log_sum = log_sum + xsimd::select(x == excluded, V(0.0F), e * x);
    (e / sum).store_aligned(row + j);
  }
  for (Index j = 0; weights && j < keys; ++j) {
    weights[j] = row[j];
  }
  return sum_lanes<Isa>(log_sum);
}

/// A row without keys has weights 0; one without a softmax (NaN) has NaN where it may read.
inline void fill_degenerate_row(const HeadArgs& args, Index i, float* weights) noexcept {
  const float value = args.row_sum[i] == 0.0F ? 0.0F : args.row_sum[i];
  const Index end = key_end(args, i);
  for (Index j = 0; j < args.tk; ++j) {
    weights[j] = j < end && unmasked(args, i, j) ? value : 0.0F;
  }
}

template <class Isa>
void weigh(const HeadArgs& args, const WeighArgs& weigh) noexcept {
  QueryBlock<Isa> block = make_query_block<Isa>(args);
  for (Index first = weigh.row_begin; first < weigh.row_end; first += kQueryBlock<Isa>) {
    const Index end = begin_rows(args, block, first, weigh.row_end);
    const Index to = first - weigh.row_begin;
    float* weights = weigh.weights ? weigh.weights + to * weigh.weights_stride : nullptr;
    float log_sums[kQueryBlock<Isa>] = {};
    for (Index k0 = 0; k0 < args.tk; k0 += kKeyBlock) {
      const Index keys = args.tk - k0 < kKeyBlock ? args.tk - k0 : kKeyBlock;
      const bool readable = k0 < end;
      if (readable) {
        multiply_qk(args, block, k0, keys);
      }
      for (Index r = 0; r < block.rows; ++r) {
        float* row = weights ? weights + r * weigh.weights_stride + k0 : nullptr;
        if (readable) {
          finish_scores(args, block, r, k0, keys);
          log_sums[r] += weigh_row(args, block, r, keys, row);
        }
        for (Index j = 0; row && !readable && j < keys; ++j) {
          row[j] = 0.0F;
        }
      }
    }
    for (Index r = 0; r < block.rows; ++r) {
      const bool degenerate = !(args.row_sum[first + r] > 0.0F);
      if (degenerate && weights) {
        fill_degenerate_row(args, first + r, weights + r * weigh.weights_stride);
      }
      if (weigh.log_weight_sum) {
        weigh.log_weight_sum[to + r] = degenerate ? args.row_sum[first + r] : log_sums[r];
      }
    }
  }
}

}  // namespace qkv::kernels
