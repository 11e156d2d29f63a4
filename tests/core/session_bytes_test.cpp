// Sessions as bytes: what comes back, and bytes that are refused.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "language_model_check.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::session_bytes_test {
namespace {

constexpr CacheFormat kFormats[] = {CacheFormat::kF32, CacheFormat::kBf16, CacheFormat::kInt8};

/// A model and a session that has read some tokens, after a source if it has an encoder.
struct Talk {
  Talk(const LanguageModelConfig& config, const ModelSessionConfig& of, Index length,
       std::uint64_t seed = 5)
      : model(ModelWeights(config, seed).make()), tokens(config, of.batch, length, seed) {
    require_ok(ModelSession::create(model, of, session));
    if (config.encoder_layers > 0) {
      const ModelTokens source(config, of.batch, 7, seed + 1);
      require_ok(model.encode({.source = {source.ids.data(), {of.batch, 7}}, .session = &session},
                              workspace));
    }
    run(model, tokens, {.session = &session}, workspace);
  }
  [[nodiscard]] std::vector<std::byte> save() const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(session.saved_bytes()));
    require_ok(session.save(model, bytes));
    return bytes;
  }
  std::vector<float> next(ModelSession& of, Index count = 3) {
    const ModelTokens more(model.config(), of.config().batch, count, 9);
    return run(model, more, {.session = &of}, workspace).all();
  }

  LanguageModel model;
  ModelTokens tokens;
  ModelSession session;
  Workspace workspace;
};

TEST_CASE("ModelSession::restore: it goes on with the bits of the session that was saved",
          "[model][session]") {
  for (const CacheFormat format : kFormats) {
    for (const char* name : {"llama", "gpt2", "gemma3", "t5 decoder"}) {
      for (const Index length : {1, 9, 64, 70}) {
        CAPTURE(name, length, static_cast<int>(format));
        LanguageModelConfig config = family(name);
        config.max_length = 90;
        Talk talk(config, {.batch = 2, .capacity = 80, .format = format}, length);
        const std::vector<std::byte> bytes = talk.save();
        ModelSession back;
        require_ok(ModelSession::restore(talk.model, bytes, 0, back));
        CHECK(back.length() == length);
        CHECK(back.source_length() == talk.session.source_length());
        CHECK(back.config().batch == 2);
        CHECK(back.config().capacity == 80);
        CHECK(back.config().format == format);
        std::vector<std::byte> again(static_cast<std::size_t>(back.saved_bytes()));
        require_ok(back.save(talk.model, again));
        CHECK(again == bytes);
        CHECK(first_difference(talk.next(back), talk.next(talk.session)) == "");
        ModelSession roomy;
        require_ok(ModelSession::restore(talk.model, bytes, 90, roomy));
        CHECK(roomy.config().capacity == 90);
      }
    }
  }
}

TEST_CASE("ModelSession::save: a header of twelve numbers and a row for each key and value",
          "[model][session]") {
  LanguageModelConfig config = family("llama");
  config.max_length = 20;
  const auto c = [&] { return Talk(config, {.capacity = 15}, 4); }();
  const std::vector<std::byte> bytes = c.save();
  std::uint64_t words[12];
  std::memcpy(words, bytes.data(), sizeof words);
  CHECK(std::memcmp(words, "qkvsess", 8) == 0);
  const LanguageModelConfig& of = c.model.config();
  const std::vector<std::uint64_t> expected = {1,
                                               0,
                                               1,
                                               15,
                                               4,
                                               0,
                                               0,
                                               static_cast<std::uint64_t>(of.num_layers),
                                               static_cast<std::uint64_t>(of.num_kv_heads),
                                               static_cast<std::uint64_t>(of.d_k)};
  CHECK(std::vector<std::uint64_t>(words + 1, words + 11) == expected);
  const Index numbers = of.num_layers * of.num_kv_heads * of.d_k * 4 * 2;
  CHECK(bytes.size() == static_cast<std::size_t>(96 + 4 * numbers));
  const Talk half(config, {.format = CacheFormat::kBf16}, 4);
  CHECK(half.session.saved_bytes() == static_cast<std::size_t>(96 + 2 * numbers));
  CHECK(ModelSession().saved_bytes() == 0);
}

