// How much of a logit each part of the stream gives: a pass that reads one token's parts, and a direction that goes down through
// them.
#include <algorithm>
#include <array>
#include <cmath>
#include <new>

#include "check/check.hpp"
#include "models/call_check.hpp"
#include "models/model_check.hpp"
#include "models/model_pass.hpp"
#include "models/running_pass.hpp"
#include "weights/weight_rows.hpp"

namespace qkv {
namespace {

constexpr const char* kAttribute = "LanguageModel::attribute";

/// Sums and products in double precision.
double dot(const double* g, const float* x, Index n) noexcept {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) {
    sum += g[i] * static_cast<double>(x[i]);
  }
  return sum;
}

/// What is read of one token in each layer: readings of one row, in memory of the workspace.
class TokenReadings {
 public:
  /// Sites of a layer, in this order; those that the model lacks are left out.
  enum Part : std::uint8_t { kZ, kAttention, kCross, kMiddle, kFeedForward, kResidual, kParts };

  TokenReadings(const LanguageModel& model, const LanguageModel::AttributeArgs& args) noexcept
      : model_(model), args_(args), c_(model.config()), first_(args.pass.begin.layer) {}

  [[nodiscard]] bool has(Part part) const noexcept {
    const bool feeds = c_.d_feed_forward > 0;
    switch (part) {
      case kCross:
        return c_.encoder_layers > 0;
      case kMiddle:
        return feeds && c_.norm == NormPlacement::kPost;
      case kFeedForward:
        return feeds;
      default:
        return true;
    }
  }
  /// At most.
  [[nodiscard]] Index count() const noexcept {
    return detail::saturated_sum(detail::saturated_product(c_.num_layers, kParts), 2);
  }
  /// Floats of memory for lists and numbers.
  [[nodiscard]] std::size_t floats() const noexcept {
    const std::size_t row = Workspace::padded(
        capped_product(args_.pass.ids.extent(0),
                       std::max(c_.d_model, detail::saturated_product(c_.num_heads, c_.d_k))));
    return capped_sum({Workspace::padded_as<ModelReading>(static_cast<std::size_t>(count())),
                       capped_product(count(), row)});
  }

  /// Lists the readings.
  void take(Workspace& workspace) noexcept {
    const Index token = args_.row < 0 ? args_.pass.ids.extent(1) - 1 : args_.row;
    list_ = reinterpret_cast<ModelReading*>(
        workspace.take(Workspace::padded_as<ModelReading>(static_cast<std::size_t>(count()))));
    const auto add = [&](ModelSite site, Index layer) {
      auto* reading = new (list_ + size_++)
          ModelReading{.site = site, .layer = layer, .row_begin = token, .row_end = token + 1};
      reading->to = model_.reading_view(args_.pass, *reading, nullptr);
      reading->to.data = workspace.take(static_cast<std::size_t>(reading->to.size()));
    };
    add(ModelSite::kFinal, 0);
    if (first_ == 0) {
      add(ModelSite::kEmbed, 0);
    }
    for (Index n = first_; n < c_.num_layers; ++n) {
      for (int part = 0; part < kParts; ++part) {
        if (has(static_cast<Part>(part))) {
          add(kSites[part], n);
        }
      }
    }
  }
  [[nodiscard]] std::span<const ModelReading> list() const noexcept {
    return {list_, static_cast<std::size_t>(size_)};
  }
  /// Of the row of the batch.
  [[nodiscard]] const float* at(ModelSite site, Index layer) const noexcept {
    for (const ModelReading& each : list()) {
      if (each.site == site && each.layer == layer) {
        return each.to.at(args_.batch);
      }
    }
    return nullptr;
  }
  [[nodiscard]] const float* at(Part part, Index layer) const noexcept {
    return at(kSites[part], layer);
  }

 private:
  static constexpr ModelSite kSites[] = {ModelSite::kZ,           ModelSite::kAttention,
                                         ModelSite::kCross,       ModelSite::kMiddle,
                                         ModelSite::kFeedForward, ModelSite::kResidual};
  const LanguageModel& model_;
  const LanguageModel::AttributeArgs& args_;
  const LanguageModelConfig& c_;
  Index first_;
  ModelReading* list_ = nullptr;
  Index size_ = 0;
};

/// The direction on its way down, and what it meets.
class Descent {
 public:
  Descent(const ModelState& state, const LanguageModel::AttributeArgs& args,
          const TokenReadings& of, Workspace& workspace) noexcept
      : state_(state),
        c_(state.config),
        args_(args),
        of_(of),
        first_(args.pass.begin.layer),
        g_(workspace.take_as<double>(size(c_.d_model))),
        sum_(workspace.take_as<double>(size(c_.d_model))),
        through_(workspace.take_as<double>(size(c_.d_model))),
        of_heads_(workspace.take_as<double>(size(width()))),
        column_(workspace.take(size(std::max(width(), c_.d_model)))) {}

