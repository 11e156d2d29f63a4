// Trainers that begin with a model: adapters of low rank over frozen weights of every format, against double precision, and all weights.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "failing_memory.hpp"
#include "isas.hpp"
#include "models/model_check.hpp"
#include "qkv/threads.hpp"
#include "refusal.hpp"
#include "thread_count.hpp"
#include "train/tape/tape.hpp"
#include "train_families.hpp"
#include "train_model_oracle.hpp"
#include "train_slope.hpp"
#include "train_trainers.hpp"
#include "weights/packed_linear.hpp"
#include "weights/weight_rows.hpp"

namespace qkv::test::adapters_test {
namespace {

using train::AdaptedMap;
using train::AdapterConfig;
using train::LanguageModelTrainer;
using enum AdaptedMap;

constexpr const char* kAdapt = "LanguageModelTrainer::adapt";
constexpr AdaptedMap kAttentionMaps[] = {kWq, kWk, kWv, kWo};
constexpr AdaptedMap kAllMaps[] = {kWq, kWk, kWv, kWo, kW1, kWGate, kW2};

/// Rows of tokens with targets, for a model.
struct Rows {
  Rows(const LanguageModelConfig& config, Index count, Index length, std::uint64_t seed)
      : tokens(config, count, length, seed) {
    Random random(seed);
    for (Index i = 0; i < count * length; ++i) {
      targets.push_back(
          random.chance(0.2) ? -1 : static_cast<std::int32_t>(random.below(config.vocabulary)));
    }
    targets[0] = 1;
  }
  [[nodiscard]] train::LanguageBatch view() const {
    train::LanguageBatch made;
    made.tokens.ids = {tokens.ids.data(), {tokens.batch, tokens.length}};
    if (!tokens.types.empty()) {
      made.tokens.token_types = {tokens.types.data(), {tokens.batch, tokens.length}};
    }
    made.targets = {targets.data(), {tokens.batch, tokens.length}};
    return made;
  }
  [[nodiscard]] oracle::ModelBatch exact() const {
    return {
        tokens.length, tokens.ids, targets,
        std::vector<std::int32_t>(to_size(tokens.batch), static_cast<std::int32_t>(tokens.length)),
        tokens.types};
  }
  ModelTokens tokens;
  std::vector<std::int32_t> targets;
};

LanguageModelTrainer adapted(const LanguageModel& base, const AdapterConfig& adapters,
                             const train::TrainerOptions& options = {}) {
  LanguageModelTrainer trainer;
  require_ok(LanguageModelTrainer::adapt(base, adapters, options, trainer));
  return trainer;
}

/// Numbers in B, which begins at 0, so that A has a gradient.
void move_away(LanguageModelTrainer& trainer, std::uint64_t seed) {
  Random random(seed);
  for (Index i = 1; i < trainer.array_count(); i += 2) {
    const TensorView<float> up = trainer.array(i).value;
    std::generate_n(up.data, up.size(), [&] { return random.uniform(0.3F); });
  }
}

/// W + factor A B in place of every adapted W.
oracle::Model merged(oracle::Model model,
                     const std::map<std::string, std::vector<double>>& adapters, double factor,
                     std::size_t rank) {
  for (const auto& [name, a] : adapters) {
    const std::size_t end = name.find(".loraA");
    if (end == std::string::npos) {
      continue;
    }
    const std::vector<double>& b = adapters.at(name.substr(0, end) + ".loraB");
    std::vector<double>& w = model.arrays.at(name.substr(0, end));
    const std::size_t out = b.size() / rank;
    for (std::size_t i = 0; i < a.size() / rank; ++i) {
      for (std::size_t j = 0; j < out; ++j) {
        for (std::size_t r = 0; r < rank; ++r) {
          w[i * out + j] += factor * a[i * rank + r] * b[r * out + j];
        }
      }
    }
  }
  return model;
}

TEST_CASE("LanguageModelTrainer: gradients of adapters over frozen weights of every format",
          "[train][adapters]") {
  Quantity slopes("adapters, gradients");
  Quantity losses("adapters, loss");
  std::uint64_t seed = 500;
  for (const char* name : {"gpt2", "llama3", "qwen2", "qwen3", "gpt-neox", "olmo2", "gemma2",
                           "nemotron", "masked bert"}) {
    for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kF16,
                                      WeightFormat::kInt8, WeightFormat::kInt4}) {
      CAPTURE(name, static_cast<int>(format));
      const ModelWeights weights(family(name), ++seed);
      const LanguageModel base = weights.make(format);
      const bool gated = is_gated(base.config().activation);
      std::vector<AdaptedMap> maps(std::begin(kAllMaps), std::end(kAllMaps));
      if (!gated) {
        std::erase(maps, kWGate);
      }
      LanguageModelTrainer trainer = adapted(base, {.rank = 3, .alpha = 4.5F, .maps = maps},
                                             {.seed = seed, .deviation = 0.3F});
      REQUIRE(trainer.array_count() ==
              2 * static_cast<Index>(maps.size()) * base.config().num_layers);
      move_away(trainer, seed);
      const Rows rows(base.config(), 2, 6, seed);
      Workspace workspace;
      train::Evaluation found;
      require_ok(trainer.differentiate(rows.view(), workspace, found));
      std::map<std::string, std::vector<double>> arrays = exact_arrays(trainer);
      LanguageModelTrainer kept;  // has the numbers that the format keeps
      require_ok(LanguageModelTrainer::create_from(base, {}, kept));
      const oracle::Model exact(base.config(), exact_arrays(kept));
      const oracle::ModelBatch batch = rows.exact();
      const auto loss = [&] { return oracle::loss(merged(exact, arrays, 1.5, 3), batch); };
      losses.add(found.loss, loss(), 2e-5, 1.0);
      Random random(seed);
      for (Index i = 0; i < trainer.array_count(); ++i) {
        check_slope(arrays, loss, trainer.array(i), random, slopes);
      }
    }
  }
  require_within(slopes);
  require_within(losses);
}

