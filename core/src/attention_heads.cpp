#include "attention_heads.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/attention_mask.hpp"

namespace qkv {

using kernels::HeadArgs;
using kernels::KernelTable;

namespace {

/// Further than any sequence is long; kept below the end of 64 bits, so that positions cannot overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;

template <class T>
const T* select_mask(const TensorView<const T>& view, Index b, Index h,
                     Index (&strides)[2]) noexcept {
  if (view.absent()) {
    return nullptr;
  }
  strides[0] = view.stride(2);
  strides[1] = view.stride(3);
  return view.at(b, h);
}

/// The running maximum and sum of a head's rows, turned into log-sum-exp. The sum holds the sink; where
/// it towers above the keys the sum overflows and the sink alone is the answer.
void write_lse(const HeadArgs& head, float* lse) noexcept {
  for (Index i = 0; i < head.row_end - head.row_begin; ++i) {
    const float max = head.row_max[i] * head.inverse_temperature;
    lse[i] =
        std::isinf(head.row_sum[i]) && head.has_sink ? head.sink : max + std::log(head.row_sum[i]);
  }
}

/// H = -sum_j p_j ln p_j with p_j = e_j / S, e_j = exp(x_j), x_j = (s_j - max) / tau. `entropy` holds
/// the sums of e_j x_j. Without a sink sum_j p_j = 1; with one the keys have what it leaves.
void finish_entropy(const HeadArgs& head, float* entropy) noexcept {
  for (Index i = 0; i < head.row_end - head.row_begin; ++i) {
    const float sum = head.row_sum[i];
    if (sum == 0.0F || std::isinf(sum)) {
      entropy[i] = 0.0F;  // no key, or weights that all underflow beside the sink
      continue;
    }
    const float log_sum = std::log(sum);
    const float max = head.row_max[i] * head.inverse_temperature;
    const float keys = head.has_sink ? 1.0F - std::exp(head.sink - (max + log_sum)) : 1.0F;
    const float h = keys * log_sum - entropy[i] / sum;
    entropy[i] = h < 0.0F ? 0.0F : h;
  }
}

}  // namespace

HeadArgs common_args(const AttentionArgs& args, const AttentionShape& s) noexcept {
  const AttentionOptions& options = args.options;
  const Dropout& dropout = options.dropout;
  HeadArgs head{};
  head.dk = s.dk;
  head.dv = s.dv;
  head.scale = options.scale.value_or(1.0F / std::sqrt(static_cast<float>(s.dk)));
  head.softcap = options.softcap;
  head.inverse_temperature = 1.0F / options.temperature;
  head.causal = options.causal;
  // Wider than any position is unbounded; kept below, so that sums cannot overflow 64 bits.
  constexpr std::int64_t kWidest = std::int64_t{1} << 62;
  const std::int64_t left = options.window_left;
  const std::int64_t right = options.window_right;
  head.window_left = left > kWidest ? -1 : left;
  head.window_right = right > kWidest ? -1 : right;
  head.drop_below = static_cast<std::uint32_t>(std::lround(dropout.rate * 16777216.0F));
  head.keep_factor = 1.0F / (1.0F - dropout.rate);
  head.q_stride = args.q.stride(2);
  head.out_stride = args.out.stride(2);
  return head;
}

Index keys_in_use(const AttentionArgs& args, const AttentionShape& s, Index b) noexcept {
  const auto& lengths = args.options.key_lengths;
  return lengths.absent() ? s.tk : Index{*lengths.at(b)};
}

void select_batch(const AttentionArgs& args, const AttentionShape& s, Index b,
                  HeadArgs& head) noexcept {
  const AttentionOptions& options = args.options;
  head.tk = keys_in_use(args, s, b);
  const std::int64_t offset = options.causal_offsets.absent()
                                  ? options.causal_offset.value_or(0)
                                  : Index{*options.causal_offsets.at(b)};
  head.offset = std::clamp(offset, -kFarthest, kFarthest);
}

void select_head(const AttentionArgs& args, Index b, Index h, HeadArgs& head) noexcept {
  const AttentionOptions& options = args.options;
  head.q = args.q.at(b, h);
  head.out = args.out.at(b, h);
  head.mask = select_mask(options.mask, b, h, head.mask_strides);
  head.bias[0] = select_mask(options.bias, b, h, head.bias_strides[0]);
  head.bias[1] = select_mask(options.additive_mask, b, h, head.bias_strides[1]);
  head.alibi_slope = options.alibi_slopes.absent() ? 0.0F : *options.alibi_slopes.at(h);
  head.has_sink = !options.sinks.absent();
  head.sink = head.has_sink ? *options.sinks.at(h) : 0.0F;
  head.dropout_key =
      kernels::mix_bits(kernels::mix_bits(options.dropout.seed ^ static_cast<std::uint64_t>(b)) ^
                        static_cast<std::uint64_t>(h));
}

void write_extras(const KernelTable& table, const HeadArgs& head, const AttentionArgs& args,
                  Index columns, std::array<Index, 2> at) noexcept {
  const AttentionExtras& extras = args.extras;
  const auto [b, h] = at;
  if (!extras.lse.absent()) {
    write_lse(head, extras.lse.at(b, h, head.row_begin));
  }
  const Index begin = std::max(extras.row_begin, head.row_begin);
  const Index end = extras.row_end < 0 ? head.row_end : std::min(extras.row_end, head.row_end);
  if (!extras.weights.absent() && begin < end) {
    table.weigh(head, {.row_begin = begin,
                       .row_end = end,
                       .columns = columns,
                       .weights = extras.weights.at(b, h, begin - extras.row_begin),
                       .weights_stride = extras.weights.stride(2),
                       .log_sums = nullptr});
  }
  if (!extras.logits.absent() && begin < end) {
    table.logits(head, {.row_begin = begin,
                        .row_end = end,
                        .columns = columns,
                        .stage = static_cast<kernels::LogitStage>(extras.logit_stage),
                        .logits = extras.logits.at(b, h, begin - extras.row_begin),
                        .logits_stride = extras.logits.stride(2)});
  }
  if (!extras.entropy.absent()) {
    float* entropy = extras.entropy.at(b, h, head.row_begin);
    table.weigh(head, {.row_begin = head.row_begin,
                       .row_end = head.row_end,
                       .columns = columns,
                       .weights = nullptr,
                       .weights_stride = 0,
                       .log_sums = entropy});
    finish_entropy(head, entropy);
  }
}

}  // namespace qkv
