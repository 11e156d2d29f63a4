#include "qkv/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/float_count.hpp"
#include "base/portable_math.hpp"
#include "isa/isa_dispatch.hpp"
#include "kernels/random.hpp"
#include "models/changed_logits.hpp"
#include "models/sampling_check.hpp"

namespace qkv {
namespace {

constexpr double kLog2E = 0x1.71547652b82fep+0;

/// A call whose arguments were checked.
struct SamplingCall {
  const SamplingArgs& args;
  const kernels::KernelTable& table;
  float most;  ///< the largest logit
};

/// One draw, in arrays of the workspace of V elements each.
class Draw {
 public:
  Draw(const SamplingCall& call, Workspace& workspace) noexcept
      : args_(call.args),
        o_(call.args.options),
        table_(call.table),
        v_(call.args.logits.extent(0)),
        most_(static_cast<double>(call.most)),
        p_(workspace.take_as<double>(static_cast<std::size_t>(v_))),
        ids_(workspace.take_as<std::int32_t>(static_cast<std::size_t>(v_))),
        changed_(call.args, ids_, workspace) {}

  Status token(SampledToken& token) noexcept {
    const auto likeliest = most_likely();
    if (changed_.any() && p_[likeliest] == static_cast<double>(kNever)) {
      return refuse(
          StatusCode::kOutOfRange, kSample,
          "@biases and @allowed leave no token that can be chosen, expected at least one");
    }
    const auto id = o_.temperature == 0.0F ? likeliest : drawn(likeliest);
    token = {id, log_probability(id)};
    tell_top();
    return {};
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

  /// p_: the logits as they were given.
  void fill_given() noexcept {
    for (Index i = 0; i < v_; ++i) {
      p_[i] = logit(i);
    }
  }
  /// Those of which a token is chosen.
  void fill_logits() noexcept {
    fill_given();
    changed_.each([&](std::int32_t id, double z) { p_[id] = z; });
    changed_.each_forbidden([&](Index id) { p_[id] = static_cast<double>(kNever); });
  }

  /// The most likely token. If logits have changed, p_ has all of them then.
  std::int32_t most_likely() noexcept {
    if (!changed_.any()) {
      const float* const x = args_.logits.data;
      return static_cast<std::int32_t>(std::find(x, x + v_, static_cast<float>(most_)) - x);
    }
    fill_logits();
    return static_cast<std::int32_t>(std::max_element(p_, p_ + v_) - p_);
  }

  /// `likeliest` is that of most_likely().
  std::int32_t drawn(std::int32_t likeliest) noexcept {
    const double most = changed_.any() ? p_[likeliest] : most_;
    if (o_.top_k == 0 || o_.top_k >= v_) {
      return drawn_of_all(most);
    }
    if (!changed_.any()) {
      fill_given();
    }
    const Index count = keep_top_k(collect(std::numeric_limits<double>::lowest()));
    for (Index i = 0; i < count; ++i) {  // from here on probabilities, in units of the greatest
      double& p = p_[ids_[i]];
      p = natural_power((p - most) / static_cast<double>(o_.temperature));
    }
    return choose(keep_min_p(keep_nucleus(count, sum_of(count))));
  }

  std::int32_t drawn_of_all(double most) noexcept {
    const auto temperature = static_cast<double>(o_.temperature);
    double all = exponentials(most, kLog2E / temperature);
    changed_.each(
        [&](std::int32_t id, double z) { p_[id] = natural_power((z - most) / temperature); });
    changed_.each_forbidden([&](Index id) { p_[id] = 0.0; });
    if (changed_.any()) {
      all = sum_until(std::numeric_limits<double>::infinity()).sum;
    } else if (o_.temperature == 1.0F) {
      sum_ = all;
    }
    if (o_.top_p == 1.0F && o_.min_p == 0.0F) {
      return choose_of_all(all);
    }
    const Index count =
        collect(o_.top_p < 1.0F ? unlikely(all, v_) : static_cast<double>(o_.min_p));
    return choose(keep_min_p(keep_nucleus(count, all)));
  }

  /// p_: 2^(scale (x - most)) of all logits x as they were given. Returns the sum.
  double exponentials(double most, double scale) const noexcept {
    return table_.exponentials(
        {.n = v_, .x = args_.logits.data, .most = most, .scale = scale, .to = p_});
  }

  /// ids_: the tokens of which p_ has at least so much.
  Index collect(double least) noexcept {
    Index count = 0;
    for (Index i = 0; i < v_; ++i) {
      ids_[count] = static_cast<std::int32_t>(i);
      count += p_[i] >= least ? 1 : 0;
    }
    return count;
  }

  /// Puts the `most` most likely in front, in their order, which is the same whatever library sorts them. Out of line,
  /// because each copy of a sort is 1 kB of a .wasm.
  [[gnu::noinline]] void rank(Index most, Index count) noexcept {
    std::partial_sort(ids_, ids_ + most, ids_ + count, more_likely());
  }

  Index keep_top_k(Index count) noexcept {
    if (o_.top_k >= count) {
      return count;
    }
    rank(o_.top_k, count);
    return o_.top_k;
  }

  [[nodiscard]] double sum_of(Index count) const noexcept {
    double sum = 0.0;
    for (Index i = 0; i < count; ++i) {
      sum += p_[ids_[i]];
    }
    return sum;
  }

  /// Of n tokens those below this make less than 1 - top_p of `all` together.
  [[nodiscard]] double unlikely(double all, Index n) const noexcept {
    return (1.0 - static_cast<double>(o_.top_p)) * all / static_cast<double>(n) * 0.5;
  }

  /// The most likely whose probabilities before each add up to less than top_p of `all`. Those that are unlikely() come after the
  /// last that stays, and need not be sorted.
  Index keep_nucleus(Index count, double all) noexcept {
    if (o_.top_p == 1.0F) {
      return count;
    }
    const double least = unlikely(all, count);
    const auto* end =
        std::remove_if(ids_, ids_ + count, [&](std::int32_t id) { return p_[id] < least; });
    const Index left = end - ids_;
    rank(left, left);
    const double most = static_cast<double>(o_.top_p) * all;
    double sum = 0.0;
    Index kept = 0;
    while (kept < left && (kept == 0 || sum < most)) {
      sum += p_[ids_[kept++]];
    }
    return kept;
  }

  Index keep_min_p(Index count) noexcept {
    const auto least = static_cast<double>(o_.min_p);
    return std::remove_if(ids_, ids_ + count, [&](std::int32_t id) { return p_[id] < least; }) -
           ids_;
  }

  /// The number of this draw, in [0, 1).
  [[nodiscard]] double number() const noexcept {
    const std::uint64_t bits = kernels::mix_bits(kernels::mix_bits(o_.seed) + o_.step);
    return static_cast<double>(bits >> 11U) * 0x1p-53;
  }

  [[nodiscard]] std::int32_t choose(Index count) const noexcept {
    const double at = number() * sum_of(count);
    double sum = 0.0;
    for (Index i = 0; i < count; ++i) {
      sum += p_[ids_[i]];
      if (at < sum) {
        return ids_[i];
      }
    }
    return ids_[count - 1];
  }

  struct Prefix {
    Index id;
    double sum;  ///< of p_ up to this one, itself included
  };

  /// The first token with which the sum is above `at`, or V. Eight are added at a time, which do not wait for each other.
  [[nodiscard]] Prefix sum_until(double at) const noexcept {
    double sum = 0.0;
    Index i = 0;
    for (; i + 8 <= v_; i += 8) {
      const double* p = p_ + i;
      const double more = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
      if (at < sum + more) {
        break;
      }
      sum += more;
    }
    for (; i < v_; ++i) {
      sum += p_[i];
      if (at < sum) {
        break;
      }
    }
    return {i, sum};
  }

  [[nodiscard]] std::int32_t choose_of_all(double all) const noexcept {
    Index id = sum_until(number() * all).id;
    while (id == v_ || p_[id] == 0.0) {  // where roundings leave the sum below
      --id;
    }
    return static_cast<std::int32_t>(id);
  }

  /// ln p = x - m - ln of the sum of all e^(x_i - m), with m the greatest logit.
  [[nodiscard]] float log_probability(std::int32_t id) noexcept {
    sum_ = sum_ > 0.0 ? sum_ : exponentials(most_, kLog2E);
    constexpr auto kLowest = static_cast<double>(std::numeric_limits<float>::lowest());
    return static_cast<float>(std::max(logit(id) - most_ - natural_log(sum_), kLowest));
  }

  /// The likeliest tokens. After log_probability(), which leaves p_ free and knows the sum.
  void tell_top() noexcept {
    const Index n = args_.top_ids.extent(0);
    if (n == 0) {
      return;
    }
    if (args_.top_after_changes) {
      fill_logits();
    } else {
      fill_given();
    }
    std::iota(ids_, ids_ + v_, 0);
    rank(n, v_);
    for (Index i = 0; i < n; ++i) {
      args_.top_ids.data[i] = ids_[i];
      args_.top_log_probabilities.data[i] =
          p_[ids_[i]] > static_cast<double>(kNever) ? log_probability(ids_[i]) : kNever;
    }
  }

  const SamplingArgs& args_;
  const SamplingOptions& o_;
  const kernels::KernelTable& table_;
  Index v_;
  double most_;
  double* p_;
  std::int32_t* ids_;
  ChangedLogits changed_;
  double sum_ = 0.0;  ///< of log_probability(), where it is known
};

}  // namespace

Status sample(const SamplingArgs& args, Workspace& workspace, SampledToken& token) noexcept {
  QKV_RETURN_IF_ERROR(check_sampling(args));
  const kernels::KernelTable* table = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kSample, table));
  float most = 0.0F;
  QKV_RETURN_IF_ERROR(check_logits(*table, args.logits, most));
  const Index v = args.logits.extent(0);
  QKV_RETURN_IF_ERROR(
      workspace.begin(capped_sum({Workspace::padded(capped_product(v, 2)),
                                  Workspace::padded(capped(v)), ChangedLogits::floats(args)})));
  return Draw({args, *table, most}, workspace).token(token);
}

}  // namespace qkv
