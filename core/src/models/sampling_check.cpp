#include "models/sampling_check.hpp"

#include <algorithm>
#include <cmath>

#include "check/check.hpp"

namespace qkv {
namespace {

Status check_range(const char* name, float value, float least, float most) noexcept {
  return value >= least && value <= most
             ? Status{}
             : refuse(StatusCode::kOutOfRange, kSample, "{} is {}, expected {} to {}",
                      Argument{name}, value, least, most);
}

Status check_options(const SamplingOptions& o) noexcept {
  const struct {
    const char* name;
    float value;
  } numbers[] = {{"temperature", o.temperature},
                 {"top_p", o.top_p},
                 {"min_p", o.min_p},
                 {"repetition_penalty", o.repetition_penalty},
                 {"frequency_penalty", o.frequency_penalty},
                 {"presence_penalty", o.presence_penalty}};
  for (const auto& number : numbers) {
    if (!std::isfinite(number.value)) {
      return refuse(StatusCode::kInvalidArgument, kSample, "{} is {}, expected a finite number",
                    Argument{number.name}, number.value);
    }
  }
  QKV_RETURN_IF_ERROR(
      check_range("temperature", o.temperature, 0.0F, std::numeric_limits<float>::max()));
  QKV_RETURN_IF_ERROR(check_size(kSample, "top_k", o.top_k, 0));
  if (!(o.top_p > 0.0F && o.top_p <= 1.0F)) {
    return refuse(StatusCode::kOutOfRange, kSample, "@top_p is {}, expected above 0, up to 1",
                  o.top_p);
  }
  QKV_RETURN_IF_ERROR(check_range("min_p", o.min_p, 0.0F, 1.0F));
  if (o.repetition_penalty <= 0.0F) {
    return refuse(StatusCode::kOutOfRange, kSample, "@repetition_penalty is {}, expected above 0",
                  o.repetition_penalty);
  }
  return {};
}

Status check_biases(const SamplingArgs& args, Index v) noexcept {
  if (args.bias_ids.absent() && args.biases.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_array(kSample, "bias_ids", args.bias_ids, {kAny}));
  QKV_RETURN_IF_ERROR(check_array(kSample, "biases", args.biases, {args.bias_ids.extent(0)}));
  QKV_RETURN_IF_ERROR(check_ids(kSample, "bias_ids", args.bias_ids, v));
  for (Index i = 0; i < args.biases.extent(0); ++i) {
    const float bias = args.biases.data[i];
    if (!(bias < -kNever)) {
      return refuse(StatusCode::kInvalidArgument, kSample,
                    "{} is {}, expected a finite number or -Infinity", Argument{"biases", i}, bias);
    }
  }
  return {};
}

Status check_top(const SamplingArgs& args, Index v) noexcept {
  if (args.top_ids.absent() && args.top_log_probabilities.absent()) {
    return {};
  }
  const Index n = args.top_ids.extent(0);
  QKV_RETURN_IF_ERROR(check_array(kSample, "top_ids", args.top_ids, {kAny}));
  QKV_RETURN_IF_ERROR(
      check_array(kSample, "top_log_probabilities", args.top_log_probabilities, {n}));
  if (n > v) {
    return refuse(StatusCode::kOutOfRange, kSample, "@top_ids is {}, expected at most {} elements",
                  Extents(args.top_ids), v);
  }
  return check_apart(
      kSample, {{"top_ids", args.top_ids}, {"top_log_probabilities", args.top_log_probabilities}},
      {{"logits", args.logits},
       {"seen", args.seen},
       {"bias_ids", args.bias_ids},
       {"biases", args.biases},
       {"allowed", args.allowed}});
}

}  // namespace

Status check_sampling(const SamplingArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_array(kSample, "logits", args.logits, {kAny}));
  const Index v = args.logits.extent(0);
  if (v < 1 || v > std::numeric_limits<std::int32_t>::max()) {
    return refuse(StatusCode::kShapeMismatch, kSample, "@logits is {}, expected at least one",
                  Extents(args.logits));
  }
  if (!args.seen.absent()) {
    QKV_RETURN_IF_ERROR(check_array(kSample, "seen", args.seen, {kAny}));
    QKV_RETURN_IF_ERROR(check_ids(kSample, "seen", args.seen, v));
  }
  QKV_RETURN_IF_ERROR(check_biases(args, v));
  if (!args.allowed.absent()) {
    QKV_RETURN_IF_ERROR(check_array(kSample, "allowed", args.allowed, {(v + 31) / 32}));
  }
  QKV_RETURN_IF_ERROR(check_top(args, v));
  return check_options(args.options);
}

Status check_logits(const kernels::KernelTable& table, const TensorView<const float>& logits,
                    float& most) noexcept {
  most = table.largest(logits.data, logits.extent(0));
  if (most == -kNever) {
    const float* const end = logits.data + logits.extent(0);
    return refuse(StatusCode::kInvalidArgument, kSample,
                  "{} is {}, expected a number below Infinity",
                  Argument{"logits", std::find(logits.data, end, most) - logits.data}, most);
  }
  return most > kNever ? Status{}
                       : refuse(StatusCode::kOutOfRange, kSample,
                                "@logits has no finite element, expected at least one");
}

}  // namespace qkv
