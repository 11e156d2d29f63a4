// What both trainers promise, of whatever they are made.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "hash.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
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
    require_refused(trainer.set_steps(-1), set.c_str(), {kRange, "steps", "is -1", "at least 0"});
    CHECK(trainer.steps() == kMost);
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

// ------------------------------------------------------------------------------------------- arrays

/// Numbers of options that all do something.
train::TrainerOptions lively_options() {
  train::TrainerOptions options;
  options.seed = 5;
  options.dropout = 0.1F;
  options.schedule = {.peak = 1e-2F, .warmup = 3, .steps = 12, .last = 1e-3F};
  options.deviation = 0.2F;
  return options;
}

template <class Trainer>
std::string names_of(const Trainer& trainer) {
  std::string all;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const train::TrainedArray a = trainer.array(i);
    all += std::string(a.name) + " " + std::to_string(a.value.extent(0));
    all += a.value.rank == 2 ? "x" + std::to_string(a.value.extent(1)) + "\n" : "\n";
  }
  return all;
}

TEST_CASE("Seq2SeqTrainer: the arrays of each kind, in their order", "[train][any-isa]") {
  const std::string encoder =
      "encoder.0.gru.wx 2x6\nencoder.0.gru.wh 2x6\n"
      "encoder.0.gru.bx 6\nencoder.0.gru.bh 6\n";
  const std::string decoder =
      "decoder.0.gru.wx 2x6\ndecoder.0.gru.wh 2x6\n"
      "decoder.0.gru.bx 6\ndecoder.0.gru.bh 6\n";
  const auto attention = [](const std::string& place) {
    std::string all;
    for (const char* part : {"q", "k", "v", "o"}) {
      all += place + "w" + part + " 2x2\n" + place + "b" + part + " 2\n";
    }
    return all;
  };
  const auto norm = [](const std::string& place) {
    return place + "gamma 2\n" + place + "beta 2\n";
  };
  const auto feed_forward = [](const std::string& place) {
    return place + "w1 2x3\n" + place + "b1 3\n" + place + "w2 3x2\n" + place + "b2 2\n";
  };
  const std::string own = norm("encoder.0.norm1.") + attention("encoder.0.attention.") +
                          norm("encoder.0.norm2.") + feed_forward("encoder.0.feedForward.") +
                          norm("encoderNorm.");
  const std::string both = norm("decoder.0.norm1.") + attention("decoder.0.attention.") +
                           norm("decoder.0.normCross.") + attention("decoder.0.cross.") +
                           norm("decoder.0.norm2.") + feed_forward("decoder.0.feedForward.") +
                           norm("decoderNorm.");
  const std::string ends[] = {
      encoder + decoder,
      encoder + decoder +
          "attention.wq 2x2\nattention.wk 2x2\nattention.v 1x2\nattention.ws 2x2\n"
          "attention.wc 2x2\nattention.b 2\n",
      encoder + decoder +
          "attention.wq 2x2\nattention.wk 2x2\nattention.ws 2x2\nattention.wc 2x2\n"
          "attention.b 2\n",
      own + both,
  };
  int kind = 0;
  for_each_translator([&](const OfSeq2Seq& of) {
    CAPTURE(of.name);
    train::Seq2SeqConfig config = of.config();
    config.vocabulary = 5;
    config.d_model = 2;
    config.num_heads = 1;
    config.num_layers = 1;
    config.d_feed_forward = 3;
    train::Seq2SeqTrainer trainer;
    require_ok(train::Seq2SeqTrainer::create(config, {}, trainer));
    CHECK(names_of(trainer) == "embedding 5x2\n" + ends[kind++] + "head 2x5\n");
    CHECK(trainer.config().d_feed_forward == 3);
  });
}

