#include "qkv/train/seq2seq.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "check/check.hpp"
#include "check/memory_check.hpp"
#include "positions/sinusoidal.hpp"
#include "train/trainers/evaluate.hpp"
#include "train/trainers/seq2seq_graph.hpp"

namespace qkv::train {

// -------------------------------------------------------------------------------------- the state

struct Seq2SeqTrainer::State {
  Seq2SeqConfig config;
  Learner learner;
  TranslatorArrays arrays;
  Tape tape;
  TranslatorSteps steps;
  Extent extent;            ///< what the tape is recorded for
  bool reaches = false;     ///< whether it is planned from the encoder's last state
  List<std::int32_t> said;  ///< of translate(): what the decoder reads, start and then what it said
  List<double> squares;     ///< of reach(): a sum for each token

  Status record(const TrainKernels& kernels, const Extent& wanted, bool from_last) noexcept;
  Status check(const Caller& caller, const Seq2SeqTokens& tokens) const noexcept;
  Status prepare(const char* caller, const TrainKernels& kernels, const Seq2SeqBatch& batch,
                 bool learn, TapeRun& run) noexcept;
  Status run(const TrainKernels& kernels, const Seq2SeqTokens& tokens,
             Workspace& workspace) noexcept;
  Status read_weights(const TrainKernels& kernels, const Seq2SeqTokens& tokens,
                      const TensorView<float>& weights, Workspace& workspace) const noexcept;
  [[nodiscard]] TapeInputs inputs_of(const Seq2SeqTokens& tokens, bool training) const noexcept;
};

Status Seq2SeqTrainer::State::record(const TrainKernels& kernels, const Extent& wanted,
                                     bool from_last) noexcept {
  if (wanted == extent && from_last == reaches) {
    return {};
  }
  extent = {};  // until all is well
  QKV_RETURN_IF_ERROR(record_model(config, learner, arrays, wanted, tape, steps));
  QKV_RETURN_IF_ERROR(tape.plan(from_last ? steps.last : steps.logits));
  if (config.kind == Seq2SeqKind::kTransformer) {
    const auto fill = [&](ArrayId id, Index length) noexcept {
      return sinusoidal_encoding(*kernels.forward, {tape[id].value, {length, config.d_model}}, 0,
                                 SinusoidOptions{});
    };
    QKV_RETURN_IF_ERROR(fill(steps.source_positions, wanted.sources));
    QKV_RETURN_IF_ERROR(fill(steps.positions, wanted.tokens));
  }
  extent = wanted;
  reaches = from_last;
  return {};
}

Status Seq2SeqTrainer::State::check(const Caller& caller,
                                    const Seq2SeqTokens& tokens) const noexcept {
  const TokenLimits limits{config.vocabulary, config.max_length};
  QKV_RETURN_IF_ERROR(check_tokens(caller, "source", tokens.source, limits));
  QKV_RETURN_IF_ERROR(
      check_lengths(caller, "source_lengths", tokens.source_lengths, tokens.source));
  QKV_RETURN_IF_ERROR(check_tokens(caller, "ids", tokens.ids, limits));
  return tokens.ids.extent(0) == tokens.source.extent(0)
             ? Status{}
             : refuse(StatusCode::kShapeMismatch, caller, "@ids is {}, expected {}",
                      Extents(tokens.ids), Extents({tokens.source.extent(0), kAny}));
}

TapeInputs Seq2SeqTrainer::State::inputs_of(const Seq2SeqTokens& tokens,
                                            bool training) const noexcept {
  TapeInputs inputs;
  inputs.ids = tokens.ids.data;
  inputs.source_ids = tokens.source.data;
  inputs.source_lengths = tokens.source_lengths;
  set_dropout(learner, training, inputs);
  return inputs;
}

/// Checks a batch and records the tape for it.
Status Seq2SeqTrainer::State::prepare(const char* caller, const TrainKernels& kernels,
                                      const Seq2SeqBatch& batch, bool learn,
                                      TapeRun& run) noexcept {
  const Seq2SeqTokens& in = batch.tokens;
  QKV_RETURN_IF_ERROR(check(caller, in));
  QKV_RETURN_IF_ERROR(check_targets(caller, batch.targets, in.ids, config.vocabulary));
  QKV_RETURN_IF_ERROR(
      record(kernels, {in.source.extent(0), in.source.extent(1), in.ids.extent(1)}, false));
  run = {.caller = caller,
         .kernels = kernels,
         .tape = &tape,
         .logits = steps.logits,
         .targets = batch.targets,
         .inputs = inputs_of(in, learn),
         .learn = learn};
  return {};
}

Status Seq2SeqTrainer::State::run(const TrainKernels& kernels, const Seq2SeqTokens& in,
                                  Workspace& workspace) noexcept {
  QKV_RETURN_IF_ERROR(
      record(kernels, {in.source.extent(0), in.source.extent(1), in.ids.extent(1)}, false));
  return tape.forward(kernels, inputs_of(in, false), workspace);
}

/// The weights of the run before: additive ones were kept, others are computed once more.
Status Seq2SeqTrainer::State::read_weights(const TrainKernels& kernels, const Seq2SeqTokens& tokens,
                                           const TensorView<float>& weights,
                                           Workspace& workspace) const noexcept {
  if (config.kind == Seq2SeqKind::kGruAttention && config.score == Seq2SeqScore::kAdditive) {
    std::copy_n(tape.saved_of(steps.contexts[0]), weights.size(), weights.data);
    return {};
  }
  const TapeInputs inputs = inputs_of(tokens, false);
  float* to = weights.data;
  for (const ArrayId context : steps.contexts) {
    AttentionExtras extras;
    extras.weights = {to, {extent.batch, weights.extent(1), extent.tokens, extent.sources}};
    QKV_RETURN_IF_ERROR(read_attention(kernels, tape, context, inputs, extras, workspace));
    to += extras.weights.size();
  }
  return {};
}

// -------------------------------------------------------------------------------- the public calls

Seq2SeqTrainer::~Seq2SeqTrainer() {
  if (state_) {
    state_->~State();
  }
}

Status Seq2SeqTrainer::create(const Seq2SeqConfig& config, const TrainerOptions& options,
                              Seq2SeqTrainer& trainer) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::create";
  QKV_RETURN_IF_ERROR(check_config(kName, config));
  Seq2SeqTrainer made;
  QKV_RETURN_IF_ERROR(made.memory_.reserve((sizeof(State) - 1) / sizeof(float) + 1));
  made.state_ = new (made.memory_.data()) State;
  State& state = *made.state_;
  state.config = config;
  QKV_RETURN_IF_ERROR(declare_arrays(config, state.learner, state.arrays));
  QKV_RETURN_IF_ERROR(state.learner.create(kName, options, config.num_layers));
  trainer = static_cast<Seq2SeqTrainer&&>(made);
  return {};
}

