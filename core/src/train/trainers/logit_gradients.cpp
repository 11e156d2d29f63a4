// The difference of two logits, and its gradients by activations.
#include <algorithm>
#include <array>

#include "attention/copy_heads.hpp"
#include "base/float_count.hpp"
#include "check/check.hpp"
#include "models/site_check.hpp"
#include "train/trainers/language_model_state.hpp"

namespace qkv::train {
namespace {

constexpr const char* kLogitGradients = "LanguageModelTrainer::logit_gradients";

/// The array of a site; kNoArray where the tape has none.
ArrayId array_at(const Tape& tape, const ModelSteps& steps, ModelSite site, Index layer) noexcept {
  const LayerSteps& at = steps.layers[layer];
  using enum ModelSite;
  switch (site) {
    case kEmbed:
      return steps.embedded;
    case kQ:
      return tape.step_of(at.attended).in[0];
    case kK:
      return tape.step_of(at.attended).in[1];
    case kV:
      return tape.step_of(at.attended).in[2];
    case kZ:
      return at.attended;
    case kAttention:
      return at.attention;
    case kMiddle:
      return at.middle;
    case kNeurons:
      return at.neurons;
    case kFeedForward:
      return at.fed;
    case kResidual:
      return at.residual;
    case kFinal:
      return steps.last;
    default:
      return kNoArray;
  }
}

/// Whether the tape has an array of a site, in models that have the site.
bool is_kept(ModelSite site) noexcept {
  using enum ModelSite;
  return site != kScores && site != kWeights && site != kHeads && site != kEntropy &&
         site != kLogits && site != kNormWeights;
}

Status check_site_list(const SiteCall& call, std::span<const ModelReading> readings,
                       const char* name) noexcept {
  QKV_RETURN_IF_ERROR(check_readings(kLogitGradients, call, readings, name));
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (!is_kept(readings[i].site)) {
      return refuse(StatusCode::kUnsupported, kLogitGradients,
                    "the site of {} is {}, expected another: the trainer does not keep it",
                    Argument{name, static_cast<Index>(i)}, Verbatim{site_name(readings[i].site)});
    }
  }
  return {};
}

/// What is written lies apart from what is read and from all else that is written.
Status check_logit_memory(const LanguageModelTrainer::LogitArgs& args) noexcept {
  const std::array<NamedSpan, 3> inputs = {{{"ids", args.tokens.ids},
                                            {"key_lengths", args.tokens.key_lengths},
                                            {"token_types", args.tokens.token_types}}};
  const std::size_t of_pass = args.activations.size();
  const std::size_t count = of_pass + args.gradients.size();
  const auto span = [&](std::size_t i) {
    return span_of(i < of_pass ? args.activations[i] : args.gradients[i - of_pass]);
  };
  for (std::size_t i = 0; i < count; ++i) {
    QKV_RETURN_IF_ERROR(check_apart(kLogitGradients, {span(i)}, inputs));
    for (std::size_t other = i + 1; other < count; ++other) {
      QKV_RETURN_IF_ERROR(check_apart(kLogitGradients, {span(i)}, {span(other)}));
    }
  }
  return {};
}

Status check_logit_args(const LanguageModelConfig& c,
                        const LanguageModelTrainer::LogitArgs& args) noexcept {
  QKV_RETURN_IF_ERROR(check_tokens_of(kLogitGradients, c, args.tokens));
  const Index rows = args.tokens.ids.extent(0);
  const Index length = args.tokens.ids.extent(1);
  const struct {
    const char* name;
    Index value, least, end;
  } numbers[] = {{"batch", args.batch, 0, rows},
                 {"row", args.row, -1, length},
                 {"answer", args.answer, 0, c.vocabulary},
                 {"instead", args.instead, -1, c.vocabulary}};
  for (const auto& each : numbers) {
    if (each.value < each.least || each.value >= each.end) {
      return refuse(StatusCode::kOutOfRange, kLogitGradients, "{} is {}, expected [{}, {})",
                    Argument{each.name}, each.value, each.least, each.end);
    }
  }
  const SiteCall call{c, rows, length, length, 0};
  QKV_RETURN_IF_ERROR(check_site_list(call, args.activations, "activations"));
  QKV_RETURN_IF_ERROR(check_site_list(call, args.gradients, "gradients"));
  return check_logit_memory(args);
}

/// Rows of a site from `from`, which has all rows of the array side by side, to where a reading wants them.
void write_site(const LanguageModelConfig& c, const TokenBatch& tokens, const float* from,
                const ModelReading& reading) noexcept {
  const Index batch = tokens.ids.extent(0);
  const Index length = tokens.ids.extent(1);
  const SiteAxes axes = site_axes(c, reading.site, length);
  const Index heads = std::max<Index>(axes.heads, 1);
  TensorView<const float> rows = split_heads(from, batch, length, heads, axes.width);
  const Index end = reading.row_end < 0 ? length : reading.row_end;
  rows.data += reading.row_begin * rows.stride(2);
  rows.shape[2] = end - reading.row_begin;
  TensorView<float> to = reading.to;
  if (to.rank == 3) {  // as of one head
    to.rank = 4;
    to.shape = {to.shape[0], 1, to.shape[1], to.shape[2]};
    to.strides = {to.strides[0], 0, to.strides[1], to.strides[2]};
  }
  copy_heads(rows, to);
}

}  // namespace