  [[nodiscard]] static std::size_t floats(const LanguageModelConfig& c) noexcept {
    const auto d = static_cast<std::size_t>(c.d_model);
    const auto heads = static_cast<std::size_t>(detail::saturated_product(c.num_heads, c.d_k));
    return capped_sum({3 * Workspace::padded_as<double>(d), Workspace::padded_as<double>(heads),
                       Workspace::padded(std::max(d, heads))});
  }

  void run() noexcept {
    for (Index n = 0; n < first_; ++n) {
      std::fill_n(parts(n), c_.num_heads + 3, 0.0);
    }
    begin();
    for (Index n = c_.num_layers - 1; n >= first_; --n) {
      layer(n);
    }
    *args_.rest.at(0) = dot(g_, before(first_), c_.d_model);
    *args_.rest.at(1) = rest_;
  }

 private:
  using Part = TokenReadings::Part;
  static std::size_t size(Index n) noexcept { return static_cast<std::size_t>(n); }
  [[nodiscard]] Index width() const noexcept { return c_.num_heads * c_.d_k; }
  [[nodiscard]] double* parts(Index n) const noexcept { return args_.parts.at(n); }

  /// The stream before a layer.
  [[nodiscard]] const float* before(Index n) const noexcept {
    if (n > first_) {
      return of_.at(Part::kResidual, n - 1);
    }
    const Index token = args_.row < 0 ? args_.pass.ids.extent(1) - 1 : args_.row;
    return n == 0 ? of_.at(ModelSite::kEmbed, 0) : args_.pass.begin.stream.at(args_.batch, token);
  }

  /// The direction that the head reads, and down through the last norm.
  void begin() noexcept {
    const PackedLinear& map = state_.last_map();
    const auto add = [&](Index id, double sign) {
      read_column(*state_.kernels, map, id, column_);
      for (Index i = 0; i < c_.d_model; ++i) {
        g_[i] += sign * static_cast<double>(column_[i]);
      }
      rest_ += map.bias.data() ? sign * static_cast<double>(map.bias.data()[id]) : 0.0;
    };
    std::fill_n(g_, c_.d_model, 0.0);
    add(args_.answer, 1.0);
    if (args_.instead >= 0) {
      add(args_.instead, -1.0);
    }
    const float* last = of_.at(ModelSite::kFinal, 0);
    *args_.rest.at(2) = dot(g_, last, c_.d_model) + rest_;
    if (c_.norm != NormPlacement::kPost) {
      const float* x = of_.at(Part::kResidual, c_.num_layers - 1);
      std::copy_n(x, c_.d_model, sum_);
      pass_norm(state_.norm, last);
    }
  }

  /// g before a norm of sum_, which made `y` of it. What y has besides goes to the rest.
  void pass_norm(const ModelNorm& norm, const float* y) noexcept {
    rest_ += dot(g_, y, c_.d_model);
    pull(norm, g_);
    for (Index i = 0; i < c_.d_model; ++i) {
      rest_ -= g_[i] * sum_[i];
    }
  }

  /// A direction after a norm of sum_ becomes the one before it.
  void pull(const ModelNorm& norm, double* g) const noexcept {
    const Index d = c_.d_model;
    const auto n = static_cast<double>(d);
    const bool centre = c_.norm_type == NormType::kLayer;
    double mean = 0.0;
    for (Index i = 0; centre && i < d; ++i) {
      mean += sum_[i] / n;
    }
    double squares = 0.0;
    for (Index i = 0; i < d; ++i) {
      squares += (sum_[i] - mean) * (sum_[i] - mean) / n;
    }
    const double scale = 1.0 / std::sqrt(squares + static_cast<double>(c_.epsilon));
    double of_g = 0.0;
    for (Index i = 0; i < d; ++i) {
      g[i] *= scale * static_cast<double>(norm.gamma.data()[i]);
      of_g += g[i] / n;
    }
    for (Index i = 0; centre && i < d; ++i) {
      g[i] -= of_g;
    }
  }

  /// sum_ = x + y.
  void add(const float* x, const float* y) noexcept {
    for (Index i = 0; i < c_.d_model; ++i) {
      sum_[i] = static_cast<double>(x[i]) + static_cast<double>(y[i]);
    }
  }

  void layer(Index n) noexcept {
    const ModelLayer& layer = state_.layers[n];
    const float* x = before(n);
    const float* out = of_.at(Part::kResidual, n);
    const float* attention = of_.at(Part::kAttention, n);
    const float* cross = of_.at(Part::kCross, n);
    const float* fed = of_.at(Part::kFeedForward, n);
    double* to = parts(n);
    double& of_cross = to[c_.num_heads + 1];
    double& of_fed = to[c_.num_heads + 2];
    of_cross = of_fed = 0.0;
    if (layer.config.norms.sum) {
      const float* middle = fed ? of_.at(Part::kMiddle, n) : out;
      if (fed) {
        add(middle, fed);
        pass_norm(layer.norm2, out);
        of_fed = dot(g_, fed, c_.d_model);
      }
      add(x, attention);
      pass_norm(layer.norm1, middle);
    } else {
      // What the sum has besides its parts.
      rest_ += dot(g_, out, c_.d_model) - dot(g_, x, c_.d_model) - dot(g_, attention, c_.d_model);
      of_cross = cross ? dot(g_, cross, c_.d_model) : 0.0;
      of_fed = fed ? dot(g_, fed, c_.d_model) : 0.0;
      rest_ -= of_cross + of_fed;
    }
    heads(n, attention);
  }

