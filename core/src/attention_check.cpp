// What attention() asks of its arguments.
#include <cmath>
#include <cstdint>
#include <limits>

#include "attention_plan.hpp"
#include "attention_scratch.hpp"
#include "check.hpp"
#include "isa_dispatch.hpp"
#include "kv_cache_access.hpp"

namespace qkv {
namespace {

Status check_finite(const char* function, const char* name, float value) noexcept {
  return std::isfinite(value)
             ? Status{}
             : Status::error(StatusCode::kInvalidArgument, "%s: %s is %g, expected a finite number",
                             function, name, static_cast<double>(value));
}

Status check_window(const char* function, const char* name, Index reach) noexcept {
  return reach >= -1 ? Status{}
                     : Status::error(StatusCode::kOutOfRange,
                                     "%s: %s is %lld, expected at least -1 (unbounded)", function,
                                     name, static_cast<long long>(reach));
}

Status check_numbers(const char* function, const AttentionOptions& options) noexcept {
  QKV_RETURN_IF_ERROR(check_finite(function, "scale", options.scale.value_or(1.0F)));
  QKV_RETURN_IF_ERROR(check_finite(function, "softcap", options.softcap));
  if (options.softcap < 0.0F) {
    return Status::error(StatusCode::kOutOfRange, "%s: softcap is %g, expected at least 0 (none)",
                         function, static_cast<double>(options.softcap));
  }
  if (!(std::isnormal(options.temperature) && options.temperature > 0.0F)) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: temperature is %g, expected a number of at least 1.18e-38", function,
                         static_cast<double>(options.temperature));
  }
  QKV_RETURN_IF_ERROR(check_window(function, "window_left", options.window_left));
  QKV_RETURN_IF_ERROR(check_window(function, "window_right", options.window_right));
  QKV_RETURN_IF_ERROR(check_finite(function, "dropout.rate", options.dropout.rate));
  if (!(options.dropout.rate >= 0.0F && options.dropout.rate < 1.0F)) {
    return Status::error(StatusCode::kOutOfRange, "%s: dropout.rate is %g, expected [0, 1)",
                         function, static_cast<double>(options.dropout.rate));
  }
  return {};
}

/// Offsets are asked for only where something measures by them.
Status check_offsets(const char* function, AttentionArgs& args, const AttentionShape& s) noexcept {
  AttentionOptions& options = args.options;
  const bool by_row = !options.causal_offsets.absent();
  const bool measured = options.causal || options.window_left >= 0 || options.window_right >= 0 ||
                        !options.alibi_slopes.absent();
  if (by_row) {
    QKV_RETURN_IF_ERROR(check_array(function, "causal_offsets", options.causal_offsets, {s.batch}));
    if (options.causal_offset || !measured) {
      return Status::error(StatusCode::kInvalidArgument, "%s: causal_offsets are given %s",
                           function,
                           measured ? "beside causal_offset, expected one of the two"
                                    : "without causal, expected causal = true, a window or "
                                      "alibi_slopes too");
    }
    return {};
  }
  if (options.causal_offset && !measured) {
    return Status::error(
        StatusCode::kInvalidArgument,
        "%s: causal_offset is %lld without causal, expected causal = true, a window "
        "or alibi_slopes too",
        function, static_cast<long long>(*options.causal_offset));
  }
  if (!options.causal_offset && measured && s.tq != s.tk && !args.cache) {
    return Status::error(
        StatusCode::kInvalidArgument,
        "%s: %s with %lld queries and %lld keys, expected a causal_offset (0 aligns "
        "the first query with the first key, %lld the last with the last)",
        function, options.causal ? "causal" : "a window or alibi_slopes",
        static_cast<long long>(s.tq), static_cast<long long>(s.tk),
        static_cast<long long>(s.tk - s.tq));
  }
  options.causal_offset = options.causal_offset.value_or(args.cache ? args.cache->length() : 0);
  return {};
}

Status check_key_lengths(const char* function, const TensorView<const std::int32_t>& lengths,
                         const AttentionShape& s) noexcept {
  if (lengths.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_array(function, "key_lengths", lengths, {s.batch}));
  for (Index b = 0; b < s.batch; ++b) {
    if (*lengths.at(b) < 0 || *lengths.at(b) > s.tk) {
      return Status::error(StatusCode::kOutOfRange,
                           "%s: key_lengths[%lld] is %lld, expected 0 to %lld", function,
                           static_cast<long long>(b), static_cast<long long>(*lengths.at(b)),
                           static_cast<long long>(s.tk));
    }
  }
  return {};
}

