// Language models and sampling when memory runs out, what a steady loop asks for, and what moves.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "language_model_check.hpp"
#include "model_sites.hpp"
#include "out_of_memory.hpp"
#include "qkv/language_model.hpp"
#include "qkv/sampling.hpp"

namespace qkv::test::out_of_memory_model_test {
namespace {

/// Weights with the arrays of every kind, and a model of them.
struct Filled {
  explicit Filled(const char* name, WeightFormat format = WeightFormat::kF32)
      : weights(family(name), 1), model(weights.make(format)), tokens(weights.config(), 2, 9, 1) {}
  ModelWeights weights;
  LanguageModel model;
  ModelTokens tokens;
  Workspace workspace;
};

std::vector<float> numbers(const LanguageModel& model) {
  return {static_cast<float>(model.array_count()), static_cast<float>(model.bytes()),
          static_cast<float>(model.parameter_count())};
}

/// Creation over a model that is there and says what it said.
Operation creation(const char* name, WeightFormat format) {
  auto p = std::make_shared<Filled>("llama");
  return {[=, config = family(name)] { return LanguageModel::create(config, format, p->model); },
          [=] { return numbers(p->model); }};
}

Operation session_creation(CacheFormat format) {
  auto p = std::make_shared<Filled>("gemma2");
  auto session = std::make_shared<ModelSession>();
  require_ok(ModelSession::create(p->model, {.batch = 2}, *session));
  run(p->model, p->tokens, {.session = session.get()}, p->workspace);
  return {[=] { return ModelSession::create(p->model, {.batch = 3, .format = format}, *session); },
          [=] {
            return std::vector<float>{static_cast<float>(session->length()),
                                      static_cast<float>(session->bytes()),
                                      static_cast<float>(session->config().batch)};
          }};
}

Operation pass(const char* name, WeightFormat format, bool with_session) {
  auto p = std::make_shared<Filled>(name, format);
  auto session = std::make_shared<ModelSession>();
  if (with_session) {
    Workspace other;
    require_ok(ModelSession::create(p->model, {.batch = 2}, *session));
    run(p->model, ModelTokens(p->weights.config(), 2, 3, 2), {.session = session.get()}, other);
  }
  auto call = std::make_shared<ModelCall>(
      p->model, p->tokens,
      ModelAsk{.readings = true, .session = with_session ? session.get() : nullptr});
  return {[=] { return p->model.forward(call->args, p->workspace); },
          [=] {
            std::vector<float> all = call->results.all();
            all.push_back(static_cast<float>(session->length()));
            return all;
          }};
}

TEST_CASE("out of memory: a language model is created whole or not at all", "[model][memory]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                    WeightFormat::kF16, WeightFormat::kInt4}) {
    for (const char* name : {"gemma2", "bert", "bloom"}) {
      require_survives(name, 5, [&] { return creation(name, format); });
    }
  }
}

TEST_CASE("out of memory: a session is created with the caches of all layers or none",
          "[model][memory]") {
  for (const CacheFormat format : {CacheFormat::kF32, CacheFormat::kBf16, CacheFormat::kInt8}) {
    require_survives("session", 4, [&] { return session_creation(format); });
  }
}

/// A session of 70 tokens, and another one.
struct Talked {
  Talked() : config(family("llama")) {
    config.max_length = 100;
    model = ModelWeights(config, 1).make();
    Workspace other;
    require_ok(ModelSession::create(model, {}, session));
    run(model, ModelTokens(config, 1, 70, 2), {.session = &session}, other);
    require_ok(ModelSession::create(model, {.capacity = 3}, made));
  }
  LanguageModelConfig config;
  LanguageModel model;
  ModelSession session, made;
  Workspace workspace;
};

TEST_CASE("out of memory: a session is copied, cut and restored whole or not at all",
          "[model][memory]") {
  const auto sizes = [](const ModelSession& session) {
    return std::vector<float>{static_cast<float>(session.length()),
                              static_cast<float>(session.bytes()),
                              static_cast<float>(session.config().capacity)};
  };
  require_survives("fork", 5, [&] {
    auto p = std::make_shared<Talked>();
    return Operation{[=] { return p->session.fork(p->made); }, [=] { return sizes(p->made); }};
  });
  require_survives("remove", 1, [&] {
    auto p = std::make_shared<Talked>();
    return Operation{[=] { return p->session.remove(p->model, {3, 20}, p->workspace); },
                     [=] { return sizes(p->session); }};
  });
  require_survives("restore", 5, [&] {
    auto p = std::make_shared<Talked>();
    auto bytes = std::make_shared<std::vector<std::byte>>(p->session.saved_bytes());
    require_ok(p->session.save(p->model, *bytes));
    return Operation{[=] { return ModelSession::restore(p->model, *bytes, 0, p->made); },
                     [=] { return sizes(p->made); }};
  });
  require_survives("save", 1, [&] {
    auto p = std::make_shared<Talked>();
    auto bytes = std::make_shared<std::vector<std::byte>>(p->session.saved_bytes());
    return Operation{[=] { return p->session.save(p->model, *bytes); },
                     [=] {
                       std::vector<float> all(bytes->size());
                       std::transform(bytes->begin(), bytes->end(), all.begin(), [](std::byte b) {
                         return static_cast<float>(std::to_integer<int>(b));
                       });
                       return all;
                     }};
  });
}

TEST_CASE("out of memory: a pass takes its memory before it writes anything", "[model][memory]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8}) {
    for (const bool session : {false, true}) {
      require_survives("gemma2", 1, [&] { return pass("gemma2", format, session); });
    }
    require_survives("bert", 1, [&] { return pass("bert", format, false); });
  }
}

