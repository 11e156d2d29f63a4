// The checks of attention()'s arguments.
#include <cmath>
#include <cstdint>

#include "attention/attention_cut.hpp"
#include "attention/attention_plan.hpp"
#include "attention/kv_cache_access.hpp"
#include "check/check.hpp"

namespace qkv {
namespace {

Status check_finite(const Caller& caller, const char* name, float value) noexcept {
  return std::isfinite(value) ? Status{}
                              : refuse(StatusCode::kInvalidArgument, caller,
                                       "{} is {}, expected a finite number", Argument{name}, value);
}

Status check_window(const Caller& caller, const char* name, Index reach) noexcept {
  return reach >= -1 ? Status{}
                     : refuse(StatusCode::kOutOfRange, caller,
                              "{} is {}, expected at least -1 (unbounded)", Argument{name}, reach);
}

Status check_numbers(const Caller& caller, const AttentionOptions& options) noexcept {
  QKV_RETURN_IF_ERROR(check_finite(caller, "scale", options.scale.value_or(1.0F)));
  QKV_RETURN_IF_ERROR(check_finite(caller, "softcap", options.softcap));
  if (options.softcap < 0.0F) {
    return refuse(StatusCode::kOutOfRange, caller, "@softcap is {}, expected at least 0 (none)",
                  options.softcap);
  }
  QKV_RETURN_IF_ERROR(check_temperature(caller, options.temperature));
  QKV_RETURN_IF_ERROR(check_window(caller, "window_left", options.window_left));
  QKV_RETURN_IF_ERROR(check_window(caller, "window_right", options.window_right));
  QKV_RETURN_IF_ERROR(check_finite(caller, "dropout.rate", options.dropout.rate));
  if (!(options.dropout.rate >= 0.0F && options.dropout.rate < 1.0F)) {
    return refuse(StatusCode::kOutOfRange, caller, "@dropout.rate is {}, expected [0, 1)",
                  options.dropout.rate);
  }
  return {};
}

/// A call needs an offset only where causality, a window or a slope measures distances.
Status check_offsets(const Caller& caller, AttentionArgs& args, const AttentionShape& s) noexcept {
  AttentionOptions& options = args.options;
  const bool by_row = !options.causal_offsets.absent();
  const bool measured = options.causal || options.window_left >= 0 || options.window_right >= 0 ||
                        !options.alibi_slopes.absent();
  if (by_row) {
    QKV_RETURN_IF_ERROR(check_array(caller, "causal_offsets", options.causal_offsets, {s.batch}));
    if (options.causal_offset || !measured) {
      return refuse(StatusCode::kInvalidArgument, caller, "@causal_offsets are given {}",
                    measured ? "together with @causal_offset, expected one of the two"
                             : "without @causal, expected @causal = true, a window or "
                               "@alibi_slopes too");
    }
    return {};
  }
  if (options.causal_offset && !measured) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@causal_offset is {} without @causal, expected @causal = true, a window or "
                  "@alibi_slopes too",
                  *options.causal_offset);
  }
  if (!options.causal_offset && measured && s.tq != s.tk && !args.cache) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "{} with {} queries and {} keys, expected a @causal_offset (0 aligns the first "
                  "query with the first key, {} the last with the last)",
                  options.causal ? "@causal" : "a window or @alibi_slopes", s.tq, s.tk,
                  s.tk - s.tq);
  }
  options.causal_offset = options.causal_offset.value_or(args.cache ? args.cache->length() : 0);
  return {};
}

/// An optional array with one finite number for each query head.
Status check_per_head(const Caller& caller, const char* name, const TensorView<const float>& view,
                      const AttentionShape& s) noexcept {
  if (view.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_array(caller, name, view, {s.num_heads}));
  for (Index h = 0; h < s.num_heads; ++h) {
    if (!std::isfinite(*view.at(h))) {
      return refuse(StatusCode::kInvalidArgument, caller, "{} is {}, expected a finite number",
                    Argument{name, h}, *view.at(h));
    }
  }
  return {};
}

Status check_options(const Caller& caller, AttentionArgs& args, const AttentionShape& s) noexcept {
  AttentionOptions& options = args.options;
  QKV_RETURN_IF_ERROR(check_numbers(caller, options));
  QKV_RETURN_IF_ERROR(check_key_lengths(caller, options.key_lengths, s.batch, s.tk));
  QKV_RETURN_IF_ERROR(check_per_head(caller, "alibi_slopes", options.alibi_slopes, s));
  QKV_RETURN_IF_ERROR(check_per_head(caller, "sinks", options.sinks, s));
  QKV_RETURN_IF_ERROR(check_offsets(caller, args, s));
  const std::array<Index, 4> scores{s.batch, s.num_heads, s.tq, s.tk};
  QKV_RETURN_IF_ERROR(broadcast_to(caller, "mask", options.mask, scores));
  QKV_RETURN_IF_ERROR(broadcast_to(caller, "additive_mask", options.additive_mask, scores));
  return broadcast_to(caller, "bias", options.bias, scores);
}