/// A matrix of a format with random weights, and what it keeps as [in][out].
struct Packed {
  Packed(Index in, Index out, WeightFormat format, std::uint64_t seed) : kept(to_size(in * out)) {
    require_ok(require_train_kernels("adapters_test", kernels));
    require_ok(reserve_linear(*kernels.forward, {in, out, format}, map));
    Random random(seed);
    std::vector<float> numbers(to_size(in * out));
    std::generate(numbers.begin(), numbers.end(), [&] { return random.uniform(1.0F); });
    std::vector<std::byte> blocks;
    FileRows rows{.type = NumberType::kF32,
                  .data = reinterpret_cast<const std::byte*>(numbers.data()),
                  .row_bytes = in * 4,
                  .rows = out};
    if (format == WeightFormat::kQ4K) {  // which takes its own blocks alone
      const Index row = in / 256 * 144;
      blocks.resize(to_size(row * out));
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        // Scale and offset of a block are binary16 in its first four bytes: 2^-6 or so.
        blocks[i] = i % 144 < 4 ? std::byte{i % 2 == 0 ? std::uint8_t{0} : std::uint8_t{0x24}}
                                : static_cast<std::byte>(random.below(256));
      }
      rows.type = NumberType::kQ4K;
      rows.data = blocks.data();
      rows.row_bytes = row;
    }
    REQUIRE(fill_matrix(*kernels.forward, rows, map));
    std::vector<float> column(to_size(in));
    for (Index j = 0; j < out; ++j) {
      read_column(*kernels.forward, map, j, column.data());
      for (Index i = 0; i < in; ++i) {
        kept[to_size(i * out + j)] = static_cast<double>(column[to_size(i)]);
      }
    }
  }
  TrainKernels kernels;
  PackedLinear map;
  std::vector<double> kept;
};

