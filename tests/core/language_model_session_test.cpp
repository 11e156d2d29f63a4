// Conversations: tokens one at a time, in pieces, taken back, and of several rows at once.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

#include "language_model_check.hpp"
#include "qkv/language_model.hpp"

namespace qkv::test::language_model_session_test {
namespace {

ModelSession make(const LanguageModel& model, const ModelSessionConfig& config = {}) {
  ModelSession session;
  require_ok(ModelSession::create(model, config, session));
  return session;
}

/// Families that have no sessions are encoders.
std::vector<Family> decoders() {
  std::vector<Family> all = families();
  std::erase_if(all, [](const Family& f) { return !f.config.causal; });
  return all;
}

/// Runs tokens [first, first + count) after those that the session holds.
ModelResults go_on(const LanguageModel& model, const ModelTokens& tokens, ModelSession& session,
                   std::pair<Index, Index> part, Workspace& workspace) {
  return run(model, tokens.part(part.first, part.second), {.readings = true, .session = &session},
             workspace);
}

/// Runs all tokens in such pieces and holds each to the check.
void check_pieces(const LanguageModel& model, const ModelTokens& tokens, const ModelCheck& check,
                  const std::string& name, const ModelSessionConfig& config,
                  const std::vector<Index>& pieces) {
  Workspace workspace;
  ModelSession session = make(model, config);
  Index first = 0;
  for (const Index count : pieces) {
    CAPTURE(first, count);
    const ModelResults found = go_on(model, tokens, session, {first, count}, workspace);
    check.compare(name, found, {.readings = true}, first, count);
    first += count;
    CHECK(session.length() == first);
  }
}

TEST_CASE("ModelSession: token by token every family says what it says of all at once", "[model]") {
  std::uint64_t seed = 20;
  for (const Family& f : decoders()) {
    CAPTURE(f.name);
    const ModelWeights weights(f.config, ++seed);
    const ModelTokens tokens(f.config, 2, 9, seed);
    const LanguageModel model = weights.make();
    const ModelCheck check(weights.exact(), tokens);
    check_pieces(model, tokens, check, "session", {.batch = 2}, std::vector<Index>(9, 1));
    check_pieces(model, tokens, check, "session", {.batch = 2}, {4, 1, 3, 1});
  }
}

TEST_CASE("ModelSession: weights and caches of 16 and 8 bits, token by token", "[model]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8}) {
    for (const char* name : {"gpt2", "llama", "gemma2", "qwen3"}) {
      CAPTURE(name);
      const ModelWeights weights(family(name), 40);
      const ModelTokens tokens(weights.config(), 2, 9, 40);
      const LanguageModel model = weights.make(format);
      const ModelCheck check(
          weights.exact(format), tokens,
          {.int8_activations = format == WeightFormat::kInt8, .bf16_cache = true});
      check_pieces(model, tokens, check, "session, bf16 cache",
                   {.batch = 2, .format = CacheFormat::kBf16}, {5, 1, 1, 2});
    }
  }
}

TEST_CASE("ModelSession: a long prompt goes in pieces of 240 and says the same", "[model]") {
  static const std::vector<std::int32_t> windows = {270, -1};
  LanguageModelConfig config = family("llama");
  config.max_length = 600;
  config.windows = {windows.data(), {2}};
  for (const bool learned : {false, true}) {
    CAPTURE(learned);
    config.positions = learned ? ModelPositions::kLearned : ModelPositions::kRotary;
    const ModelWeights weights(config, 50);
    const Index length = learned ? 243 : 530;
    const Index batch = learned ? 2 : 1;
    const ModelTokens tokens(config, batch, length, 50);
    const LanguageModel model = weights.make();
    const ModelCheck check(weights.exact(), tokens);
    Workspace workspace;
    ModelSession session = make(model, {.batch = batch});
    const ModelResults found = go_on(model, tokens, session, {0, length - 1}, workspace);
    check.compare("session, 240 tokens or more", found, {.readings = true}, 0, length - 1);
    const ModelResults after = go_on(model, tokens, session, {length - 1, 1}, workspace);
    check.compare("session, 240 tokens or more", after, {.readings = true}, length - 1, 1);
    // Of the last token alone, and with some rows of the weights, across the end of a piece.
    ModelSession other = make(model, {.batch = batch});
    const ModelAsk few{
        .last = true, .readings = true, .row_begin = 230, .row_end = length, .session = &other};
    check.compare("session, 240 tokens or more", run(model, tokens, few, workspace), few);
  }
}

/// The caches of a session, one for each layer.
template <auto kMember>
struct Opened {
  friend KvCache* caches_of(ModelSession& session) { return session.*kMember; }
};
KvCache* caches_of(ModelSession& session);
template struct Opened<&ModelSession::caches_>;

TEST_CASE("ModelSession: layers that differ in length are refused before anything is computed",
          "[model]") {
  const ModelWeights weights(family("llama"), 70);
  const ModelTokens tokens(weights.config(), 1, 9, 70);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelSession straight = make(model);
  go_on(model, tokens, straight, {0, 5}, workspace);
  const ModelResults expected = go_on(model, tokens, straight, {5, 4}, workspace);

  ModelSession session = make(model, {.capacity = 12});
  go_on(model, tokens, session, {0, 5}, workspace);
  // The last layer has other tokens than the first, as if another thread had written to it; once too many for its
  // capacity, once not.
  KvCache& last = caches_of(session)[model.config().num_layers - 1];
  for (const Index added : {7, 1}) {
    CAPTURE(added);
    const std::vector<float> rows(
        static_cast<std::size_t>(added * last.config().num_kv_heads * last.config().d_k));
    const TensorView<const float> more(rows.data(),
                                       {1, last.config().num_kv_heads, added, last.config().d_k});
    require_ok(last.append(more, more));
    ModelCall call(model, tokens.part(5, 4), {.session = &session});
    const Status status = model.forward(call.args, workspace);
    CHECK(status.code() == StatusCode::kOutOfRange);
    CHECK(std::string(status.message()).find("truncate()") != std::string::npos);
    for (Index n = 0; n + 1 < model.config().num_layers; ++n) {
      CHECK(caches_of(session)[n].length() == 5);
    }
    require_ok(session.truncate(5));
    CHECK(last.length() == 5);
  }
  CHECK(first_difference(go_on(model, tokens, session, {5, 4}, workspace).all(), expected.all()) ==
        "");
}

TEST_CASE("ModelSession: truncate shortens every layer that is longer, also where one is shorter",
          "[model]") {
  const ModelWeights weights(family("llama"), 71);
  const ModelTokens tokens(weights.config(), 1, 9, 71);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelSession session = make(model);
  go_on(model, tokens, session, {0, 6}, workspace);
  require_ok(caches_of(session)[1].truncate(2));
  require_ok(session.truncate(3));
  CHECK(caches_of(session)[0].length() == 3);
  CHECK(caches_of(session)[1].length() == 2);
  require_ok(session.truncate(1));
  for (Index n = 0; n < model.config().num_layers; ++n) {
    CHECK(caches_of(session)[n].length() == 1);
  }
}

TEST_CASE("LanguageModel: config() has the windows of the layers, of memory of its own",
          "[model]") {
  LanguageModelConfig config = family("llama");
  std::vector<std::int32_t> windows = {3, -1};
  REQUIRE(config.num_layers == 2);
  config.windows = {windows.data(), {2}};
  const ModelWeights weights(config, 72);
  const LanguageModel model = weights.make();
  const ModelTokens tokens(config, 1, 9, 72);
  const std::vector<float> expected = run(model, tokens).all();
  windows = {-1, -1};
  LanguageModel moved;
  require_ok(LanguageModel::create(model.config(), WeightFormat::kF32, moved));
  LanguageModel again = std::move(moved);
  CHECK(std::vector<std::int32_t>(again.config().windows.data, again.config().windows.data + 2) ==
        std::vector<std::int32_t>{3, -1});
  Index i = 0;
  for (const ModelArrayOf& array : weights.list) {
    require_ok(fill_whole(again, i++, weights.arrays.at(array.name)));
  }
  require_ok(again.finish());
  CHECK(first_difference(run(again, tokens).all(), expected) == "");
}

TEST_CASE("ModelSession: scratch of a session does not grow with the prompt", "[model][any-isa]") {
  LanguageModelConfig config = family("llama");
  config.max_length = 2048;
  const ModelWeights weights(config, 51);
  const LanguageModel model = weights.make();
  ModelSession session = make(model);
  std::size_t least = 0;
  for (const Index length : {512, 1024, 2048}) {
    const ModelTokens tokens(config, 1, length, 1);
    ModelCall call(model, tokens, {.last = true, .session = &session});
    const std::size_t bytes = model.forward_scratch_bytes(call.args);
    CHECK(bytes > 0);
    // Attention of a piece may take some scratch for every key.
    least = least == 0 ? bytes : least;
    CHECK(bytes < least + 64 * static_cast<std::size_t>(length));
  }
}

TEST_CASE("ModelSession: tokens that are taken back leave no trace", "[model]") {
  for (const CacheFormat format : {CacheFormat::kF32, CacheFormat::kBf16, CacheFormat::kInt8}) {
    for (const Family& f : decoders()) {
      CAPTURE(f.name);
      const ModelWeights weights(f.config, 60);
      const ModelTokens tokens(f.config, 2, 9, 60);
      const ModelTokens others(f.config, 2, 6, 61);
      const LanguageModel model = weights.make();
      Workspace workspace;
      ModelSession straight = make(model, {.batch = 2, .format = format});
      go_on(model, tokens, straight, {0, 5}, workspace);
      const ModelResults expected = go_on(model, tokens, straight, {5, 4}, workspace);
      ModelSession astray = make(model, {.batch = 2, .format = format});
      go_on(model, tokens, astray, {0, 5}, workspace);
      go_on(model, others, astray, {0, 6}, workspace);
      require_ok(astray.truncate(5));
      CHECK(astray.length() == 5);
      const ModelResults found = go_on(model, tokens, astray, {5, 4}, workspace);
      CHECK(first_difference(expected.all(), found.all()) == "");
      require_ok(astray.truncate(0));
      go_on(model, tokens, astray, {0, 5}, workspace);
      CHECK(first_difference(expected.all(),
                             go_on(model, tokens, astray, {5, 4}, workspace).all()) == "");
    }
  }
}

TEST_CASE("ModelSession: rows of a batch go on alone", "[model]") {
  const ModelWeights weights(family("gemma2"), 70);
  const ModelTokens tokens(weights.config(), 3, 8, 70);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelSession together = make(model, {.batch = 3});
  go_on(model, tokens, together, {0, 5}, workspace);
  const ModelResults all = go_on(model, tokens, together, {5, 3}, workspace);
  for (Index b = 0; b < 3; ++b) {
    ModelTokens alone = tokens;
    alone.batch = 1;
    alone.ids = tokens.row(b);
    const ModelCheck check(weights.exact(), alone);
    ModelResults found;
    const auto part_of = [b](const std::vector<float>& values) {
      const auto n = static_cast<Index>(values.size()) / 3;
      return std::vector<float>(values.begin() + b * n, values.begin() + (b + 1) * n);
    };
    found.logits = part_of(all.logits);
    found.hidden = part_of(all.hidden);
    found.surprisal = part_of(all.surprisal);
    check.compare("session", found, {}, 5, 3);
  }
}

TEST_CASE(
    "ModelSession: a row of a batch has the bits that it has alone, however many are beside it",
    "[model]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8}) {
    const ModelWeights weights(family("llama"), 71);
    const LanguageModel model = weights.make(format);
    const ModelTokens tokens(weights.config(), 8, 6, 71);
    // Several tokens of which the last alone has logits, and then one.
    const auto logits_of = [&](const ModelTokens& some) {
      Workspace workspace;
      ModelSession session = make(model, {.batch = some.batch});
      std::vector<float> found =
          run(model, some.part(0, 5), {.last = true, .session = &session}, workspace).logits;
      const std::vector<float> one =
          run(model, some.part(5, 1), {.session = &session}, workspace).logits;
      found.insert(found.end(), one.begin(), one.end());
      return found;
    };
    const std::vector<float> together = logits_of(tokens);
    const Index v = weights.config().vocabulary;
    for (Index b = 0; b < 8; ++b) {
      CAPTURE(b);
      ModelTokens alone = tokens;
      alone.batch = 1;
      alone.ids = tokens.row(b);
      std::vector<float> expected(together.begin() + b * v, together.begin() + (b + 1) * v);
      expected.insert(expected.end(), together.begin() + (8 + b) * v,
                      together.begin() + (9 + b) * v);
      CHECK(first_difference(logits_of(alone), expected) == "");
    }
  }
}