TEST_CASE("trainers: arrays have names of their own, and are counted", "[train][any-isa]") {
  for_each_trainer([](const auto& of) {
    CAPTURE(of.name);
    const auto trainer = make_trainer(of);
    std::set<std::string> names;
    Index sum = 0;
    for (Index i = 0; i < trainer.array_count(); ++i) {
      const train::TrainedArray a = trainer.array(i);
      CAPTURE(a.name);
      CHECK(names.insert(a.name).second);
      CHECK(a.gradient.size() == a.value.size());
      CHECK(a.gradient.rank == a.value.rank);
      sum += a.value.size();
    }
    CHECK(trainer.parameter_count() == sum);
  });
}

/// Whether a name ends so.
bool ends(const std::string& name, const char* with) { return name.ends_with(with); }

/// Mean of squares of the initial weights in an array, as its root.
double deviation_of(const TensorView<float>& value) {
  double squares = 0.0;
  for (Index i = 0; i < value.size(); ++i) {
    squares += static_cast<double>(value.data[i]) * static_cast<double>(value.data[i]);
  }
  return std::sqrt(squares / static_cast<double>(value.size()));
}

TEST_CASE("trainers: gains begin as 1, biases as 0, matrices as normal numbers of their deviation",
          "[train][any-isa]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    auto config = of.config();
    config.d_model = 60;
    config.d_feed_forward = 80;
    config.vocabulary = 100;
    config.max_length = 40;
    config.num_layers = 8;
    train::TrainerOptions options;
    options.deviation = 0.04F;
    typename Of::Trainer trainer;
    require_ok(Of::Trainer::create(config, options, trainer));
    std::set<float> firsts;
    int drawn = 0;
    for (Index i = 0; i < trainer.array_count(); ++i) {
      const train::TrainedArray a = trainer.array(i);
      const std::string name = a.name;
      CAPTURE(name);
      if (a.value.rank == 1) {
        const bool gain = ends(name, "amma");  // gamma, qGamma, kGamma
        CHECK(std::all_of(a.value.data, a.value.data + a.value.size(),
                          [&](float x) { return x == (gain ? 1.0F : 0.0F); }));
        continue;
      }
      const bool into_stream = ends(name, ".wo") || ends(name, ".w2");
      const double expected = into_stream ? 0.04 / std::sqrt(2.0 * 8) : 0.04;
      const auto n = static_cast<double>(a.value.size());
      CHECK(std::abs(deviation_of(a.value) / expected - 1) < 5 / std::sqrt(2 * n));
      firsts.insert(*a.value.data / static_cast<float>(expected));
      ++drawn;
    }
    CHECK(static_cast<int>(firsts.size()) == drawn);  // each array has a stream of its own
  });
}

TEST_CASE("trainers: the seed decides initial weights and dropout, and nothing else does",
          "[train]") {
  for_each_trainer([](const auto& of) {
    CAPTURE(of.name);
    Workspace workspace;
    train::TrainerOptions options = lively_options();
    auto one = make_trainer(of, options);
    auto same = make_trainer(of, options);
    options.seed = 6;
    auto other = make_trainer(of, options);
    CHECK(first_difference(state_of(one), state_of(same)) == "");
    CHECK(first_difference(state_of(one), state_of(other)) != "");
    make_step(of, one, 1, workspace);
    make_step(of, same, 1, workspace);
    CHECK(first_difference(state_of(one), state_of(same)) == "");
    // With the weights of the first, the other seed still drops other numbers.
    same = make_trainer(of, lively_options());
    for (Index i = 0; i < same.array_count(); ++i) {
      const TensorView<float> value = same.array(i).value;
      std::copy_n(value.data, value.size(), other.array(i).value.data);
    }
    CHECK(make_step(of, same, 1, workspace).before.loss !=
          make_step(of, other, 1, workspace).before.loss);
  });
}

