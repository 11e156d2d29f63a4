#include "qkv/train/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/message.hpp"
#include "base/portable_math.hpp"
#include "base/share.hpp"
#include "kernels/random.hpp"
#include "train/gradients/with_kernels.hpp"

namespace qkv::train {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Whether x is finite and in [least, most).
bool within(float x, float least, float most) noexcept { return x >= least && x < most; }

Status check(const AdamWOptions& o, std::int64_t step) noexcept {
  constexpr const char* kName = "adamw_step";
  constexpr float kMost = std::numeric_limits<float>::infinity();
  const auto refused = [&](const char* name, float value, const char* expected) {
    return refuse(StatusCode::kInvalidArgument, kName, "{} is {}, expected {}", Argument{name},
                  value, Verbatim{expected});
  };
  if (!within(o.learning_rate, 0.0F, kMost)) {
    return refused("learning_rate", o.learning_rate, "a finite number of at least 0");
  }
  if (!within(o.beta1, 0.0F, 1.0F)) {
    return refused("beta1", o.beta1, "[0, 1)");
  }
  if (!within(o.beta2, 0.0F, 1.0F)) {
    return refused("beta2", o.beta2, "[0, 1)");
  }
  if (!(within(o.epsilon, 0.0F, kMost) && o.epsilon > 0.0F)) {
    return refused("epsilon", o.epsilon, "a finite number above 0");
  }
  if (!within(o.weight_decay, 0.0F, kMost)) {
    return refused("weight_decay", o.weight_decay, "a finite number of at least 0");
  }
  if (!within(o.gradient_factor, 0.0F, kMost)) {
    return refused("gradient_factor", o.gradient_factor, "a finite number of at least 0");
  }
  return step >= 1 ? Status{}
                   : refuse(StatusCode::kInvalidArgument, kName, "@step is {}, expected at least 1",
                            step);
}

/// base^n by squaring, the same bits everywhere.
double whole_power(double base, std::int64_t n) noexcept {
  double result = 1.0;
  for (; n > 0; n /= 2) {
    result *= n % 2 == 1 ? base : 1.0;
    base *= base;
  }
  return result;
}

}  // namespace

Status global_norm(std::span<const Parameter> parameters, double& norm) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels("global_norm", kernels));
  norm = global_norm(kernels, parameters, nullptr);
  return {};
}

double global_norm(const TrainKernels& kernels, std::span<const Parameter> parameters,
                   ThreadPool* pool) noexcept {
  constexpr std::size_t kAtOnce = 64;
  double sum = 0.0;
  for (std::size_t first = 0; first < parameters.size(); first += kAtOnce) {
    const auto some = parameters.subspan(first, std::min(kAtOnce, parameters.size() - first));
    double sums[kAtOnce];
    for_each_task(pool, static_cast<Index>(some.size()), [&](Index i, int /*thread*/) noexcept {
      const Parameter& p = some[static_cast<std::size_t>(i)];
      sums[i] = kernels.backward->sum_of_squares(p.gradient, p.n);
    });
    for (std::size_t i = 0; i < some.size(); ++i) {
      sum += sums[i];
    }
  }
  return std::sqrt(sum);
}

float clip_factor(double norm, float most) noexcept {
  const double factor = static_cast<double>(most) / (norm + 1e-6);
  return most > 0.0F && factor < 1.0 ? static_cast<float>(factor) : 1.0F;
}

Status adamw_step(std::span<const Parameter> parameters, const AdamWOptions& options,
                  std::int64_t step) noexcept {
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels("adamw_step", kernels));
  return adamw_step(kernels, parameters, {options, step}, nullptr);
}

Status adamw_step(const TrainKernels& kernels, std::span<const Parameter> parameters,
                  const AdamWCall& call, ThreadPool* pool) noexcept {
  const auto& [options, step] = call;
  QKV_RETURN_IF_ERROR(check(options, step));
  const auto rate = static_cast<double>(options.learning_rate);
  const double first = 1.0 - whole_power(static_cast<double>(options.beta1), step);
  const double second = 1.0 - whole_power(static_cast<double>(options.beta2), step);
  const double decay = 1.0 - rate * static_cast<double>(options.weight_decay);
  for (const Parameter& p : parameters) {
    share(pool, p.n, kShareElements, [&](Index begin, Index end) noexcept {
      kernels.backward->adamw({.n = end - begin,
                               .parameters = p.value + begin,
                               .gradients = p.gradient + begin,
                               .first = p.first_moment + begin,
                               .second = p.second_moment + begin,
                               .gradient_factor = options.gradient_factor,
                               .beta1 = options.beta1,
                               .beta2 = options.beta2,
                               .epsilon = options.epsilon,
                               .decay = p.decays ? static_cast<float>(decay) : 1.0F,
                               .step_size = static_cast<float>(rate / first),
                               .root_scale = static_cast<float>(1.0 / std::sqrt(second))});
    });
  }
  return {};
}

float learning_rate_at(const Schedule& schedule, std::int64_t step) noexcept {
  const auto peak = static_cast<double>(schedule.peak);
  if (step <= schedule.warmup && schedule.warmup > 0) {
    return static_cast<float>(peak * static_cast<double>(std::max<std::int64_t>(step, 0)) /
                              static_cast<double>(schedule.warmup));
  }
  if (schedule.steps <= schedule.warmup) {
    return schedule.peak;
  }
  const double done = static_cast<double>(std::min(step, schedule.steps) - schedule.warmup) /
                      static_cast<double>(schedule.steps - schedule.warmup);
  const auto last = static_cast<double>(schedule.last);
  return static_cast<float>(last + (peak - last) * 0.5 * (1.0 + rotation(kPi * done).cosine));
}

void fill_normal(float* to, Index n, float deviation, std::uint64_t seed,
                 std::uint64_t stream) noexcept {
  const std::uint64_t key = kernels::mix_bits(kernels::mix_bits(seed) + stream);
  for (Index pair = 0; 2 * pair < n; ++pair) {
    const auto counter = 2 * static_cast<std::uint64_t>(pair);
    // Halves of 2^-53, so that neither number is 0.
    const auto unit = [&](std::uint64_t i) {
      return (static_cast<double>(kernels::mix_bits(key + i) >> 11U) + 0.5) * 0x1p-53;
    };
    const double radius = std::sqrt(-2.0 * natural_log(unit(counter)));
    const Rotation turn = rotation(2.0 * kPi * unit(counter + 1));
    to[2 * pair] = static_cast<float>(static_cast<double>(deviation) * radius * turn.cosine);
    if (2 * pair + 1 < n) {
      to[2 * pair + 1] = static_cast<float>(static_cast<double>(deviation) * radius * turn.sine);
    }
  }
}

}  // namespace qkv::train