/// A frozen map on a tape, run there and back.
struct Frozen {
  Frozen(const Packed& of, Index rows, ThreadPool* pool, std::uint64_t seed)
      : x(to_size(rows * of.map.in)), dx(x.size()), w(to_size(rows * of.map.out)) {
    Random random(seed);
    std::generate(x.begin(), x.end(), [&] { return random.uniform(1.0F); });
    std::generate(w.begin(), w.end(), [&] { return random.uniform(1.0F); });
    train::Tape tape;
    const train::ArrayId from = tape.parameter(rows, of.map.in, x.data(), dx.data());
    const train::ArrayId out = train::multiply(tape, from, of.map);
    require_ok(tape.plan(out));
    Workspace workspace(pool);
    require_ok(tape.forward(of.kernels, {}, workspace));
    y.assign(tape[out].value, tape[out].value + w.size());
    std::copy(w.begin(), w.end(), tape[out].gradient);
    require_ok(tape.backward(of.kernels, {}, workspace));
  }
  std::vector<float> x, dx, w, y;
};

TEST_CASE("Tape: a frozen map of every format, and <J u, w> = <u, J' w>",
          "[train][adapters][parallel]") {
  Quantity forward("frozen map");
  Quantity backward("frozen map, back");
  struct Size {
    Index in, out, rows;
  };
  // The last two are unpacked in several parts, of columns and of inputs.
  for (const Size size :
       {Size{1, 1, 1}, Size{33, 7, 5}, Size{70, 50, 3}, Size{512, 40, 2}, Size{512, 9000, 2}}) {
    for (const WeightFormat format :
         {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kF16, WeightFormat::kInt8,
          WeightFormat::kInt4, WeightFormat::kQ4K}) {
      if (format == WeightFormat::kQ4K && size.in % 256 != 0) {
        continue;
      }
      CAPTURE(size.in, size.out, static_cast<int>(format));
      const Packed packed(size.in, size.out, format, 600);
      const Frozen found(packed, size.rows, nullptr, 601);
      double j_u_w = 0.0;
      double u_j_w = 0.0;
      double of_all = 0.0;
      for (Index r = 0; r < size.rows; ++r) {
        for (Index j = 0; j < size.out; ++j) {
          double exact = 0.0;
          double sum = 0.0;
          for (Index i = 0; i < size.in; ++i) {
            const double term = static_cast<double>(found.x[to_size(r * size.in + i)]) *
                                packed.kept[to_size(i * size.out + j)];
            exact += term;
            sum += std::abs(term);
          }
          const auto at = to_size(r * size.out + j);
          forward.add(static_cast<double>(found.y[at]), exact,
                      bounds::kU * static_cast<double>(size.in + 2) * sum, sum);
          j_u_w += static_cast<double>(found.y[at]) * static_cast<double>(found.w[at]);
          of_all += sum * std::abs(static_cast<double>(found.w[at]));
        }
        for (Index i = 0; i < size.in; ++i) {
          double exact = 0.0;
          double sum = 0.0;
          for (Index j = 0; j < size.out; ++j) {
            const double term = static_cast<double>(found.w[to_size(r * size.out + j)]) *
                                packed.kept[to_size(i * size.out + j)];
            exact += term;
            sum += std::abs(term);
          }
          const auto at = to_size(r * size.in + i);
          backward.add(static_cast<double>(found.dx[at]), exact,
                       bounds::kU * static_cast<double>(size.out + 2) * sum, sum);
          u_j_w += static_cast<double>(found.x[at]) * static_cast<double>(found.dx[at]);
        }
      }
      CHECK(std::abs(j_u_w - u_j_w) <=
            bounds::kU * static_cast<double>(size.in + size.out + 4) * of_all);
      Threads threads(kThreads);
      const Frozen shared(packed, size.rows, &threads.pool(), 601);
      CHECK(first_difference(found.y, shared.y) == "");
      CHECK(first_difference(found.dx, shared.dx) == "");
    }
  }
  require_within(forward);
  require_within(backward);
}

