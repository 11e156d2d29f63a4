// Several conversations in one pass: each row has the bits that it has alone.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <vector>

#include "language_model_check.hpp"
#include "out_of_memory.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::language_model_sessions_test {
namespace {

/// Conversations with one model that have read different numbers of tokens.
struct Talks {
  Talks(const LanguageModel& of, const std::vector<Index>& lengths,
        CacheFormat format = CacheFormat::kF32)
      : model(of), sessions(lengths.size()) {
    Workspace workspace;
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      require_ok(ModelSession::create(model, {.format = format}, sessions[i]));
      if (model.config().encoder_layers > 0) {
        const auto source = static_cast<Index>(3 + i);
        const ModelTokens read(model.config(), 1, source, 90 + i);
        require_ok(model.encode({.source = {read.ids.data(), {1, source}}, .session = &sessions[i]},
                                workspace));
      }
      if (lengths[i] > 0) {
        run(model, ModelTokens(model.config(), 1, lengths[i], seed++), {.session = &sessions[i]},
            workspace);
      }
    }
    for (ModelSession& each : sessions) {
      list.push_back(&each);
    }
  }

  const LanguageModel& model;
  std::vector<ModelSession> sessions;
  std::vector<ModelSession*> list;
};

/// The results of a pass over rows of all sessions together.
std::vector<float> together(Talks& talks, const ModelTokens& tokens, bool last,
                            Workspace& workspace) {
  ModelCall call(talks.model, tokens, {.last = last});
  call.args.sessions = talks.list;
  require_ok(talks.model.forward(call.args, workspace));
  return call.results.all();
}

/// The same of each row alone, one after another, in the order of together().
std::vector<float> alone(Talks& talks, const ModelTokens& tokens, bool last, Workspace& workspace) {
  ModelResults all;
  for (std::size_t b = 0; b < talks.sessions.size(); ++b) {
    ModelTokens row = tokens;
    row.batch = 1;
    row.ids = tokens.row(static_cast<Index>(b));
    const ModelResults one =
        run(talks.model, row, {.last = last, .session = &talks.sessions[b]}, workspace);
    const auto append = [](std::vector<float>& to, const std::vector<float>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(all.logits, one.logits);
    append(all.hidden, one.hidden);
    append(all.surprisal, one.surprisal);
  }
  return all.all();
}

TEST_CASE("LanguageModel: several sessions in one pass, each row with the bits that it has alone",
          "[model][sessions]") {
  const std::vector<Index> lengths = {5, 0, 17, 9};
  for (const Family& f : families()) {
    if (!f.config.causal) {
      continue;
    }
    CAPTURE(f.name);
    const LanguageModel model = ModelWeights(f.config, 7).make();
    Talks many(model, lengths);
    Talks single(model, lengths);
    Workspace workspace;
    for (const Index count : {1, 4, 1}) {
      for (const bool last : {true, false}) {
        CAPTURE(count, last);
        const ModelTokens tokens(f.config, 4, count, static_cast<std::uint64_t>(50 + count));
        CHECK(first_difference(together(many, tokens, last, workspace),
                               alone(single, tokens, last, workspace)) == "");
      }
    }
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      CHECK(many.sessions[i].length() == lengths[i] + 12);
    }
  }
}

TEST_CASE("LanguageModel: several sessions, in every format of weights and caches, any number",
          "[model][sessions]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                    WeightFormat::kF16, WeightFormat::kInt4}) {
    for (const CacheFormat cache : {CacheFormat::kF32, CacheFormat::kBf16, CacheFormat::kInt8}) {
      for (const Index count : {1, 2, 3, 8}) {
        CAPTURE(static_cast<int>(format), static_cast<int>(cache), count);
        const LanguageModelConfig config = family("llama");
        const LanguageModel model = ModelWeights(config, 8).make(format);
        std::vector<Index> lengths(static_cast<std::size_t>(count));
        for (Index i = 0; i < count; ++i) {
          lengths[static_cast<std::size_t>(i)] = 3 * i + 1;
        }
        Talks many(model, lengths, cache);
        Talks single(model, lengths, cache);
        Workspace workspace;
        for (const Index tokens : {1, 3}) {
          const ModelTokens next(config, count, tokens, 60);
          CHECK(first_difference(together(many, next, false, workspace),
                                 alone(single, next, false, workspace)) == "");
        }
      }
    }
  }
}

TEST_CASE("LanguageModel: several sessions, prompts of more than one piece", "[model][sessions]") {
  LanguageModelConfig config = family("gemma3");
  config.max_length = 700;
  const LanguageModel model = ModelWeights(config, 9).make();
  Talks many(model, {0, 130, 31});
  Talks single(model, {0, 130, 31});
  Workspace workspace;
  const ModelTokens tokens(config, 3, 500, 4);
  CHECK(first_difference(together(many, tokens, true, workspace),
                         alone(single, tokens, true, workspace)) == "");
  const ModelTokens next(config, 3, 1, 5);
  CHECK(first_difference(together(many, next, true, workspace),
                         alone(single, next, true, workspace)) == "");
}