TensorView<float> LanguageModelTrainer::reading_view(const TokenBatch& tokens,
                                                     const ModelReading& reading,
                                                     float* to) const noexcept {
  const Index length = tokens.ids.extent(1);
  const Index end = reading.row_end < 0 ? length : reading.row_end;
  return site_view(site_axes(config(), reading.site, length), tokens.ids.extent(0),
                   end - reading.row_begin, to);
}

Status LanguageModelTrainer::logit_gradients(const LogitArgs& args, Workspace& workspace,
                                             double& value) noexcept {
  if (!state_) {
    return refuse_empty(kLogitGradients);
  }
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kLogitGradients, kernels));
  State& state = *state_;
  QKV_RETURN_IF_ERROR(check_logit_args(state.config, args));
  const Index length = args.tokens.ids.extent(1);
  QKV_RETURN_IF_ERROR(state.record(kLogitGradients, kernels, args.tokens.ids.extent(0), length));
  const Tape& tape = state.tape;
  const auto array_of = [&](const ModelReading& reading) {
    return array_at(tape, state.steps, reading.site, reading.layer);
  };
  std::size_t floats = 0;
  for (const ModelReading& each : args.gradients) {
    floats = capped_sum({floats, static_cast<std::size_t>(tape[array_of(each)].size())});
  }
  QKV_RETURN_IF_ERROR(state.kept.reserve(floats));

  TapeInputs inputs = state.inputs_of(args.tokens, false);
  inputs.activations_alone = true;
  QKV_RETURN_IF_ERROR(tape.forward(kernels, inputs, workspace));
  const TapeArray& logits = tape[state.steps.logits];
  const Index token = args.batch * length + (args.row < 0 ? length - 1 : args.row);
  const float* row = logits.value + token * logits.width;
  const double found = static_cast<double>(row[args.answer]) -
                       (args.instead < 0 ? 0.0 : static_cast<double>(row[args.instead]));
  if (!args.gradients.empty()) {
    std::fill_n(logits.gradient, logits.size(), 0.0F);
    float* seed = logits.gradient + token * logits.width;
    seed[args.answer] += 1.0F;
    if (args.instead >= 0) {
      seed[args.instead] -= 1.0F;
    }
    QKV_RETURN_IF_ERROR(tape.backward(kernels, inputs, workspace, [&](ArrayId id) noexcept {
      float* to = state.kept.data();
      for (const ModelReading& each : args.gradients) {
        const TapeArray& array = tape[array_of(each)];
        if (array_of(each) == id) {
          std::copy_n(array.gradient, array.size(), to);
        }
        to += array.size();
      }
    }));
  }
  for (const ModelReading& each : args.activations) {
    write_site(state.config, args.tokens, tape[array_of(each)].value, each);
  }
  const float* from = state.kept.data();
  for (const ModelReading& each : args.gradients) {
    write_site(state.config, args.tokens, from, each);
    from += tape[array_of(each)].size();
  }
  value = found;
  return {};
}

}  // namespace qkv::train
