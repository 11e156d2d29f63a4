// Gradients of attention over one key/value head in tiles, from the output and the lse of the forward pass: scores are
// computed once more, and nothing of size T x T exists (Dao et al. 2022, appendix B.4).
//
// exp(x - lse) has the error of lse, which as a float is 2^-24 of its size: nothing for most rows, and everything for one whose
// scores are all -1e9. Of rows whose lse is large the maximum and the sum are computed once more, too, as the forward pass did.
//
// For each block of keys all blocks of queries are visited in their order, so that every sum over queries (dK, dV) and
// every sum over keys (dQ) has one fixed order, whatever runs beside it.
#pragma once

#include "kernels/attention/dropout.hpp"
#include "kernels/attention/flash_attention.hpp"
#include "kernels/rows/softmax.hpp"
#include "kernels/train/backward_rows.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// The kind of the block of keys for all rows.
template <class Isa>
inline BlockKind kind_of(const BackwardArgs& args, const QueryBlock<Isa>& query, Index k0,
                         Index keys) noexcept {
  const BlockKind kind = kind_for(args.group, query, 0, k0, keys);
  const Index rows = has_masks(args.group) ? query.rows : 1;  // without masks they are all alike
  for (Index r = 1; r < rows; ++r) {
    if (kind == BlockKind::kMixed || kind_for(args.group, query, r, k0, keys) != kind) {
      return BlockKind::kMixed;
    }
  }
  return kind;
}

/// dO V^T of the block's rows and keys [k0, k0 + keys), into d_scores.
template <class Isa>
inline void multiply_d_out_v(const BackwardArgs& args, const BackwardBlock<Isa>& block, Index k0,
                             Index keys) noexcept {
  const Index dv = args.group.dv;
  const Panels v{args.v_columns + k0 * dv, dv * kPanel<Isa>, dv};
  const Index panels = round_up(keys, kPanel<Isa>) / kPanel<Isa>;
  for_tiles(block.query, [&](Index r, int rows) {
    multiply<Isa>(rows, panels, {block.rows.d_out + (block.query.first + r) * dv, dv}, v,
                  {nullptr, 0}, block.d_scores + r * kKeyBlock, kKeyBlock);
  });
}

/// Row r: scores become weights p, d_scores the gradient of the products, with x = s / tau, D = dO . O and
/// dP = dO V^T after dropout:
///
///     p = exp(x - lse),   d bias = p (dP - D) / tau,   d product = d bias (1 - (s / c)^2)
///
/// and p = share exp((s - maximum) / tau) in a measured row.
///
/// A pair of weight 0 has gradient 0, whatever its value is. The excluded ones, whose score is -inf, are among them also in
/// a row whose lse is NaN.
template <class Isa>
inline void differentiate_row(const BackwardArgs& args, const BackwardBlock<Isa>& block, Index r,
                              Index count) noexcept {
  using V = Vec<Isa>;
  const GroupArgs& group = args.group;
  const Index at = block.query.first + r;
  const V factor(group.score.inverse_temperature);
  const bool measured = block.rows.share[at] != 0.0F;
  const V base(block.rows.base[at]);
  const V before(measured ? 1.0F : group.score.inverse_temperature);
  const V after(measured ? exponent_scale(group) : kLog2E);
  const V share(measured ? block.rows.share[at] : 1.0F);
  const V delta(block.rows.delta[at]);
  float* p_row = block.query.scores + r * kKeyBlock;
  float* ds_row = block.d_scores + r * kKeyBlock;
  for (Index j = 0; j < count; j += kWidth<Isa>) {
    const V s = V::load_aligned(p_row + j);
    const V weight = exp2_weight<Isa>((s * before - base) * after) * share;
    const V p = xsimd::select(s == V(kMinusInfinity), V(0.0F), weight);
    const V ds = p * (V::load_aligned(ds_row + j) - delta) * factor;
    p.store_aligned(p_row + j);
    xsimd::select(p == V(0.0F), V(0.0F), ds).store_aligned(ds_row + j);
  }
}

/// Adds the gradients of row r's scores to those of the bias, broadcast as the bias is.
template <class Isa>
inline void add_bias_gradient(const BackwardArgs& args, const BackwardBlock<Isa>& block, Index r,
                              Index k0, Index keys) noexcept {
  if (!args.d_bias.data) {
    return;
  }
  const Index stride = args.d_bias.key_stride;
  const float* ds = block.d_scores + r * kKeyBlock;
  float* to = piece_of(args.d_bias, block.query.row[r]) + k0 * stride;
  for (Index j = 0; j < keys; ++j) {
    to[j * stride] += ds[j];
  }
}

/// The derivative of the softcap, c tanh(s / c), is 1 - tanh(s / c)^2.
template <class Isa>
inline void uncap_row(const BackwardArgs& args, const BackwardBlock<Isa>& block, Index r,
                      Index count) noexcept {
  using V = Vec<Isa>;
  const V cap(args.group.score.softcap);
  const float* products = block.capped + r * kKeyBlock;
  float* ds = block.d_scores + r * kKeyBlock;
  for (Index j = 0; j < count; j += kWidth<Isa>) {
    const V t = quotient<Isa>(cap_score<Isa>(V::load_aligned(products + j), cap), cap);
    const V own = V::load_aligned(ds + j);
    const V through = own * (V(1.0F) - t * t);
    xsimd::select(own == V(0.0F), own, through).store_aligned(ds + j);
  }
}

