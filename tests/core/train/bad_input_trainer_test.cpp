// Both trainers: sizes and counts that nothing can hold, and what else they refuse without a change.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "problem.hpp"
#include "refusal.hpp"
#include "train_trainers.hpp"

namespace qkv::test::bad_input_trainer_test {
namespace {

TEST_CASE("trainers: steps that a checkpoint cannot hold are refused", "[train][bad-input]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Workspace workspace;
    auto trainer = make_trainer(of);
    const std::string set = call_of<Of>("set_steps");
    for (const std::int64_t steps :
         {kMostSteps + 1, kMostSteps + 2, std::numeric_limits<std::int64_t>::max()}) {
      require_refused(trainer.set_steps(steps), set.c_str(),
                      {kRange, "steps", std::to_string(steps).c_str(), "at most 9007199254740991"});
      CHECK(trainer.steps() == 0);
    }
    // The last count there is may be set, and no step follows it.
    require_ok(trainer.set_steps(kMostSteps - 1));
    CHECK(make_step(of, trainer, 1, workspace).step == kMostSteps);
    const std::vector<float> before = state_of(trainer);
    const typename Of::Rows rows(3, 7, 1);
    train::StepResult result;
    require_refused(trainer.step(rows.view(), workspace, result), call_of<Of>("step").c_str(),
                    {kRange, "steps", "is 9007199254740991", "less than"});
    CHECK(trainer.steps() == kMostSteps);
    CHECK(first_difference(before, state_of(trainer)) == "");
    require_refused(trainer.set_steps(-1), set.c_str(), {kRange, "steps", "is -1", "at least 0"});
    CHECK(trainer.steps() == kMostSteps);
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
      (name[9] == 'w' ? options.schedule.warmup : options.schedule.steps) = kMostSteps + 1;
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

// ------------------------------------------------------------------------------------------ refusals

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_CASE("trainers: weights that are not finite are refused, in whichever array they are",
          "[train][nan]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Workspace workspace;
    auto trainer = make_trainer(of, lively_options());
    make_step(of, trainer, 1, workspace);
    auto undisturbed = make_trainer(of, lively_options());
    make_step(of, undisturbed, 1, workspace);
    const typename Of::Rows rows(3, 9, 2);
    for (Index i = 0; i < trainer.array_count(); ++i) {
      CAPTURE(trainer.array(i).name);
      const TensorView<float> value = trainer.array(i).value;
      const std::vector<float> kept(value.data, value.data + value.size());
      std::fill_n(value.data, value.size(), std::numeric_limits<float>::quiet_NaN());
      const std::vector<float> before = state_of(trainer);
      train::StepResult result;
      result.before.loss = result.gradient_norm = -7.0;
      result.step = -7;
      require_refused(trainer.step(rows.view(), workspace, result), call_of<Of>("step").c_str(),
                      {kInvalid, "the norm of the gradient", "is NaN", "nothing was changed"});
      CHECK(result.before.loss == -7.0);
      CHECK(result.gradient_norm == -7.0);
      CHECK(result.step == -7);
      CHECK(same_bits(before, state_of(trainer)));
      std::copy(kept.begin(), kept.end(), value.data);
    }
    // It goes on as if nothing had been.
    make_step(of, trainer, 3, workspace);
    make_step(of, undisturbed, 3, workspace);
    CHECK(first_difference(state_of(undisturbed), state_of(trainer)) == "");
  });
}

TEST_CASE(
    "trainers: gradients whose squares are infinite are refused, and clipped ones make a step",
    "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Workspace workspace;
    const typename Of::Rows rows(3, 9, 2);
    for (const float clip_norm : {0.0F, 1.0F}) {
      train::TrainerOptions options = lively_options();
      options.clip_norm = clip_norm;
      auto trainer = make_trainer(of, options);
      // Gradients of what lies before the head have a factor of it.
      for (Index i = 0; i < trainer.array_count(); ++i) {
        const TensorView<float> value = trainer.array(i).value;
        if (const std::string_view name = trainer.array(i).name;
            name == "head" || name == "embedding") {
          std::for_each_n(value.data, value.size(), [](float& x) { x *= 0x1p80F; });
        }
      }
      const std::vector<float> before = state_of(trainer);
      train::StepResult result;
      const Status status = trainer.step(rows.view(), workspace, result);
      const std::vector<float> after = state_of(trainer);
      if (clip_norm == 0.0F) {
        require_refused(status, call_of<Of>("step").c_str(),
                        {kInvalid, "the norm of the gradient", " is ", "below 2^64"});
        CHECK(same_bits(before, after));
      } else {
        require_ok(status);
        CHECK(result.gradient_norm > 0x1p64);
        CHECK(std::ranges::all_of(after, [](float x) { return std::isfinite(x); }));
      }
    }
  });
}

