// Models that translate: loss and every gradient against double precision, what they learn and say, how far gradients reach.
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "compare.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
#include "qkv/train/seq2seq.hpp"
#include "random.hpp"
#include "refusal.hpp"
#include "train_model_oracle.hpp"
#include "train_slope.hpp"

namespace qkv::test::seq2seq_test {
namespace {

using train::Seq2SeqBatch;
using train::Seq2SeqConfig;
using train::Seq2SeqKind;
using train::Seq2SeqScore;
using train::Seq2SeqTrainer;
using train::TrainerOptions;

struct Case {
  const char* name;
  Seq2SeqConfig config;
};

std::vector<Case> cases() {
  Seq2SeqConfig base;
  base.vocabulary = 9;
  base.d_model = 12;
  base.max_length = 10;
  std::vector<Case> all;
  base.kind = Seq2SeqKind::kGru;
  all.push_back({"gru", base});
  base.num_layers = 2;
  base.kind = Seq2SeqKind::kGruAttention;
  all.push_back({"two layers of gru, additive attention", base});
  base.num_layers = 1;
  base.score = Seq2SeqScore::kDot;
  all.push_back({"gru, dot product", base});
  base.kind = Seq2SeqKind::kTransformer;
  base.num_layers = 2;
  base.num_heads = 3;
  all.push_back({"transformer of attention alone", base});
  base.d_feed_forward = 16;
  all.push_back({"transformer", base});
  return all;
}

/// Reversal: a source of random tokens from 2 on; the target is the source from its end, then 1. The decoder reads 0 first.
struct Pairs {
  Pairs(Index batch, Index longest, Index shortest, Index vocabulary, std::uint64_t seed)
      : rows(batch), sources(longest), tokens(longest + 1) {
    Random random(seed);
    for (Index b = 0; b < batch; ++b) {
      const Index length = shortest + random.below(longest - shortest + 1);
      std::vector<std::int32_t> own;
      for (Index t = 0; t < length; ++t) {
        own.push_back(static_cast<std::int32_t>(2 + random.below(vocabulary - 2)));
      }
      lengths.push_back(static_cast<std::int32_t>(length));
      source.insert(source.end(), own.begin(), own.end());
      source.insert(source.end(), static_cast<std::size_t>(longest - length), 1);
      ids.push_back(0);
      for (Index t = 0; t < longest; ++t) {
        ids.push_back(t < length ? own[static_cast<std::size_t>(length - 1 - t)] : 1);
      }
      for (Index t = 0; t <= longest; ++t) {
        targets.push_back(t < length    ? own[static_cast<std::size_t>(length - 1 - t)]
                          : t == length ? 1
                                        : -1);
      }
    }
  }
  [[nodiscard]] Seq2SeqBatch batch() const {
    Seq2SeqBatch made;
    made.tokens.source = {source.data(), {rows, sources}};
    made.tokens.source_lengths = {lengths.data(), {rows}};
    made.tokens.ids = {ids.data(), {rows, tokens}};
    made.targets = {targets.data(), {rows, tokens}};
    return made;
  }

  Index rows, sources, tokens;
  std::vector<std::int32_t> source, lengths, ids, targets;
};

Seq2SeqTrainer make(const Seq2SeqConfig& config, const TrainerOptions& options) {
  Seq2SeqTrainer trainer;
  require_ok(Seq2SeqTrainer::create(config, options, trainer));
  return trainer;
}

TEST_CASE("Seq2SeqTrainer: loss and gradients of every array, for each kind of model",
          "[train][seq2seq]") {
  Quantity quantity("Seq2SeqTrainer gradients");
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    TrainerOptions options;
    options.deviation = 0.3F;
    Seq2SeqTrainer trainer = make(c.config, options);
    shake(trainer, 7);
    const Pairs pairs(2, 6, 2, c.config.vocabulary, 5);
    Workspace workspace;
    train::Evaluation found;
    require_ok(trainer.differentiate(pairs.batch(), workspace, found));
    oracle::Translator model(c.config, exact_arrays(trainer));
    const oracle::Translator::Sources sources{pairs.sources, pairs.source, pairs.lengths};
    const oracle::ModelBatch batch{
        pairs.tokens, pairs.ids, pairs.targets,
        std::vector<std::int32_t>(2, static_cast<std::int32_t>(pairs.tokens))};
    CHECK(std::abs(found.loss - model.loss(sources, batch)) < 2e-6);
    Random random(3);
    for (Index i = 0; i < trainer.array_count(); ++i) {
      check_slope(
          model.arrays, [&] { return model.loss(sources, batch); }, trainer.array(i), random,
          quantity);
    }
  }
  require_within(quantity);
}

TEST_CASE("Seq2SeqTrainer: what stands past a source's length changes no bit", "[train][seq2seq]") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    std::vector<float> before;
    for (const std::int32_t filler : {1, 5}) {
      Seq2SeqTrainer trainer = make(c.config, {});
      Pairs pairs(3, 6, 2, c.config.vocabulary, 5);
      for (std::size_t i = 0; i < pairs.source.size(); ++i) {
        const bool past = static_cast<Index>(i % 6) >= pairs.lengths[i / 6];
        pairs.source[i] = past ? filler : pairs.source[i];
      }
      Workspace workspace;
      std::vector<float> logits(3 * 7 * 9);
      require_ok(trainer.forward(pairs.batch().tokens, {logits.data(), {3, 7, 9}}, {}, workspace));
      if (filler == 5) {
        CHECK(first_difference(before, logits) == "");
      }
      before = logits;
    }
  }
}

