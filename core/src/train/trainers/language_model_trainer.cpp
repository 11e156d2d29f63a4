#include "qkv/train/language_model.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "attention/copy_heads.hpp"
#include "check/check.hpp"
#include "isa/isa_dispatch.hpp"
#include "models/call_check.hpp"
#include "positions/sinusoidal.hpp"
#include "qkv/relative_bias.hpp"
#include "train/trainers/evaluate.hpp"
#include "train/trainers/language_model_state.hpp"

namespace qkv::train {

Status check_tokens_of(const Caller& caller, const LanguageModelConfig& c,
                       const TokenBatch& batch) noexcept {
  QKV_RETURN_IF_ERROR(check_tokens(caller, "ids", batch.ids, {c.vocabulary, c.max_length}));
  QKV_RETURN_IF_ERROR(check_lengths(caller, "key_lengths", batch.key_lengths, batch.ids));
  return check_types(caller, c, batch.token_types, batch.ids);
}

// ---------------------------------------------------------------------------------------- the state

Status LanguageModelTrainer::State::record(const char* caller, const TrainKernels& kernels,
                                           Index rows, Index length) noexcept {
  if (arrays.base) {  // also when the tape is kept: its products read packed weights
    QKV_RETURN_IF_ERROR(
        check_same_kernels(caller, "the model", arrays.base->kernels, kernels.forward));
  }
  if (rows == batch && length == tokens) {
    return {};
  }
  batch = 0;  // until all is well
  if (config.token_types > 0) {
    const auto count = static_cast<std::size_t>(detail::saturated_product(rows, length));
    QKV_RETURN_IF_ERROR(first_types.reserve(count));
    std::fill_n(first_types.data(), count, 0.0F);
  }
  QKV_RETURN_IF_ERROR(record_model(config, learner, arrays, rows, length, tape, steps));
  if (steps.positions != kNoArray) {
    QKV_RETURN_IF_ERROR(sinusoidal_encoding(*kernels.forward,
                                            {tape[steps.positions].value, {length, config.d_model}},
                                            0, SinusoidOptions{}));
  }
  if (steps.slopes != kNoArray) {
    QKV_RETURN_IF_ERROR(alibi_slopes({tape[steps.slopes].value, {config.num_heads}}));
  }
  batch = rows;
  tokens = length;
  return {};
}

TapeInputs LanguageModelTrainer::State::inputs_of(const TokenBatch& batch_in,
                                                  bool training) const noexcept {
  TapeInputs inputs;
  inputs.ids = batch_in.ids.data;
  inputs.types = batch_in.token_types.absent()
                     ? reinterpret_cast<const std::int32_t*>(first_types.data())
                     : batch_in.token_types.data;
  inputs.key_lengths = batch_in.key_lengths;
  set_dropout(learner, training, inputs);
  inputs.dropout = inputs.dropout || (training && arrays.adapters.dropout > 0.0F);
  return inputs;
}

/// Checks a batch and records the tape for it.
Status LanguageModelTrainer::State::prepare(const char* caller, const TrainKernels& kernels,
                                            const LanguageBatch& batch_in, bool learn,
                                            TapeRun& run) noexcept {
  const TokenBatch& in = batch_in.tokens;
  QKV_RETURN_IF_ERROR(check_tokens_of(caller, config, in));
  QKV_RETURN_IF_ERROR(check_targets(caller, batch_in.targets, in.ids, config.vocabulary));
  QKV_RETURN_IF_ERROR(record(caller, kernels, in.ids.extent(0), in.ids.extent(1)));
  run = {.caller = caller,
         .kernels = kernels,
         .tape = &tape,
         .logits = steps.logits,
         .targets = batch_in.targets,
         .inputs = inputs_of(in, learn),
         .learn = learn};
  return {};
}

namespace {

/// What a reading writes.
std::array<NamedSpan, 6> spans_of(const LayerReading& r) noexcept {
  return {{{"weights", r.weights},
           {"entropy", r.entropy},
           {"residual", r.residual},
           {"q", r.q},
           {"k", r.k},
           {"v", r.v}}};
}

/// Every array that forward() writes lies apart from every other and from what is read.
Status check_memory(const Caller& caller, const TokenBatch& tokens, const TensorView<float>& logits,
                    std::span<const LayerReading> readings) noexcept {
  const std::array<NamedSpan, 3> inputs = {{{"ids", tokens.ids},
                                            {"key_lengths", tokens.key_lengths},
                                            {"token_types", tokens.token_types}}};
  const std::array<NamedSpan, 1> results = {{{"logits", logits}}};
  QKV_RETURN_IF_ERROR(check_apart(caller, results, inputs));
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto own = spans_of(readings[i]);
    QKV_RETURN_IF_ERROR(check_apart(caller, own, results));
    QKV_RETURN_IF_ERROR(check_apart(caller, own, inputs));
    for (const LayerReading& other : readings.subspan(i + 1)) {
      QKV_RETURN_IF_ERROR(check_apart(caller, own, spans_of(other)));
    }
  }
  return {};
}

}  // namespace

