// What both trainers promise, of whatever they are made: their arrays, evaluations and steps.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "hash.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
#include "random.hpp"
#include "train_trainers.hpp"

namespace qkv::test::trainer_test {
namespace {

// ------------------------------------------------------------------------------------------- arrays

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

TEST_CASE("trainers: the first token of the vocabulary counts as a target", "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    auto trainer = make_trainer(of);
    typename Of::Rows rows(3, 7, 10);
    std::fill(rows.of.targets.begin(), rows.of.targets.end(), -1);
    rows.of.targets[5] = 0;
    Workspace workspace;
    train::Evaluation found;
    require_ok(trainer.evaluate(rows.view(), workspace, found));
    CHECK(found.counted == 1);
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
  constexpr std::int64_t kCounts[] = {0, 1, 2, 7, 1000, kMostSteps - 1, kMostSteps};
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

/// Rows [first, first + count) of others.
template <class Of>
typename Of::Batch rows_of(const typename Of::Batch& all, Index first, Index count) {
  const auto part = [&](TensorView<const std::int32_t> view) {
    view.data += first * view.strides[0];
    view.shape[0] = count;
    return view;
  };
  typename Of::Batch made = all;
  made.tokens.ids = part(all.tokens.ids);
  made.targets = part(all.targets);
  if constexpr (requires { made.tokens.source; }) {
    made.tokens.source = part(all.tokens.source);
    made.tokens.source_lengths = part(all.tokens.source_lengths);
  }
  return made;
}

TEST_CASE("trainers: a step over several batches is one over all of their rows", "[train]") {
  for_each_trainer([](const auto& of) {
    using Of = std::decay_t<decltype(of)>;
    CAPTURE(of.name);
    train::TrainerOptions options;
    options.deviation = 0.2F;
    Workspace workspace;
    const typename Of::Rows rows(6, 7, 3);
    auto whole = make_trainer(of, options);
    auto parts = make_trainer(of, options);
    train::StepResult expected;
    train::StepResult found;
    train::Evaluation of_part;
    for (int step = 0; step < 2; ++step) {
      require_ok(whole.step(rows.view(), workspace, expected));
      require_ok(parts.accumulate(rows_of<Of>(rows.view(), 0, 1), workspace, of_part));
      require_ok(parts.accumulate(rows_of<Of>(rows.view(), 1, 3), workspace, of_part));
      require_ok(parts.step(rows_of<Of>(rows.view(), 4, 2), workspace, found));
      CHECK(found.step == step + 1);
      CHECK(found.before.counted == expected.before.counted);
      CHECK(std::abs(found.before.loss - expected.before.loss) < 1e-5);
      CHECK(std::abs(found.before.accuracy - expected.before.accuracy) < 1e-12);
      CHECK(std::abs(found.gradient_norm / expected.gradient_norm - 1.0) < 1e-4);
      const std::vector<float> exact = gradients_of(whole);
      const std::vector<float> summed = gradients_of(parts);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        // Sums of some dozen terms in another order, of weights that have been rounded otherwise.
        REQUIRE(std::abs(exact[i] - summed[i]) < 2e-4F);
      }
    }
    // What was added is forgotten when a run is resumed elsewhere.
    auto forgetting = make_trainer(of, options);
    require_ok(forgetting.accumulate(rows_of<Of>(rows.view(), 0, 1), workspace, of_part));
    require_ok(forgetting.set_steps(0));
    auto fresh = make_trainer(of, options);
    require_ok(forgetting.step(rows.view(), workspace, found));
    require_ok(fresh.step(rows.view(), workspace, expected));
    CHECK(first_difference(state_of(fresh), state_of(forgetting)) == "");
  });
}

}  // namespace
}  // namespace qkv::test::trainer_test
