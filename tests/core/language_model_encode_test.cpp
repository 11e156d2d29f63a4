// Models with an encoder: what the decoder says after a source has been read.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "failing_memory.hpp"
#include "language_model_check.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::language_model_encode_test {
namespace {

/// As T5; with `gated` as its later versions, and other numbers of heads, widths and layers.
LanguageModelConfig t5(bool gated) {
  LanguageModelConfig c = family("t5 decoder");
  c.encoder_layers = gated ? 1 : 3;
  c.tied_embeddings = !gated;
  if (gated) {
    c.activation = ModelActivation::kGegluTanh;
    c.num_kv_heads = 2;
    c.d_k = 12;
  }
  return c;
}

ModelSession make(const LanguageModel& model, const ModelSessionConfig& config = {}) {
  ModelSession session;
  require_ok(ModelSession::create(model, config, session));
  return session;
}

Status encode(const LanguageModel& model, const ModelTokens& source, ModelSession* session,
              Workspace& workspace) {
  return model.encode(
      {.source = {source.ids.data(), {source.batch, source.length}}, .session = session},
      workspace);
}

TEST_CASE("LanguageModel::encode: tokens after a source are within their bound of the formulas",
          "[model]") {
  struct Kind {
    bool gated;
    WeightFormat format;
    CacheFormat cache;
  };
  for (const Kind& kind : {Kind{false, WeightFormat::kF32, CacheFormat::kF32},
                           Kind{true, WeightFormat::kF32, CacheFormat::kF32},
                           Kind{true, WeightFormat::kBf16, CacheFormat::kBf16},
                           Kind{false, WeightFormat::kInt8, CacheFormat::kBf16}}) {
    for (const Index length : {1, 13}) {
      CAPTURE(kind.gated, kind.format, length);
      const ModelWeights weights(t5(kind.gated), 11);
      const ModelTokens source(weights.config(), 1, length, 12);
      const ModelTokens tokens(weights.config(), 1, 9, 13);
      const LanguageModel model = weights.make(kind.format);
      oracle::Model exact = weights.exact(kind.format);
      exact.source = source.ids;
      const bool rounds = kind.cache == CacheFormat::kBf16;
      const ModelCheck check(
          exact, tokens,
          {.int8_activations = kind.format == WeightFormat::kInt8, .bf16_cache = rounds});
      Workspace workspace;
      ModelSession session = make(model, {.format = kind.cache});
      // An earlier, longer source is gone.
      require_ok(encode(model, ModelTokens(weights.config(), 1, 20, 14), &session, workspace));
      require_ok(encode(model, source, &session, workspace));
      CHECK(session.source_length() == length);
      const std::string name = rounds ? "session, bf16 cache" : "session";
      Index first = 0;
      for (const Index count : {4, 1, 4}) {
        const ModelResults found = run(model, tokens.part(first, count),
                                       {.readings = true, .session = &session}, workspace);
        check.compare(name, found, {.readings = true}, first, count);
        first += count;
      }
    }
  }
}

TEST_CASE("LanguageModel::encode: rows side by side and pieces of a long text change no bit",
          "[model]") {
  LanguageModelConfig config = t5(true);
  config.max_length = 300;
  const ModelWeights weights(config, 21);
  const LanguageModel model = weights.make();
  const ModelTokens source(config, 3, 70, 22);
  const ModelTokens tokens(config, 3, 250, 23);
  const auto logits = [&](const ModelTokens& read, const ModelTokens& said) {
    Workspace workspace;
    ModelSession session = make(model, {.batch = said.batch});
    require_ok(encode(model, read, &session, workspace));
    return run(model, said, {.session = &session}, workspace).logits;
  };
  const std::vector<float> all = logits(source, tokens);
  for (Index b = 0; b < 3; ++b) {
    const auto row = [&](ModelTokens some) {
      some.ids = some.row(b);
      some.batch = 1;
      return some;
    };
    const auto size = static_cast<Index>(all.size()) / 3;
    const std::vector<float> own(all.begin() + b * size, all.begin() + (b + 1) * size);
    CHECK(first_difference(logits(row(source), row(tokens)), own) == "");
  }
}

TEST_CASE(
    "LanguageModel::encode: a source stays when tokens are taken back, and when there is no memory",
    "[model]") {
  const ModelWeights weights(t5(false), 31);
  const LanguageModel model = weights.make();
  const ModelTokens source(weights.config(), 1, 5, 32);
  const ModelTokens tokens(weights.config(), 1, 6, 33);
  Workspace workspace;
  ModelSession session = make(model);
  require_ok(encode(model, source, &session, workspace));
  const std::vector<float> expected = run(model, tokens, {.session = &session}, workspace).logits;
  require_ok(session.truncate(0));
  CHECK(session.source_length() == 5);
  const ModelTokens longer(weights.config(), 1, 48, 34);
  int failures = 0;
  for (bool fails = true; fails; ++failures) {
    Workspace empty;
    const Status status = [&] {
      const FailingMemory failing(failures);
      return encode(model, longer, &session, empty);
    }();
    fails = status.code() == StatusCode::kOutOfMemory;
    CHECK(session.source_length() == (fails ? 5 : 48));
  }
  CHECK(failures > 1);
  require_ok(encode(model, source, &session, workspace));
  CHECK(first_difference(run(model, tokens, {.session = &session}, workspace).logits, expected) ==
        "");
}

TEST_CASE("LanguageModel::encode: what has no meaning is refused", "[model][bad-input]") {
  const ModelWeights weights(t5(false), 41);
  const LanguageModel model = weights.make();
  const ModelWeights plain(family("t5 decoder"), 42);
  const LanguageModel other = plain.make();
  const ModelTokens source(weights.config(), 1, 5, 43);
  const ModelTokens tokens(weights.config(), 1, 2, 44);
  Workspace workspace;
  ModelSession session = make(model, {.source_capacity = 8});
  ModelSession of_other = make(other);
  constexpr const char* kEncode = "LanguageModel::encode";
  constexpr const char* kForward = "LanguageModel::forward";
  const auto refuses = [&](const ModelTokens& read, ModelSession* in, const Refusal& refusal) {
    require_refused(encode(model, read, in, workspace), kEncode, refusal);
  };
  refuses(source, nullptr, {kInvalid, "session", "absent", "create()"});
  ModelSession empty;
  refuses(source, &empty, {kInvalid, "session", "empty", "create()"});
  refuses(source, &of_other, {kInvalid, "session", "no room for a source", "some"});
  refuses(ModelTokens(weights.config(), 2, 5, 45), &session,
          {kShapeError, "source", "[2,5]", "[1,*]"});
  refuses(ModelTokens(weights.config(), 1, 9, 45), &session,
          {kRange, "source", "rows of 9", "at most 8"});
  ModelTokens wrong = source;
  wrong.ids[4] = 19;
  refuses(wrong, &session, {kRange, "source[4]", "is 19", "[0, 19)"});
  require_refused(encode(other, source, &of_other, workspace), kEncode,
                  {kInvalid, "encoder", "no encoder", "encoder_layers"});
  require_refused(encode(LanguageModel(), source, &session, workspace), kEncode,
                  {kInvalid, "model", "is empty", "create()"});
  CHECK(session.source_length() == 0);

  const auto forward = [&](const LanguageModel& of, ModelSession* in, const Refusal& refusal) {
    ModelCall call(of, tokens, {.session = in});
    require_refused(of.forward(call.args, workspace), kForward, refusal);
  };
  forward(model, nullptr, {kInvalid, "session", "absent", "source"});
  forward(model, &session, {kInvalid, "session", "no source", "encode()"});
  require_ok(encode(model, source, &session, workspace));
  forward(model, &of_other, {kInvalid, "session", "no source", "encode()"});
  forward(other, &session, {kInvalid, "session", "room for a source", "none"});
  run(model, tokens, {.session = &session}, workspace);
  refuses(source, &session, {kRange, "session", "holds 2 tokens", "truncate(0)"});

  ModelSession made;
  require_refused(ModelSession::create(model, {.source_capacity = 49}, made),
                  "ModelSession::create", {kRange, "source_capacity", "is 49", "1 to 48"});
  require_refused(ModelSession::create(other, {.source_capacity = 1}, made), "ModelSession::create",
                  {kRange, "source_capacity", "is 1", "0"});
}

}  // namespace
}  // namespace qkv::test::language_model_encode_test
