#include "qkv/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "float_count.hpp"
#include "isa_dispatch.hpp"
#include "kernels/attention_mask.hpp"
#include "kernels/log.hpp"

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
  if (o.temperature != 0.0F) {
    QKV_RETURN_IF_ERROR(check_range("temperature", o.temperature,
                                    std::numeric_limits<float>::min(),
                                    std::numeric_limits<float>::max()));
  }
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
      return refuse(StatusCode::kInvalidArgument, kSample, "{} is {}, expected a number below it",
                    Argument{"logits", i}, logits.data[i]);
    }
    any = any || logits.data[i] > kNever;
  }
  return any ? Status{}
             : refuse(StatusCode::kOutOfRange, kSample,
                      "@logits has none that can be chosen, expected one that is finite");
}

/// One draw, in arrays of the workspace of V elements each.
class Draw {
 public:
  Draw(const kernels::KernelTable& table, const SamplingArgs& args, Workspace& workspace) noexcept
      : table_(table),
        args_(args),
        v_(args.logits.extent(0)),
        z_(workspace.take(static_cast<std::size_t>(v_))),
        p_(workspace.take(static_cast<std::size_t>(v_))),
        ids_(reinterpret_cast<std::int32_t*>(workspace.take(static_cast<std::size_t>(v_)))) {}

  SampledToken token() noexcept {
    penalize();
    const auto id = args_.options.temperature == 0.0F ? most_likely() : drawn();
    return {id, log_probability(id)};
  }

 private:
  /// The order of tokens by z, of equals by the token.
  [[nodiscard]] auto more_likely() const noexcept {
    return [z = z_](std::int32_t a, std::int32_t b) {
      return z[a] > z[b] || (z[a] == z[b] && a < b);
    };
  }

  /// z: the logits, those of tokens that were seen less likely.
  void penalize() noexcept {
    std::transform(args_.logits.data, args_.logits.data + v_, z_,
                   [](float x) { return x > kNever ? x : kNever; });  // NaN, too
    const float penalty = args_.options.repetition_penalty;
    if (penalty == 1.0F || args_.seen.absent()) {
      return;
    }
    std::fill_n(ids_, v_, 0);  // tokens that had it
    for (Index i = 0; i < args_.seen.extent(0); ++i) {
      const std::int32_t id = *args_.seen.at(i);
      if (ids_[id] == 0 && z_[id] > kNever) {
        const float lower = z_[id] > 0.0F ? z_[id] / penalty : z_[id] * penalty;
        // A number that left the range of float is still one that can be chosen.
        z_[id] = std::clamp(lower, -std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::max());
      }
      ids_[id] = 1;
    }
  }

  [[nodiscard]] std::int32_t most_likely() const noexcept {
    return static_cast<std::int32_t>(std::max_element(z_, z_ + v_) - z_);
  }

  std::int32_t drawn() noexcept {
    Index count = 0;
    for (Index i = 0; i < v_; ++i) {
      if (z_[i] > kNever) {
        ids_[count++] = static_cast<std::int32_t>(i);
      }
    }
    count = keep_top_k(count);
    for (Index i = 0; i < count; ++i) {
      p_[i] = z_[ids_[i]];
    }
    table_.softmax({.outer = 1,
                    .n = count,
                    .inner = 1,
                    .x = p_,
                    .out = p_,
                    .temperature = args_.options.temperature});
    for (Index i = 0; i < count; ++i) {
      z_[ids_[i]] = p_[i];  // from here on probabilities by token
    }
    count = keep_nucleus(keep_min_p(count, *std::max_element(p_, p_ + count)));
    return choose(count);
  }

  /// The top_k most likely, in the order of their tokens, which is the same whatever library selects them.
  Index keep_top_k(Index count) noexcept {
    const Index k = args_.options.top_k;
    if (k == 0 || k >= count) {
      return count;
    }
    std::nth_element(ids_, ids_ + k, ids_ + count, more_likely());
    std::sort(ids_, ids_ + k);
    return k;
  }

  Index keep_min_p(Index count, float most) noexcept {
    const float least = args_.options.min_p * most;
    return std::remove_if(ids_, ids_ + count, [&](std::int32_t id) { return z_[id] < least; }) -
           ids_;
  }

  /// The most likely whose probabilities before each add up to less than top_p. Tokens below (1 - top_p) / n each make less
  /// than 1 - top_p together, so they come after the last that stays, and need not be sorted.
  Index keep_nucleus(Index count) noexcept {
    const double top_p = static_cast<double>(args_.options.top_p);
    if (top_p == 1.0) {
      return count;
    }
    const double unlikely = (1.0 - top_p) / static_cast<double>(count) * 0.5;
    const auto* end = std::remove_if(ids_, ids_ + count, [&](std::int32_t id) {
      return static_cast<double>(z_[id]) < unlikely;
    });
    const Index left = end - ids_;
    std::sort(ids_, ids_ + left, more_likely());
    double sum = 0.0;
    Index kept = 0;
    while (kept < left && (kept == 0 || sum < top_p)) {
      sum += static_cast<double>(z_[ids_[kept++]]);
    }
    return kept;
  }

  [[nodiscard]] std::int32_t choose(Index count) const noexcept {
    double all = 0.0;
    for (Index i = 0; i < count; ++i) {
      all += static_cast<double>(z_[ids_[i]]);
    }
    const SamplingOptions& o = args_.options;
    const std::uint64_t bits = kernels::mix_bits(kernels::mix_bits(o.seed) + o.step);
    const double at = static_cast<double>(bits >> 11U) * 0x1p-53 * all;
    double sum = 0.0;
    for (Index i = 0; i < count; ++i) {
      sum += static_cast<double>(z_[ids_[i]]);
      if (at < sum) {
        return ids_[i];
      }
    }
    return ids_[count - 1];
  }

  /// With p_m the probability of the largest logit m, ln p = x - m + ln p_m.
  [[nodiscard]] float log_probability(std::int32_t id) noexcept {
    std::transform(args_.logits.data, args_.logits.data + v_, z_,
                   [](float x) { return x > kNever ? x : kNever; });
    const float most = *std::max_element(z_, z_ + v_);
    const double below = static_cast<double>(z_[id]) - static_cast<double>(most);
    table_.softmax(
        {.outer = 1, .n = v_, .inner = 1, .x = z_, .out = z_, .temperature = 1.0F});
    const float p = *std::max_element(z_, z_ + v_);
    return static_cast<float>(below + kernels::natural_log(static_cast<double>(p)));
  }

  const kernels::KernelTable& table_;
  const SamplingArgs& args_;
  Index v_;
  float *z_, *p_;
  std::int32_t* ids_;
};

}  // namespace

Status sample(const SamplingArgs& args, Workspace& workspace, SampledToken& token) noexcept {
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kSample, table));
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
  QKV_RETURN_IF_ERROR(workspace.begin(capped_product(3, Workspace::padded(capped_product(v, 1)))));
  token = Draw(*table, args, workspace).token();
  return {};
}

}  // namespace qkv
