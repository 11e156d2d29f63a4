// Tokens that a session forgets in the middle: those after them move down, and their keys are turned back.
#include <algorithm>
#include <array>
#include <cmath>

#include "attention/kv_cache_access.hpp"
#include "base/float_count.hpp"
#include "base/share.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/call_check.hpp"
#include "models/model_state.hpp"
#include "models/pass_plan.hpp"

namespace qkv {
namespace {

constexpr const char* kRemove = "ModelSession::remove";

/// The rotation by so many positions back, without the factor that keys have been multiplied by already.
RotaryOptions turned_back(const RotaryOptions& by, Index count) noexcept {
  RotaryOptions options = by;
  options.offset = -count;
  const auto type = options.scaling.type;
  if (type == RotaryScaling::Type::kYarn || type == RotaryScaling::Type::kFactors) {
    options.scaling.attention_factor = 1.0;
  }
  return options;
}

/// Keys that were normalised after their rotation have gains in between: without them they are an RMS norm of rotated numbers, which
/// turn as those do.
Status check_gains(const ModelLayer& layer, Index n) noexcept {
  const LayerAttention& a = layer.config.attention;
  if (!a.rotary || !a.qk_norm || a.qk_norm_of != QkNorm::kRotated) {
    return {};
  }
  if (layer.config.norm.type == NormType::kLayer) {
    return refuse(
        StatusCode::kUnsupported, kRemove,
        "layer {} has a layer norm on rotated keys, expected an RMS norm: the mean that it "
        "took away does not turn back",
        n);
  }
  const float* gains = layer.attention.k_norm.gamma.data();
  for (Index i = 0; i < a.d_k; ++i) {
    if (!std::isnormal(gains[i])) {
      return refuse(StatusCode::kUnsupported, kRemove,
                    "gain {} of the keys of layer {} is {}, expected none that is 0: what it took "
                    "away does not turn back",
                    i, n, gains[i]);
    }
  }
  return {};
}

/// Moves tokens of caches down.
class Mover {
 public:
  Mover(const ModelState& state, const ModelRange& gone, Index length) noexcept
      : state_(state), gone_(gone), length_(length) {}

