// The trainers: what they are made of, one crossing for each step, and their arrays.
#include "train/trainer.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <type_traits>

#include "models/config.hpp"
#include "models/sites.hpp"
#include "support.hpp"

namespace qkv::wasm {
namespace {

train::TrainerOptions options_of(const TrainerOptionsFields& given) noexcept {
  return {.seed = static_cast<std::uint64_t>(given.seed),
          .schedule = {.peak = static_cast<float>(given.peak),
                       .warmup = static_cast<std::int64_t>(given.warmup),
                       .steps = static_cast<std::int64_t>(given.decay),
                       .last = static_cast<float>(given.last)},
          .beta1 = static_cast<float>(given.beta1),
          .beta2 = static_cast<float>(given.beta2),
          .epsilon = static_cast<float>(given.epsilon),
          .weight_decay = static_cast<float>(given.weight_decay),
          .clip_norm = static_cast<float>(given.clip_norm),
          .dropout = static_cast<float>(given.dropout),
          .deviation = static_cast<float>(given.deviation)};
}

/// The batch as the trainer takes it.
template <class Batch>
Batch batch_of(const TrainerBatchFields& given) noexcept {
  Batch batch;
  batch.tokens.ids = given.ids;
  batch.targets = given.targets;
  if constexpr (std::is_same_v<Batch, train::LanguageBatch>) {
    batch.tokens.key_lengths = given.key_lengths;
    batch.tokens.token_types = given.token_types;
  } else {
    batch.tokens.source = given.source;
    batch.tokens.source_lengths = given.source_lengths;
  }
  return batch;
}

train::LanguageBatch batch_for(const train::LanguageModelTrainer&,
                               const TrainerBatchFields& given) noexcept {
  return batch_of<train::LanguageBatch>(given);
}
train::Seq2SeqBatch batch_for(const train::Seq2SeqTrainer&,
                              const TrainerBatchFields& given) noexcept {
  return batch_of<train::Seq2SeqBatch>(given);
}

/// Integers that JavaScript reads from the words of a result.
TensorView<std::int32_t> integers(const Array<float>& result) noexcept {
  const TensorView<float> words = result;
  TensorView<std::int32_t> view;
  view.data = reinterpret_cast<std::int32_t*>(words.data);
  view.rank = words.rank;
  view.shape = words.shape;
  view.strides = words.strides;
  return view;
}

/// Where the elements of a part of array i are.
float* part_of(Trainer& trainer, Index i, TrainerPart part) noexcept {
  return trainer.with([=](auto& of) -> float* {
    const train::TrainedArray array = of.array(i);
    switch (part) {
      case TrainerPart::kValue:
        return array.value.data;
      case TrainerPart::kGradient:
        // Written by no caller: writeArray is never called for it.
        return const_cast<float*>(array.gradient.data);
      case TrainerPart::kFirst:
        return of.moments(i).first;
      case TrainerPart::kSecond:
        return of.moments(i).second;
    }
    return nullptr;
  });
}

}  // namespace

Status createLanguageModel(const CreateLanguageModelFields& given) noexcept {
  return make<Trainer>([&](Trainer& made) {
    return train::LanguageModelTrainer::create(model_config(given.config),
                                               options_of(given.options), made.language_model);
  });
}

Status createFromModel(const CreateFromModelFields& given) noexcept {
  return make<Trainer>([&](Trainer& made) {
    const train::TrainerOptions options = options_of(given.options);
    if (!given.lora.given) {
      return train::LanguageModelTrainer::create_from(*given.model, options, made.language_model);
    }
    const TensorView<const std::int32_t> words = given.lora.fields.maps;
    std::array<train::AdaptedMap, 7> maps{};
    const auto count = std::min(maps.size(), static_cast<std::size_t>(words.size()));
    for (std::size_t i = 0; i < count; ++i) {
      maps[i] = static_cast<train::AdaptedMap>(words.data[i]);
    }
    return train::LanguageModelTrainer::adapt(
        *given.model,
        {.rank = given.lora.fields.rank,
         .alpha = static_cast<float>(given.lora.fields.alpha),
         .maps = {maps.data(), count},
         .dropout = static_cast<float>(given.lora.fields.dropout)},
        options, made.language_model);
  });
}

Status createSeq2Seq(const CreateSeq2SeqFields& given) noexcept {
  return make<Trainer>([&](Trainer& made) {
    made.translates = true;
    return train::Seq2SeqTrainer::create({.kind = given.kind,
                                          .vocabulary = given.vocabulary,
                                          .d_model = given.d_model,
                                          .num_heads = given.num_heads,
                                          .num_layers = given.num_layers,
                                          .d_feed_forward = given.d_feed_forward,
                                          .max_length = given.max_length,
                                          .score = given.score},
                                         options_of(given.options), made.seq2seq);
  });
}

Status destroyTrainer(const DestroyTrainerFields& given) noexcept {
  return destroy<Trainer>(given.object);
}

Status stepTrainer(const StepTrainerFields& given) noexcept {
  train::StepResult result;
  Status status = given.trainer->with(
      [&](auto& of) { return of.step(batch_for(of, given.batch), scratch(), result); });
  if (status.ok()) {
    tell(given.found,
         {result.before.loss, result.before.accuracy, result.gradient_norm,
          static_cast<double>(result.learning_rate), static_cast<double>(result.step)});
  }
  return status;
}

Status evaluateTrainer(const EvaluateTrainerFields& given) noexcept {
  train::Evaluation result;
  Status status = given.trainer->with([&](auto& of) {
    const auto batch = batch_for(of, given.batch);
    return given.gradients ? of.differentiate(batch, scratch(), result)
                           : of.evaluate(batch, scratch(), result);
  });
  if (status.ok()) {
    tell(given.found, {result.loss, result.accuracy});
  }
  return status;
}

Status accumulateTrainer(const AccumulateTrainerFields& given) noexcept {
  train::Evaluation result;
  Status status = given.trainer->with(
      [&](auto& of) { return of.accumulate(batch_for(of, given.batch), scratch(), result); });
  if (status.ok()) {
    tell(given.found, {result.loss, result.accuracy});
  }
  return status;
}

Status countTrainer(const CountTrainerFields& given) noexcept {
  given.trainer->with([&](auto& of) {
    tell(given.found,
         {static_cast<double>(of.array_count()), static_cast<double>(of.parameter_count())});
    return 0;
  });
  return {};
}

Status describeArray(const DescribeArrayFields& given) noexcept {
  const train::TrainedArray array =
      given.trainer->with([&](auto& of) { return of.array(given.index); });
  made() = address_of(array.name);
  const bool matrix = array.value.rank == 2;
  tell(given.found,
       {static_cast<double>(array.value.rank), static_cast<double>(array.value.extent(0)),
        static_cast<double>(matrix ? array.value.extent(1) : 1)});
  return {};
}

Status readArray(const ReadArrayFields& given) noexcept {
  const TensorView<float> to = given.out;
  std::copy_n(part_of(*given.trainer, given.index, given.part), to.size(), to.data);
  return {};
}

Status readMergedArray(const ReadMergedArrayFields& given) noexcept {
  return given.trainer->language_model.read_merged(given.index, given.out);
}

Status writeArray(const WriteArrayFields& given) noexcept {
  const TensorView<const float> from = given.x;
  std::copy_n(from.data, from.size(), part_of(*given.trainer, given.index, given.part));
  return {};
}

Status setTrainerSteps(const SetTrainerStepsFields& given) noexcept {
  const auto steps = static_cast<std::int64_t>(given.steps);
  return given.trainer->with([=](auto& of) { return of.set_steps(steps); });
}

Status readLanguageModel(const ReadLanguageModelFields& given) noexcept {
  const TensorView<const std::int32_t> layers = given.layers;
  const Index count = layers.absent() ? 0 : layers.size();
  // Each chosen layer has its part of the results, one after another.
  const auto part = [&](const Array<float>& of, Index i) -> TensorView<float> {
    TensorView<float> view = of;
    if (view.absent()) {
      return view;
    }
    view.shape[0] /= count;
    view.data += i * view.shape[0] * view.strides[0];
    return view;
  };
  auto* readings = new (std::nothrow) train::LayerReading[static_cast<std::size_t>(count)];
  if (!readings) {
    return Status::error(StatusCode::kOutOfMemory,
                         "out of memory: the results of inspect could not be allocated");
  }
  for (Index i = 0; i < count; ++i) {
    readings[i] = {.layer = layers.data[i],
                   .weights = part(given.weights, i),
                   .entropy = part(given.entropy, i),
                   .residual = part(given.residual, i),
                   .q = part(given.q, i),
                   .k = part(given.k, i),
                   .v = part(given.v, i)};
  }
  Status status = given.trainer->language_model.forward(
      {.ids = given.ids, .key_lengths = given.key_lengths, .token_types = given.token_types},
      given.logits, {readings, static_cast<std::size_t>(count)}, scratch());
  delete[] readings;
  return status;
}

Status differentiateLogit(const DifferentiateLogitFields& given) noexcept {
  train::LanguageModelTrainer& trainer = given.trainer->language_model;
  const train::TokenBatch tokens = {.ids = given.ids};
  bool fits = true;
  const auto fill = [&](const Made<ModelReading>& made, const SiteReadsFields& of) noexcept {
    const TensorView<const std::int32_t> table = of.reads;
    list_readings(made.list(), table.data, of.read, fits,
                  [&](const ModelReading& reading) noexcept {
                    return trainer.reading_view(tokens, reading, nullptr);
                  });
  };
  const Made<ModelReading> activations(rows_of_table(given.activations.reads, kReadWords));
  const Made<ModelReading> gradients(rows_of_table(given.gradients.reads, kReadWords));
  if (!activations.made() || !gradients.made()) {
    return Status::error(StatusCode::kOutOfMemory,
                         "out of memory: the sites of a pass could not be listed");
  }
  fill(activations, given.activations);
  fill(gradients, given.gradients);
  if (!fits) {
    return Status::error(StatusCode::kShapeMismatch,
                         "the arrays of sites are shorter than what is read");
  }
  double value = 0.0;
  Status status = trainer.logit_gradients({.tokens = tokens,
                                           .row = given.row,
                                           .answer = given.answer,
                                           .instead = given.instead,
                                           .activations = activations.list(),
                                           .gradients = gradients.list()},
                                          scratch(), value);
  if (status.ok()) {
    tell(given.found, {value});
  }
  return status;
}

Status readSeq2Seq(const ReadSeq2SeqFields& given) noexcept {
  return given.trainer->seq2seq.forward(
      {.source = given.source, .source_lengths = given.source_lengths, .ids = given.ids},
      given.logits, given.weights, scratch());
}

Status translate(const TranslateFields& given) noexcept {
  const Index start = given.start;
  const Index end = given.end;
  return given.trainer->seq2seq.translate({.source = given.source,
                                           .source_lengths = given.source_lengths,
                                           .start = static_cast<std::int32_t>(start),
                                           .end = static_cast<std::int32_t>(end),
                                           .ids = integers(given.said),
                                           .lengths = integers(given.lengths)},
                                          scratch());
}

Status reach(const ReachFields& given) noexcept {
  return given.trainer->seq2seq.reach(given.source, given.norms, scratch());
}

}  // namespace qkv::wasm