/// Whether there is such a layer, and the arrays of the reading fit. Checked before anything is computed: attention() would
/// refuse `weights` and `entropy` only after other readings were written.
Status LanguageModelTrainer::State::check_reading(
    const Caller& caller, const LayerReading& reading,
    const TensorView<const std::int32_t>& ids) const noexcept {
  if (reading.layer < 0 || reading.layer >= config.num_layers) {
    return refuse(StatusCode::kOutOfRange, caller, "@layer is {}, expected [0, {})", reading.layer,
                  config.num_layers);
  }
  const Index rows = ids.extent(0);
  const Index length = ids.extent(1);
  QKV_RETURN_IF_ERROR(check_output_if_given(caller, "weights", reading.weights,
                                            {rows, config.num_heads, length, length}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(caller, "entropy", reading.entropy, {rows, config.num_heads, length}));
  QKV_RETURN_IF_ERROR(
      check_dense_if_given(caller, "residual", reading.residual, {rows, length, config.d_model}));
  QKV_RETURN_IF_ERROR(
      check_output_if_given(caller, "q", reading.q, {rows, config.num_heads, length, config.d_k}));
  QKV_RETURN_IF_ERROR(check_output_if_given(caller, "k", reading.k,
                                            {rows, config.num_kv_heads, length, config.d_k}));
  return check_output_if_given(caller, "v", reading.v,
                               {rows, config.num_kv_heads, length, config.d_k});
}

/// What one layer has computed in the forward pass.
Status LanguageModelTrainer::State::read(const TrainKernels& kernels, const LayerReading& reading,
                                         const TapeInputs& inputs,
                                         Workspace& workspace) const noexcept {
  const LayerSteps& at = steps.layers[reading.layer];
  if (!reading.residual.absent()) {
    const TapeArray& x = tape[at.residual];
    std::copy_n(x.value, x.size(), reading.residual.data);
  }
  const AttendedHeads heads = heads_read(tape, at.attended);
  copy_heads(heads.q, reading.q);
  copy_heads(heads.k, reading.k);
  copy_heads(heads.v, reading.v);
  if (reading.weights.absent() && reading.entropy.absent()) {
    return {};
  }
  AttentionExtras extras;
  extras.weights = reading.weights;
  extras.entropy = reading.entropy;
  return read_attention(kernels, tape, at.attended, inputs, extras, workspace);
}

// ------------------------------------------------------------------------------------- the public calls

LanguageModelTrainer::~LanguageModelTrainer() {
  if (state_) {
    state_->~State();
  }
}

Status LanguageModelTrainer::make_state() noexcept {
  QKV_RETURN_IF_ERROR(memory_.reserve((sizeof(State) - 1) / sizeof(float) + 1));
  state_ = new (memory_.data()) State;
  return {};
}

Status LanguageModelTrainer::create_as(const char* caller, const LanguageModelConfig& config,
                                       const TrainerOptions& options,
                                       LanguageModelTrainer& trainer) noexcept {
  LanguageModelConfig whole = config;
  QKV_RETURN_IF_ERROR(check_config(caller, whole));
  LanguageModelTrainer made;
  QKV_RETURN_IF_ERROR(made.make_state());
  State& state = *made.state_;
  state.config = whole;
  QKV_RETURN_IF_ERROR(state.lists.keep(state.config));
  Declarer declarer(state.learner);
  QKV_RETURN_IF_ERROR(for_each_array(state.config, state.arrays, declarer));
  QKV_RETURN_IF_ERROR(state.learner.create(caller, options, config.num_layers));
  trainer = static_cast<LanguageModelTrainer&&>(made);
  return {};
}

Status LanguageModelTrainer::create(const LanguageModelConfig& config,
                                    const TrainerOptions& options,
                                    LanguageModelTrainer& trainer) noexcept {
  return create_as("LanguageModelTrainer::create", config, options, trainer);
}

Status LanguageModelTrainer::step(const LanguageBatch& batch, Workspace& workspace,
                                  StepResult& result) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::step";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, true, run));
  return make_step(run, state_->learner, workspace, result);
}

