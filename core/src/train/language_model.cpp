#include "qkv/train/language_model.hpp"

#include <algorithm>
#include <new>

#include "check.hpp"
#include "kernels/attention_mask.hpp"
#include "qkv/analysis.hpp"
#include "qkv/positional.hpp"
#include "qkv/relative_bias.hpp"
#include "qkv/train/softmax.hpp"
#include "train/language_model_graph.hpp"

namespace qkv::train {

struct LanguageModelTrainer::State {
  LanguageModelConfig config;
  Learner learner;
  ModelArrays arrays;
  Tape tape;
  ModelSteps steps;
  Index batch = 0, tokens = 0;  ///< what the tape is recorded for

  Status record(Index rows, Index length) noexcept;
  Status run(const Caller& caller, const TokenBatch& tokens_in, bool training,
             Workspace& workspace) noexcept;
  Status judge(const Caller& caller, const LanguageBatch& batch_in, bool training,
               Workspace& workspace, Evaluation& result) noexcept;
  Status check_reading(const Caller& caller, const LayerReading& reading) const noexcept;
  Status read(const LayerReading& reading, const TapeInputs& inputs,
              Workspace& workspace) const noexcept;
  [[nodiscard]] TapeInputs inputs_of(const TokenBatch& batch_in, bool training) const noexcept;
};

namespace {

/// Seeds of dropout begin here, so that they meet no stream of initial weights.
constexpr std::uint64_t kDropoutSalt = 0x64726F706F757473U;

Status check_tokens(const Caller& caller, const LanguageModelConfig& c,
                    const TokenBatch& batch) noexcept {
  QKV_RETURN_IF_ERROR(check_dense(caller, "ids", batch.ids, {kAny, kAny}));
  const Index rows = batch.ids.extent(0);
  const Index length = batch.ids.extent(1);
  if (rows < 1 || length < 1) {
    return refuse(StatusCode::kShapeMismatch, caller, "@ids is {}, expected extents of at least 1",
                  Extents(batch.ids));
  }
  if (length > c.max_length) {
    return refuse(StatusCode::kOutOfRange, caller,
                  "@ids has {} tokens in a row, expected at most {}", length, c.max_length);
  }
  QKV_RETURN_IF_ERROR(check_ids(caller, {batch.ids.data, {batch.ids.size()}}, c.vocabulary));
  if (batch.key_lengths.absent()) {
    return {};
  }
  QKV_RETURN_IF_ERROR(check_dense(caller, "key_lengths", batch.key_lengths, {rows}));
  for (Index b = 0; b < rows; ++b) {
    const Index used = batch.key_lengths.data[b];
    if (used < 0 || used > length) {
      return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected [0, {}]",
                    Argument{"key_lengths", b}, used, length);
    }
  }
  return {};
}

Status check_targets(const Caller& caller, const LanguageModelConfig& c,
                     const LanguageBatch& batch) noexcept {
  const TensorView<const std::int32_t>& ids = batch.tokens.ids;
  QKV_RETURN_IF_ERROR(
      check_dense(caller, "targets", batch.targets, {ids.extent(0), ids.extent(1)}));
  Index counted = 0;
  for (Index i = 0; i < batch.targets.size(); ++i) {
    const std::int32_t target = batch.targets.data[i];
    if (target < -1 || target >= c.vocabulary) {
      return refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected -1 or [0, {})",
                    Argument{"targets", i}, target, c.vocabulary);
    }
    counted += target >= 0 ? 1 : 0;
  }
  return counted > 0
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller,
                      "@targets has nothing that counts, expected at least one that is not -1");
}

Status refuse_empty(const Caller& caller) noexcept {
  return refuse(StatusCode::kInvalidArgument, caller,
                "the trainer is empty, expected one of create()");
}

}  // namespace

// ---------------------------------------------------------------------------------------- the state