TEST_CASE("ModelSession: two conversations with one model do not meet", "[model]") {
  const ModelWeights weights(family("llama"), 71);
  const ModelTokens a(weights.config(), 1, 8, 71);
  const ModelTokens b(weights.config(), 1, 8, 72);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelSession alone = make(model);
  go_on(model, a, alone, {0, 4}, workspace);
  const ModelResults expected = go_on(model, a, alone, {4, 4}, workspace);
  ModelSession first = make(model);
  ModelSession second = make(model);
  go_on(model, a, first, {0, 4}, workspace);
  go_on(model, b, second, {0, 7}, workspace);
  const ModelResults found = go_on(model, a, first, {4, 4}, workspace);
  CHECK(first_difference(expected.all(), found.all()) == "");
  CHECK(second.length() == 7);
}

TEST_CASE("ModelSession: it holds as much as its capacity, of any size", "[model]") {
  const ModelWeights weights(family("mistral"), 73);
  const ModelTokens tokens(weights.config(), 1, 9, 73);
  const LanguageModel model = weights.make();
  const ModelCheck check(weights.exact(), tokens);
  Workspace workspace;
  for (const Index capacity : {9, 10, 48}) {
    ModelSession session = make(model, {.capacity = capacity});
    CHECK(session.config().capacity == capacity);
    check.compare("session", go_on(model, tokens, session, {0, 9}, workspace), {.readings = true});
    const Index left = capacity - 9;
    if (left > 0) {
      const ModelTokens more(weights.config(), 1, left, 74);
      go_on(model, more, session, {0, left}, workspace);
    }
    CHECK(session.length() == capacity);
    ModelCall call(model, tokens.part(0, 1), {.session = &session});
    CHECK(model.forward(call.args, workspace).code() == StatusCode::kOutOfRange);
    CHECK(session.length() == capacity);
  }
  CHECK(make(model).config().capacity == 48);
}