/// An optional array with one finite number for each query head.
Status check_per_head(const char* function, const char* name, const TensorView<const float>& view,
                      const AttentionShape& s) noexcept {
  if (view.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_array(function, name, view, {s.num_heads}));
  for (Index h = 0; h < s.num_heads; ++h) {
    if (!std::isfinite(*view.at(h))) {
      return Status::error(StatusCode::kInvalidArgument,
                           "%s: %s[%lld] is %g, expected a finite number", function, name,
                           static_cast<long long>(h), static_cast<double>(*view.at(h)));
    }
  }
  return {};
}

Status check_options(const char* function, AttentionArgs& args, const AttentionShape& s) noexcept {
  AttentionOptions& options = args.options;
  QKV_RETURN_IF_ERROR(check_numbers(function, options));
  QKV_RETURN_IF_ERROR(check_key_lengths(function, options.key_lengths, s));
  QKV_RETURN_IF_ERROR(check_per_head(function, "alibi_slopes", options.alibi_slopes, s));
  QKV_RETURN_IF_ERROR(check_per_head(function, "sinks", options.sinks, s));
  QKV_RETURN_IF_ERROR(check_offsets(function, args, s));
  const std::array<Index, 4> scores{s.batch, s.num_heads, s.tq, s.tk};
  QKV_RETURN_IF_ERROR(broadcast_to(function, "mask", options.mask, scores));
  QKV_RETURN_IF_ERROR(broadcast_to(function, "additive_mask", options.additive_mask, scores));
  return broadcast_to(function, "bias", options.bias, scores);
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
  const auto check = [&](const char* name, const TensorView<float>& view,
                         std::initializer_list<Index> shape) {
    return view.absent() ? Status{} : check_output(function, name, view, shape);
  };
  if (extras.logit_stage > LogitStage::kBiased) {
    return Status::error(StatusCode::kInvalidArgument,
                         "%s: logit_stage is %d, expected a value of LogitStage", function,
                         static_cast<int>(extras.logit_stage));
  }
  const Index rows = row_end - extras.row_begin;
  QKV_RETURN_IF_ERROR(check("weights", extras.weights, {s.batch, s.num_heads, rows, s.tk}));
  QKV_RETURN_IF_ERROR(check("logits", extras.logits, {s.batch, s.num_heads, rows, s.tk}));
  QKV_RETURN_IF_ERROR(check("lse", extras.lse, {s.batch, s.num_heads, s.tq}));
  return check("entropy", extras.entropy, {s.batch, s.num_heads, s.tq});
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
  if (args.cache) {
    QKV_RETURN_IF_ERROR(KvCacheAccess::check(function, *args.cache, args.k, args.v));
    s.tk += args.cache->length();
  }
  return {};
}

}  // namespace

Status plan_attention(const char* function, AttentionArgs& args, AttentionPlan& plan) noexcept {
  QKV_RETURN_IF_ERROR(require_kernels(function, plan.table));
  AttentionShape& s = plan.shape;
  QKV_RETURN_IF_ERROR(check_inputs(function, args, s));
  QKV_RETURN_IF_ERROR(check_output(function, "out", args.out, {s.batch, s.num_heads, s.tq, s.dv}));
  QKV_RETURN_IF_ERROR(check_options(function, args, s));
  QKV_RETURN_IF_ERROR(check_extras(function, args.extras, s));
  plan.scratch = AttentionScratch(plan, args.cache != nullptr).total();
  return {};
}

Status check_attention_memory(const char* function, const NamedSpan& out,
                              const std::array<NamedSpan, 3>& inputs,
                              const AttentionArgs& args) noexcept {
  const AttentionOptions& o = args.options;
  const AttentionExtras& e = args.extras;
  return check_apart(
      function,
      {out, {"weights", e.weights}, {"logits", e.logits}, {"lse", e.lse}, {"entropy", e.entropy}},
      {inputs[0],
       inputs[1],
       inputs[2],
       {"mask", o.mask},
       {"additive_mask", o.additive_mask},
       {"bias", o.bias},
       {"key_lengths", o.key_lengths},
       {"causal_offsets", o.causal_offsets},
       {"alibi_slopes", o.alibi_slopes},
       {"sinks", o.sinks}});
}

}  // namespace qkv