TEST_CASE("trainers: what is destroyed or moved away keeps no memory", "[train][any-isa]") {
  for_each_trainer([](const auto& of) {
    using Trainer = typename std::decay_t<decltype(of)>::Trainer;
    const std::size_t bytes = allocated_bytes();
    {
      Trainer trainer = make_trainer(of);
      {
        Workspace workspace;
        make_step(of, trainer, 1, workspace);
      }
      Trainer moved(std::move(trainer));
      CHECK(moved.steps() == 1);
      CHECK(moved.array_count() > 0);
      CHECK(trainer.array_count() == 0);  // NOLINT(bugprone-use-after-move): it is empty then
      CHECK(trainer.steps() == 0);
      moved = make_trainer(of);
      CHECK(moved.steps() == 0);
      CHECK(allocated_bytes() > bytes);
    }
    CHECK(allocated_bytes() == bytes);
  });
}

// ---------------------------------------------------------------------------------------- evaluation

TEST_CASE("trainers: an evaluation is that of the logits over the targets that count", "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    train::TrainerOptions options;
    options.deviation = 0.4F;
    options.dropout = 0.5F;  // neither of the two drops
    auto trainer = make_trainer(of, options);
    const typename Of::Rows rows(3, 7, 9);
    Workspace workspace;
    const std::vector<float> logits = of.logits(trainer, rows.view(), workspace);
    double loss = 0.0;
    Index correct = 0;
    Index counted = 0;
    for (std::size_t i = 0; i < rows.of.targets.size(); ++i) {
      if (rows.of.targets[i] < 0) {
        continue;
      }
      const float* row = logits.data() + i * 11;
      double sum = 0.0;
      for (std::size_t v = 0; v < 11; ++v) {
        sum += std::exp(static_cast<double>(row[v]));
      }
      loss += std::log(sum) - static_cast<double>(row[rows.of.targets[i]]);
      correct += std::max_element(row, row + 11) - row == rows.of.targets[i] ? 1 : 0;
      ++counted;
    }
    train::Evaluation found;
    require_ok(trainer.evaluate(rows.view(), workspace, found));
    REQUIRE(counted < 21);  // some do not
    CHECK(found.counted == counted);
    CHECK(std::abs(found.loss - loss / static_cast<double>(counted)) < 1e-6);
    CHECK(found.accuracy == static_cast<double>(correct) / static_cast<double>(counted));
    CHECK(trainer.steps() == 0);
  });
}

TEST_CASE("trainers: dropout drops in steps alone, and other numbers in each", "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    train::TrainerOptions options = lively_options();
    auto trainer = make_trainer(of, options);
    options.dropout = 0.0F;
    auto without = make_trainer(of, options);
    const typename Of::Rows rows(3, 7, 9);
    Workspace workspace;
    train::Evaluation plain;
    train::Evaluation found;
    require_ok(without.differentiate(rows.view(), workspace, plain));
    require_ok(trainer.evaluate(rows.view(), workspace, found));
    CHECK(found.loss == plain.loss);
    require_ok(trainer.differentiate(rows.view(), workspace, found));
    const double first = found.loss;
    CHECK(first != plain.loss);
    require_ok(trainer.differentiate(rows.view(), workspace, found));
    CHECK(found.loss == first);
    require_ok(trainer.set_steps(1));
    require_ok(trainer.differentiate(rows.view(), workspace, found));
    CHECK(found.loss != first);
    require_ok(trainer.set_steps(0));
    train::StepResult result;
    require_ok(trainer.step(rows.view(), workspace, result));
    CHECK(result.before.loss == first);
  });
}

/// The loss after all weights moved by `h` along a fixed direction, with the dropout of the next step.
template <class Trainer, class Batch>
double loss_along(Trainer& trainer, const Batch& batch, float h, Workspace& workspace) {
  std::vector<std::vector<float>> before;
  Random random(1);
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    before.emplace_back(value.data, value.data + value.size());
    for (Index j = 0; j < value.size(); ++j) {
      value.data[j] += h * random.uniform(1.0F);
    }
  }
  train::Evaluation found;
  require_ok(trainer.differentiate(batch, workspace, found));
  for (Index i = 0; i < trainer.array_count(); ++i) {
    std::copy(before[static_cast<std::size_t>(i)].begin(),
              before[static_cast<std::size_t>(i)].end(), trainer.array(i).value.data);
  }
  return found.loss;
}