Status Seq2SeqTrainer::step(const Seq2SeqBatch& batch, Workspace& workspace,
                            StepResult& result) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::step";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, true, run));
  return make_step(run, state_->learner, workspace, result);
}

Status Seq2SeqTrainer::evaluate(const Seq2SeqBatch& batch, Workspace& workspace,
                                Evaluation& result) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::evaluate";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, false, run));
  return train::evaluate(run, workspace, result);
}

Status Seq2SeqTrainer::accumulate(const Seq2SeqBatch& batch, Workspace& workspace,
                                  Evaluation& result) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::accumulate";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, true, run));
  return train::accumulate(run, state_->learner, workspace, result);
}

Status Seq2SeqTrainer::differentiate(const Seq2SeqBatch& batch, Workspace& workspace,
                                     Evaluation& result) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::differentiate";
  TapeRun run;
  QKV_RETURN_IF_ERROR(prepare_run(kName, state_, batch, true, run));
  return train::evaluate(run, workspace, result);
}

Status Seq2SeqTrainer::forward(const Seq2SeqTokens& tokens, TensorView<float> logits,
                               TensorView<float> weights, Workspace& workspace) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::forward";
  if (!state_) {
    return refuse_empty(kName);
  }
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  const Seq2SeqConfig& c = state_->config;
  QKV_RETURN_IF_ERROR(state_->check(kName, tokens));
  const Index batch = tokens.ids.extent(0);
  const Index length = tokens.ids.extent(1);
  QKV_RETURN_IF_ERROR(check_dense_if_given(kName, "logits", logits, {batch, length, c.vocabulary}));
  if (!weights.absent()) {
    if (c.kind == Seq2SeqKind::kGru) {
      return refuse(StatusCode::kInvalidArgument, kName,
                    "@weights is given, expected none: this model has no attention");
    }
    const bool blocks = c.kind == Seq2SeqKind::kTransformer;
    const Index rows = detail::saturated_product(blocks ? c.num_layers : 1, batch);
    QKV_RETURN_IF_ERROR(
        check_dense(kName, "weights", weights,
                    {rows, blocks ? c.num_heads : 1, length, tokens.source.extent(1)}));
  }
  QKV_RETURN_IF_ERROR(check_apart(
      kName, {{"logits", logits}, {"weights", weights}},
      {{"source", tokens.source}, {"source_lengths", tokens.source_lengths}, {"ids", tokens.ids}}));
  QKV_RETURN_IF_ERROR(state_->run(kernels, tokens, workspace));
  if (!weights.absent()) {
    QKV_RETURN_IF_ERROR(state_->read_weights(kernels, tokens, weights, workspace));
  }
  if (!logits.absent()) {
    const TapeArray& from = state_->tape[state_->steps.logits];
    std::copy_n(from.value, from.size(), logits.data);
  }
  return {};
}

