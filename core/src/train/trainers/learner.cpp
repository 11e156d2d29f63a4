#include "train/trainers/learner.hpp"

#include <algorithm>
#include <cmath>

#include "base/float_count.hpp"
#include "check/check.hpp"
#include "train/gradients/with_kernels.hpp"

namespace qkv::train {
namespace {

/// A number of the options that must be finite and above 0, or at least 0 if `zero` is allowed.
Status check_number(const Caller& caller, const char* name, float value, bool zero) noexcept {
  return std::isfinite(value) && (zero ? value >= 0.0F : value > 0.0F)
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected a finite number {} 0",
                      Argument{name}, value, Verbatim{zero ? "of at least" : "above"});
}

Status check_rate(const Caller& caller, const char* name, float value) noexcept {
  return value >= 0.0F && value < 1.0F ? Status{}
                                       : refuse(StatusCode::kOutOfRange, caller,
                                                "{} is {}, expected [0, 1)", Argument{name}, value);
}

}  // namespace

Status check_trainer_options(const Caller& caller, const TrainerOptions& options) noexcept {
  const Schedule& s = options.schedule;
  QKV_RETURN_IF_ERROR(check_number(caller, "schedule.peak", s.peak, true));
  QKV_RETURN_IF_ERROR(check_number(caller, "schedule.last", s.last, true));
  QKV_RETURN_IF_ERROR(check_steps(caller, "schedule.warmup", s.warmup));
  QKV_RETURN_IF_ERROR(check_steps(caller, "schedule.steps", s.steps));
  QKV_RETURN_IF_ERROR(check_rate(caller, "beta1", options.beta1));
  QKV_RETURN_IF_ERROR(check_rate(caller, "beta2", options.beta2));
  QKV_RETURN_IF_ERROR(check_number(caller, "epsilon", options.epsilon, false));
  QKV_RETURN_IF_ERROR(check_number(caller, "weight_decay", options.weight_decay, true));
  QKV_RETURN_IF_ERROR(check_number(caller, "clip_norm", options.clip_norm, true));
  QKV_RETURN_IF_ERROR(check_rate(caller, "dropout", options.dropout));
  return check_number(caller, "deviation", options.deviation, false);
}

Index Learner::declare(const ArrayPlace& place, const char* name, Index rows, Index width,
                       ArrayRole role) noexcept {
  Array array{};
  write_array_name(place, name, array.name);
  array.rows = rows;
  array.width = width;
  array.role = role;
  array.offset = total_padded_;
  const std::size_t size =
      rows == 0 ? capped(static_cast<std::uint64_t>(width)) : capped_product(rows, width);
  total_ = static_cast<Index>(capped_sum({static_cast<std::uint64_t>(total_), size}));
  total_padded_ = static_cast<Index>(
      capped_sum({static_cast<std::uint64_t>(total_padded_), Workspace::padded(size)}));
  if (status_.ok()) {
    status_ = arrays_.push(array);
  }
  return status_.ok() ? arrays_.size() - 1 : 0;
}

Status Learner::set_steps(const Caller& caller, std::int64_t steps) noexcept {
  QKV_RETURN_IF_ERROR(check_steps(caller, "steps", steps));
  steps_ = steps;
  batches_ = 0;
  return {};
}

Status Learner::check_room_for_step(const Caller& caller) const noexcept {
  return steps_ < kMostSteps
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller,
                      "the number of steps is {}, expected less than {}", steps_, kMostSteps);
}