Status LanguageModelTrainer::State::record(Index rows, Index length) noexcept {
  if (rows == batch && length == tokens) {
    return {};
  }
  batch = 0;  // until all is well
  QKV_RETURN_IF_ERROR(record_model(config, learner, arrays, rows, length, tape, steps));
  if (config.positions == ModelPositions::kSinusoidal) {
    QKV_RETURN_IF_ERROR(sinusoidal_encoding({tape[steps.positions].value, {length, config.d_model}},
                                            0, SinusoidOptions{}));
  } else if (config.positions == ModelPositions::kAlibi) {
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
  inputs.key_lengths = batch_in.key_lengths;
  inputs.dropout = training && learner.options().dropout > 0.0F;
  inputs.dropout_seed = kernels::mix_bits(learner.options().seed ^ kDropoutSalt) +
                        static_cast<std::uint64_t>(learner.steps());
  return inputs;
}

Status LanguageModelTrainer::State::run(const Caller& caller, const TokenBatch& tokens_in,
                                        bool training, Workspace& workspace) noexcept {
  QKV_RETURN_IF_ERROR(check_tokens(caller, config, tokens_in));
  QKV_RETURN_IF_ERROR(record(tokens_in.ids.extent(0), tokens_in.ids.extent(1)));
  return tape.forward(inputs_of(tokens_in, training), workspace);
}

Status LanguageModelTrainer::State::judge(const Caller& caller, const LanguageBatch& batch_in,
                                          bool training, Workspace& workspace,
                                          Evaluation& result) noexcept {
  QKV_RETURN_IF_ERROR(check_tokens(caller, config, batch_in.tokens));
  QKV_RETURN_IF_ERROR(check_targets(caller, config, batch_in));
  QKV_RETURN_IF_ERROR(run(caller, batch_in.tokens, training, workspace));
  const TapeArray& logits = tape[steps.logits];
  CrossEntropyArgs loss;
  loss.logits = {logits.value, {logits.rows, logits.width}};
  loss.targets = {batch_in.targets.data, {logits.rows}};
  loss.d_logits = {logits.gradient, {logits.rows, logits.width}};
  CrossEntropy found;
  QKV_RETURN_IF_ERROR(cross_entropy(loss, found, workspace));
  if (training) {
    QKV_RETURN_IF_ERROR(tape.backward(inputs_of(batch_in.tokens, training), workspace));
  }
  result.loss = found.loss;
  result.accuracy = static_cast<double>(found.correct) / static_cast<double>(found.counted);
  result.counted = found.counted;
  return {};
}

Status LanguageModelTrainer::State::check_reading(const Caller& caller,
                                                  const LayerReading& reading) const noexcept {
  if (reading.layer < 0 || reading.layer >= config.num_layers) {
    return refuse(StatusCode::kOutOfRange, caller, "@layer is {}, expected [0, {})", reading.layer,
                  config.num_layers);
  }
  if (!reading.residual.absent()) {
    QKV_RETURN_IF_ERROR(
        check_dense(caller, "residual", reading.residual, {batch, tokens, config.d_model}));
  }
  return {};
}

/// What one layer has computed in the forward pass.
Status LanguageModelTrainer::State::read(const LayerReading& reading, const TapeInputs& inputs,
                                         Workspace& workspace) const noexcept {
  const LayerSteps& at = steps.layers[reading.layer];
  if (!reading.residual.absent()) {
    const TapeArray& x = tape[at.residual];
    std::copy_n(x.value, x.size(), reading.residual.data);
  }
  if (reading.weights.absent() && reading.entropy.absent()) {
    return {};
  }
  const auto heads = [&](ArrayId id, Index count) {
    return TensorView<const float>(split_heads(tape[id].value, batch, tokens, count, config.d_k));
  };
  AlignedBuffer out;  // attention() always gives its result, here for nobody
  const Index size = tape[at.q].size();
  QKV_RETURN_IF_ERROR(out.reserve(static_cast<std::size_t>(size)));
  AttentionArgs args;
  args.q = heads(at.q, config.num_heads);
  args.k = heads(at.k, config.num_kv_heads);
  args.v = heads(at.v, config.num_kv_heads);
  args.out = {out.data(), {batch, config.num_heads, tokens, config.d_k}};
  args.options = attention_options(config);
  args.options.key_lengths = inputs.key_lengths;
  if (steps.slopes != kNoArray) {
    args.options.alibi_slopes = {tape[steps.slopes].value, {config.num_heads}};
  }
  args.extras.weights = reading.weights;
  args.extras.entropy = reading.entropy;
  return attention(args, workspace);
}

// ------------------------------------------------------------------------------------- the public calls

LanguageModelTrainer::~LanguageModelTrainer() {
  if (state_) {
    state_->~State();
  }
}

Status LanguageModelTrainer::create(const LanguageModelConfig& config,
                                    const TrainerOptions& options,
                                    LanguageModelTrainer& trainer) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::create";
  LanguageModelTrainer made;
  QKV_RETURN_IF_ERROR(made.memory_.reserve((sizeof(State) - 1) / sizeof(float) + 1));
  made.state_ = new (made.memory_.data()) State;
  State& state = *made.state_;
  state.config = config;
  QKV_RETURN_IF_ERROR(check_config(kName, state.config));
  QKV_RETURN_IF_ERROR(declare_arrays(state.config, state.learner, state.arrays));
  QKV_RETURN_IF_ERROR(state.learner.create(kName, options, config.num_layers));
  trainer = static_cast<LanguageModelTrainer&&>(made);
  return {};
}