TEST_CASE("trainers: with dropout, too, gradients are the slope of the loss", "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    train::TrainerOptions options = lively_options();
    options.dropout = 0.3F;
    auto trainer = make_trainer(of, options);
    const typename Of::Rows rows(3, 7, 9);
    Workspace workspace;
    // In float32 a loss near 2.4 is good to some 1e-6, so the step is not small.
    constexpr float kStep = 4e-3F;
    const double slope = (loss_along(trainer, rows.view(), kStep, workspace) -
                          loss_along(trainer, rows.view(), -kStep, workspace)) /
                         (2 * static_cast<double>(kStep));
    train::Evaluation found;
    require_ok(trainer.differentiate(rows.view(), workspace, found));
    Random random(1);
    double expected = 0.0;
    for (const float g : gradients_of(trainer)) {
      expected += static_cast<double>(g) * static_cast<double>(random.uniform(1.0F));
    }
    CAPTURE(slope, expected);
    CHECK(std::abs(slope - expected) < 0.02 * (std::abs(expected) + 0.05));
  });
}

TEST_CASE("LanguageModelTrainer: the stream after the last layer times the head is the logits",
          "[train][model]") {
  const OfLanguageModel of;
  LanguageModelConfig config = of.config();
  config.norm = NormPlacement::kPost;  // so that no norm stands in between
  config.tied_embeddings = false;
  train::TrainerOptions options;
  options.deviation = 0.3F;
  train::LanguageModelTrainer trainer;
  require_ok(train::LanguageModelTrainer::create(config, options, trainer));
  const OfLanguageModel::Rows rows(2, 5, 3);
  std::vector<float> logits(2 * 5 * 11);
  std::vector<float> streams[2] = {std::vector<float>(2 * 5 * 12), std::vector<float>(2 * 5 * 12)};
  const train::LayerReading readings[] = {
      {.layer = 1, .residual = {streams[1].data(), {2, 5, 12}}},
      {.layer = 0, .residual = {streams[0].data(), {2, 5, 12}}}};
  Workspace workspace;
  require_ok(trainer.forward(rows.view().tokens, {logits.data(), {2, 5, 11}}, readings, workspace));
  const train::TrainedArray head = trainer.array(trainer.array_count() - 1);
  REQUIRE(std::string(head.name) == "head");
  for (std::size_t row = 0; row < 10; ++row) {
    for (Index v = 0; v < 11; ++v) {
      double sum = 0.0;
      for (Index d = 0; d < 12; ++d) {
        sum += static_cast<double>(streams[1][row * 12 + static_cast<std::size_t>(d)]) *
               static_cast<double>(*head.value.at(d, v));
      }
      CHECK(std::abs(static_cast<double>(logits[row * 11 + static_cast<std::size_t>(v)]) - sum) <
            1e-5);
    }
  }
  CHECK(first_difference(streams[0], streams[1]) != "");
}

// --------------------------------------------------------------------------------------------- steps

TEST_CASE("trainers: steps are counted from 1, each with the rate of its schedule", "[train]") {
  for_each_trainer([](const auto& of) {
    CAPTURE(of.name);
    Workspace workspace;
    const train::TrainerOptions options = lively_options();
    auto trainer = make_trainer(of, options);
    for (std::int64_t n = 1; n <= 15; ++n) {
      const train::StepResult result = make_step(of, trainer, 1, workspace);
      CHECK(result.step == n);
      CHECK(result.learning_rate == train::learning_rate_at(options.schedule, n));
      CHECK(trainer.steps() == n);
    }
    require_ok(trainer.set_steps(5));
    CHECK(trainer.steps() == 5);
    const train::StepResult result = make_step(of, trainer, 1, workspace);
    CHECK(result.step == 6);
    CHECK(result.learning_rate == train::learning_rate_at(options.schedule, 6));
  });
}