Status LanguageModelTrainer::accumulate(const LanguageBatch& batch, Workspace& workspace,
                                        Evaluation& result) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::accumulate";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, true, run));
  return train::accumulate(run, state_->learner, workspace, result);
}

Status LanguageModelTrainer::differentiate(const LanguageBatch& batch, Workspace& workspace,
                                           Evaluation& result) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::differentiate";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, true, run));
  return train::evaluate(run, workspace, result);
}

Status LanguageModelTrainer::evaluate(const LanguageBatch& batch, Workspace& workspace,
                                      Evaluation& result) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::evaluate";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, false, run));
  return train::evaluate(run, workspace, result);
}

Status LanguageModelTrainer::forward(const TokenBatch& tokens, TensorView<float> logits,
                                     std::span<const LayerReading> readings,
                                     Workspace& workspace) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::forward";
  if (!state_) {
    return refuse_empty(kName);
  }
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  QKV_RETURN_IF_ERROR(check_tokens_of(kName, state_->config, tokens));
  QKV_RETURN_IF_ERROR(check_dense_if_given(
      kName, "logits", logits,
      {tokens.ids.extent(0), tokens.ids.extent(1), state_->config.vocabulary}));
  for (const LayerReading& reading : readings) {
    QKV_RETURN_IF_ERROR(state_->check_reading(kName, reading, tokens.ids));
  }
  QKV_RETURN_IF_ERROR(check_memory(kName, tokens, logits, readings));
  QKV_RETURN_IF_ERROR(state_->record(kName, kernels, tokens.ids.extent(0), tokens.ids.extent(1)));
  const TapeInputs inputs = state_->inputs_of(tokens, false);
  QKV_RETURN_IF_ERROR(state_->tape.forward(kernels, inputs, workspace));
  for (const LayerReading& reading : readings) {
    QKV_RETURN_IF_ERROR(state_->read(kernels, reading, inputs, workspace));
  }
  if (!logits.absent()) {
    const TapeArray& from = state_->tape[state_->steps.logits];
    std::copy_n(from.value, from.size(), logits.data);
  }
  return {};
}

const LanguageModelConfig& LanguageModelTrainer::config() const noexcept {
  static constexpr LanguageModelConfig kNone;
  return state_ ? state_->config : kNone;
}
std::int64_t LanguageModelTrainer::steps() const noexcept {
  return state_ ? state_->learner.steps() : 0;
}
Index LanguageModelTrainer::parameter_count() const noexcept {
  return state_ ? state_->learner.parameters() : 0;
}
Index LanguageModelTrainer::array_count() const noexcept {
  return state_ ? state_->learner.count() : 0;
}
TrainedArray LanguageModelTrainer::array(Index i) const noexcept { return state_->learner.view(i); }
Moments LanguageModelTrainer::moments(Index i) noexcept { return state_->learner.moments(i); }
Status LanguageModelTrainer::set_steps(std::int64_t steps) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::set_steps";
  if (!state_) {
    return refuse_empty(kName);
  }
  return state_->learner.set_steps(kName, steps);
}

}  // namespace qkv::train