TEST_CASE("LanguageModel: several sessions that are refused stay as they were",
          "[model][sessions][bad-input]") {
  const LanguageModel model = ModelWeights(family("llama"), 8).make();
  const LanguageModel other = ModelWeights(family("gemma2"), 8).make();
  Talks talks(model, {5, 2, 40});
  Talks others(other, {1});
  Workspace workspace;
  const ModelTokens tokens(family("llama"), 3, 8, 4);
  ModelSession empty, wide;
  require_ok(ModelSession::create(model, {.batch = 2}, wide));
  std::vector<float> numbers(4096);
  const auto refuses = [&](std::vector<ModelSession*> list, const Refusal& refusal,
                           const auto& spoil) {
    ModelCall call(model, tokens, {.last = true});
    call.args.sessions = list;
    spoil(call.args);
    require_refused(model.forward(call.args, workspace), "LanguageModel::forward", refusal);
    CHECK(talks.sessions[0].length() == 5);
    CHECK(talks.sessions[1].length() == 2);
    CHECK(talks.sessions[2].length() == 40);
  };
  const auto nothing = [](LanguageModel::ForwardArgs&) {};
  const auto [a, b, c] = std::tuple(talks.list[0], talks.list[1], talks.list[2]);
  refuses({a, b}, {kShapeError, "ids", "is [3,8]", "[2,*]"}, nothing);
  refuses({a, nullptr, c}, {kInvalid, "sessions[1]", "is null", "create()"}, nothing);
  refuses({a, b, a}, {kInvalid, "sessions[2]", "is the session at 0 too", "its own"}, nothing);
  refuses({a, b, &empty}, {kInvalid, "sessions[2]", "is empty", "create()"}, nothing);
  refuses({a, &wide, c}, {kInvalid, "sessions[1]", "has a batch of 2", "expected 1"}, nothing);
  refuses({a, others.list[0], c}, {kInvalid, "session", "", "another model"}, nothing);
  refuses({a, b, c}, {kInvalid, "sessions", "is given with a session", "one of the two"},
          [&](auto& args) { args.session = a; });
  const ModelReading reading{.to = {numbers.data(), {3, 8, 16}}};
  const ModelEdit edit{.scale = 2.0F};
  refuses({a, b, c}, {kInvalid, "sessions", "is given with readings", "none"},
          [&](auto& args) { args.readings = {&reading, 1}; });
  refuses({a, b, c}, {kInvalid, "sessions", "is given with readings", "none"},
          [&](auto& args) { args.edits = {&edit, 1}; });
  const std::vector<std::int32_t> lengths = {1, 1, 1};
  refuses({a, b, c}, {kInvalid, "key_lengths", "is given with a sessions", "one of the two"},
          [&](auto& args) { args.key_lengths = {lengths.data(), {3}}; });
  ModelTokens more = tokens;
  more.length = 9;
  more.ids.resize(27);
  ModelCall call(model, more, {.last = true});
  call.args.sessions = talks.list;
  require_refused(model.forward(call.args, workspace), "LanguageModel::forward",
                  {kRange, "sessions[2]", "holds 40 of 48 tokens", "at most 8"});
}

TEST_CASE("out of memory: several sessions grow together or not at all",
          "[model][sessions][memory]") {
  struct Grown {
    Grown() {
      LanguageModelConfig config = family("llama");
      config.max_length = 300;
      model = ModelWeights(config, 8).make();
      talks = std::make_unique<Talks>(model, std::vector<Index>{60, 64, 2});
      tokens = std::make_unique<ModelTokens>(config, 3, 20, 4);
      call = std::make_unique<ModelCall>(model, *tokens, ModelAsk{.last = true});
      call->args.sessions = talks->list;
      // The memory of caches alone is to be had or not.
      require_ok(workspace.begin(model.forward_scratch_bytes(call->args) / sizeof(float)));
    }
    LanguageModel model;
    std::unique_ptr<Talks> talks;
    std::unique_ptr<ModelTokens> tokens;
    std::unique_ptr<ModelCall> call;
    Workspace workspace;
  };
  require_survives("sessions", 5, [] {
    auto p = std::make_shared<Grown>();
    return Operation{[=] {
                       Status status = p->model.forward(p->call->args, p->workspace);
                       for (ModelSession& each : p->talks->sessions) {
                         // Without Catch, which may take memory itself.
                         const Status cut = each.truncate(std::min<Index>(each.length(), 80));
                         status = status.ok() ? cut : status;
                       }
                       return status;
                     },
                     [=] {
                       std::vector<float> all = p->call->results.all();
                       for (const ModelSession& each : p->talks->sessions) {
                         all.push_back(static_cast<float>(each.length()));
                       }
                       return all;
                     }};
  });
}

}  // namespace
}  // namespace qkv::test::language_model_sessions_test