TEST_CASE("trainers: the learning rate of any schedule stays between its ends",
          "[train][any-isa]") {
  constexpr std::int64_t kCounts[] = {0, 1, 2, 7, 1000, kMost - 1, kMost};
  for (const std::int64_t warmup : kCounts) {
    for (const std::int64_t steps : kCounts) {
      const train::Schedule schedule{
          .peak = 0.5F, .warmup = warmup, .steps = steps, .last = 0.125F};
      for (const std::int64_t step : kCounts) {
        CAPTURE(warmup, steps, step);
        const float rate = train::learning_rate_at(schedule, step);
        CHECK(rate >= (step < warmup ? 0.0F : 0.125F));
        CHECK(rate <= 0.5F);
        if (steps > warmup && step >= steps) {
          CHECK(rate == 0.125F);
        }
        if (step == warmup && warmup > 0) {
          CHECK(rate == 0.5F);
        }
      }
    }
  }
}

/// One array before a step.
struct Before {
  std::vector<double> w, m, v;
};

template <class Trainer>
std::vector<Before> remember(Trainer& trainer) {
  std::vector<Before> all;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    const train::Moments moments = trainer.moments(i);
    const Index n = value.size();
    all.push_back({{value.data, value.data + n},
                   {moments.first, moments.first + n},
                   {moments.second, moments.second + n}});
  }
  return all;
}

/// Greatest |weight or moment - that of AdamW by its formula| over all arrays, in units of its size.
template <class Trainer>
double error_of_step(Trainer& trainer, const std::vector<Before>& before,
                     const train::TrainerOptions& o, const train::StepResult& result) {
  const auto as_double = [](float x) { return static_cast<double>(x); };
  const double b1 = as_double(o.beta1);
  const double b2 = as_double(o.beta2);
  const double rate = as_double(result.learning_rate);
  const double most = as_double(o.clip_norm);
  const double factor = most > 0 ? std::min(1.0, most / (result.gradient_norm + 1e-6)) : 1.0;
  const auto t = static_cast<double>(result.step);
  double worst = 0.0;
  const auto compare = [&](double computed, double exact, double size) {
    worst = std::max(worst, std::abs(computed - exact) / (std::abs(exact) + size));
  };
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const train::TrainedArray a = trainer.array(i);
    const Before& old = before[static_cast<std::size_t>(i)];
    const std::string name = a.name;
    const bool decays = a.value.rank == 2 && name != "embedding" && name != "positions";
    for (std::size_t j = 0; j < old.w.size(); ++j) {
      const double g = as_double(a.gradient.data[j]) * factor;
      const double m = b1 * old.m[j] + (1 - b1) * g;
      const double v = b2 * old.v[j] + (1 - b2) * g * g;
      const double decayed = decays ? old.w[j] * (1 - rate * as_double(o.weight_decay)) : old.w[j];
      const double w = decayed - rate * (m / (1 - std::pow(b1, t))) /
                                     (std::sqrt(v / (1 - std::pow(b2, t))) + as_double(o.epsilon));
      compare(as_double(a.value.data[j]), w, rate);
      compare(as_double(trainer.moments(i).first[j]), m, std::abs(b1 * old.m[j]) + 1e-9);
      compare(as_double(trainer.moments(i).second[j]), v, 1e-12);
    }
  }
  return worst;
}

TEST_CASE("trainers: a step is AdamW of the clipped gradient, with decay of matrices alone",
          "[train]") {
  for_each_trainer([](const auto& of) {
    CAPTURE(of.name);
    Workspace workspace;
    for (const float clip : {0.0F, 0.05F, 1e6F}) {
      CAPTURE(clip);
      train::TrainerOptions options;
      options.clip_norm = clip;
      options.deviation = 0.3F;
      options.weight_decay = 0.5F;
      options.beta1 = 0.8F;
      options.beta2 = 0.95F;
      options.epsilon = 1e-3F;
      options.schedule = {.peak = 0.02F, .warmup = 4};
      auto trainer = make_trainer(of, options);
      for (std::uint64_t n = 0; n < 3; ++n) {
        const std::vector<Before> before = remember(trainer);
        const train::StepResult result = make_step(of, trainer, n, workspace);
        double squares = 0.0;
        for (const float g : gradients_of(trainer)) {
          squares += static_cast<double>(g) * static_cast<double>(g);
        }
        CHECK(std::abs(result.gradient_norm / std::sqrt(squares) - 1) < 1e-7);
        CHECK(result.gradient_norm > 0.06);  // so that 0.05 is less
        CHECK(error_of_step(trainer, before, options, result) < 1e-5);
      }
    }
  });
}