std::vector<float> logits_of(LanguageModelTrainer& trainer, const Rows& rows) {
  const Index v = trainer.config().vocabulary;
  std::vector<float> out(to_size(rows.tokens.batch * rows.tokens.length * v));
  Workspace workspace;
  require_ok(trainer.forward(
      rows.view().tokens, {out.data(), {rows.tokens.batch, rows.tokens.length, v}}, {}, workspace));
  return out;
}

TEST_CASE("LanguageModelTrainer: adapters begin as the model, learn, and leave it as it is",
          "[train][adapters]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8}) {
    const ModelWeights weights(family("llama3"), 520);
    LanguageModel base = weights.make(format);
    const ModelTokens tokens(weights.config(), 2, 6, 520);
    const std::vector<float> before = run(base, tokens).logits;
    LanguageModelTrainer trainer =
        adapted(base, {.rank = 4, .maps = kAttentionMaps}, {.schedule = {.peak = 2e-2F}});
    const Rows rows(weights.config(), 2, 6, 520);
    if (format == WeightFormat::kF32) {
      CHECK(first_difference(before, logits_of(trainer, rows)) == "");
    }
    CHECK(trainer.parameter_count() == 2 * (2 * 4 * 24 + 2 * 4 * 24 + 2 * 4 * (24 + 6)));
    LanguageModel moved = std::move(base);  // the trainer reads what it holds
    Workspace workspace;
    train::StepResult result;
    double first = 0.0;
    for (int step = 0; step < 60; ++step) {
      require_ok(trainer.step(rows.view(), workspace, result));
      first = step == 0 ? result.before.loss : first;
    }
    CHECK(result.before.loss < 0.5 * first);
    CHECK(first_difference(before, run(moved, tokens).logits) == "");
    CHECK(std::string(trainer.array(0).name) == "layers.0.attention.wq.loraA");
    CHECK(std::string(trainer.array(7).name) == "layers.0.attention.wo.loraB");
  }
}

/// Adapters after a few steps with everything that draws numbers.
std::vector<float> trained(ThreadPool* pool) {
  const ModelWeights weights(family("llama"), 530);
  const LanguageModel base = weights.make(WeightFormat::kInt8);
  LanguageModelTrainer trainer =
      adapted(base, {.rank = 4, .maps = kAllMaps, .dropout = 0.3F}, lively_options());
  const Rows rows(weights.config(), 6, 40, 530);
  Workspace workspace(pool);
  train::StepResult result;
  for (int step = 0; step < 3; ++step) {
    require_ok(trainer.step(rows.view(), workspace, result));
  }
  return state_of(trainer);
}

TEST_CASE("LanguageModelTrainer: threads change no bit of adapters, and dropout drops",
          "[train][adapters][parallel]") {
  const std::vector<float> alone = trained(nullptr);
  Threads threads(kThreads);
  CHECK(first_difference(alone, trained(&threads.pool())) == "");

  const ModelWeights weights(family("llama"), 531);
  const LanguageModel base = weights.make();
  LanguageModelTrainer dropping = adapted(base, {.dropout = 0.5F});
  move_away(dropping, 531);
  const Rows rows(weights.config(), 2, 6, 531);
  Workspace workspace;
  train::Evaluation in_training;
  train::Evaluation after;
  require_ok(dropping.differentiate(rows.view(), workspace, in_training));
  require_ok(dropping.evaluate(rows.view(), workspace, after));
  CHECK(in_training.loss != after.loss);
}

TEST_CASE("LanguageModelTrainer: a trainer of all weights begins with those of a model",
          "[train][adapters]") {
  for (const Family& f : families()) {
    if (!is_trained(f.config)) {
      continue;
    }
    CAPTURE(f.name);
    const ModelWeights weights(f.config, 540);
    for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8}) {
      LanguageModelTrainer trainer;
      {
        const LanguageModel base = weights.make(format);
        require_ok(LanguageModelTrainer::create_from(base, {}, trainer));
      }
      const oracle::Model exact = weights.exact(format);
      for (Index i = 0; i < trainer.array_count(); ++i) {
        const train::TrainedArray array = trainer.array(i);
        const std::vector<double>& expected = exact.arrays.at(array.name);
        REQUIRE(array.value.size() == static_cast<Index>(expected.size()));
        for (std::size_t j = 0; j < expected.size(); ++j) {
          REQUIRE(static_cast<double>(array.value.data[j]) == expected[j]);
        }
      }
      train::StepResult result;
      Workspace workspace;
      require_ok(trainer.step(Rows(f.config, 2, 6, 540).view(), workspace, result));
    }
  }
}

