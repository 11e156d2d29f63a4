// Weights and scores, computed in passes of their own so that calls that do not ask for them pay
// nothing.
#pragma once

#include "kernels/attention/dropout.hpp"
#include "kernels/attention/flash_attention.hpp"

namespace qkv::kernels {

/// Weights of row r over one block of keys, in place of its scores. The smallest ones too, of which
/// attend() makes 0: here they are not multiplied.
template <class Isa>
inline void weigh_row(const GroupArgs& args, QueryBlock<Isa>& block, Index r, Index k0,
                      Index keys) noexcept {
  using V = Vec<Isa>;
  finish_scores(args, block, r, k0, keys);
  const V max(args.row_max[block.first + r - args.row_begin]);
  const V sum(args.row_sum[block.first + r - args.row_begin]);
  const V scale(exponent_scale(args));
  float* row = block.scores + r * kKeyBlock;
  for (Index j = 0; j < round_up(keys, kPanel<Isa>); j += kWidth<Isa>) {
    const V e = exp2_nonpositive<Isa>((V::load_aligned(row + j) - max) * scale);
    quotient<Isa>(e, sum).store_aligned(row + j);
  }
  drop_weights(args.dropout, block.row[r], k0, keys, row);
}

/// A row without keys has weights 0, and so has one of which a sink takes all; one without a softmax
/// (NaN) has NaN where it may read.
static inline void fill_degenerate_row(const GroupArgs& args, Row row, float sum,
                                       float* weights) noexcept {
  const KeyRange range = key_range(args, row.query);
  const RowMasks masks = masks_of(args, row);
  for (Index j = 0; j < args.keys.count; ++j) {
    const bool may_read = j >= range.begin && j < range.end && unmasked(masks, j);
    weights[j] = may_read && !(sum > 0.0F) ? sum : 0.0F;
  }
}

static inline void fill(float* to, Index count, float value) noexcept {
  for (Index j = 0; j < count; ++j) {
    to[j] = value;
  }
}

template <class Isa>
void weigh(const GroupArgs& args, const WeighArgs& to) noexcept {
  QueryBlock<Isa> block = make_query_block<Isa>(args);
  for (Index first = to.row_begin; first < to.row_end; first += kQueryBlock<Isa>) {
    const KeyRange range = begin_rows(args, block, first, to.row_end);
    const auto weights_of = [&](Index r) {
      const Row row = block.row[r];
      return piece_of(to.weights, {row.head, row.query - to.first_query});
    };
    for (Index r = 0; r < block.rows; ++r) {
      fill(weights_of(r), to.columns, 0.0F);
    }
    for (Index k0 = range.begin; k0 < range.end; k0 += kKeyBlock) {
      const Index keys = keys_from(k0, range.end);
      if (kind_at(args, block, range, k0) == BlockKind::kExcluded) {
        continue;
      }
      multiply_qk(args, block, k0, keys, ScoredKeys::kReached);
      for (Index r = 0; r < block.rows; ++r) {
        weigh_row(args, block, r, k0, keys);
        for (Index j = 0; j < keys; ++j) {
          weights_of(r)[k0 + j] = block.scores[r * kKeyBlock + j];
        }
      }
    }
    for (Index r = 0; r < block.rows; ++r) {
      const float sum = args.row_sum[first + r - args.row_begin];
      const float max = args.row_max[first + r - args.row_begin];
      if (!(sum > 0.0F) || max == kMinusInfinity) {
        fill_degenerate_row(args, block.row[r], sum, weights_of(r));
      }
    }
  }
}

/// Scores of one row over one block of keys at the stage of LogitsArgs, in place of the products.
template <class Isa>
inline void stage_scores(const GroupArgs& args, QueryBlock<Isa>& block, Index r, Index k0,
                         const LogitsArgs& to) noexcept {
  using V = Vec<Isa>;
  const Index keys = keys_from(k0, args.keys.count);
  if (to.biased) {
    finish_scores(args, block, r, k0, keys);
    if (has_sums(args)) {  // all of them are seen
      const KeyRange allowed = within_block(range_of(args, block, r), k0, keys);
      adjust_again(args, block, r, k0, allowed, keys);
    }
    return;
  }
  float* row = block.scores + r * kKeyBlock;
  if (!to.capped || args.score.softcap == 0.0F) {
    return;
  }
  for (Index j = 0; j < round_up(keys, kPanel<Isa>); j += kWidth<Isa>) {
    cap_score<Isa>(V::load_aligned(row + j), V(args.score.softcap)).store_aligned(row + j);
  }
}

/// Every key in use is scored, whatever excludes it, except at the last stage; keys past those in use
/// are never read and have -inf.
template <class Isa>
void logits(const GroupArgs& args, const LogitsArgs& to) noexcept {
  QueryBlock<Isa> block = make_query_block<Isa>(args);
  for (Index first = to.row_begin; first < to.row_end; first += kQueryBlock<Isa>) {
    begin_rows(args, block, first, to.row_end);
    const auto logits_of = [&](Index r) {
      const Row row = block.row[r];
      return piece_of(to.logits, {row.head, row.query - to.first_query});
    };
    for (Index k0 = 0; k0 < args.keys.count; k0 += kKeyBlock) {
      const Index keys = keys_from(k0, args.keys.count);
      multiply_qk(args, block, k0, keys);
      for (Index r = 0; r < block.rows; ++r) {
        stage_scores(args, block, r, k0, to);
        float* row = logits_of(r) + k0;
        for (Index j = 0; j < keys; ++j) {
          row[j] = block.scores[r * kKeyBlock + j];
        }
      }
    }
    for (Index r = 0; r < block.rows; ++r) {
      fill(logits_of(r) + args.keys.count, to.columns - args.keys.count, kMinusInfinity);
    }
  }
}

}  // namespace qkv::kernels
