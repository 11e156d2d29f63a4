#include "qkv/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "attention_plan.hpp"
#include "check.hpp"
#include "isa_dispatch.hpp"

namespace qkv {
namespace {

using kernels::HeadArgs;
using kernels::KernelTable;

Status check_options(const char* function, const AttentionOptions& options, Index tq,
                     Index tk) noexcept {
  if (options.scale && !std::isfinite(*options.scale)) {
    return Status::error(StatusCode::kInvalidArgument, "%s: scale is %g, expected a finite number",
                         function, static_cast<double>(*options.scale));
  }
  if (!(std::isnormal(options.temperature) && options.temperature > 0.0F)) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: temperature is %g, expected a number of at least 1.18e-38", function,
                         static_cast<double>(options.temperature));
  }
  if (options.causal_offset && !options.causal) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: causal_offset is %lld without causal, expected causal = true too",
                         function, static_cast<long long>(*options.causal_offset));
  }
  if (options.causal && !options.causal_offset && tq != tk) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: causal with %lld queries and %lld keys, expected a causal_offset (0 "
                         "aligns the first query with the first key, %lld the last with the last)",
                         function, static_cast<long long>(tq), static_cast<long long>(tk),
                         static_cast<long long>(tk - tq));
  }
  return {};
}

Status check_extras(const char* function, const AttentionExtras& extras,
                    const AttentionShape& s) noexcept {
  const Index row_end = extras.row_end < 0 ? s.tq : extras.row_end;
  if (extras.row_begin < 0 || extras.row_begin > row_end || row_end > s.tq) {
    return Status::error(StatusCode::kOutOfRange,
                         "%s: rows are [%lld, %lld), expected a range within [0, %lld)", function,
                         static_cast<long long>(extras.row_begin), static_cast<long long>(row_end),
                         static_cast<long long>(s.tq));
  }
  if (!extras.weights.absent()) {
    QKV_RETURN_IF_ERROR(check_array(function, "weights", extras.weights,
                                    {s.batch, s.num_heads, row_end - extras.row_begin, s.tk}));
  }
  if (!extras.lse.absent()) {
    QKV_RETURN_IF_ERROR(check_array(function, "lse", extras.lse, {s.batch, s.num_heads, s.tq}));
  }
  if (!extras.entropy.absent()) {
    QKV_RETURN_IF_ERROR(
        check_array(function, "entropy", extras.entropy, {s.batch, s.num_heads, s.tq}));
  }
  return {};
}

Status check_inputs(const char* function, const AttentionArgs& args, AttentionShape& s) noexcept {
  constexpr Index kAny = ShapeText::kAny;
  QKV_RETURN_IF_ERROR(check_array(function, "q", args.q, {kAny, kAny, kAny, kAny}));
  s.batch = args.q.extent(0);
  s.num_heads = args.q.extent(1);
  s.tq = args.q.extent(2);
  s.dk = args.q.extent(3);
  QKV_RETURN_IF_ERROR(check_array(function, "k", args.k, {s.batch, kAny, kAny, s.dk}));
  s.num_kv_heads = args.k.extent(1);
  s.tk = args.k.extent(2);
  QKV_RETURN_IF_ERROR(check_array(function, "v", args.v, {s.batch, s.num_kv_heads, s.tk, kAny}));
  s.dv = args.v.extent(3);
  if (s.dk == 0 || s.dv == 0) {
    return Status::error(StatusCode::kShapeMismatch,
                         "%s: d_k is %lld and d_v is %lld, expected at least 1", function,
                         static_cast<long long>(s.dk), static_cast<long long>(s.dv));
  }
  if (s.num_kv_heads == 0 ? s.num_heads != 0 : s.num_heads % s.num_kv_heads != 0) {
    return Status::error(
        StatusCode::kShapeMismatch, "%s: q has %lld heads and k has %lld, expected a multiple",
        function, static_cast<long long>(s.num_heads), static_cast<long long>(s.num_kv_heads));
  }
  return {};
}