TEST_CASE("LanguageModelTrainer: a model with its adapters added says what the trainer says",
          "[train][adapters]") {
  const ModelWeights weights(family("llama3"), 545);
  const LanguageModel base = weights.make(WeightFormat::kInt4);
  LanguageModelTrainer trainer = adapted(base, {.rank = 3, .maps = kAllMaps});
  move_away(trainer, 545);
  ModelWeights merged = weights;
  for (Index i = 0; i < base.array_count(); ++i) {
    const ModelArray array = base.array(i);
    std::vector<float>& to = merged.arrays.at(array.name);
    TensorView<float> view(to.data(), {array.shape[0]});
    if (array.rank == 2) {
      view = {to.data(), {array.shape[0], array.shape[1]}};
    }
    require_ok(trainer.read_merged(i, view));
  }
  const Rows rows(weights.config(), 2, 6, 545);
  const std::vector<float> expected = logits_of(trainer, rows);
  const std::vector<float> found = run(merged.make(), rows.tokens).logits;
  Quantity quantity("adapters, merged");
  for (std::size_t i = 0; i < found.size(); ++i) {
    quantity.add(static_cast<double>(found[i]), static_cast<double>(expected[i]), 1e-4, 1.0);
  }
  require_within(quantity);

  std::vector<float> room(4, kUntouched);
  const std::string name = "LanguageModelTrainer::read_merged";
  require_refused(trainer.read_merged(base.array_count(), {room.data(), {4}}), name.c_str(),
                  {kRange, "i", " is ", "[0, "});
  require_refused(trainer.read_merged(-1, {room.data(), {4}}), name.c_str(),
                  {kRange, "i", "is -1", "[0, "});
  require_refused(trainer.read_merged(0, {room.data(), {4}}), name.c_str(),
                  {kShapeError, "to", "is [4]", "[19,24]"});
  require_refused(trainer_of(weights).read_merged(0, {room.data(), {4}}), name.c_str(),
                  {kInvalid, "the trainer", "has no adapters", "adapt() made"});
  CHECK(first_difference(std::vector<float>(4, kUntouched), room) == "");
}

TEST_CASE("LanguageModelTrainer: adapters without meaning are refused",
          "[train][adapters][bad-input]") {
  struct Wrong {
    AdapterConfig adapters;
    Refusal refusal;
  };
  static constexpr AdaptedMap kTwice[] = {kWq, kWk, kWq};
  static constexpr AdaptedMap kNone[] = {static_cast<AdaptedMap>(9)};
  static constexpr AdaptedMap kGate[] = {kWq, kWGate};
  static constexpr AdaptedMap kFed[] = {kW1};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Wrong rows[] = {
      {{.rank = 0}, {kRange, "rank", "is 0", "at least 1"}},
      {{.alpha = nan}, {kRange, "alpha", "is NaN", "finite"}},
      {{.alpha = 0.0F}, {kRange, "alpha", "is 0", "above 0"}},
      {{.dropout = 1.0F}, {kRange, "dropout", "is 1", "[0, 1)"}},
      {{.maps = kTwice}, {kInvalid, "maps[2]", "is kWq", "once"}},
      {{.maps = kNone}, {kInvalid, "maps[0]", "is 9", "0 to 6"}},
      {{.maps = kGate}, {kUnsupported, "maps[1]", "is kWGate", "a map that the model has"}},
  };
  const LanguageModel base = ModelWeights(family("gpt2"), 550).make();
  LanguageModelTrainer trainer;
  const auto refused = [&](const LanguageModel& model, const AdapterConfig& adapters,
                           const Refusal& refusal) {
    require_refused(LanguageModelTrainer::adapt(model, adapters, {}, trainer), kAdapt, refusal);
    CHECK(trainer.array_count() == 0);
  };
  for (const Wrong& row : rows) {
    refused(base, row.adapters, row.refusal);
  }
  refused(ModelWeights(family("bare"), 550).make(), {.maps = kFed},
          {kUnsupported, "maps[0]", "is kW1", "a map that the model has"});
  refused(ModelWeights(family("experts"), 550).make(), {},
          {kUnsupported, "num_experts", "is given", "the default"});
  refused({}, {}, {kInvalid, "the model", "is empty", "create() made"});
  train::TrainerOptions options;
  options.beta1 = 2.0F;
  require_refused(LanguageModelTrainer::adapt(base, {}, options, trainer), kAdapt,
                  {kRange, "beta1", "is 2", "[0, 1)"});
  require_refused(LanguageModelTrainer::create_from({}, {}, trainer),
                  "LanguageModelTrainer::create_from",
                  {kInvalid, "the model", "is empty", "create() made"});
}

