// Both trainers under one interface, for what is asked of either: small models, batches for them, and all their numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "problem.hpp"
#include "qkv/train/language_model.hpp"
#include "qkv/train/seq2seq.hpp"
#include "random.hpp"

namespace qkv::test {

/// Random tokens, and random targets of which some do not count; the first one does.
struct RandomTokens {
  RandomTokens(Index batch, Index tokens, Index vocabulary, std::uint64_t seed) {
    Random random(seed);
    for (Index i = 0; i < batch * tokens; ++i) {
      ids.push_back(static_cast<std::int32_t>(random.below(vocabulary)));
      targets.push_back(random.chance(0.2) ? -1
                                           : static_cast<std::int32_t>(random.below(vocabulary)));
    }
    targets[0] = 1;
  }
  std::vector<std::int32_t> ids, targets;
};

/// A language model with every kind of step that does not exclude another.
struct OfLanguageModel {
  using Trainer = train::LanguageModelTrainer;
  using Batch = train::LanguageBatch;
  static constexpr const char* kClass = "LanguageModelTrainer";

  /// Rows of tokens, and room for what is spoiled.
  struct Rows {
    Rows(Index b, Index t, std::uint64_t seed) : batch(b), tokens(t), of(b, t, 11, seed) {}
    [[nodiscard]] Batch view() const {
      Batch made;
      made.tokens.ids = {of.ids.data(), {batch, tokens}};
      made.targets = {of.targets.data(), {batch, tokens}};
      return made;
    }
    Index batch, tokens;
    RandomTokens of;
  };

  const char* name = "language model";

  [[nodiscard]] LanguageModelConfig config() const {
    LanguageModelConfig c;
    c.vocabulary = 11;
    c.num_layers = 2;
    c.d_model = 12;
    c.num_heads = 4;
    c.num_kv_heads = 2;
    c.d_k = 6;
    c.d_feed_forward = 20;
    c.max_length = 9;
    c.norm_type = NormType::kRms;
    c.biases = true;
    c.activation = ModelActivation::kSwiglu;
    c.positions = ModelPositions::kLearned;
    c.qk_norm = true;
    c.tied_embeddings = true;
    return c;
  }
  [[nodiscard]] std::vector<float> logits(Trainer& trainer, const Batch& batch,
                                          Workspace& workspace) const {
    const auto& ids = batch.tokens.ids;
    std::vector<float> out(static_cast<std::size_t>(ids.size() * 11));
    require_ok(trainer.forward(batch.tokens, {out.data(), {ids.extent(0), ids.extent(1), 11}}, {},
                               workspace));
    return out;
  }
};

/// A model that translates, of one of its kinds.
struct OfSeq2Seq {
  using Trainer = train::Seq2SeqTrainer;
  using Batch = train::Seq2SeqBatch;
  static constexpr const char* kClass = "Seq2SeqTrainer";
  static constexpr Index kSources = 5;

  struct Rows {
    Rows(Index b, Index t, std::uint64_t seed)
        : batch(b),
          tokens(t),
          of(b, t, 11, seed),
          source(RandomTokens(b, kSources, 11, seed + 100).ids) {
      Random random(seed);
      for (Index i = 0; i < b; ++i) {
        lengths.push_back(static_cast<std::int32_t>(1 + random.below(kSources)));
      }
    }
    [[nodiscard]] Batch view() const {
      Batch made;
      made.tokens.source = {source.data(), {batch, kSources}};
      made.tokens.source_lengths = {lengths.data(), {batch}};
      made.tokens.ids = {of.ids.data(), {batch, tokens}};
      made.targets = {of.targets.data(), {batch, tokens}};
      return made;
    }
    Index batch, tokens;
    RandomTokens of;
    std::vector<std::int32_t> source, lengths;
  };

  const char* name;
  train::Seq2SeqKind kind;
  train::Seq2SeqScore score = train::Seq2SeqScore::kAdditive;

  [[nodiscard]] train::Seq2SeqConfig config() const {
    return {.kind = kind,
            .vocabulary = 11,
            .d_model = 12,
            .num_heads = 3,
            .num_layers = 2,
            .d_feed_forward = 20,
            .max_length = 9,
            .score = score};
  }
  [[nodiscard]] std::vector<float> logits(Trainer& trainer, const Batch& batch,
                                          Workspace& workspace) const {
    const auto& ids = batch.tokens.ids;
    std::vector<float> out(static_cast<std::size_t>(ids.size() * 11));
    require_ok(trainer.forward(batch.tokens, {out.data(), {ids.extent(0), ids.extent(1), 11}}, {},
                               workspace));
    return out;
  }
};

/// Calls f with each kind of model that translates.
template <class F>
void for_each_translator(const F& f) {
  using train::Seq2SeqKind;
  f(OfSeq2Seq{"gru", Seq2SeqKind::kGru});
  f(OfSeq2Seq{"gru, additive attention", Seq2SeqKind::kGruAttention});
  f(OfSeq2Seq{"gru, dot product", Seq2SeqKind::kGruAttention, train::Seq2SeqScore::kDot});
  f(OfSeq2Seq{"transformer", Seq2SeqKind::kTransformer});
}

/// Calls f with each kind of model that is trained.
template <class F>
void for_each_trainer(const F& f) {
  f(OfLanguageModel{});
  for_each_translator(f);
}

template <class Of>
typename Of::Trainer make_trainer(const Of& of, const train::TrainerOptions& options = {}) {
  typename Of::Trainer trainer;
  require_ok(Of::Trainer::create(of.config(), options, trainer));
  return trainer;
}

/// A step on rows of this seed; 3 rows of 7 tokens.
template <class Of>
train::StepResult make_step(const Of&, typename Of::Trainer& trainer, std::uint64_t seed,
                            Workspace& workspace) {
  const typename Of::Rows rows(3, 7, seed);
  train::StepResult result;
  require_ok(trainer.step(rows.view(), workspace, result));
  return result;
}

/// All that a step changes: weights, both moments, and the number of steps.
template <class Trainer>
std::vector<float> state_of(Trainer& trainer) {
  std::vector<float> all;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    const train::Moments moments = trainer.moments(i);
    for (const float* part :
         {static_cast<const float*>(value.data), static_cast<const float*>(moments.first),
          static_cast<const float*>(moments.second)}) {
      all.insert(all.end(), part, part + value.size());
    }
  }
  all.push_back(static_cast<float>(trainer.steps()));
  return all;
}

/// The gradients of all arrays, one after another.
template <class Trainer>
std::vector<float> gradients_of(const Trainer& trainer) {
  std::vector<float> all;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<const float> g = trainer.array(i).gradient;
    all.insert(all.end(), g.data, g.data + g.size());
  }
  return all;
}

/// The name of a call as messages begin.
template <class Of>
std::string call_of(const char* method) {
  return std::string(Of::kClass) + "::" + method;
}

/// The greatest count that a double tells from its neighbours: checkpoints hold steps as JSON and as float64.
inline constexpr std::int64_t kMostSteps = (std::int64_t{1} << 53) - 1;

/// Numbers of options that all do something.
inline train::TrainerOptions lively_options() {
  train::TrainerOptions options;
  options.seed = 5;
  options.dropout = 0.1F;
  options.schedule = {.peak = 1e-2F, .warmup = 3, .steps = 12, .last = 1e-3F};
  options.deviation = 0.2F;
  return options;
}

}  // namespace qkv::test