/// A pass that reads every site, changes scores and weights, and tells guesses.
Operation sites(const char* name) {
  struct Sites {
    explicit Sites(const char* family)
        : filled(family, WeightFormat::kInt8),
          call(filled.model, filled.tokens),
          arrays(filled.model, call.args, places_of(filled.weights.config())),
          ids(2 * 9 * 2),
          shares(ids.size()) {
      call.args.readings = arrays.readings;
      call.args.edits = edits;
      if (filled.weights.config().head) {
        lens = {.layer = 1,
                .ids = {ids.data(), {2, 9, 2}},
                .probabilities = {shares.data(), {2, 9, 2}}};
        call.args.lenses = {&lens, 1};
      }
    }
    Filled filled;
    ModelCall call;
    SiteArrays arrays;
    std::vector<std::int32_t> ids;
    std::vector<float> shares;
    ModelLens lens;
    ModelEdit edits[2] = {{.site = ModelSite::kScores, .layer = 1, .scale = 0.5F},
                          {.site = ModelSite::kWeights, .layer = 0, .scale = 0.5F}};
  };
  auto p = std::make_shared<Sites>(name);
  return {[=] { return p->filled.model.forward(p->call.args, p->filled.workspace); },
          [=] {
            const std::vector<float> results = p->call.results.all();
            const std::vector<float> read = p->arrays.all();
            return joined({&results, &read, &p->shares});
          }};
}

TEST_CASE("out of memory: sites are read and changed in a whole pass or not at all",
          "[model][memory]") {
  for (const char* name : {"gemma2", "bert"}) {
    require_survives("sites", 1, [&] { return sites(name); });
  }
}

TEST_CASE("out of memory: logits are taken apart, and heads compared, whole or not at all",
          "[model][memory]") {
  require_survives("attribute", 1, [] {
    auto p = std::make_shared<Filled>("gemma2", WeightFormat::kInt8);
    auto parts = std::make_shared<std::vector<double>>(3 * 7 + 3);
    return Operation{[=] {
                       LanguageModel::AttributeArgs args{
                           .pass = {.ids = {p->tokens.ids.data(), {2, 9}}},
                           .answer = 1,
                           .parts = {parts->data(), {3, 7}},
                           .rest = {parts->data() + 21, {3}}};
                       return p->model.attribute(args, p->workspace);
                     },
                     [=] { return std::vector<float>(parts->begin(), parts->end()); }};
  });
  require_survives("copying", 1, [] {
    auto p = std::make_shared<Filled>("gemma2", WeightFormat::kInt8);
    auto scores = std::make_shared<std::vector<float>>(18 * 4);
    return Operation{[=] {
                       return p->model.copying({.layer = 1,
                                                .ids = {p->tokens.ids.data(), {18}},
                                                .scores = {scores->data(), {18, 4}}},
                                               p->workspace);
                     },
                     [=] { return *scores; }};
  });
}

/// A prompt of several pieces in a session of bfloat16, which takes its memory before the first of them: that of the
/// workspace, or else of each layer's cache.
Operation long_prompt(bool of_workspace) {
  struct Long {
    Long() : config(family("gemma2")) { config.max_length = 600; }
    LanguageModelConfig config;
    LanguageModel model;
    ModelSession session;
    Workspace workspace;
    std::unique_ptr<ModelCall> call;
  };
  auto p = std::make_shared<Long>();
  p->model = ModelWeights(p->config, 1).make(WeightFormat::kBf16);
  require_ok(ModelSession::create(p->model, {.format = CacheFormat::kBf16}, p->session));
  p->call = std::make_unique<ModelCall>(p->model, ModelTokens(p->config, 1, 600, 1),
                                        ModelAsk{.session = &p->session, .ablated = {{0, 1}}});
  if (of_workspace) {
    require_ok(p->model.forward(p->call->args, p->workspace));
    require_ok(p->session.truncate(0));
    p->workspace.release();
  } else {
    ModelSession other;
    require_ok(ModelSession::create(p->model, {.format = CacheFormat::kBf16}, other));
    ModelCall warm(p->model, ModelTokens(p->config, 1, 600, 1),
                   ModelAsk{.session = &other, .ablated = {{0, 1}}});
    require_ok(p->model.forward(warm.args, p->workspace));
  }
  return {[p] { return p->model.forward(p->call->args, p->workspace); },
          [p] {
            std::vector<float> all = p->call->results.all();
            all.push_back(static_cast<float>(p->session.length()));
            return all;
          }};
}

