// What both trainers promise, of whatever they are made.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "compare.hpp"
#include "problem.hpp"
#include "random.hpp"
#include "refusal.hpp"
#include "train_trainers.hpp"

namespace qkv::test::trainer_test {
namespace {

/// The name of a call as messages begin.
template <class Of>
std::string call_of(const char* method) {
  return std::string(Of::kClass) + "::" + method;
}

// ------------------------------------------------------------------------------------------- limits

/// The greatest count that a double tells from its neighbours: checkpoints hold steps as JSON and as float64.
constexpr std::int64_t kMost = (std::int64_t{1} << 53) - 1;

TEST_CASE("trainers: steps that a checkpoint cannot hold are refused", "[train][bad-input]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Workspace workspace;
    auto trainer = make_trainer(of);
    const std::string set = call_of<Of>("set_steps");
    for (const std::int64_t steps :
         {kMost + 1, kMost + 2, std::numeric_limits<std::int64_t>::max()}) {
      require_refused(trainer.set_steps(steps), set.c_str(),
                      {kRange, "steps", std::to_string(steps).c_str(), "at most 9007199254740991"});
      CHECK(trainer.steps() == 0);
    }
    // The last count there is may be set, and no step follows it.
    require_ok(trainer.set_steps(kMost - 1));
    CHECK(make_step(of, trainer, 1, workspace).step == kMost);
    const std::vector<float> before = state_of(trainer);
    const typename Of::Rows rows(3, 7, 1);
    train::StepResult result;
    require_refused(trainer.step(rows.view(), workspace, result), call_of<Of>("step").c_str(),
                    {kRange, "steps", "is 9007199254740991", "below"});
    CHECK(trainer.steps() == kMost);
    CHECK(first_difference(before, state_of(trainer)) == "");
    typename Of::Trainer empty;
    require_refused(empty.set_steps(1), set.c_str(),
                    {kInvalid, "the trainer", "is empty", "create()"});
  });
}

TEST_CASE("trainers: schedules longer than steps are counted are refused", "[train][bad-input]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    for (const char* name : {"schedule.warmup", "schedule.steps"}) {
      train::TrainerOptions options;
      (name[9] == 'w' ? options.schedule.warmup : options.schedule.steps) = kMost + 1;
      typename Of::Trainer trainer;
      require_refused(Of::Trainer::create(of.config(), options, trainer),
                      call_of<Of>("create").c_str(),
                      {kRange, name, "9007199254740992", "at most 9007199254740991"});
    }
  });
}

TEST_CASE("trainers: more layers than any model has are refused before memory is asked for",
          "[train][bad-input]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    for (const Index layers : {Index{65'537}, std::numeric_limits<Index>::max()}) {
      auto config = of.config();
      config.num_layers = layers;
      typename Of::Trainer trainer;
      const std::size_t requests = allocation_count();
      require_refused(Of::Trainer::create(config, {}, trainer), call_of<Of>("create").c_str(),
                      {kRange, "num_layers", std::to_string(layers).c_str(), "65536"});
      CHECK(allocation_count() == requests);
    }
  });
}

TEST_CASE("trainers: arrays whose sizes no number holds are refused", "[train][bad-input]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    constexpr Index kHuge = std::numeric_limits<Index>::max() / 3;
    const auto refused = [&](const auto& spoil) {
      auto config = of.config();
      spoil(config);
      typename Of::Trainer trainer;
      const std::size_t bytes = allocated_bytes();
      CHECK(Of::Trainer::create(config, {}, trainer).code() == StatusCode::kOutOfMemory);
      CHECK(trainer.array_count() == 0);
      CHECK(allocated_bytes() == bytes);
    };
    refused([](auto& c) { c.vocabulary = kHuge; });
    refused([](auto& c) { c.vocabulary = std::numeric_limits<Index>::max(); });
    refused([](auto& c) { c.d_model = kHuge / 12 * 12; });
    if constexpr (std::is_same_v<Of, OfLanguageModel>) {
      refused([](auto& c) { c.d_feed_forward = kHuge; });
      refused([](auto& c) { c.d_k = kHuge / 2 * 2; });
    }
  });
}

#if SIZE_MAX <= UINT32_MAX
// Of 64 bits none of these runs out before memory does.
TEST_CASE("trainers: batches whose arrays 32 bits cannot count are refused", "[train][bad-input]") {
  Workspace workspace;
  train::Evaluation found;
  // 2^17 tokens with 2^15 + 1 logits each are 2^32 + 2^17 numbers, and so 2^17 to an Index.
  LanguageModelConfig wide;
  wide.vocabulary = (1 << 15) + 1;
  wide.num_layers = wide.d_model = wide.num_heads = 1;
  wide.max_length = 128;
  train::LanguageModelTrainer model;
  require_ok(train::LanguageModelTrainer::create(wide, {}, model));
  const std::vector<std::int32_t> ids(1 << 17, 1);
  train::LanguageBatch batch;
  batch.tokens.ids = {ids.data(), {1024, 128}};
  batch.targets = batch.tokens.ids;
  CHECK(model.evaluate(batch, workspace, found).code() == StatusCode::kOutOfMemory);
  // 2^16 queries have 2^32 weights over as many keys, and so none.
  train::Seq2SeqConfig additive;
  additive.kind = train::Seq2SeqKind::kGruAttention;
  additive.vocabulary = 2;
  additive.d_model = 1;
  additive.max_length = 1 << 16;
  train::Seq2SeqTrainer translator;
  require_ok(train::Seq2SeqTrainer::create(additive, {}, translator));
  train::Seq2SeqBatch pair;
  pair.tokens.source = pair.tokens.ids = pair.targets = {ids.data(), {1, 1 << 16}};
  CHECK(translator.evaluate(pair, workspace, found).code() == StatusCode::kOutOfMemory);
}
#endif

}  // namespace
}  // namespace qkv::test::trainer_test