TEST_CASE("trainers: gradients stay those of the last step until another batch has some",
          "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Workspace workspace;
    auto trainer = make_trainer(of);
    auto other = make_trainer(of);
    const typename Of::Rows rows(3, 7, 1);
    train::Evaluation found;
    require_ok(other.differentiate(rows.view(), workspace, found));
    const train::StepResult result = make_step(of, trainer, 1, workspace);
    CHECK(result.before.loss == found.loss);
    const std::vector<float> gradients = gradients_of(other);
    CHECK(first_difference(gradients, gradients_of(trainer)) == "");
    CHECK(other.steps() == 0);
    const typename Of::Rows others(2, 4, 8);
    require_ok(trainer.evaluate(others.view(), workspace, found));
    static_cast<void>(of.logits(trainer, others.view(), workspace));
    CHECK(first_difference(gradients, gradients_of(trainer)) == "");
    require_ok(trainer.differentiate(others.view(), workspace, found));
    CHECK(first_difference(gradients, gradients_of(trainer)) != "");
  });
}

/// Weights, moments and steps of one trainer into another.
template <class Trainer>
void resume(Trainer& from, Trainer& to) {
  for (Index i = 0; i < from.array_count(); ++i) {
    const Index n = from.array(i).value.size();
    std::copy_n(from.array(i).value.data, n, to.array(i).value.data);
    std::copy_n(from.moments(i).first, n, to.moments(i).first);
    std::copy_n(from.moments(i).second, n, to.moments(i).second);
  }
  require_ok(to.set_steps(from.steps()));
}

TEST_CASE("trainers: shapes in turn, and each in a trainer resumed anew, give the same bits",
          "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    Workspace workspace;
    auto whole = make_trainer(of, lively_options());
    auto anew = make_trainer(of, lively_options());
    const Index shapes[][2] = {{3, 7}, {1, 9}, {3, 7}, {7, 3}, {7, 3}, {2, 1}, {3, 7}};
    std::uint64_t seed = 0;
    for (const auto& [batch, tokens] : shapes) {
      const typename Of::Rows rows(batch, tokens, ++seed);
      train::StepResult first;
      train::StepResult second;
      require_ok(whole.step(rows.view(), workspace, first));
      auto next = make_trainer(of, lively_options());
      resume(anew, next);
      require_ok(next.step(rows.view(), workspace, second));
      anew = std::move(next);
      CHECK(first.before.loss == second.before.loss);
      CHECK(first.gradient_norm == second.gradient_norm);
      CHECK(first_difference(state_of(whole), state_of(anew)) == "");
    }
  });
}

TEST_CASE("trainers: a run that leaves out moments or steps when it is resumed goes elsewhere",
          "[train]") {
  for_each_trainer([](const auto& of) {
    CAPTURE(of.name);
    Workspace workspace;
    auto whole = make_trainer(of, lively_options());
    for (std::uint64_t n = 0; n < 4; ++n) {
      make_step(of, whole, n, workspace);
    }
    const auto after_two_more = [&](bool steps, bool first, bool second) {
      auto next = make_trainer(of, lively_options());
      resume(whole, next);
      for (Index i = 0; i < next.array_count(); ++i) {
        const Index n = next.array(i).value.size();
        std::fill_n(next.moments(i).first, first ? 0 : n, 0.0F);
        std::fill_n(next.moments(i).second, second ? 0 : n, 0.0F);
      }
      require_ok(next.set_steps(steps ? 4 : 0));
      make_step(of, next, 4, workspace);
      make_step(of, next, 5, workspace);
      std::vector<float> state = state_of(next);
      state.pop_back();
      return state;
    };
    const std::vector<float> resumed = after_two_more(true, true, true);
    make_step(of, whole, 4, workspace);
    make_step(of, whole, 5, workspace);
    std::vector<float> expected = state_of(whole);
    expected.pop_back();
    CHECK(first_difference(expected, resumed) == "");
    CHECK(first_difference(expected, after_two_more(false, true, true)) != "");
    CHECK(first_difference(expected, after_two_more(true, false, true)) != "");
    CHECK(first_difference(expected, after_two_more(true, true, false)) != "");
  });
}

