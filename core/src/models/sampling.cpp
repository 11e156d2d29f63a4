#include "qkv/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float_count.hpp"
#include "base/portable_math.hpp"
#include "check/check.hpp"
#include "kernels/random.hpp"

namespace qkv {
namespace {

constexpr const char* kSample = "sample";
constexpr float kNever = -std::numeric_limits<float>::infinity();

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
                 {"repetition_penalty", o.repetition_penalty}};
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

Status check_logits(const TensorView<const float>& logits) noexcept {
  bool any = false;
  for (Index i = 0; i < logits.extent(0); ++i) {
    if (logits.data[i] == std::numeric_limits<float>::infinity()) {
      return refuse(StatusCode::kInvalidArgument, kSample,
                    "{} is {}, expected a number below Infinity", Argument{"logits", i},
                    logits.data[i]);
    }
    any = any || logits.data[i] > kNever;
  }
  return any ? Status{}
             : refuse(StatusCode::kOutOfRange, kSample,
                      "@logits has no finite element, expected at least one");
}

/// e^x for x up to 0, the same bits everywhere.
double exp_of(double x) noexcept {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  return power_of_two(x * kLog2E);
}

/// One draw, in arrays of the workspace of V elements each.
class Draw {
 public:
  Draw(const SamplingArgs& args, Workspace& workspace) noexcept
      : args_(args),
        o_(args.options),
        v_(args.logits.extent(0)),
        p_(workspace.take_as<double>(static_cast<std::size_t>(v_))),
        ids_(workspace.take_as<std::int32_t>(static_cast<std::size_t>(v_))) {}

  SampledToken token() noexcept {
    penalize();
    const auto id = o_.temperature == 0.0F ? most_likely() : drawn();
    return {id, log_probability(id)};
  }

 private:
  /// The order of tokens by what p_ has of them, of equals by the token.
  [[nodiscard]] auto more_likely() const noexcept {
    return
        [p = p_](std::int32_t a, std::int32_t b) { return p[a] > p[b] || (p[a] == p[b] && a < b); };
  }

  /// A logit as it was given; NaN is never chosen.
  [[nodiscard]] double logit(Index i) const noexcept {
    const float x = args_.logits.data[i];
    return static_cast<double>(x > kNever ? x : kNever);
  }

  /// p_: the logits, those of tokens that were seen less likely.
  void penalize() noexcept {
    for (Index i = 0; i < v_; ++i) {
      p_[i] = logit(i);
    }
    const auto penalty = static_cast<double>(o_.repetition_penalty);
    if (penalty == 1.0 || args_.seen.absent()) {
      return;
    }
    std::fill_n(ids_, v_, 0);  // tokens that had it
    for (Index i = 0; i < args_.seen.extent(0); ++i) {
      const std::int32_t id = *args_.seen.at(i);
      if (ids_[id] == 0) {
        p_[id] = p_[id] > 0.0 ? p_[id] / penalty : p_[id] * penalty;
      }
      ids_[id] = 1;
    }
  }

  [[nodiscard]] std::int32_t most_likely() const noexcept {
    return static_cast<std::int32_t>(std::max_element(p_, p_ + v_) - p_);
  }

  std::int32_t drawn() noexcept {
    Index count = 0;
    for (Index i = 0; i < v_; ++i) {
      if (p_[i] > static_cast<double>(kNever)) {
        ids_[count++] = static_cast<std::int32_t>(i);
      }
    }
    count = keep_top_k(count);
    const double most = p_[*std::min_element(ids_, ids_ + count, more_likely())];
    for (Index i = 0; i < count; ++i) {  // from here on probabilities, in units of the greatest
      double& p = p_[ids_[i]];
      p = exp_of((p - most) / static_cast<double>(o_.temperature));
    }
    return choose(keep_min_p(keep_nucleus(count)));
  }

  /// Puts the `most` most likely in front, in their order, which is the same whatever library sorts them. Out of line,
  /// because each copy of a sort is 1 kB of a .wasm.
  [[gnu::noinline]] void rank(Index most, Index count) noexcept {
    std::partial_sort(ids_, ids_ + most, ids_ + count, more_likely());
  }

  Index keep_top_k(Index count) noexcept {
    const Index k = o_.top_k;
    if (k == 0 || k >= count) {
      return count;
    }
    rank(k, count);
    return k;
  }

  [[nodiscard]] double sum_of(Index count) const noexcept {
    double sum = 0.0;
    for (Index i = 0; i < count; ++i) {
      sum += p_[ids_[i]];
    }
    return sum;
  }

  /// The most likely whose probabilities before each add up to less than top_p. Of n tokens those below (1 - top_p) / n
  /// each make less than 1 - top_p together, so they come after the last that stays, and need not be sorted.
  Index keep_nucleus(Index count) noexcept {
    if (o_.top_p == 1.0F) {
      return count;
    }
    const auto top_p = static_cast<double>(o_.top_p);
    const double all = sum_of(count);
    const double unlikely = (1.0 - top_p) * all / static_cast<double>(count) * 0.5;
    const auto* end =
        std::remove_if(ids_, ids_ + count, [&](std::int32_t id) { return p_[id] < unlikely; });
    const Index left = end - ids_;
    rank(left, left);
    double sum = 0.0;
    Index kept = 0;
    while (kept < left && (kept == 0 || sum < top_p * all)) {
      sum += p_[ids_[kept++]];
    }
    return kept;
  }

  Index keep_min_p(Index count) noexcept {
    const auto least = static_cast<double>(o_.min_p);
    return std::remove_if(ids_, ids_ + count, [&](std::int32_t id) { return p_[id] < least; }) -
           ids_;
  }

  [[nodiscard]] std::int32_t choose(Index count) const noexcept {
    const std::uint64_t bits = kernels::mix_bits(kernels::mix_bits(o_.seed) + o_.step);
    const double at = static_cast<double>(bits >> 11U) * 0x1p-53 * sum_of(count);
    double sum = 0.0;
    for (Index i = 0; i < count; ++i) {
      sum += p_[ids_[i]];
      if (at < sum) {
        return ids_[i];
      }
    }
    return ids_[count - 1];
  }

  /// ln p = x - m - ln of the sum of all e^(x_i - m), with m the greatest logit.
  [[nodiscard]] float log_probability(std::int32_t id) const noexcept {
    double most = logit(0);
    for (Index i = 1; i < v_; ++i) {
      most = std::max(most, logit(i));
    }
    double sum = 0.0;
    for (Index i = 0; i < v_; ++i) {
      sum += exp_of(logit(i) - most);
    }
    constexpr auto kLowest = static_cast<double>(std::numeric_limits<float>::lowest());
    return static_cast<float>(std::max(logit(id) - most - natural_log(sum), kLowest));
  }

  const SamplingArgs& args_;
  const SamplingOptions& o_;
  Index v_;
  double* p_;
  std::int32_t* ids_;
};

}  // namespace

Status sample(const SamplingArgs& args, Workspace& workspace, SampledToken& token) noexcept {
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
  QKV_RETURN_IF_ERROR(check_options(args.options));
  QKV_RETURN_IF_ERROR(check_logits(args.logits));
  QKV_RETURN_IF_ERROR(
      workspace.begin(Workspace::padded(capped_product(v, 2)) + Workspace::padded(capped(v))));
  token = Draw(args, workspace).token();
  return {};
}

}  // namespace qkv
