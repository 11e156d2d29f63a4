#include "attention/attention_heads.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/random.hpp"

namespace qkv {

using kernels::GroupArgs;
using kernels::KernelTable;
using kernels::ScoreArray;

namespace {

/// Further than any sequence is long; kept below the end of 64 bits, so that positions cannot overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;

template <class T>
ScoreArray<T> scores_of(const TensorView<const T>& view, Index b, Index h) noexcept {
  if (view.absent() || !view.data) {
    return {};
  }
  return {view.at(b, h), view.stride(1), view.stride(2), view.stride(3)};
}

}  // namespace

GroupArgs common_args(const AttentionArgs& args, const AttentionShape& s) noexcept {
  const AttentionOptions& options = args.options;
  const Dropout& dropout = options.dropout;
  GroupArgs group{};
  group.dk = s.dk;
  group.dv = s.dv;
  group.score.scale = options.scale.value_or(1.0F / std::sqrt(static_cast<float>(s.dk)));
  group.score.softcap = options.softcap;
  group.score.inverse_temperature = 1.0F / options.temperature;
  group.reach.causal = options.causal;
  // Wider than any position is unbounded; kept below, so that sums cannot overflow 64 bits.
  constexpr std::int64_t kWidest = std::int64_t{1} << 62;
  const std::int64_t left = options.window_left;
  const std::int64_t right = options.window_right;
  group.reach.window_left = left > kWidest ? -1 : left;
  group.reach.window_right = right > kWidest ? -1 : right;
  group.dropout.below = static_cast<std::uint32_t>(std::lround(dropout.rate * 16777216.0F));
  group.dropout.keep_factor = 1.0F / (1.0F - dropout.rate);
  return group;
}

Index keys_in_use(const AttentionArgs& args, const AttentionShape& s, Index b) noexcept {
  const auto& lengths = args.options.key_lengths;
  return lengths.absent() ? s.tk : Index{*lengths.at(b)};
}

void select_batch(const AttentionArgs& args, const AttentionShape& s, Index b,
                  GroupArgs& group) noexcept {
  const AttentionOptions& options = args.options;
  group.keys.count = keys_in_use(args, s, b);
  const std::int64_t offset = options.causal_offsets.absent()
                                  ? options.causal_offset.value_or(0)
                                  : Index{*options.causal_offsets.at(b)};
  group.reach.offset = std::clamp(offset, -kFarthest, kFarthest);
  // The seed is mixed first: seed and batch row must not meet as they are, or seed 0 would drop in
  // batch row 1 what seed 1 drops in batch row 0.
  group.dropout.key =
      kernels::mix_bits(kernels::mix_bits(options.dropout.seed) + static_cast<std::uint64_t>(b));
}

void select_heads(const AttentionArgs& args, Index b, HeadRange heads, GroupArgs& group) noexcept {
  const AttentionOptions& options = args.options;
  const Index h = heads.first;
  group.heads = heads.count;
  group.q = rows_of(args.q, b, h);
  group.out = rows_of(args.out, b, h);
  group.lse = rows_of(args.extras.lse, b, h);
  group.entropy = rows_of(args.extras.entropy, b, h);
  group.score.mask = scores_of(options.mask, b, h);
  group.score.bias[0] = scores_of(options.bias, b, h);
  group.score.bias[1] = scores_of(options.additive_mask, b, h);
  group.score.slopes = options.alibi_slopes.absent() ? nullptr : options.alibi_slopes.at(h);
  group.sinks = options.sinks.absent() ? nullptr : options.sinks.at(h);
  group.dropout.first_head = h;
}

void write_extras(const KernelTable& table, const GroupArgs& group, const AttentionArgs& args,
                  Index columns, std::array<Index, 2> at) noexcept {
  const AttentionExtras& extras = args.extras;
  const auto [b, h] = at;
  // The rows of a range of queries lie side by side.
  const Index begin = std::max(extras.row_begin * group.heads, group.row_begin);
  const Index end =
      extras.row_end < 0 ? group.row_end : std::min(extras.row_end * group.heads, group.row_end);
  if (!extras.weights.absent() && begin < end) {
    table.weigh(group, {.row_begin = begin,
                        .row_end = end,
                        .columns = columns,
                        .first_query = extras.row_begin,
                        .weights = rows_of(extras.weights, b, h)});
  }
  if (!extras.logits.absent() && begin < end) {
    table.logits(group, {.row_begin = begin,
                         .row_end = end,
                         .columns = columns,
                         .capped = extras.logit_stage == LogitStage::kCapped,
                         .biased = extras.logit_stage == LogitStage::kBiased,
                         .first_query = extras.row_begin,
                         .logits = rows_of(extras.logits, b, h)});
  }
}

}  // namespace qkv