namespace {

/// The greatest of n numbers, the first of equal ones.
std::int32_t likeliest(const float* x, Index n) noexcept {
  return static_cast<std::int32_t>(std::max_element(x, x + n) - x);
}

Status check_token(const Caller& caller, const char* name, std::int32_t token,
                   Index vocabulary) noexcept {
  return token >= 0 && token < vocabulary
             ? Status{}
             : refuse(StatusCode::kOutOfRange, caller, "{} is {}, expected [0, {})", Argument{name},
                      token, vocabulary);
}

}  // namespace

Status Seq2SeqTrainer::translate(const Translation& args, Workspace& workspace) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::translate";
  if (!state_) {
    return refuse_empty(kName);
  }
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  const Seq2SeqConfig& c = state_->config;
  const TokenLimits limits{c.vocabulary, c.max_length};
  QKV_RETURN_IF_ERROR(check_tokens(kName, "source", args.source, limits));
  QKV_RETURN_IF_ERROR(check_lengths(kName, "source_lengths", args.source_lengths, args.source));
  QKV_RETURN_IF_ERROR(check_token(kName, "start", args.start, c.vocabulary));
  QKV_RETURN_IF_ERROR(check_token(kName, "end", args.end, c.vocabulary));
  const Index batch = args.source.extent(0);
  QKV_RETURN_IF_ERROR(check_dense(kName, "ids", args.ids, {batch, kAny}));
  const Index most = args.ids.extent(1);
  if (most < 1 || most > c.max_length) {
    return refuse(StatusCode::kOutOfRange, kName, "@ids has rows of {} tokens, expected 1 to {}",
                  most, c.max_length);
  }
  QKV_RETURN_IF_ERROR(check_dense(kName, "lengths", args.lengths, {batch}));
  QKV_RETURN_IF_ERROR(
      check_apart(kName, {{"ids", args.ids}, {"lengths", args.lengths}},
                  {{"source", args.source}, {"source_lengths", args.source_lengths}}));
  List<std::int32_t>& said = state_->said;
  said.clear();
  for (Index i = 0; i < batch * most; ++i) {
    QKV_RETURN_IF_ERROR(said.push(i % most == 0 ? args.start : args.end));
  }
  // The memory of the whole is taken before anything is written.
  Seq2SeqTokens tokens;
  tokens.source = args.source;
  tokens.source_lengths = args.source_lengths;
  tokens.ids = {said.begin(), {batch, most}};
  QKV_RETURN_IF_ERROR(state_->run(kernels, tokens, workspace));
  std::fill_n(args.lengths.data, batch, static_cast<std::int32_t>(-1));
  Index open = batch;
  for (Index t = 0; t < most && open > 0; ++t) {
    if (t > 0) {
      for (Index i = t; i < batch * most; i += most) {
        said[i] = args.ids.data[i - 1];
      }
      QKV_RETURN_IF_ERROR(state_->run(kernels, tokens, workspace));
    }
    const TapeArray& logits = state_->tape[state_->steps.logits];
    for (Index b = 0; b < batch; ++b) {
      const bool over = args.lengths.data[b] >= 0;
      const std::int32_t token =
          over ? args.end : likeliest(logits.value + (b * most + t) * logits.width, logits.width);
      args.ids.data[b * most + t] = token;
      if (!over && token == args.end) {
        args.lengths.data[b] = static_cast<std::int32_t>(t);
        --open;
      }
    }
  }
  for (Index b = 0; b < batch; ++b) {
    std::int32_t& length = args.lengths.data[b];
    length = length < 0 ? static_cast<std::int32_t>(most) : length;
    std::fill(args.ids.data + b * most + length, args.ids.data + (b + 1) * most, args.end);
  }
  return {};
}