Status check_extras(const Caller& caller, const AttentionExtras& extras,
                    const AttentionShape& s) noexcept {
  const Index row_end = extras.row_end < 0 ? s.tq : extras.row_end;
  if (extras.row_begin < 0 || extras.row_begin > row_end || row_end > s.tq) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "rows are [{}, {}), expected a range within [0, {})", extras.row_begin, row_end,
                  s.tq);
  }
  if (extras.logit_stage > LogitStage::kBiased) {
    return refuse(StatusCode::kInvalidArgument, caller,
                  "@logit_stage is {}, expected a value of LogitStage", extras.logit_stage);
  }
  const Index rows = row_end - extras.row_begin;
  QKV_RETURN_IF_ERROR(
      check_output_if_given(caller, "weights", extras.weights, {s.batch, s.num_heads, rows, s.tk}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(caller, "logits", extras.logits, {s.batch, s.num_heads, rows, s.tk}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(caller, "lse", extras.lse, {s.batch, s.num_heads, s.tq}));
  return check_output_if_given(caller, "entropy", extras.entropy, {s.batch, s.num_heads, s.tq});
}

Status check_inputs(const Caller& caller, const kernels::KernelTable& table,
                    const AttentionArgs& args, AttentionShape& s) noexcept {
  QKV_RETURN_IF_ERROR(check_array(caller, "q", args.q, {kAny, kAny, kAny, kAny}));
  s.batch = args.q.extent(0);
  s.num_heads = args.q.extent(1);
  s.tq = args.q.extent(2);
  s.dk = args.q.extent(3);
  QKV_RETURN_IF_ERROR(check_array(caller, "k", args.k, {s.batch, kAny, kAny, s.dk}));
  s.num_kv_heads = args.k.extent(1);
  s.tk = args.k.extent(2);
  QKV_RETURN_IF_ERROR(check_array(caller, "v", args.v, {s.batch, s.num_kv_heads, s.tk, kAny}));
  s.dv = args.v.extent(3);
  if (s.dk == 0 || s.dv == 0) {
    return refuse(StatusCode::kShapeMismatch, caller,
                  "@d_k is {} and @d_v is {}, expected at least 1", s.dk, s.dv);
  }
  if (s.num_kv_heads == 0 ? s.num_heads != 0 : s.num_heads % s.num_kv_heads != 0) {
    return refuse(StatusCode::kShapeMismatch, caller,
                  "@q has {} heads and @k has {}, expected a multiple", s.num_heads,
                  s.num_kv_heads);
  }
  if (args.cache) {
    QKV_RETURN_IF_ERROR(KvCacheAccess::check(caller, table, *args.cache, {args.k, args.v}));
    s.tk += args.cache->length();
  }
  return {};
}

}  // namespace

Status plan_attention(const Caller& caller, const kernels::KernelTable& table, AttentionArgs& args,
                      AttentionPlan& plan) noexcept {
  plan.table = &table;
  AttentionShape& s = plan.shape;
  QKV_RETURN_IF_ERROR(check_inputs(caller, table, args, s));
  QKV_RETURN_IF_ERROR(check_output(caller, "out", args.out, {s.batch, s.num_heads, s.tq, s.dv}));
  QKV_RETURN_IF_ERROR(check_options(caller, args, s));
  QKV_RETURN_IF_ERROR(check_extras(caller, args.extras, s));
  plan.scratch = AttentionCut(plan, args.cache != nullptr).total();
  return {};
}

Status check_apart_from_options(const Caller& caller, std::initializer_list<NamedSpan> outputs,
                                const AttentionOptions& options) noexcept {
  return check_apart(caller, outputs,
                     {{"mask", options.mask},
                      {"additive_mask", options.additive_mask},
                      {"bias", options.bias},
                      {"key_lengths", options.key_lengths},
                      {"causal_offsets", options.causal_offsets},
                      {"alibi_slopes", options.alibi_slopes},
                      {"sinks", options.sinks}});
}

Status check_attention_memory(const Caller& caller, const NamedSpan& out,
                              const std::array<NamedSpan, 3>& inputs,
                              const AttentionArgs& args) noexcept {
  const AttentionExtras& e = args.extras;
  const std::initializer_list<NamedSpan> outputs = {
      out, {"weights", e.weights}, {"logits", e.logits}, {"lse", e.lse}, {"entropy", e.entropy}};
  QKV_RETURN_IF_ERROR(check_apart(caller, outputs, {inputs[0], inputs[1], inputs[2]}));
  return check_apart_from_options(caller, outputs, args.options);
}

}  // namespace qkv
