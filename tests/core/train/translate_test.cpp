// Seq2SeqTrainer asked what it has learned: translations, weights of attention, and how far its gradient reaches.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "problem.hpp"
#include "random.hpp"
#include "refusal.hpp"
#include "train_trainers.hpp"

namespace qkv::test::translate_test {
namespace {

TEST_CASE("Seq2SeqTrainer: translate says what forward finds likeliest, a token after another",
          "[train]") {
  constexpr Index kTokens = 6;
  int over = 0;
  for_each_translator([&](const OfSeq2Seq& of) {
    CAPTURE(of.name);
    train::TrainerOptions options;
    options.deviation = 0.8F;
    auto trainer = make_trainer(of, options);
    const OfSeq2Seq::Rows rows(3, kTokens, 4);
    Workspace workspace;
    for (std::int32_t end = 0; end < 11; ++end) {
      std::vector<std::int32_t> ids(3 * kTokens,
                                    0);  // what is read: 2 first; 0 where nothing is said
      std::vector<std::int32_t> expected(3 * kTokens, end);
      std::vector<std::int32_t> lengths(3, kTokens);
      for (std::size_t t = 0; t < kTokens; ++t) {
        train::Seq2SeqBatch batch = rows.view();
        for (std::size_t b = 0; b < 3; ++b) {
          ids[b * kTokens + t] = t == 0 ? 2 : expected[b * kTokens + t - 1];
        }
        batch.tokens.ids = {ids.data(), {3, kTokens}};
        const std::vector<float> logits = of.logits(trainer, batch, workspace);
        for (std::size_t b = 0; b < 3; ++b) {
          const float* row = logits.data() + (b * kTokens + t) * 11;
          const auto token = static_cast<std::int32_t>(std::max_element(row, row + 11) - row);
          if (lengths[b] == kTokens && token == end) {
            lengths[b] = static_cast<std::int32_t>(t);
            ++over;
          } else if (lengths[b] == kTokens) {
            expected[b * kTokens + t] = token;
          }
        }
      }
      std::vector<std::int32_t> said(3 * kTokens, -5);
      std::vector<std::int32_t> found(3, -5);
      require_ok(trainer.translate({.source = rows.view().tokens.source,
                                    .source_lengths = rows.view().tokens.source_lengths,
                                    .start = 2,
                                    .end = end,
                                    .ids = {said.data(), {3, kTokens}},
                                    .lengths = {found.data(), {3}}},
                                   workspace));
      CAPTURE(end);
      CHECK(said == expected);
      CHECK(found == lengths);
    }
  });
  CHECK(over > 4);  // some rows ended before their room did
}

TEST_CASE("Seq2SeqTrainer: translate refuses what does not fit and writes nothing then",
          "[train][seq2seq][bad-input]") {
  using Translation = train::Seq2SeqTrainer::Translation;
  struct Wrong {
    Spoil<Translation&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> long_lengths = {2, 3};
  const Wrong rows[] = {
      {[](auto& t) { t.start = -1; }, {kRange, "start", "is -1", "[0, 11)"}},
      {[](auto& t) { t.start = 11; }, {kRange, "start", "is 11", "[0, 11)"}},
      {[](auto& t) { t.end = -1; }, {kRange, "end", "is -1", "[0, 11)"}},
      {[](auto& t) { t.end = 11; }, {kRange, "end", "is 11", "[0, 11)"}},
      {[](auto& t) { t.ids = {t.ids.data, {2, 0}}; },
       {kRange, "ids", "has rows of 0 tokens", "1 to 9"}},
      {[](auto& t) { t.ids = {t.ids.data, {2, 10}}; },
       {kRange, "ids", "has rows of 10 tokens", "1 to 9"}},
      {[](auto& t) { t.ids = {t.ids.data, {1, 4}}; }, {kShapeError, "ids", "is [1,4]", "[2,*]"}},
      {[](auto& t) { t.ids.data = nullptr; }, {kInvalid, "ids", "has no data", "[2,4]"}},
      {[](auto& t) { t.lengths = {t.lengths.data, {3}}; },
       {kShapeError, "lengths", "is [3]", "[2]"}},
      {[](auto& t) { t.lengths.data = nullptr; }, {kInvalid, "lengths", "has no data", "[2]"}},
      {[](auto& t) { t.source.data = nullptr; }, {kInvalid, "source", "has no data", "[2,2]"}},
      {[](auto& t) { t.source_lengths = {long_lengths.data(), {2}}; },
       {kRange, "source_lengths[1]", "is 3", "[0, 2]"}},
  };
  auto trainer = make_trainer(OfSeq2Seq{"gru", train::Seq2SeqKind::kGru});
  const std::vector<std::int32_t> source = {3, 4, 5, 6};
  Workspace workspace;
  for (const Wrong& row : rows) {
    std::vector<std::int32_t> said(20, -1);
    std::vector<std::int32_t> lengths(3, -1);
    Translation call = {.source = {source.data(), {2, 2}},
                        .end = 1,
                        .ids = {said.data(), {2, 4}},
                        .lengths = {lengths.data(), {2}}};
    row.spoil(call);
    require_refused(trainer.translate(call, workspace), "Seq2SeqTrainer::translate", row.refusal);
    CHECK(said == std::vector<std::int32_t>(20, -1));
    CHECK(lengths == std::vector<std::int32_t>(3, -1));
  }
}

TEST_CASE("Seq2SeqTrainer: of equally likely tokens translate says the first", "[train]") {
  auto trainer = make_trainer(OfSeq2Seq{"gru", train::Seq2SeqKind::kGru});
  const TensorView<float> head = trainer.array(trainer.array_count() - 1).value;
  std::fill_n(head.data, head.size(), 0.0F);
  const std::vector<std::int32_t> source = {3, 4};
  std::vector<std::int32_t> said(4, -1);
  std::vector<std::int32_t> lengths(2, -1);
  Workspace workspace;
  require_ok(trainer.translate({.source = {source.data(), {2, 1}},
                                .start = 7,
                                .end = 1,
                                .ids = {said.data(), {2, 2}},
                                .lengths = {lengths.data(), {2}}},
                               workspace));
  CHECK(said == std::vector<std::int32_t>(4, 0));
  CHECK(lengths == std::vector<std::int32_t>(2, 2));
  // There may be room for a single one, and it may be the end.
  require_ok(trainer.translate({.source = {source.data(), {2, 1}},
                                .start = 7,
                                .end = 0,
                                .ids = {said.data(), {2, 1}},
                                .lengths = {lengths.data(), {2}}},
                               workspace));
  CHECK(said == std::vector<std::int32_t>(4, 0));
  CHECK(lengths == std::vector<std::int32_t>(2, 0));
}

TEST_CASE("Seq2SeqTrainer: the weights of each layer and head are shares of the source",
          "[train]") {
  for_each_translator([](const OfSeq2Seq& of) {
    if (of.kind == train::Seq2SeqKind::kGru) {
      return;
    }
    CAPTURE(of.name);
    train::TrainerOptions options;
    options.deviation = 0.5F;
    options.dropout = 0.5F;
    auto trainer = make_trainer(of, options);
    const OfSeq2Seq::Rows rows(3, 7, 4);
    const bool blocks = of.kind == train::Seq2SeqKind::kTransformer;
    const Index layers = blocks ? 2 : 1;
    const Index heads = blocks ? 3 : 1;
    std::vector<float> weights(static_cast<std::size_t>(layers * 3 * heads * 7 * 5), kUntouched);
    Workspace workspace;
    require_ok(trainer.forward(rows.view().tokens, {}, {weights.data(), {layers * 3, heads, 7, 5}},
                               workspace));
    std::set<float> firsts;
    for (std::size_t row = 0; row * 5 < weights.size(); ++row) {
      const std::int32_t length = rows.lengths[row / static_cast<std::size_t>(heads * 7) % 3];
      double sum = 0.0;
      for (std::int32_t j = 0; j < 5; ++j) {
        const float share = weights[row * 5 + static_cast<std::size_t>(j)];
        CHECK((j < length ? share > 0.0F : share == 0.0F));
        sum += static_cast<double>(share);
      }
      CHECK(std::abs(sum - 1) < 1e-6);
      if (length > 1 && row % 7 == 0) {
        firsts.insert(weights[row * 5]);
      }
    }
    CHECK(firsts.size() >= static_cast<std::size_t>(layers * heads));  // no layer is told twice
  });
}

TEST_CASE("Seq2SeqTrainer: after reach the same shape is trained as if nothing had been asked",
          "[train]") {
  for_each_translator([](const OfSeq2Seq& of) {
    CAPTURE(of.name);
    auto trainer = make_trainer(of, lively_options());
    auto undisturbed = make_trainer(of, lively_options());
    // One source of five tokens, and one token that the decoder reads: what reach() records.
    OfSeq2Seq::Rows rows(1, 1, 4);
    rows.lengths[0] = 5;
    std::vector<float> norms(5);
    Workspace workspace;
    for (int n = 0; n < 2; ++n) {
      require_ok(trainer.reach({rows.source.data(), {5}}, {norms.data(), {5}}, workspace));
      train::StepResult first;
      train::StepResult second;
      require_ok(trainer.step(rows.view(), workspace, first));
      require_ok(undisturbed.step(rows.view(), workspace, second));
      CHECK(first_difference(state_of(undisturbed), state_of(trainer)) == "");
    }
  });
}

TEST_CASE(
    "Seq2SeqTrainer: where a unit is linear, reach is the norm of its weights, halved by each step",
    "[train]") {
  // At 0 both gates are a half, so h = 0.5 (x W_n) + 0.5 h.
  // Of 100 tokens the squares of the first ones' derivatives are too small for a float; the norms are not.
  constexpr Index kLength = 100;
  const OfSeq2Seq of{"gru", train::Seq2SeqKind::kGru};
  train::Seq2SeqConfig config = of.config();
  config.num_layers = 1;
  config.max_length = kLength;
  train::Seq2SeqTrainer trainer;
  require_ok(train::Seq2SeqTrainer::create(config, {}, trainer));
  double squares = 0.0;
  Random random(3);
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    std::fill_n(value.data, value.size(), 0.0F);
    const bool read = std::string(trainer.array(i).name) == "encoder.0.gru.wx";
    for (Index row = 0; read && row < 12; ++row) {
      for (Index column = 24; column < 36; ++column) {
        *value.at(row, column) = random.uniform();
        squares += static_cast<double>(*value.at(row, column)) *
                   static_cast<double>(*value.at(row, column));
      }
    }
  }
  std::vector<std::int32_t> source;
  for (std::int32_t t = 0; t < kLength; ++t) {
    source.push_back(t % 11);
  }
  std::vector<float> norms(kLength);
  Workspace workspace;
  require_ok(trainer.reach({source.data(), {kLength}}, {norms.data(), {kLength}}, workspace));
  for (std::size_t distance = 0; distance < kLength; ++distance) {
    CAPTURE(distance);
    const double exact = std::sqrt(squares) * std::pow(0.5, static_cast<double>(distance) + 1);
    // Every product here has a factor of a power of two, so the gradients are exact.
    CHECK(std::abs(static_cast<double>(norms[distance]) - exact) <=
          0x1p-24 * exact * (1 + 0x1p-28 * 12 * 12));
  }
  // Weights whose squares a float does not hold have norms all the same.
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    for (Index n = 0; n < value.size(); ++n) {
      value.data[n] *= 0x1p100F;
    }
  }
  std::vector<float> large(kLength);
  require_ok(trainer.reach({source.data(), {kLength}}, {large.data(), {kLength}}, workspace));
  for (std::size_t distance = 0; distance < kLength; ++distance) {
    CHECK(large[distance] == norms[distance] * 0x1p100F);
  }
}

TEST_CASE("Seq2SeqTrainer: after the first calls of a size none takes memory", "[train]") {
  for_each_translator([](const OfSeq2Seq& of) {
    CAPTURE(of.name);
    auto trainer = make_trainer(of, lively_options());
    const OfSeq2Seq::Rows rows(3, 7, 4);
    const train::Seq2SeqBatch batch = rows.view();
    std::vector<float> norms(5);
    std::vector<std::int32_t> said(21);
    std::vector<std::int32_t> lengths(3);
    std::vector<float> logits(21 * 11);
    Workspace workspace;
    std::size_t requests = 0;
    for (int round = 0; round < 3; ++round) {
      CAPTURE(round);
      const auto steady = [&](const Status& status, const char* call) {
        CAPTURE(call);
        require_ok(status);
        CHECK((round == 0 || allocation_count() == requests));
        requests = allocation_count();
      };
      train::StepResult step;
      train::Evaluation found;
      steady(trainer.step(batch, workspace, step), "step");
      steady(trainer.evaluate(batch, workspace, found), "evaluate");
      steady(trainer.differentiate(batch, workspace, found), "differentiate");
      steady(trainer.forward(batch.tokens, {logits.data(), {3, 7, 11}}, {}, workspace), "forward");
      steady(trainer.translate({.source = batch.tokens.source,
                                .start = 2,
                                .ids = {said.data(), {3, 7}},
                                .lengths = {lengths.data(), {3}}},
                               workspace),
             "translate");
      steady(trainer.reach({rows.source.data(), {5}}, {norms.data(), {5}}, workspace), "reach");
    }
  });
}

}  // namespace
}  // namespace qkv::test::translate_test