Status LanguageModelTrainer::step(const LanguageBatch& batch, Workspace& workspace,
                                  StepResult& result) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::step";
  StepResult found;
  if (!state_) {
    return refuse_empty(kName);
  }
  QKV_RETURN_IF_ERROR(state_->judge(kName, batch, true, workspace, found.before));
  QKV_RETURN_IF_ERROR(state_->learner.update(kName, found));
  result = found;
  return {};
}

Status LanguageModelTrainer::differentiate(const LanguageBatch& batch, Workspace& workspace,
                                           Evaluation& result) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::differentiate";
  return state_ ? state_->judge(kName, batch, true, workspace, result) : refuse_empty(kName);
}

Status LanguageModelTrainer::evaluate(const LanguageBatch& batch, Workspace& workspace,
                                      Evaluation& result) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::evaluate";
  return state_ ? state_->judge(kName, batch, false, workspace, result) : refuse_empty(kName);
}

Status LanguageModelTrainer::forward(const TokenBatch& tokens, TensorView<float> logits,
                                     std::span<const LayerReading> readings,
                                     Workspace& workspace) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::forward";
  if (!state_) {
    return refuse_empty(kName);
  }
  QKV_RETURN_IF_ERROR(check_tokens(kName, state_->config, tokens));
  if (!logits.absent()) {
    QKV_RETURN_IF_ERROR(
        check_dense(kName, "logits", logits,
                    {tokens.ids.extent(0), tokens.ids.extent(1), state_->config.vocabulary}));
  }
  QKV_RETURN_IF_ERROR(state_->run(kName, tokens, false, workspace));
  for (const LayerReading& reading : readings) {
    QKV_RETURN_IF_ERROR(state_->check_reading(kName, reading));
  }
  const TapeInputs inputs = state_->inputs_of(tokens, false);
  for (const LayerReading& reading : readings) {
    QKV_RETURN_IF_ERROR(state_->read(reading, inputs, workspace));
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
LanguageModelTrainer::Moments LanguageModelTrainer::moments(Index i) noexcept {
  return {state_->learner.first_moment(i), state_->learner.second_moment(i)};
}
Status LanguageModelTrainer::set_steps(std::int64_t steps) noexcept {
  constexpr const char* kName = "LanguageModelTrainer::set_steps";
  if (!state_) {
    return refuse_empty(kName);
  }
  QKV_RETURN_IF_ERROR(check_size(kName, "steps", steps, 0));
  state_->learner.set_steps(steps);
  return {};
}

}  // namespace qkv::train
