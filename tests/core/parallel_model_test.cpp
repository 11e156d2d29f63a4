// The number of threads changes no bit of what a language model computes, nor of what is read of it.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/share.hpp"
#include "language_model_problem.hpp"
#include "qkv/language_model.hpp"
#include "qkv/threads.hpp"

namespace qkv::test::parallel_model_test {
namespace {

/// Everything of a prompt and of tokens one at a time, with readings.
std::vector<float> said(const LanguageModel& model, const ModelTokens& tokens, CacheFormat cache,
                        Workspace& workspace) {
  std::vector<float> all;
  const auto add = [&all](const ModelResults& found) {
    const std::vector<float> results = found.all();
    all.insert(all.end(), results.begin(), results.end());
    for (const ModelResults::Layer& layer : found.layers) {
      for (const auto* values : {&layer.weights, &layer.entropy, &layer.residual, &layer.logits}) {
        all.insert(all.end(), values->begin(), values->end());
      }
    }
  };
  add(run(model, tokens, {.readings = true}, workspace));
  ModelSession session;
  require_ok(ModelSession::create(model, {.batch = tokens.batch, .format = cache}, session));
  const Index prompt = tokens.length - 2;
  add(run(model, tokens.part(0, prompt), {.last = true, .session = &session}, workspace));
  add(run(model, tokens.part(prompt, 1), {.readings = true, .session = &session}, workspace));
  add(run(model, tokens.part(prompt + 1, 1), {.session = &session}, workspace));
  return all;
}

/// A family so wide that a pass of 2 x 48 tokens cuts every step in pieces: products, heads, norms of rows, sums of the
/// stream (2 * 48 * 192 > kShareElements), activations and the softcap of a row's logits (48 * 400).
LanguageModelConfig wide(const std::string& name) {
  LanguageModelConfig config = family(name);
  config.vocabulary = 400;
  config.d_model = 192;
  config.d_feed_forward = 256;
  config.d_k = 192 / config.num_heads;
  return config;
}

void require_same_bits(const LanguageModelConfig& config, WeightFormat format, CacheFormat cache,
                       unsigned count) {
  static_assert(2 * 48 * 192 > kShareElements && 48 * 400 > kShareElements);
  const ModelWeights weights(config, 1);
  const LanguageModel model = weights.make(format);
  const ModelTokens tokens(config, 2, 48, 1);
  Workspace single;
  const std::vector<float> alone = said(model, tokens, cache, single);
  Threads threads(count);
  Workspace workspace(&threads.pool());
  CHECK(first_difference(alone, said(model, tokens, cache, workspace)) == "");
}

TEST_CASE("LanguageModel::encode: threads change no bit of what a source leads to",
          "[model][parallel]") {
  LanguageModelConfig config = wide("t5 decoder");
  config.encoder_layers = 1;
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8}) {
    const ModelWeights weights(config, 3);
    const LanguageModel model = weights.make(format);
    const ModelTokens tokens(config, 2, 48, 4);
    const auto logits = [&](Workspace& workspace) {
      ModelSession session;
      require_ok(ModelSession::create(model, {.batch = 2}, session));
      require_ok(
          model.encode({.source = {tokens.ids.data(), {2, 48}}, .session = &session}, workspace));
      return run(model, tokens, {.session = &session}, workspace).logits;
    };
    Workspace single;
    Threads threads(3);
    Workspace workspace(&threads.pool());
    CHECK(first_difference(logits(single), logits(workspace)) == "");
  }
}

TEST_CASE("LanguageModel: threads change no bit", "[model][parallel]") {
  unsigned count = 2;
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                    WeightFormat::kF16, WeightFormat::kInt4}) {
    CAPTURE(static_cast<int>(format), count);
    const CacheFormat cache = format == WeightFormat::kF32 ? CacheFormat::kF32 : CacheFormat::kBf16;
    require_same_bits(wide("gemma2"), format, cache, count++);
  }
  // Without a gate and with SwiGLU, and with positions that are added; gemma2 has GeGLU.
  for (const char* name : {"gpt2", "llama"}) {
    CAPTURE(name);
    require_same_bits(wide(name), WeightFormat::kF32, CacheFormat::kF32, 3);
  }
}