Status Seq2SeqTrainer::reach(TensorView<const std::int32_t> source, TensorView<float> norms,
                             Workspace& workspace) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::reach";
  if (!state_) {
    return refuse_empty(kName);
  }
  TrainKernels kernels;
  QKV_RETURN_IF_ERROR(require_train_kernels(kName, kernels));
  const Seq2SeqConfig& c = state_->config;
  QKV_RETURN_IF_ERROR(check_dense(kName, "source", source, {kAny}));
  const Index length = source.extent(0);
  Seq2SeqTokens tokens;
  tokens.source = {source.data, {1, length}};
  QKV_RETURN_IF_ERROR(check_tokens(kName, "source", tokens.source, {c.vocabulary, c.max_length}));
  QKV_RETURN_IF_ERROR(check_dense(kName, "norms", norms, {length}));
  QKV_RETURN_IF_ERROR(check_apart(kName, {{"norms", norms}}, {{"source", source}}));
  const std::int32_t none = 0;  // the decoder is recorded too, but the gradient begins before it
  tokens.ids = {&none, {1, 1}};
  QKV_RETURN_IF_ERROR(state_->record(kernels, {1, length, 1}, true));
  const TapeInputs inputs = state_->inputs_of(tokens, false);
  QKV_RETURN_IF_ERROR(state_->tape.forward(kernels, inputs, workspace));
  const TapeArray& last = state_->tape[state_->steps.last];
  const TapeArray& read = state_->tape[state_->steps.source];
  List<double>& squares = state_->squares;
  squares.clear();
  for (Index t = 0; t < length; ++t) {
    QKV_RETURN_IF_ERROR(squares.push(0.0));
  }
  for (Index d = 0; d < c.d_model; ++d) {
    std::fill_n(last.gradient, c.d_model, 0.0F);
    last.gradient[d] = 1.0F;
    QKV_RETURN_IF_ERROR(state_->tape.backward(kernels, inputs, workspace));
    for (Index t = 0; t < length; ++t) {
      for (Index i = 0; i < c.d_model; ++i) {
        // In double: the square of a gradient that has nearly vanished is no float.
        const auto g = static_cast<double>(read.gradient[t * c.d_model + i]);
        squares[t] += g * g;
      }
    }
  }
  for (Index t = 0; t < length; ++t) {
    norms.data[length - 1 - t] = static_cast<float>(std::sqrt(squares[t]));
  }
  return {};
}

const Seq2SeqConfig& Seq2SeqTrainer::config() const noexcept {
  static constexpr Seq2SeqConfig kNone;
  return state_ ? state_->config : kNone;
}
std::int64_t Seq2SeqTrainer::steps() const noexcept { return state_ ? state_->learner.steps() : 0; }
Index Seq2SeqTrainer::parameter_count() const noexcept {
  return state_ ? state_->learner.parameters() : 0;
}
Index Seq2SeqTrainer::array_count() const noexcept { return state_ ? state_->learner.count() : 0; }
TrainedArray Seq2SeqTrainer::array(Index i) const noexcept { return state_->learner.view(i); }
Moments Seq2SeqTrainer::moments(Index i) noexcept { return state_->learner.moments(i); }
Status Seq2SeqTrainer::set_steps(std::int64_t steps) noexcept {
  constexpr const char* kName = "Seq2SeqTrainer::set_steps";
  if (!state_) {
    return refuse_empty(kName);
  }
  return state_->learner.set_steps(kName, steps);
}

}  // namespace qkv::train
