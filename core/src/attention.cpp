#include "qkv/attention.hpp"

#include <algorithm>
#include <cmath>

#include "attention_plan.hpp"
#include "attention_scratch.hpp"
#include "kernels/attention_mask.hpp"
#include "kv_cache_access.hpp"

namespace qkv {
namespace {

using kernels::HeadArgs;
using kernels::KernelTable;

/// The running maximum and sum of a head's rows, turned into log-sum-exp. The sum holds the sink; where
/// it towers above the keys the sum overflows and the sink alone is the answer.
void write_lse(const HeadArgs& head, float* lse) noexcept {
  for (Index i = 0; i < head.tq; ++i) {
    const float max = head.row_max[i] * head.inverse_temperature;
    lse[i] =
        std::isinf(head.row_sum[i]) && head.has_sink ? head.sink : max + std::log(head.row_sum[i]);
  }
}

/// H = -sum_j p_j ln p_j with p_j = e_j / S, e_j = exp(x_j), x_j = (s_j - max) / tau. `entropy` holds
/// the sums of e_j x_j. Without a sink sum_j p_j = 1; with one the keys have what it leaves.
void finish_entropy(const HeadArgs& head, float* entropy) noexcept {
  for (Index i = 0; i < head.tq; ++i) {
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

void write_extras(const KernelTable& table, const HeadArgs& head, const AttentionArgs& args,
                  Index columns, std::array<Index, 2> at) noexcept {
  const AttentionExtras& extras = args.extras;
  const auto [b, h] = at;
  const Index row_end = extras.row_end < 0 ? head.tq : extras.row_end;
  if (!extras.lse.absent()) {
    write_lse(head, extras.lse.at(b, h));
  }
  if (!extras.weights.absent()) {
    table.weigh(head, {.row_begin = extras.row_begin,
                       .row_end = row_end,
                       .columns = columns,
                       .weights = extras.weights.at(b, h),
                       .weights_stride = extras.weights.stride(2),
                       .log_sums = nullptr});
  }
  if (!extras.logits.absent()) {
    table.logits(head, {.row_begin = extras.row_begin,
                        .row_end = row_end,
                        .columns = columns,
                        .stage = static_cast<kernels::LogitStage>(extras.logit_stage),
                        .logits = extras.logits.at(b, h),
                        .logits_stride = extras.logits.stride(2)});
  }
  if (!extras.entropy.absent()) {
    float* entropy = extras.entropy.at(b, h);
    table.weigh(head, {.row_begin = 0,
                       .row_end = head.tq,
                       .columns = columns,
                       .weights = nullptr,
                       .weights_stride = 0,
                       .log_sums = entropy});
    finish_entropy(head, entropy);
  }
}

/// Everything of HeadArgs that no head changes.
HeadArgs common_args(const AttentionArgs& args, const AttentionShape& s) noexcept {
  const AttentionOptions& options = args.options;
  const Dropout& dropout = options.dropout;
  HeadArgs head{};
  head.tq = s.tq;
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

/// Further than any sequence is long; kept below the end of 64 bits, so that positions cannot overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;

/// What batch row b changes.
void select_batch(const AttentionArgs& args, const AttentionShape& s, Index b,
                  HeadArgs& head) noexcept {
  const AttentionOptions& options = args.options;
  head.tk = options.key_lengths.absent() ? s.tk : Index{*options.key_lengths.at(b)};
  const std::int64_t offset = options.causal_offsets.absent()
                                  ? options.causal_offset.value_or(0)
                                  : Index{*options.causal_offsets.at(b)};
  head.offset = std::clamp(offset, -kFarthest, kFarthest);
}

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

/// Points `head` at query head h of batch row b.
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

/// Where the keys and values of a head are: packed now, or in the cache.
class Panels {
 public:
  Panels(const AttentionPlan& plan, const AttentionArgs& args, Workspace& workspace) noexcept
      : plan_(plan), args_(args) {
    const AttentionScratch scratch(*plan.table, plan.shape, args.cache != nullptr);
    k_ = workspace.take(scratch.k_panels);
    v_ = workspace.take(scratch.v_panels);
  }

  void load(Index b, Index h, HeadArgs& head) const noexcept {
    if (args_.cache) {
      head.k_panels = KvCacheAccess::k_panels(*args_.cache, b, h);
      head.v_panels = KvCacheAccess::v_panels(*args_.cache, b, h);
      head.v_panel_stride = KvCacheAccess::v_panel_stride(*args_.cache);
      return;
    }
    plan_.table->pack({.b = args_.k.at(b, h),
                       .row_stride = 1,
                       .column_stride = args_.k.stride(2),
                       .k = head.dk,
                       .n = head.tk,
                       .panels = k_});
    plan_.table->pack({.b = args_.v.at(b, h),
                       .row_stride = args_.v.stride(2),
                       .column_stride = 1,
                       .k = head.tk,
                       .n = head.dv,
                       .panels = v_});
    head.k_panels = k_;
    head.v_panels = v_;
    head.v_panel_stride = head.tk * plan_.table->panel;
  }

 private:
  const AttentionPlan& plan_;
  const AttentionArgs& args_;
  float* k_;
  float* v_;
};

}  // namespace

Status run_attention(const AttentionPlan& plan, const AttentionArgs& args,
                     Workspace& workspace) noexcept {
  const AttentionShape& s = plan.shape;
  if (args.cache) {
    QKV_RETURN_IF_ERROR(args.cache->append(args.k, args.v));
  }
  if (s.num_heads == 0 || s.tq == 0) {
    return {};
  }
  const Panels panels(plan, args, workspace);
  HeadArgs head = common_args(args, s);
  head.row_max = workspace.take(static_cast<std::size_t>(s.tq));
  head.row_sum = workspace.take(static_cast<std::size_t>(s.tq));
  head.scratch = workspace.take(static_cast<std::size_t>(plan.table->head_scratch(s.dk, s.dv)));

  const Index group = s.num_heads / s.num_kv_heads;
  for (Index b = 0; b < s.batch; ++b) {
    select_batch(args, s, b, head);
    for (Index kv = 0; kv < s.num_kv_heads; ++kv) {
      panels.load(b, kv, head);
      for (Index h = kv * group; h < (kv + 1) * group; ++h) {
        select_head(args, b, h, head);
        plan.table->attend(head);
        write_extras(*plan.table, head, args, s.tk, {b, h});
      }
    }
  }
  return {};
}

Status attention(const AttentionArgs& args, Workspace& workspace) noexcept {
  AttentionArgs checked = args;
  AttentionPlan plan;
  QKV_RETURN_IF_ERROR(plan_attention("attention", checked, plan));
  QKV_RETURN_IF_ERROR(workspace.begin(plan.scratch));
  QKV_RETURN_IF_ERROR(check_attention_memory(
      "attention", {"out", args.out}, {{{"q", args.q}, {"k", args.k}, {"v", args.v}}}, checked));
  return run_attention(plan, checked, workspace);
}

std::size_t attention_scratch_bytes(const AttentionArgs& args) noexcept {
  AttentionArgs checked = args;
  AttentionPlan plan;
  return plan_attention("attention", checked, plan).ok() ? plan.scratch * sizeof(float) : 0;
}

}  // namespace qkv