TEST_CASE("ModelSession::remove: threads change no bit", "[model][session][parallel]") {
  LanguageModelConfig config = wide("gemma3");
  config.max_length = 200;
  const LanguageModel model = ModelWeights(config, 3).make();
  const auto bytes = [&](Workspace& workspace) {
    ModelSession session;
    require_ok(ModelSession::create(model, {.batch = 2}, session));
    run(model, ModelTokens(config, 2, 150, 4), {.session = &session}, workspace);
    require_ok(session.remove(model, {10, 30}, workspace));
    std::vector<std::byte> all(session.saved_bytes());
    require_ok(session.save(model, all));
    return all;
  };
  Workspace alone;
  const std::vector<std::byte> expected = bytes(alone);
  for (const unsigned count : {2U, 3U}) {
    Threads threads(count);
    Workspace workspace(&threads.pool());
    CHECK(bytes(workspace) == expected);
  }
}

TEST_CASE(
    "LanguageModel: several sessions in one pass have the same bits with any number of threads",
    "[model][sessions][parallel]") {
  const LanguageModelConfig config = wide("gemma2");
  const LanguageModel model = ModelWeights(config, 3).make(WeightFormat::kInt8);
  const auto logits = [&](Workspace& workspace) {
    std::vector<ModelSession> sessions(5);
    std::vector<ModelSession*> list;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      require_ok(ModelSession::create(model, {}, sessions[i]));
      run(model, ModelTokens(config, 1, static_cast<Index>(3 + 4 * i), i),
          {.session = &sessions[i]}, workspace);
      list.push_back(&sessions[i]);
    }
    ModelCall call(model, ModelTokens(config, 5, 2, 4));
    call.args.sessions = list;
    require_ok(model.forward(call.args, workspace));
    return call.results.logits;
  };
  Workspace one;
  const std::vector<float> expected = logits(one);
  for (const unsigned count : {2U, 3U}) {
    Threads threads(count);
    Workspace workspace(&threads.pool());
    CHECK(first_difference(logits(workspace), expected) == "");
  }
}

TEST_CASE("LanguageModel: scratch is what it says, with any number of threads",
          "[model][parallel]") {
  const ModelWeights weights(family("gemma2"), 2);
  const LanguageModel model = weights.make();
  for (const unsigned count : {1U, 2U, 4U}) {
    for (const bool readings : {false, true}) {
      Threads threads(count);
      Workspace workspace(&threads.pool());
      ModelCall call(model, ModelTokens(weights.config(), 2, 40, 2), {.readings = readings});
      const std::size_t bytes = model.forward_scratch_bytes(call.args, static_cast<int>(count));
      require_ok(model.forward(call.args, workspace));
      CHECK(workspace.capacity_bytes() == bytes);
    }
  }
}

/// A conversation of one caller, with everything of its own but the model. Catch2's checks are for one thread, so it only
/// keeps what it is told.
struct Talker {
  Talker(const LanguageModel& of, std::uint64_t seed)
      : model(of), tokens(of.config(), 1, 20, seed), logits(20 * 2 * vocabulary()) {
    require_ok(ModelSession::create(model, {}, session));
  }
  [[nodiscard]] std::size_t vocabulary() const {
    return static_cast<std::size_t>(model.config().vocabulary);
  }
  /// The tokens in one pass, and again one by one.
  void talk() {
    Workspace workspace;
    const Index v = model.config().vocabulary;
    const std::int32_t* ids = tokens.ids.data();
    status =
        model.forward({.ids = {ids, {1, 20}}, .logits = {logits.data(), {1, 20, v}}}, workspace);
    for (Index t = 0; status.ok() && t < 20; ++t) {
      status = model.forward({.ids = {ids + t, {1, 1}},
                              .session = &session,
                              .logits = {logits.data() + (20 + t) * v, {1, 1, v}}},
                             workspace);
    }
  }

  const LanguageModel& model;
  ModelTokens tokens;
  ModelSession session;
  std::vector<float> logits;
  Status status;
};

TEST_CASE("LanguageModel: callers share a model, each with a workspace and a session",
          "[model][parallel]") {
  const ModelWeights weights(family("llama"), 3);
  const LanguageModel model = weights.make();
  std::vector<std::unique_ptr<Talker>> alone, together;
  for (std::uint64_t n = 0; n < 3; ++n) {
    alone.push_back(std::make_unique<Talker>(model, n));
    alone.back()->talk();
    together.push_back(std::make_unique<Talker>(model, n));
  }
  std::vector<std::thread> threads;
  for (const auto& caller : together) {
    threads.emplace_back([&caller] { caller->talk(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t n = 0; n < 3; ++n) {
    require_ok(alone[n]->status);
    require_ok(together[n]->status);
    CHECK(first_difference(alone[n]->logits, together[n]->logits) == "");
  }
}

}  // namespace
}  // namespace qkv::test::parallel_model_test