/// Where the pieces of the workspace lie.
struct Scratch {
  std::size_t k_panels, v_panels, stats, tile;

  [[nodiscard]] std::size_t total() const noexcept {
    const std::uint64_t sum = std::uint64_t{Workspace::padded(k_panels)} +
                              Workspace::padded(v_panels) + 2 * Workspace::padded(stats) +
                              Workspace::padded(tile);
    constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(float);
    return static_cast<std::size_t>(sum < kMost ? sum : kMost);
  }
};

/// a * b, or more floats than memory can hold: a smaller cap could be had, and would be too small.
std::size_t product(Index a, Index b) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(float);
  const std::uint64_t p = static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
  return static_cast<std::size_t>(p < kMost ? p : kMost);
}

Scratch plan_scratch(const KernelTable& table, const AttentionShape& s) noexcept {
  const auto padded = [&](Index n) { return (n + table.panel - 1) / table.panel * table.panel; };
  return {.k_panels = product(padded(s.tk), s.dk),
          .v_panels = product(padded(s.dv), s.tk),
          .stats = static_cast<std::size_t>(s.tq),
          .tile = static_cast<std::size_t>(table.head_scratch(s.dv))};
}

/// The running maximum and sum of a head's rows, turned into log-sum-exp.
void write_lse(const HeadArgs& head, float* lse) noexcept {
  for (Index i = 0; i < head.tq; ++i) {
    lse[i] = head.row_max[i] * head.inverse_temperature + std::log(head.row_sum[i]);
  }
}

/// H = ln sum - (sum_j e_j x_j) / sum with x_j = (s_j - max) / tau and e_j = exp(x_j). `entropy`
/// holds the sums of e_j x_j.
void finish_entropy(const HeadArgs& head, float* entropy) noexcept {
  for (Index i = 0; i < head.tq; ++i) {
    const float sum = head.row_sum[i];
    const float h = sum == 0.0F ? 0.0F : std::log(sum) - entropy[i] / sum;
    entropy[i] = h < 0.0F ? 0.0F : h;
  }
}

void write_extras(const KernelTable& table, const HeadArgs& head, const AttentionExtras& extras,
                  Index b, Index h) noexcept {
  if (!extras.lse.absent()) {
    write_lse(head, extras.lse.at(b, h));
  }
  if (!extras.weights.absent()) {
    table.weigh(head, {.row_begin = extras.row_begin,
                       .row_end = extras.row_end < 0 ? head.tq : extras.row_end,
                       .weights = extras.weights.at(b, h),
                       .weights_stride = extras.weights.stride(2),
                       .log_weight_sum = nullptr});
  }
  if (!extras.entropy.absent()) {
    float* entropy = extras.entropy.at(b, h);
    table.weigh(head, {.row_begin = 0,
                       .row_end = head.tq,
                       .weights = nullptr,
                       .weights_stride = 0,
                       .log_weight_sum = entropy});
    finish_entropy(head, entropy);
  }
}

/// Everything of HeadArgs that no head changes.
HeadArgs common_args(const AttentionArgs& args, const AttentionShape& s) noexcept {
  const AttentionOptions& options = args.options;
  HeadArgs head{};
  head.tq = s.tq;
  head.tk = s.tk;
  head.dk = s.dk;
  head.dv = s.dv;
  head.scale = options.scale.value_or(1.0F / std::sqrt(static_cast<float>(s.dk)));
  head.inverse_temperature = 1.0F / options.temperature;
  head.causal = options.causal;
  // Beyond these nothing changes, and i + offset stays an Index.
  head.causal_offset = std::clamp(options.causal_offset.value_or(0), -s.tq, s.tk);
  head.q_stride = args.q.stride(2);
  head.out_stride = args.out.stride(2);
  return head;
}