TEST_CASE("Seq2SeqTrainer: batches that do not fit are refused and change nothing",
          "[train][bad-input]") {
  using Batch = train::Seq2SeqBatch;
  struct Wrong {
    Spoil<OfSeq2Seq::Rows&, Batch&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> many(40, 1);
  const Wrong rows[] = {
      {[](auto&, Batch& b) { b.tokens.source = {b.tokens.source.data, {15}}; },
       {kShapeError, "source", "is [15]", "[*,*]"}},
      {[](auto&, Batch& b) { b.tokens.source.shape = {0, 5}; },
       {kShapeError, "source", "is [0,5]", "at least 1"}},
      {[](auto&, Batch& b) { b.tokens.source.data = nullptr; },
       {kInvalid, "source", "has no data", "[3,5]"}},
      {[](auto&, Batch& b) { b.tokens.source = {many.data(), {3, 10}}; },
       {kRange, "source", "has rows of 10 tokens", "at most 9"}},
      {[](auto& r, Batch&) { r.source[14] = 11; }, {kRange, "source[14]", "is 11", "[0, 11)"}},
      {[](auto& r, Batch&) { r.source[0] = -1; }, {kRange, "source[0]", "is -1", "[0, 11)"}},
      {[](auto& r, Batch&) { r.lengths[1] = 6; }, {kRange, "source_lengths[1]", "is 6", "[0, 5]"}},
      {[](auto& r, Batch&) { r.lengths[2] = -1; },
       {kRange, "source_lengths[2]", "is -1", "[0, 5]"}},
      {[](auto&, Batch& b) { b.tokens.ids.shape = {0, 7}; },
       {kShapeError, "ids", "is [0,7]", "at least 1"}},
      {[](auto&, Batch& b) { b.tokens.ids = {many.data(), {3, 10}}; },
       {kRange, "ids", "has rows of 10 tokens", "at most 9"}},
      {[](auto&, Batch& b) { b.tokens.ids = {many.data(), {2, 7}}; },
       {kShapeError, "ids", "is [2,7]", "[3,*]"}},
      {[](auto& r, Batch&) { r.of.ids[20] = 11; }, {kRange, "ids[20]", "is 11", "[0, 11)"}},
      {[](auto& r, Batch&) { r.of.targets[20] = 11; },
       {kRange, "targets[20]", "is 11", "-1 or [0, 11)"}},
      {[](auto& r, Batch&) { r.of.targets[0] = -2; },
       {kRange, "targets[0]", "is -2", "-1 or [0, 11)"}},
      {[](auto& r, Batch&) { std::fill(r.of.targets.begin(), r.of.targets.end(), -1); },
       {kRange, "targets", "are all -1", "at least one"}},
      {[](auto&, Batch& b) { b.targets = {b.targets.data, {3, 6}}; },
       {kShapeError, "targets", "is [3,6]", "[3,7]"}},
  };
  for_each_translator([&](const OfSeq2Seq& of) {
    CAPTURE(of.name);
    Workspace workspace;
    auto trainer = make_trainer(of, lively_options());
    make_step(of, trainer, 1, workspace);
    auto undisturbed = make_trainer(of, lively_options());
    make_step(of, undisturbed, 1, workspace);
    const std::vector<float> before = state_of(trainer);
    const std::vector<float> gradients = gradients_of(trainer);
    for (const Wrong& row : rows) {
      OfSeq2Seq::Rows own(3, 7, 1);
      Batch batch = own.view();
      row.spoil(own, batch);
      train::StepResult result;
      train::Evaluation found;
      require_refused(trainer.step(batch, workspace, result), "Seq2SeqTrainer::step", row.refusal);
      require_refused(trainer.evaluate(batch, workspace, found), "Seq2SeqTrainer::evaluate",
                      row.refusal);
      require_refused(trainer.differentiate(batch, workspace, found),
                      "Seq2SeqTrainer::differentiate", row.refusal);
      CHECK(first_difference(before, state_of(trainer)) == "");
      CHECK(first_difference(gradients, gradients_of(trainer)) == "");
    }
    make_step(of, trainer, 2, workspace);
    make_step(of, undisturbed, 2, workspace);
    CHECK(first_difference(state_of(undisturbed), state_of(trainer)) == "");
  });
}

TEST_CASE("LanguageModelTrainer: readings that do not fit are refused before anything is written",
          "[train][bad-input]") {
  using Reading = train::LayerReading;
  struct Wrong {
    Spoil<Reading&> spoil;
    Refusal refusal;
  };
  const Wrong rows[] = {
      {[](Reading& r) { r.layer = 2; }, {kRange, "layer", "is 2", "[0, 2)"}},
      {[](Reading& r) { r.layer = -1; }, {kRange, "layer", "is -1", "[0, 2)"}},
      {[](Reading& r) { r.weights.shape[1] = 3; },
       {kShapeError, "weights", "is [3,3,7,7]", "[3,4,7,7]"}},
      {[](Reading& r) { r.weights.strides[2] = 0; },
       {kInvalid, "weights", "has strides", "no two elements overlap"}},
      {[](Reading& r) { r.entropy.shape[2] = 6; },
       {kShapeError, "entropy", "is [3,4,6]", "[3,4,7]"}},
      {[](Reading& r) { r.entropy.data = nullptr; },
       {kInvalid, "entropy", "has no data", "[3,4,7]"}},
      {[](Reading& r) { r.residual.rank = 2; }, {kShapeError, "residual", "is [3,7]", "[3,7,12]"}},
      {[](Reading& r) { r.entropy.data = r.weights.data + 3; },
       {kInvalid, "entropy", "overlaps weights", "separate memory"}},
      {[](Reading& r) { r.residual.data = r.weights.data; },
       {kInvalid, "residual", "overlaps weights", "separate memory"}},
      {[](Reading& r) { r.q.shape[3] = 4; }, {kShapeError, "q", "is [3,4,7,4]", "[3,4,7,6]"}},
      {[](Reading& r) { r.k.shape[1] = 3; }, {kShapeError, "k", "is [3,3,7,6]", "[3,2,7,6]"}},
      {[](Reading& r) { r.v.data = nullptr; }, {kInvalid, "v", "has no data", "[3,2,7,6]"}},
      {[](Reading& r) { r.v.data = r.k.data; }, {kInvalid, "v", "overlaps k", "separate memory"}},
  };
  const OfLanguageModel of;
  auto trainer = make_trainer(of);
  const OfLanguageModel::Rows batch(3, 7, 1);
  Workspace workspace;
  for (const Wrong& row : rows) {
    std::vector<float> written(4000, kUntouched);
    const Reading right = {.layer = 0, .residual = {written.data(), {3, 7, 12}}};
    Reading wrong = {.layer = 1,
                     .weights = {written.data() + 300, {3, 4, 7, 7}},
                     .entropy = {written.data() + 900, {3, 4, 7}},
                     .residual = {written.data() + 1000, {3, 7, 12}},
                     .q = {written.data() + 2000, {3, 4, 7, 6}},
                     .k = {written.data() + 2600, {3, 2, 7, 6}},
                     .v = {written.data() + 3000, {3, 2, 7, 6}}};
    row.spoil(wrong);
    const Reading readings[] = {right, wrong};
    require_refused(trainer.forward(batch.view().tokens, {written.data() + 1300, {3, 7, 11}},
                                    readings, workspace),
                    "LanguageModelTrainer::forward", row.refusal);
    CHECK(first_difference(std::vector<float>(4000, kUntouched), written) == "");
  }
}

TEST_CASE("trainers: arrays that are written are apart from all others", "[train][bad-input]") {
  const auto apart = [](const Status& status, const char* call, const char* out, const char* of) {
    require_refused(status, call,
                    {kInvalid, out, (std::string("overlaps ") + of).c_str(), "separate memory"});
  };
  Workspace workspace;
  std::vector<float> floats(1000, kUntouched);
  std::vector<std::int32_t> integers(200, 1);  // as many as are written over them
  const TensorView<const std::int32_t> source = {integers.data(), {3, 5}};
  // As an array of integers is seen that is written as floats: what counts is where it lies.
  auto* shared = reinterpret_cast<float*>(integers.data());
  auto model = make_trainer(OfLanguageModel{});
  const char* forward = "LanguageModelTrainer::forward";
  train::LayerReading reading;
  reading.residual = {floats.data(), {3, 5, 12}};
  const TensorView<float> logits = {floats.data() + 20, {3, 5, 11}};
  apart(model.forward({.ids = source}, logits, {&reading, 1}, workspace), forward, "residual",
        "logits");
  apart(model.forward({.ids = source}, {shared, {3, 5, 11}}, {}, workspace), forward, "logits",
        "ids");
  std::vector<std::int32_t> lengths(200, 5);
  auto* in_lengths = reinterpret_cast<float*>(lengths.data());
  const train::TokenBatch with_lengths = {.ids = source, .key_lengths = {lengths.data(), {3}}};
  apart(model.forward(with_lengths, {in_lengths, {3, 5, 11}}, {}, workspace), forward, "logits",
        "key_lengths");
  reading.residual = {in_lengths, {3, 5, 12}};
  apart(model.forward(with_lengths, {}, {&reading, 1}, workspace), forward, "residual",
        "key_lengths");
  CHECK(lengths == std::vector<std::int32_t>(200, 5));
  reading.residual = {floats.data(), {3, 5, 12}};
  const train::LayerReading twice[] = {reading, reading};
  apart(model.forward({.ids = source}, {}, twice, workspace), forward, "residual", "residual");
  CHECK(floats[0] == kUntouched);
  auto translator = make_trainer(OfSeq2Seq{"transformer", train::Seq2SeqKind::kTransformer});
  forward = "Seq2SeqTrainer::forward";
  const train::Seq2SeqTokens tokens = {.source = source, .ids = {integers.data() + 20, {3, 5}}};
  apart(translator.forward(tokens, {floats.data(), {3, 5, 11}}, {floats.data() + 100, {6, 3, 5, 5}},
                           workspace),
        forward, "weights", "logits");
  apart(translator.forward(tokens, {shared, {3, 5, 11}}, {}, workspace), forward, "logits",
        "source");
  const auto translate = [&](std::int32_t* ids, std::int32_t* ends) {
    return translator.translate(
        {.source = source, .start = 0, .end = 1, .ids = {ids, {3, 4}}, .lengths = {ends, {3}}},
        workspace);
  };
  apart(translate(integers.data() + 5, integers.data() + 30), "Seq2SeqTrainer::translate", "ids",
        "source");
  apart(translate(integers.data() + 30, integers.data() + 31), "Seq2SeqTrainer::translate",
        "lengths", "ids");
  apart(translator.reach({integers.data(), {5}}, {shared + 4, {5}}, workspace),
        "Seq2SeqTrainer::reach", "norms", "source");
  CHECK(first_difference(std::vector<float>(1000, kUntouched), floats) == "");
  CHECK(integers == std::vector<std::int32_t>(200, 1));
}

TEST_CASE("trainers: empty ones refuse every call", "[train][bad-input]") {
  Workspace workspace;
  train::Evaluation found;
  train::StepResult result;
  const Refusal empty = {kInvalid, "the trainer", "is empty", "create()"};
  for_each_trainer([&](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    typename Of::Trainer none;
    require_refused(none.step({}, workspace, result), call_of<Of>("step").c_str(), empty);
    require_refused(none.evaluate({}, workspace, found), call_of<Of>("evaluate").c_str(), empty);
    require_refused(none.differentiate({}, workspace, found), call_of<Of>("differentiate").c_str(),
                    empty);
    require_refused(none.forward({}, {}, {}, workspace), call_of<Of>("forward").c_str(), empty);
    CHECK(none.steps() == 0);
    CHECK(none.parameter_count() == 0);
    CHECK(none.config().vocabulary == 0);
  });
  train::Seq2SeqTrainer none;
  require_refused(none.translate({}, workspace), "Seq2SeqTrainer::translate", empty);
  require_refused(none.reach({}, {}, workspace), "Seq2SeqTrainer::reach", empty);
}

}  // namespace
}  // namespace qkv::test::bad_input_trainer_test