/// Weights, their dropped copy and the gradients of the products, for all rows of the block.
template <class Isa>
inline void differentiate(const BackwardArgs& args, BackwardBlock<Isa>& block, Index k0, Index keys,
                          bool plain) noexcept {
  const GroupArgs& group = args.group;
  QueryBlock<Isa>& query = block.query;
  const Index count = round_up(keys, kPanel<Isa>);
  for (Index r = 0; r < query.rows; ++r) {
    float* scores = query.scores + r * kKeyBlock;
    for (Index j = 0; group.score.softcap > 0.0F && j < count; ++j) {
      block.capped[r * kKeyBlock + j] = scores[j];
    }
    if (!plain) {
      finish_scores(group, query, r, k0, keys);
    }
    drop_weights(group.dropout, query.row[r], k0, keys, block.d_scores + r * kKeyBlock);
    differentiate_row(args, block, r, count);
    add_bias_gradient(args, block, r, k0, keys);
    if (group.score.softcap > 0.0F) {
      uncap_row(args, block, r, count);
    }
    if (group.dropout.below != 0) {
      float* dropped = block.dropped + r * kKeyBlock;
      for (Index j = 0; j < count; ++j) {
        dropped[j] = scores[j];
      }
      drop_weights(group.dropout, query.row[r], k0, keys, dropped);
    }
  }
}

/// c[j] += sum over rows [begin, end) of the block of a[row, j] * panels[row], for keys [j, j + count).
template <class Isa>
inline void add_transposed(const QueryBlock<Isa>& query, const float* a, const float* panels,
                           float* c, Index width, KeyRange keys, KeyRange rows) noexcept {
  const Panels b{panels + rows.begin * kPanel<Isa>, query.rows * kPanel<Isa>,
                 rows.end - rows.begin};
  for (Index j = keys.begin; j < keys.end; j += Isa::kTileRows) {
    const Index left = keys.end - j;
    multiply<Isa>(static_cast<int>(left < Isa::kTileRows ? left : Isa::kTileRows),
                  width / kPanel<Isa>, Columns{a + rows.begin * kKeyBlock + j, 1, kKeyBlock}, b,
                  {c + j * width, width}, c + j * width, width);
  }
}

/// dq[r] += sum over keys of ds[r, key] * K[key], for `rows` rows from r.
template <class Isa>
inline void add_dq(const BackwardArgs& args, const BackwardBlock<Isa>& block, Index r, int rows,
                   Index k0, KeyRange keys) noexcept {
  const Index width = round_up(args.group.dk, kPanel<Isa>);
  float* dq = block.rows.dq + (block.query.first + r) * width;
  multiply<Isa>(rows, width / kPanel<Isa>, {block.d_scores + r * kKeyBlock + keys.begin, kKeyBlock},
                {args.k_rows + (k0 + keys.begin) * kPanel<Isa>, args.group.keys.count * kPanel<Isa>,
                 keys.end - keys.begin},
                {dq, width}, dq, width);
}

/// Where the block's panels of q and dO are, and the weights that multiply dO.
template <class Isa>
struct Operands {
  const float* weights;
  const float* q_panels;
  const float* d_out_panels;
  Index dk_width, dv_width;

  Operands(const BackwardArgs& args, const BackwardBlock<Isa>& block) noexcept
      : weights(args.group.dropout.below != 0 ? block.dropped : block.query.scores),
        dk_width(round_up(args.group.dk, kPanel<Isa>)),
        dv_width(round_up(args.group.dv, kPanel<Isa>)) {
    q_panels = block.rows.q_panels + block.query.first * dk_width;
    d_out_panels = block.rows.d_out_panels + block.query.first * dv_width;
  }
};

/// The three products of a block in which every row may read every key, or whose arrays are finite: an excluded pair
/// then adds a zero.
template <class Isa>
inline void add_products(const BackwardArgs& args, BackwardBlock<Isa>& block, Index k0,
                         Index keys) noexcept {
  const Operands<Isa> of(args, block);
  const QueryBlock<Isa>& query = block.query;
  add_transposed(query, of.weights, of.d_out_panels, block.dv, of.dv_width, {0, keys},
                 {0, query.rows});
  add_transposed(query, block.d_scores, of.q_panels, block.dk, of.dk_width, {0, keys},
                 {0, query.rows});
  for_tiles(query, [&](Index r, int rows) { add_dq(args, block, r, rows, k0, {0, keys}); });
}