TEST_CASE("LanguageModelTrainer: adapters of a model of another instruction set are refused",
          "[train][adapters][bad-input]") {
  const ModelWeights weights(family("llama"), 8);
  const LanguageModel base = weights.make();
  LanguageModelTrainer trainer = adapted(base, {});
  const Rows rows(weights.config(), 2, 6, 8);
  Workspace workspace;
  train::Evaluation result;
  require_ok(trainer.evaluate(rows.view(), workspace, result));
  for (const std::string& name : other_isas()) {
    CAPTURE(name);
    const ActiveIsa active(name);
    const Refusal refusal = {StatusCode::kUnsupported, "the model was created for", name.c_str(),
                             "expected the same"};
    // Rows of the same extents, whose tape is there already.
    require_refused(trainer.evaluate(rows.view(), workspace, result),
                    "LanguageModelTrainer::evaluate", refusal);
    LanguageModelTrainer other;
    require_refused(LanguageModelTrainer::adapt(base, {}, {}, other), kAdapt, refusal);
  }
}

TEST_CASE("LanguageModelTrainer: adapters survive when memory runs out",
          "[train][adapters][out-of-memory]") {
  const ModelWeights weights(family("llama"), 560);
  const LanguageModel base = weights.make(WeightFormat::kInt4);
  const Rows rows(weights.config(), 2, 6, 560);
  LanguageModelTrainer whole = adapted(base, {});
  Workspace expected_workspace;
  train::StepResult expected;
  require_ok(whole.step(rows.view(), expected_workspace, expected));
  int request = 0;
  for (bool failed = true; failed; ++request) {
    CAPTURE(request);
    const std::size_t bytes = allocated_bytes();
    {
      LanguageModelTrainer trainer;
      Workspace workspace;
      train::StepResult result;
      const auto attempt = [&]() noexcept {
        if (trainer.array_count() == 0) {
          const Status status = LanguageModelTrainer::adapt(base, {}, {}, trainer);
          if (!status.ok()) {
            return status;
          }
        }
        return trainer.step(rows.view(), workspace, result);
      };
      Status status;
      {
        const FailingMemory memory(request);
        status = attempt();
        failed = memory.failed();
      }
      if (failed) {
        REQUIRE(status.code() == StatusCode::kOutOfMemory);
        REQUIRE(trainer.steps() == 0);
        status = attempt();
      }
      require_ok(status);
      REQUIRE(first_difference(state_of(whole), state_of(trainer)) == "");
      int requests = 0;
      {
        // Without Catch, which may take memory itself.
        const FailingMemory memory(-1);
        status = trainer.step(rows.view(), workspace, result);
        requests = memory.aligned_requests() + memory.other_requests();
      }
      require_ok(status);
      REQUIRE(requests == 0);
    }
    REQUIRE(allocated_bytes() == bytes);
  }
  CHECK(request - 1 >= 6);
}

}  // namespace
}  // namespace qkv::test::adapters_test