TEST_CASE("ModelSession::restore: bytes that are no session of this model are refused by name",
          "[model][session][bad-input]") {
  LanguageModelConfig config = family("llama");
  Talk talk(config, {.capacity = 20}, 5);
  const std::vector<std::byte> good = talk.save();
  Talk kept(config, {}, 3, 8);
  const auto refuses = [&](const std::vector<std::byte>& bytes, const Refusal& refusal,
                           Index capacity = 0) {
    require_refused(ModelSession::restore(talk.model, bytes, capacity, kept.session),
                    "ModelSession::restore", refusal);
    CHECK(kept.session.length() == 3);
  };
  const auto with = [&](std::size_t word, std::uint64_t value) {
    std::vector<std::byte> bytes = good;
    std::memcpy(bytes.data() + 8 * word, &value, sizeof value);
    return bytes;
  };
  refuses({}, {kInvalid, "from", "has 0 bytes", "at least 96"});
  refuses({good.begin(), good.begin() + 95}, {kInvalid, "from", "has 95 bytes", "at least 96"});
  refuses(with(0, 7), {kInvalid, "from", "does not begin", "save() wrote"});
  refuses(with(1, 2), {kUnsupported, "from", "is 2", "expected 1"});
  refuses(with(2, 3), {kInvalid, "from", "format", "is 3"});
  refuses(with(3, 0), {kInvalid, "from", "batch of from is 0", "expected 1 to "});
  refuses(with(3, std::uint64_t{1} << 40U), {kInvalid, "from", "batch", "1 to 2147483647"});
  refuses(with(3, 2), {kShapeError, "from", "bytes", "expected"});
  refuses(with(4, 0), {kInvalid, "from", "capacity of from is 0", "expected 1 to "});
  refuses(with(4, 4), {kInvalid, "from", "length", "is 5"});
  refuses(with(5, 6), {kShapeError, "from", "bytes", "for 6 tokens"});
  refuses(with(6, 3), {kRange, "source_capacity", "is 3", "no encoder"});
  refuses(with(7, 1), {kInvalid, "from", "source_length", "is 1"});
  refuses(with(8, 3), {kInvalid, "from", "3 layers", "expected 2"});
  refuses(with(9, 4), {kInvalid, "from", "4 heads of keys and values", "expected 2"});
  refuses(with(10, 12), {kInvalid, "from", "12 numbers in a key", "another model"});
  refuses(with(11, 12), {kInvalid, "from", "another config", "this model"});
  std::vector<std::byte> longer = good;
  longer.resize(good.size() + 4);
  refuses(longer, {kShapeError, "from", "bytes", "for 5 tokens"});
  refuses({good.begin(), good.end() - 4}, {kShapeError, "from", "bytes", "for 5 tokens"});
  refuses(good, {kRange, "capacity", "is 4", "at least 5"}, 4);
  refuses(good, {kRange, "capacity", "is 49", "1 to 48"}, 49);
  refuses(good, {kRange, "capacity", "is -1", "at least 5"}, -1);
  std::vector<std::byte> nothing(good.size());
  require_refused(ModelSession::restore(LanguageModel(), good, 0, kept.session),
                  "ModelSession::restore", {kInvalid, "", "the model is empty", "create()"});
}

TEST_CASE("ModelSession::restore: a model of the same sizes and another config is refused",
          "[model][session][bad-input]") {
  const LanguageModelConfig config = family("llama");
  const Talk talk(config, {}, 5);
  const std::vector<std::byte> good = talk.save();
  std::vector<LanguageModelConfig> others(6, config);
  others[0].rotary.base = 1000;
  others[1].window = 3;
  others[2].epsilon = 0.5F;
  others[3].positions = ModelPositions::kAlibi;
  others[4].attention_scale = 0.5F;
  others[5].rotary.interleaved = true;
  ModelSession session;
  for (const LanguageModelConfig& other : others) {
    const LanguageModel model = ModelWeights(other, 5).make();
    require_refused(ModelSession::restore(model, good, 0, session), "ModelSession::restore",
                    {kInvalid, "from", "another config", "this model"});
  }
  // A model that may hold fewer tokens is another one in that alone.
  LanguageModelConfig shorter = config;
  shorter.max_length = 6;
  require_ok(ModelSession::restore(ModelWeights(shorter, 5).make(), good, 0, session));
  CHECK(session.config().capacity == 6);
}

TEST_CASE("ModelSession::save: what is refused", "[model][session][bad-input]") {
  const Talk talk(family("llama"), {}, 5);
  const Talk other(family("gemma2"), {}, 5);
  std::vector<std::byte> bytes(static_cast<std::size_t>(talk.session.saved_bytes()), std::byte{7});
  const auto refuses = [&](const ModelSession& session, const LanguageModel& model,
                           std::span<std::byte> to, const Refusal& refusal) {
    require_refused(session.save(model, to), "ModelSession::save", refusal);
    CHECK(std::count(bytes.begin(), bytes.end(), std::byte{7}) ==
          static_cast<std::ptrdiff_t>(bytes.size()));
  };
  refuses(talk.session, talk.model, std::span(bytes).first(bytes.size() - 1),
          {kShapeError, "to", "bytes", "expected"});
  refuses(talk.session, talk.model, {}, {kShapeError, "to", "has 0 bytes", "expected"});
  refuses(talk.session, other.model, bytes, {kInvalid, "session", "", "another model"});
  refuses(talk.session, LanguageModel(), bytes, {kInvalid, "", "the model is empty", "create()"});
  refuses(ModelSession(), talk.model, bytes, {kInvalid, "", "the session is empty", "create()"});
}

}  // namespace
}  // namespace qkv::test::session_bytes_test