/// Points `head` at query head h of batch row b.
void select_head(const AttentionArgs& args, Index b, Index h, HeadArgs& head) noexcept {
  const AttentionOptions& options = args.options;
  head.q = args.q.at(b, h);
  head.out = args.out.at(b, h);
  if (!options.mask.absent()) {
    head.mask = options.mask.at(b, h);
    head.mask_strides[0] = options.mask.stride(2);
    head.mask_strides[1] = options.mask.stride(3);
  }
  if (!options.bias.absent()) {
    head.bias = options.bias.at(b, h);
    head.bias_strides[0] = options.bias.stride(2);
    head.bias_strides[1] = options.bias.stride(3);
  }
}

}  // namespace

Status plan_attention(const char* function, AttentionArgs& args, AttentionPlan& plan) noexcept {
  QKV_RETURN_IF_ERROR(require_kernels(function, plan.table));
  AttentionShape& s = plan.shape;
  QKV_RETURN_IF_ERROR(check_inputs(function, args, s));
  QKV_RETURN_IF_ERROR(check_array(function, "out", args.out, {s.batch, s.num_heads, s.tq, s.dv}));
  QKV_RETURN_IF_ERROR(check_options(function, args.options, s.tq, s.tk));
  const std::array<Index, 4> scores{s.batch, s.num_heads, s.tq, s.tk};
  QKV_RETURN_IF_ERROR(broadcast_to(function, "mask", args.options.mask, scores));
  QKV_RETURN_IF_ERROR(broadcast_to(function, "bias", args.options.bias, scores));
  QKV_RETURN_IF_ERROR(check_extras(function, args.extras, s));
  plan.scratch = plan_scratch(*plan.table, s).total();
  return {};
}

void run_attention(const AttentionPlan& plan, const AttentionArgs& args,
                   Workspace& workspace) noexcept {
  const AttentionShape& s = plan.shape;
  if (s.num_heads == 0 || s.tq == 0) {
    return;
  }
  const Scratch scratch = plan_scratch(*plan.table, s);
  float* k_panels = workspace.take(scratch.k_panels);
  float* v_panels = workspace.take(scratch.v_panels);
  HeadArgs head = common_args(args, s);
  head.k_panels = k_panels;
  head.v_panels = v_panels;
  head.row_max = workspace.take(scratch.stats);
  head.row_sum = workspace.take(scratch.stats);
  head.scratch = workspace.take(scratch.tile);

  const Index group = s.num_heads / s.num_kv_heads;
  for (Index b = 0; b < s.batch; ++b) {
    for (Index kv = 0; kv < s.num_kv_heads; ++kv) {
      plan.table->pack({.b = args.k.at(b, kv),
                        .row_stride = 1,
                        .column_stride = args.k.stride(2),
                        .k = s.dk,
                        .n = s.tk,
                        .panels = k_panels});
      plan.table->pack({.b = args.v.at(b, kv),
                        .row_stride = args.v.stride(2),
                        .column_stride = 1,
                        .k = s.tk,
                        .n = s.dv,
                        .panels = v_panels});
      for (Index h = kv * group; h < (kv + 1) * group; ++h) {
        select_head(args, b, h, head);
        plan.table->attend(head);
        write_extras(*plan.table, head, args.extras, b, h);
      }
    }
  }
}

Status attention(const AttentionArgs& args, Workspace& workspace) noexcept {
  AttentionArgs checked = args;
  AttentionPlan plan;
  QKV_RETURN_IF_ERROR(plan_attention("attention", checked, plan));
  QKV_RETURN_IF_ERROR(workspace.begin(plan.scratch));
  run_attention(plan, checked, workspace);
  return {};
}

std::size_t attention_scratch_bytes(const AttentionArgs& args) noexcept {
  AttentionArgs checked = args;
  AttentionPlan plan;
  return plan_attention("attention", checked, plan).ok() ? plan.scratch * sizeof(float) : 0;
}

}  // namespace qkv