  /// Plans the turns; nothing is written. `session` has the caches.
  Status plan() noexcept {
    for (Index n = 0; n < state_.config.num_layers; ++n) {
      const LayerAttention& a = state_.layers[n].config.attention;
      QKV_RETURN_IF_ERROR(check_gains(state_.layers[n], n));
      if (a.rotary && !turn_of(a).plan.kernels) {
        QKV_RETURN_IF_ERROR(plan_rotary(kRemove, *state_.kernels,
                                        turned_back(*a.rotary, gone_.end - gone_.begin),
                                        {1, 1, a.d_k}, turn_of(a).plan));
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t scratch(int threads) const noexcept {
    std::size_t floats = capped_product(threads, Workspace::padded(capped(row_floats())));
    for (const Turn& turn : turns_) {
      floats = capped_sum({floats, turn.plan.scratch});
    }
    return floats;
  }

  void take(Workspace& workspace) noexcept {
    for (Turn& turn : turns_) {
      if (turn.plan.kernels) {
        turn.rows = take_rows(turn.plan, workspace);
        fill_angles(turn.plan, 0, turn.rows);
      }
    }
    for (int thread = 0; thread < workspace.threads(); ++thread) {
      float* rows = workspace.take(static_cast<std::size_t>(row_floats()));
      rows_ = thread == 0 ? rows : rows_;
    }
    stride_ = static_cast<Index>(Workspace::padded(static_cast<std::size_t>(row_floats())));
  }

  void move(Index n, KvCache& cache, ThreadPool* pool) const noexcept {
    const KvCacheConfig& c = cache.config();
    for_each_task(pool, c.batch * c.num_kv_heads, [&](Index head, int thread) noexcept {
      move_head(state_.layers[n], cache, head, rows_ + thread * stride_);
    });
    KvCacheAccess::set_length(cache, length_ - (gone_.end - gone_.begin));
  }

 private:
  struct Turn {
    RotaryPlan plan;
    RotaryRows rows{};
  };
  /// Tokens that are moved at a time: up to the end of a block, so that no panel is begun that has tokens still to be read.
  static constexpr Index kTokens = kernels::kKeyBlock;

  [[nodiscard]] Index row_floats() const noexcept { return kTokens * state_.config.d_k; }
  [[nodiscard]] Turn& turn_of(const LayerAttention& a) noexcept {
    return turns_[static_cast<std::size_t>(a.rotation) - 1];
  }

  void move_head(const ModelLayer& layer, KvCache& cache, Index head, float* rows) const noexcept {
    const Index end = length_ - (gone_.end - gone_.begin);
    for (Index to = gone_.begin; to < end;) {
      const Index count = std::min(end, (to / kTokens + 1) * kTokens) - to;
      const Index from = to + (gone_.end - gone_.begin);
      KvCacheAccess::read_keys(cache, {head, from, count}, rows);
      turn(layer, rows, count);
      KvCacheAccess::write_keys(cache, {head, to, count}, rows);
      KvCacheAccess::read_values(cache, {head, from, count}, rows);
      KvCacheAccess::write_values(cache, {head, to, count}, rows);
      to += count;
    }
  }

  void turn(const ModelLayer& layer, float* rows, Index count) const noexcept {
    const LayerAttention& a = layer.config.attention;
    if (!a.rotary) {
      return;
    }
    const bool rotated = a.qk_norm && a.qk_norm_of == QkNorm::kRotated;
    const float* gains = rotated ? layer.attention.k_norm.gamma.data() : nullptr;
    const Turn& by = turns_[static_cast<std::size_t>(a.rotation) - 1];
    const auto each_turned = [&](const auto& change) {
      for (Index t = 0; gains && t < count; ++t) {
        for (Index i = 0; i < 2 * by.plan.pairs(); ++i) {
          change(rows[t * a.d_k + i], gains[i]);
        }
      }
    };
    each_turned([](float& x, float gain) { x /= gain; });
    // Rows as heads of one token, which all turn by the same angles.
    const TensorView<float> view(rows, {1, count, 1, a.d_k});
    rotate_heads(by.plan, by.rows, 0, view, view);
    each_turned([](float& x, float gain) { x *= gain; });
  }

  const ModelState& state_;
  ModelRange gone_;
  Index length_;
  std::array<Turn, kRotations> turns_;
  float* rows_ = nullptr;
  Index stride_ = 0;  ///< of the rows of a thread
};

Status check_positions(const LanguageModelConfig& c) noexcept {
  const bool added =
      c.positions == ModelPositions::kLearned || c.positions == ModelPositions::kSinusoidal;
  return added
             ? refuse(StatusCode::kUnsupported, kRemove,
                      "the model adds {} positions to its stream, expected rotary ones, ALiBi, "
                      "relative ones or none: what was added to the tokens that would move cannot "
                      "be taken back",
                      Verbatim{c.positions == ModelPositions::kLearned ? "learned" : "sinusoidal"})
             : Status{};
}

}  // namespace

Status ModelSession::remove(const LanguageModel& model, const ModelRange& tokens,
                            Workspace& workspace) noexcept {
  if (!model.state_ || !model.state_->finished) {
    return refuse_empty(kRemove, model.state_ != nullptr);
  }
  if (layers_ == 0) {
    return refuse_no_session(kRemove);
  }
  const kernels::KernelTable* active = nullptr;
  QKV_RETURN_IF_ERROR(require_kernels(kRemove, active));
  QKV_RETURN_IF_ERROR(check_same_kernels(kRemove, "the model", model.state_->kernels, active));
  QKV_RETURN_IF_ERROR(model.check_session(kRemove, *this));
  const Index held = length();
  const Index end = tokens.end < 0 ? held : tokens.end;
  if (tokens.begin < 0 || tokens.begin > held) {
    return refuse(StatusCode::kOutOfRange, kRemove, "@begin is {}, expected 0 to {}", tokens.begin,
                  held);
  }
  if (end < tokens.begin || end > held) {
    return refuse(StatusCode::kOutOfRange, kRemove, "@end is {}, expected {} to {}", end,
                  tokens.begin, held);
  }
  if (tokens.begin == end || end == held) {
    return truncate(tokens.begin == end ? held : tokens.begin);
  }
  QKV_RETURN_IF_ERROR(check_positions(model.config()));
  Mover mover(*model.state_, {tokens.begin, end}, held);
  QKV_RETURN_IF_ERROR(mover.plan());
  QKV_RETURN_IF_ERROR(workspace.begin(mover.scratch(workspace.threads())));
  mover.take(workspace);
  for (Index n = 0; n < layers_; ++n) {
    mover.move(n, caches_[n], workspace.pool());
  }
  return {};
}

}  // namespace qkv