TEST_CASE("Seq2SeqTrainer: forty steps give one hash where arithmetic has two roundings",
          "[train]") {
  Hash hash;
  for_each_translator([&](const OfSeq2Seq& of) {
    Workspace workspace;
    auto trainer = make_trainer(of, lively_options());
    for (std::uint64_t n = 0; n < 40; ++n) {
      make_step(of, trainer, n % 7, workspace);
    }
    hash.add(state_of(trainer));
  });
  std::printf("translators %s %016" PRIx64 "\n", active_isa(), hash.value());
  std::fflush(stdout);
  const std::string isa = active_isa();
  if (isa == "scalar" || isa == "sse4" || isa == "wasm-simd128") {
    CHECK(hash.value() == 0xBA118109259C0606U);
  }
}

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
       {kRange, "source", "has 10 tokens", "at most 9"}},
      {[](auto& r, Batch&) { r.source[14] = 11; }, {kRange, "source[14]", "is 11", "[0, 11)"}},
      {[](auto& r, Batch&) { r.source[0] = -1; }, {kRange, "source[0]", "is -1", "[0, 11)"}},
      {[](auto& r, Batch&) { r.lengths[1] = 6; }, {kRange, "source_lengths[1]", "is 6", "[0, 5]"}},
      {[](auto& r, Batch&) { r.lengths[2] = -1; },
       {kRange, "source_lengths[2]", "is -1", "[0, 5]"}},
      {[](auto&, Batch& b) { b.tokens.ids.shape = {0, 7}; },
       {kShapeError, "ids", "is [0,7]", "at least 1"}},
      {[](auto&, Batch& b) { b.tokens.ids = {many.data(), {3, 10}}; },
       {kRange, "ids", "has 10 tokens", "at most 9"}},
      {[](auto&, Batch& b) { b.tokens.ids = {many.data(), {2, 7}}; },
       {kShapeError, "ids", "is [2,7]", "[3,*]"}},
      {[](auto& r, Batch&) { r.of.ids[20] = 11; }, {kRange, "ids[20]", "is 11", "[0, 11)"}},
      {[](auto& r, Batch&) { r.of.targets[20] = 11; },
       {kRange, "targets[20]", "is 11", "-1 or [0, 11)"}},
      {[](auto& r, Batch&) { r.of.targets[0] = -2; },
       {kRange, "targets[0]", "is -2", "-1 or [0, 11)"}},
      {[](auto& r, Batch&) { std::fill(r.of.targets.begin(), r.of.targets.end(), -1); },
       {kRange, "targets", "nothing that counts", "at least one"}},
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
       {kInvalid, "weights", "has strides", "a place of its own"}},
      {[](Reading& r) { r.entropy.shape[2] = 6; },
       {kShapeError, "entropy", "is [3,4,6]", "[3,4,7]"}},
      {[](Reading& r) { r.entropy.data = nullptr; },
       {kInvalid, "entropy", "has no data", "[3,4,7]"}},
      {[](Reading& r) { r.residual.rank = 2; }, {kShapeError, "residual", "is [3,7]", "[3,7,12]"}},
      {[](Reading& r) { r.entropy.data = r.weights.data + 3; },
       {kInvalid, "entropy", "is in the memory of weights", "memory of its own"}},
      {[](Reading& r) { r.residual.data = r.weights.data; },
       {kInvalid, "residual", "is in the memory of weights", "memory of its own"}},
  };
  const OfLanguageModel of;
  auto trainer = make_trainer(of);
  const OfLanguageModel::Rows batch(3, 7, 1);
  Workspace workspace;
  for (const Wrong& row : rows) {
    std::vector<float> written(2000, kUntouched);
    const Reading right = {.layer = 0, .residual = {written.data(), {3, 7, 12}}};
    Reading wrong = {.layer = 1,
                     .weights = {written.data() + 300, {3, 4, 7, 7}},
                     .entropy = {written.data() + 900, {3, 4, 7}},
                     .residual = {written.data() + 1000, {3, 7, 12}}};
    row.spoil(wrong);
    const Reading readings[] = {right, wrong};
    require_refused(trainer.forward(batch.view().tokens, {written.data() + 1300, {3, 7, 11}},
                                    readings, workspace),
                    "LanguageModelTrainer::forward", row.refusal);
    CHECK(first_difference(std::vector<float>(2000, kUntouched), written) == "");
  }
}