  /// What each head of layer n gives, and what attention adds besides.
  void heads(Index n, const float* attention) noexcept {
    const ModelLayer& layer = state_.layers[n];
    const PackedLinear& wo = layer.attention.wo;
    const float* z = of_.at(Part::kZ, n);
    const double* g = g_;
    if (layer.config.norms.output) {
      for (Index j = 0; j < c_.d_model; ++j) {
        read_column(*state_.kernels, wo, j, column_);
        sum_[j] = wo.bias.data() ? static_cast<double>(wo.bias.data()[j]) : 0.0;
        for (Index i = 0; i < width(); ++i) {
          sum_[j] += static_cast<double>(z[i]) * static_cast<double>(column_[i]);
        }
      }
      std::copy_n(g_, c_.d_model, through_);
      pull(layer.post_norm1, through_);
      g = through_;
    }
    std::fill_n(of_heads_, width(), 0.0);
    for (Index j = 0; j < c_.d_model; ++j) {
      read_column(*state_.kernels, wo, j, column_);
      for (Index i = 0; i < width(); ++i) {
        of_heads_[i] += g[j] * static_cast<double>(column_[i]);
      }
    }
    double* to = parts(n);
    double besides = dot(g_, attention, c_.d_model);
    for (Index h = 0; h < c_.num_heads; ++h) {
      to[h] = dot(of_heads_ + h * c_.d_k, z + h * c_.d_k, c_.d_k);
      besides -= to[h];
    }
    to[c_.num_heads] = besides;
  }

  const ModelState& state_;
  const LanguageModelConfig& c_;
  const LanguageModel::AttributeArgs& args_;
  const TokenReadings& of_;
  Index first_;
  double *g_, *sum_,
      *through_;  ///< [d_model]: the direction, a sum that a norm reads, the direction before a norm on attention
  double* of_heads_;  ///< [num_heads d_k]
  float* column_;
  double rest_ = 0.0;
};

Status check_attribute(const LanguageModelConfig& c,
                       const LanguageModel::AttributeArgs& args) noexcept {
  const LanguageModel::ForwardArgs& pass = args.pass;
  QKV_RETURN_IF_ERROR(check_plain_head(kAttribute, c));
  if (!pass.sessions.empty()) {
    return refuse(StatusCode::kInvalidArgument, kAttribute,
                  "@sessions is given, expected one @session or none");
  }
  if (!pass.readings.empty() || !pass.lenses.empty()) {
    return refuse(StatusCode::kInvalidArgument, kAttribute,
                  "the pass has readings or lenses, expected none");
  }
  const struct {
    const char* name;
    Index value, least, end;
  } numbers[] = {{"batch", args.batch, 0, pass.ids.extent(0)},
                 {"row", args.row, -1, pass.ids.extent(1)},
                 {"answer", args.answer, 0, c.vocabulary},
                 {"instead", args.instead, -1, c.vocabulary}};
  for (const auto& each : numbers) {
    if (each.value < each.least || each.value >= each.end) {
      return refuse(StatusCode::kOutOfRange, kAttribute, "{} is {}, expected [{}, {})",
                    Argument{each.name}, each.value, each.least, each.end);
    }
  }
  QKV_RETURN_IF_ERROR(
      check_dense(kAttribute, "parts", args.parts, {c.num_layers, c.num_heads + 3}));
  QKV_RETURN_IF_ERROR(check_dense(kAttribute, "rest", args.rest, {3}));
  const std::array<NamedSpan, 2> outputs = {{{"parts", args.parts}, {"rest", args.rest}}};
  const std::array<NamedSpan, 7> others = {{{"ids", pass.ids},
                                            {"token_types", pass.token_types},
                                            {"key_lengths", pass.key_lengths},
                                            {"begin", pass.begin.stream},
                                            {"logits", pass.logits},
                                            {"hidden", pass.hidden},
                                            {"surprisal", pass.surprisal}}};
  return check_apart(kAttribute, outputs, others);
}

}  // namespace

Status LanguageModel::attribute(const AttributeArgs& args, Workspace& workspace) const noexcept {
  if (!state_ || !state_->finished) {
    return refuse_empty(kAttribute, state_ != nullptr);
  }
  QKV_RETURN_IF_ERROR(check(args.pass));
  QKV_RETURN_IF_ERROR(check_attribute(state_->config, args));
  TokenReadings readings(*this, args);
  RunningPass pass;
  pass.own = capped_sum({readings.floats(), Descent::floats(state_->config)});
  pass.every_row = true;
  QKV_RETURN_IF_ERROR(prepare(args.pass, workspace, pass));
  readings.take(workspace);
  Descent descent(*state_, args, readings, workspace);
  ForwardArgs read = args.pass;
  read.readings = readings.list();
  run(read, workspace, pass);
  descent.run();
  return {};
}

}  // namespace qkv