TEST_CASE("ModelSession: bytes are those of its keys and values", "[model][any-isa]") {
  LanguageModelConfig config = family("qwen3");
  config.d_k = 32;
  const ModelWeights weights(config, 75);
  const LanguageModel model = weights.make();
  for (const CacheFormat format : {CacheFormat::kF32, CacheFormat::kBf16}) {
    const std::size_t before = allocated_bytes();
    const ModelSession session = make(model, {.batch = 2, .capacity = 32, .format = format});
    // 2 rows, 2 heads, 32 tokens, keys and values, 2 layers
    const std::size_t numbers = std::size_t{2} * 2 * 32 * 32 * 2 * 2;
    const std::size_t bytes = numbers * (format == CacheFormat::kF32 ? 4 : 2);
    CHECK(session.bytes() >= bytes);
    CHECK(session.bytes() <= bytes + 4096);
    CHECK(allocated_bytes() - before <= session.bytes() + 4096);
    CHECK(session.config().batch == 2);
    CHECK(session.config().format == format);
  }
}

TEST_CASE("ModelSession: moved, it takes its tokens along", "[model]") {
  const ModelWeights weights(family("llama"), 76);
  const ModelTokens tokens(weights.config(), 1, 8, 76);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelSession session = make(model);
  go_on(model, tokens, session, {0, 5}, workspace);
  ModelSession moved(std::move(session));
  CHECK(moved.length() == 5);
  ModelSession assigned;
  assigned = std::move(moved);
  const ModelCheck check(weights.exact(), tokens);
  check.compare("session", go_on(model, tokens, assigned, {5, 3}, workspace), {.readings = true}, 5,
                3);
  ModelSession empty;
  std::swap(empty, assigned);
  CHECK(assigned.length() == 0);  // NOLINT(bugprone-use-after-move): the two changed places
  CHECK(empty.length() == 8);
}

}  // namespace
}  // namespace qkv::test::language_model_session_test
