// What biases, penalties and a mask make of logits: few of them change, so that they are a list beside the logits as they
// were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/float_count.hpp"
#include "qkv/sampling.hpp"

namespace qkv {

/// Each token that a bias or a penalty is for, once, with its logit afterwards; and the tokens that may not be chosen.
class ChangedLogits {
 public:
  /// Floats of a workspace that the list of a call takes.
  [[nodiscard]] static std::size_t floats(const SamplingArgs& args) noexcept {
    const std::size_t n = most(args);
    return capped_sum({2 * Workspace::padded(n), Workspace::padded_as<double>(n)});
  }

  /// `marks` has an element for each token, and is free again afterwards.
  ChangedLogits(const SamplingArgs& args, std::int32_t* marks, Workspace& workspace) noexcept
      : args_(args),
        ids_(workspace.take_as<std::int32_t>(most(args))),
        counts_(workspace.take_as<std::int32_t>(most(args))),
        values_(workspace.take_as<double>(most(args))) {
    list(marks);
  }

  /// Whether a logit may be another one than that which was given.
  [[nodiscard]] bool any() const noexcept { return count_ > 0 || !args_.allowed.absent(); }

  /// f(id, logit) for each token of the list.
  template <class F>
  void each(const F& f) const noexcept {
    for (Index i = 0; i < count_; ++i) {
      f(ids_[i], values_[i]);
    }
  }

  /// f(id) for each token that may not be chosen.
  template <class F>
  void each_forbidden(const F& f) const noexcept {
    const Index v = args_.allowed.absent() ? 0 : args_.logits.extent(0);
    for (Index i = 0; i < v; ++i) {
      const auto word = static_cast<std::uint32_t>(args_.allowed.data[i / 32]);
      if ((word >> static_cast<std::uint32_t>(i % 32) & 1U) == 0) {
        f(i);
      }
    }
  }

 private:
  static bool penalizes(const SamplingOptions& o) noexcept {
    return o.repetition_penalty != 1.0F || o.frequency_penalty != 0.0F ||
           o.presence_penalty != 0.0F;
  }
  /// Tokens that there is room for.
  static std::size_t most(const SamplingArgs& args) noexcept {
    return static_cast<std::size_t>(count(args.bias_ids)) +
           (penalizes(args.options) ? static_cast<std::size_t>(count(args.seen)) : 0);
  }
  /// What is absent has no elements, whatever its shape says.
  static Index count(const TensorView<const std::int32_t>& ids) noexcept {
    return ids.absent() ? 0 : ids.extent(0);
  }

  void list(std::int32_t* marks) noexcept {
    const Index biases = count(args_.bias_ids);
    const Index seen = static_cast<Index>(most(args_)) - biases;
    for (Index i = 0; i < biases; ++i) {
      marks[args_.bias_ids.data[i]] = -1;
    }
    for (Index i = 0; i < seen; ++i) {
      marks[args_.seen.data[i]] = -1;
    }
    for (Index i = 0; i < biases; ++i) {
      values_[place_of(args_.bias_ids.data[i], marks)] += static_cast<double>(args_.biases.data[i]);
    }
    for (Index i = 0; i < seen; ++i) {
      ++counts_[place_of(args_.seen.data[i], marks)];
    }
    for (Index i = 0; i < count_; ++i) {
      values_[i] = counts_[i] > 0 ? penalized(values_[i], counts_[i]) : values_[i];
    }
  }

  Index place_of(std::int32_t id, std::int32_t* marks) noexcept {
    if (marks[id] < 0) {
      constexpr auto kNever = -std::numeric_limits<double>::infinity();
      const auto given = static_cast<double>(args_.logits.data[id]);
      marks[id] = static_cast<std::int32_t>(count_);
      ids_[count_] = id;
      counts_[count_] = 0;
      values_[count_++] = given > kNever ? given : kNever;  // of NaN too
    }
    return marks[id];
  }

  [[nodiscard]] double penalized(double z, std::int32_t count) const noexcept {
    const SamplingOptions& o = args_.options;
    const auto factor = static_cast<double>(o.repetition_penalty);
    return (z > 0.0 ? z / factor : z * factor) -
           static_cast<double>(count) * static_cast<double>(o.frequency_penalty) -
           static_cast<double>(o.presence_penalty);
  }

  const SamplingArgs& args_;
  std::int32_t* ids_;
  std::int32_t* counts_;
  double* values_;
  Index count_ = 0;
};

}  // namespace qkv