/// The same where an excluded pair holds NaN or infinity, which times 0 is NaN: pair by pair, only those that may
/// read each other. Sums have the order and the bits of add_products().
template <class Isa>
inline void add_products_skipping(const BackwardArgs& args, BackwardBlock<Isa>& block, Index k0,
                                  Index keys) noexcept {
  const Operands<Isa> of(args, block);
  const QueryBlock<Isa>& query = block.query;
  for (Index r = 0; r < query.rows; ++r) {
    const KeyRange allowed = within_block(range_of(args.group, query, r), k0, keys);
    for (Index j = allowed.begin; j < allowed.end; ++j) {
      if (!unmasked(query.masks[r], k0 + j)) {
        continue;
      }
      add_transposed(query, of.weights, of.d_out_panels, block.dv, of.dv_width, {j, j + 1},
                     {r, r + 1});
      add_transposed(query, block.d_scores, of.q_panels, block.dk, of.dk_width, {j, j + 1},
                     {r, r + 1});
      add_dq(args, block, r, 1, k0, {j, j + 1});
    }
  }
}

/// Adds to the gradients what a block of queries and keys [k0, k0 + keys) give to each other.
template <class Isa>
inline void visit_block(const BackwardArgs& args, BackwardBlock<Isa>& block, Index k0,
                        Index keys) noexcept {
  describe_rows(args, block.query);
  const BlockKind kind = kind_of(args, block.query, k0, keys);
  if (kind == BlockKind::kExcluded) {
    return;
  }
  const bool plain = kind == BlockKind::kPlain;
  multiply_qk(args.group, block.query, k0, keys);
  multiply_d_out_v(args, block, k0, keys);
  differentiate(args, block, k0, keys, plain);
  const bool finite = block.rows.finite[block.query.first / kQueryBlock<Isa>] != 0.0F;
  const Panels k{args.k_rows + k0 * kPanel<Isa>, args.group.keys.count * kPanel<Isa>, keys};
  if (plain || (finite && panels_are_finite<Isa>(k, args.group.dk))) {
    add_products(args, block, k0, keys);
  } else {
    add_products_skipping(args, block, k0, keys);
  }
}

/// The gradient of a head's sink is -sum over its rows of p_sink D, p_sink = exp(sink - lse).
template <class Isa>
inline void write_sinks(const BackwardArgs& args, const BackwardRows& rows) noexcept {
  for (Index head = 0; args.d_sinks && head < args.group.heads; ++head) {
    double sum = 0.0;
    for (Index r = head; r < args.group.row_end; r += args.group.heads) {
      if (*piece_of(args.lse, row_at(args.group, r)) == kMinusInfinity) {
        continue;  // a row without keys gives zeros, whatever the sink is
      }
      const float below = args.group.sinks[head] - rows.base[r];
      const float weight =
          rows.share[r] != 0.0F ? rows.sink[r] : exp_nonpositive<Isa>(Vec<Isa>(below)).get(0);
      sum -= static_cast<double>(weight) * static_cast<double>(rows.delta[r]);
    }
    args.d_sinks[head] = static_cast<float>(sum);
  }
}

/// Writes `count` rows of sums, `width` apart, as rows of n elements.
static inline void write_gradient(const float* sums, Index width, Index count, Index n, float* to,
                                  Index stride) noexcept {
  for (Index i = 0; i < count; ++i) {
    for (Index d = 0; d < n; ++d) {
      to[i * stride + d] = sums[i * width + d];
    }
  }
}

template <class Isa>
void attend_backward(const BackwardArgs& args) noexcept {
  const GroupArgs& group = args.group;
  BackwardBlock<Isa> block = make_backward_block<Isa>(args);
  prepare_rows<Isa>(args, block.rows);
  measure_coarse_rows(args, block);
  const Index dk_width = round_up(group.dk, kPanel<Isa>);
  const Index dv_width = round_up(group.dv, kPanel<Isa>);
  for (Index k0 = 0; k0 < group.keys.count; k0 += kKeyBlock) {
    const Index keys = keys_from(k0, group.keys.count);
    for (Index i = 0; i < kKeyBlock * dk_width; ++i) {
      block.dk[i] = 0.0F;
    }
    for (Index i = 0; i < kKeyBlock * dv_width; ++i) {
      block.dv[i] = 0.0F;
    }
    for (Index first = 0; first < group.row_end; first += kQueryBlock<Isa>) {
      const KeyRange range = place_rows(args, block, first);
      if (range.begin < k0 + keys && k0 < range.end) {
        visit_block(args, block, k0, keys);
      }
    }
    write_gradient(block.dk, dk_width, keys, group.dk, args.dk + k0 * args.dk_stride,
                   args.dk_stride);
    write_gradient(block.dv, dv_width, keys, group.dv, args.dv + k0 * args.dv_stride,
                   args.dv_stride);
  }
  for (Index r = 0; r < group.row_end; ++r) {
    float* dq = piece_of(args.dq, row_at(group, r));
    for (Index d = 0; d < group.dk; ++d) {
      // Sums that only excluded pairs reached may be -0; adding 0 leaves +0.
      dq[d] = block.rows.dq[r * dk_width + d] * group.score.scale + 0.0F;
    }
  }
  write_sinks<Isa>(args, block.rows);
}

}  // namespace qkv::kernels