Status Learner::create(const Caller& caller, const TrainerOptions& options, Index layers) noexcept {
  QKV_RETURN_IF_ERROR(status_);
  QKV_RETURN_IF_ERROR(check_trainer_options(caller, options));
  options_ = options;
  const std::size_t floats = capped_product(4, total_padded_);
  QKV_RETURN_IF_ERROR(memory_.reserve(floats));
  std::fill_n(memory_.data(), floats, 0.0F);
  const double smaller = 1.0 / std::sqrt(2.0 * static_cast<double>(layers));
  for (Index i = 0; i < count(); ++i) {
    const Array& a = array(i);
    QKV_RETURN_IF_ERROR(parameters_.push({.value = value(i),
                                          .gradient = gradient(i),
                                          .first_moment = moments(i).first,
                                          .second_moment = moments(i).second,
                                          .n = a.size(),
                                          .decays = a.role == ArrayRole::kMatrix ||
                                                    a.role == ArrayRole::kResidual ||
                                                    a.role == ArrayRole::kDelta}));
    if (a.role == ArrayRole::kGain) {
      std::fill_n(value(i), a.size(), 1.0F);
    } else if (a.role != ArrayRole::kBias && a.role != ArrayRole::kDelta) {
      const double factor = a.role == ArrayRole::kResidual ? smaller : 1.0;
      fill_normal(value(i), a.size(),
                  static_cast<float>(static_cast<double>(options.deviation) * factor), options.seed,
                  static_cast<std::uint64_t>(i));
    }
  }
  return {};
}

Status Learner::reserve_sums() noexcept {
  return sums_.reserve(static_cast<std::size_t>(total_padded_));
}

void Learner::accumulate(const Evaluation& found) noexcept {
  const auto weight = static_cast<float>(found.counted);
  const float* g = memory_.data() + total_padded_;
  for (Index i = 0; i < total_padded_; ++i) {
    sums_.data()[i] = (batches_ == 0 ? 0.0F : sums_.data()[i]) + weight * g[i];
  }
  summed_ = batches_ == 0 ? Evaluation{} : summed_;
  const auto targets = static_cast<double>(found.counted);
  summed_.loss += found.loss * targets;
  summed_.accuracy += found.accuracy * targets;
  summed_.counted += found.counted;
  ++batches_;
}

void Learner::average(Evaluation& found) noexcept {
  if (batches_ == 0) {
    return;
  }
  const Index all = summed_.counted + found.counted;
  const auto weight = static_cast<float>(found.counted);
  const float whole = 1.0F / static_cast<float>(all);
  float* g = memory_.data() + total_padded_;
  for (Index i = 0; i < total_padded_; ++i) {
    g[i] = (sums_.data()[i] + weight * g[i]) * whole;
  }
  const auto targets = static_cast<double>(found.counted);
  found.loss = (summed_.loss + found.loss * targets) / static_cast<double>(all);
  found.accuracy = (summed_.accuracy + found.accuracy * targets) / static_cast<double>(all);
  found.counted = all;
}

Status Learner::update(const Caller& caller, const TrainKernels& kernels, ThreadPool* pool,
                       StepResult& result) noexcept {
  const std::span<const Parameter> all(parameters_.begin(),
                                       static_cast<std::size_t>(parameters_.size()));
  result.gradient_norm = global_norm(kernels, all, pool);
  const float factor = clip_factor(result.gradient_norm, options_.clip_norm);
  // Second moments keep squares of what is left of it: one that is infinite would hold its weight in place for ever.
  if (!(result.gradient_norm * static_cast<double>(factor) < 0x1p64)) {
    return refuse(
        StatusCode::kInvalidArgument, caller,
        "the norm of the gradient is {}, expected a number below 2^64 (after clipping, if "
        "clip_norm is above 0): nothing was changed",
        result.gradient_norm);
  }
  result.step = steps_ + 1;
  result.learning_rate = learning_rate_at(options_.schedule, result.step);
  AdamWOptions step;
  step.learning_rate = result.learning_rate;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.epsilon = options_.epsilon;
  step.weight_decay = options_.weight_decay;
  step.gradient_factor = factor;
  QKV_RETURN_IF_ERROR(adamw_step(kernels, all, {step, result.step}, pool));
  steps_ = result.step;
  batches_ = 0;
  return {};
}

TrainedArray Learner::view(Index i) const noexcept {
  const Array& a = array(i);
  if (a.rows == 0) {
    return {a.name, {value(i), {a.width}}, TensorView<const float>(gradient(i), {a.width})};
  }
  return {a.name,
          {value(i), {a.rows, a.width}},
          TensorView<const float>(gradient(i), {a.rows, a.width})};
}

}  // namespace qkv::train