TEST_CASE("Seq2SeqTrainer: reach is the size of the encoder's derivative, by distance",
          "[train][seq2seq]") {
  const Seq2SeqConfig config = cases()[0].config;
  TrainerOptions options;
  options.deviation = 0.5F;
  Seq2SeqTrainer trainer = make(config, options);
  const std::vector<std::int32_t> source = {3, 4, 5, 6, 7, 8};
  std::vector<float> norms(6);
  Workspace workspace;
  require_ok(trainer.reach({source.data(), {6}}, {norms.data(), {6}}, workspace));
  for (std::size_t distance = 0; distance < norms.size(); ++distance) {
    CAPTURE(distance);
    CHECK(norms[distance] > 0.0F);
  }
  CHECK(norms[0] > norms[5]);
  // The trainer goes on as if nothing had been asked.
  Seq2SeqTrainer other = make(config, options);
  const Pairs pairs(3, 6, 2, config.vocabulary, 5);
  train::StepResult first;
  train::StepResult second;
  require_ok(trainer.step(pairs.batch(), workspace, first));
  require_ok(other.step(pairs.batch(), workspace, second));
  CHECK(first.gradient_norm == second.gradient_norm);
  CHECK(first.before.loss == second.before.loss);
}

TEST_CASE("Seq2SeqTrainer: what does not fit is refused", "[train][seq2seq][bad-input]") {
  const auto refused = [](const Status& status, const char* call, const Refusal& refusal) {
    require_refused(status, (std::string("Seq2SeqTrainer::") + call).c_str(), refusal);
  };
  Seq2SeqTrainer trainer;
  train::StepResult result;
  Workspace workspace;
  struct Wrong {
    Spoil<Seq2SeqConfig&> spoil;
    Refusal refusal;
  };
  const Wrong configs[] = {
      {[](auto& c) { c.kind = static_cast<Seq2SeqKind>(3); }, {kInvalid, "kind", "is 3", "0 to 2"}},
      {[](auto& c) { c.score = static_cast<Seq2SeqScore>(2); },
       {kInvalid, "score", "is 2", "0 to 1"}},
      {[](auto& c) { c.vocabulary = 0; }, {kRange, "vocabulary", "is 0", "at least 1"}},
      {[](auto& c) { c.d_model = 0; }, {kRange, "d_model", "is 0", "at least 1"}},
      {[](auto& c) { c.num_heads = 0; }, {kRange, "num_heads", "is 0", "at least 1"}},
      {[](auto& c) { c.num_heads = 5; },
       {kRange, "num_heads", "is 5", "a divisor of d_model = 12"}},
      {[](auto& c) { c.num_layers = 0; }, {kRange, "num_layers", "is 0", "at least 1"}},
      {[](auto& c) { c.d_feed_forward = -1; }, {kRange, "d_feed_forward", "is -1", "at least 0"}},
      {[](auto& c) { c.max_length = 0; }, {kRange, "max_length", "is 0", "at least 1"}},
      {[](auto& c) { c.max_length = kMaxPosition + 1; },
       {kRange, "max_length", "is 1048577", "at most"}},
  };
  for (const Wrong& row : configs) {
    Seq2SeqConfig config = cases()[4].config;
    row.spoil(config);
    refused(Seq2SeqTrainer::create(config, {}, trainer), "create", row.refusal);
    CHECK(trainer.array_count() == 0);
  }
  trainer = make(cases()[0].config, {});
  Pairs pairs(3, 6, 2, 9, 5);
  Seq2SeqBatch batch = pairs.batch();
  batch.tokens.source = {pairs.source.data(), {2, 9}};
  refused(trainer.step(batch, workspace, result), "step",
          {kShapeError, "source_lengths", "is [3]", "[2]"});
  std::vector<float> weights(3 * 7 * 6);
  refused(trainer.forward(pairs.batch().tokens, {}, {weights.data(), {3, 1, 7, 6}}, workspace),
          "forward", {kInvalid, "weights", "is given", "none"});
  std::vector<std::int32_t> said(3 * 11);
  std::vector<std::int32_t> lengths(3);
  Seq2SeqTrainer::Translation call = {.source = pairs.batch().tokens.source,
                                      .start = 9,
                                      .end = 1,
                                      .ids = {said.data(), {3, 11}},
                                      .lengths = {lengths.data(), {3}}};
  refused(trainer.translate(call, workspace), "translate", {kRange, "start", "is 9", "[0, 9)"});
  call.start = 0;
  refused(trainer.translate(call, workspace), "translate",
          {kRange, "ids", "has rows of 11 tokens", "1 to 10"});
  std::vector<float> norms(5);
  refused(trainer.reach({pairs.source.data(), {6}}, {norms.data(), {5}}, workspace), "reach",
          {kShapeError, "norms", "is [5]", "[6]"});
}

}  // namespace
}  // namespace qkv::test::seq2seq_test