TEST_CASE("trainers: arrays that are written are apart from all others", "[train][bad-input]") {
  const auto apart = [](const Status& status, const char* call, const char* out, const char* of) {
    require_refused(status, call,
                    {kInvalid, out, (std::string("is in the memory of ") + of).c_str(), "its own"});
  };
  Workspace workspace;
  std::vector<float> floats(1000, kUntouched);
  std::vector<std::int32_t> integers(100, 1);
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
  auto translator = make_trainer(OfSeq2Seq{"transformer", train::Seq2SeqKind::kTransformer});
  forward = "Seq2SeqTrainer::forward";
  const train::Seq2SeqTokens tokens = {.source = source, .ids = {integers.data() + 20, {3, 5}}};
  apart(translator.forward(tokens, {floats.data(), {3, 5, 11}}, {floats.data() + 100, {6, 3, 5, 5}},
                           workspace),
        forward, "weights", "logits");
  apart(translator.forward(tokens, {shared, {3, 5, 11}}, {}, workspace), forward, "logits",
        "source");
  const auto translate = [&](std::int32_t* ids, std::int32_t* lengths) {
    return translator.translate(
        {.source = source, .start = 0, .end = 1, .ids = {ids, {3, 4}}, .lengths = {lengths, {3}}},
        workspace);
  };
  apart(translate(integers.data() + 5, integers.data() + 30), "Seq2SeqTrainer::translate", "ids",
        "source");
  apart(translate(integers.data() + 30, integers.data() + 31), "Seq2SeqTrainer::translate",
        "lengths", "ids");
  apart(translator.reach({integers.data(), {5}}, {shared + 4, {5}}, workspace),
        "Seq2SeqTrainer::reach", "norms", "source");
  CHECK(first_difference(std::vector<float>(1000, kUntouched), floats) == "");
  CHECK(integers == std::vector<std::int32_t>(100, 1));
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

// ------------------------------------------------------------------------------------------- talking

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
      {[](auto& t) { t.ids = {t.ids.data, {2, 0}}; }, {kRange, "ids", "has 0 tokens", "1 to 9"}},
      {[](auto& t) { t.ids = {t.ids.data, {2, 10}}; }, {kRange, "ids", "has 10 tokens", "1 to 9"}},
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
  const OfSeq2Seq of{"gru", train::Seq2SeqKind::kGru};
  train::Seq2SeqConfig config = of.config();
  config.num_layers = 1;
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
  const std::vector<std::int32_t> source = {3, 4, 5, 6, 7};
  std::vector<float> norms(5);
  Workspace workspace;
  require_ok(trainer.reach({source.data(), {5}}, {norms.data(), {5}}, workspace));
  for (std::size_t distance = 0; distance < 5; ++distance) {
    const double exact = std::sqrt(squares) * std::pow(0.5, static_cast<double>(distance) + 1);
    CHECK(std::abs(static_cast<double>(norms[distance]) / exact - 1) < 1e-5);
  }
}

}  // namespace
}  // namespace qkv::test::trainer_test