TEST_CASE("out of memory: a prompt of several pieces is read whole or not at all",
          "[model][memory]") {
  require_survives("long prompt, workspace", 1, [] { return long_prompt(true); });
  // Keys and values of two layers.
  require_survives("long prompt, caches", 4, [] { return long_prompt(false); });
}

TEST_CASE("out of memory: filling and finishing ask for nothing", "[model][memory]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                    WeightFormat::kF16, WeightFormat::kInt4}) {
    const ModelWeights weights(family("gemma2"), 1);
    LanguageModel model;
    require_ok(LanguageModel::create(weights.config(), format, model));
    for (Index i = 0; i < model.array_count(); ++i) {
      const std::vector<float>& values = weights.arrays.at(model.array(i).name);
      require_asks_for_nothing("fill", [&] { return fill_whole(model, i, values); });
    }
    require_asks_for_nothing("finish", [&] { return model.finish(); });
  }
}

TEST_CASE("out of memory: a draw that cannot be made writes no token", "[sampling][memory]") {
  require_survives("sample", 1, [] {
    struct Sampled {
      std::vector<float> logits = std::vector<float>(99, 1.0F);
      std::vector<std::int32_t> seen = {3, 98, 3};
      Workspace workspace;
      SampledToken token;
    };
    auto p = std::make_shared<Sampled>();
    return Operation{[p] {
                       SamplingArgs args;
                       args.logits = {p->logits.data(), {99}};
                       args.seen = {p->seen.data(), {3}};
                       args.options = {.temperature = 1.0F,
                                       .top_k = 50,
                                       .top_p = 0.9F,
                                       .min_p = 0.01F,
                                       .repetition_penalty = 1.2F};
                       return sample(args, p->workspace, p->token);
                     },
                     [p] {
                       return std::vector<float>{static_cast<float>(p->token.id),
                                                 p->token.log_probability};
                     }};
  });
}

TEST_CASE("LanguageModel: a steady conversation asks for no memory", "[model][memory]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8}) {
    Filled p("gemma2", format);
    ModelSession session;
    require_ok(ModelSession::create(p.model, {.batch = 2}, session));
    // The longest pass first: attention may take scratch for every key that it reads.
    run(p.model, ModelTokens(p.weights.config(), 2, 40, 3), {.readings = true, .session = &session},
        p.workspace);
    require_ok(session.truncate(9));
    ModelCall call(p.model, p.tokens.part(0, 1), {.session = &session});
    for (int n = 0; n < 20; ++n) {
      require_asks_for_nothing("forward", [&] { return p.model.forward(call.args, p.workspace); });
    }
    require_asks_for_nothing("truncate", [&] { return session.truncate(1); });
    CHECK(session.length() == 1);
  }
}

TEST_CASE("LanguageModel: what is freed is all that was taken", "[model][memory]") {
  const std::size_t before = allocated_bytes();
  {
    Filled p("gemma2");
    ModelSession session;
    require_ok(ModelSession::create(p.model, {.batch = 2}, session));
    run(p.model, p.tokens, {.session = &session}, p.workspace);
    LanguageModel unfinished;
    require_ok(LanguageModel::create(family("bert"), WeightFormat::kBf16, unfinished));
    CHECK(allocated_bytes() > before);
  }
  CHECK(allocated_bytes() == before);
}

TEST_CASE("LanguageModel: moved, it says the same", "[model]") {
  Filled p("gemma2");
  const std::vector<float> expected = run(p.model, p.tokens).all();
  ModelSession session;
  require_ok(ModelSession::create(p.model, {.batch = 2}, session));
  run(p.model, p.tokens.part(0, 5), {.session = &session}, p.workspace);
  LanguageModel moved(std::move(p.model));
  CHECK(p.model.array_count() == 0);  // NOLINT(bugprone-use-after-move): it is empty
  CHECK(p.model.bytes() == 0);
  CHECK(first_difference(expected, run(moved, p.tokens).all()) == "");
  // A session goes on with the model, wherever it is now.
  const ModelResults rest = run(moved, p.tokens.part(5, 4), {.session = &session}, p.workspace);
  ModelCheck(p.weights.exact(), p.tokens).compare("session", rest, {}, 5, 4);
  LanguageModel other = ModelWeights(family("bert"), 2).make();
  const Index arrays = other.array_count();
  other = std::move(moved);
  CHECK(first_difference(expected, run(other, p.tokens).all()) == "");
  CHECK(moved.array_count() == arrays);  // NOLINT(bugprone-use-after-move): the two changed places
}

}  // namespace
}  // namespace qkv::test::out_of_memory_model_test
