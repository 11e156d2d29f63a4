// What calls of language models must refuse; nothing is written then, and a conversation stays as it is.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "isas.hpp"
#include "language_model_problem.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_model_forward_test {
namespace {

bool untouched(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return x == kUntouched; });
}

/// Whether nothing has been written of all that a call may write.
bool untouched(const ModelCall& call) {
  bool all = untouched(call.results.all());
  for (const ModelResults::Layer& layer : call.results.layers) {
    all = all && untouched(layer.weights) && untouched(layer.entropy) &&
          untouched(layer.residual) && untouched(layer.logits) && untouched(layer.q) &&
          untouched(layer.k) && untouched(layer.v);
  }
  return all;
}

/// What a row of the table may spoil.
struct Spoiled {
  ModelCall& call;
  LanguageModel::ForwardArgs& args;
};

TEST_CASE("LanguageModel::forward: calls that do not fit are refused and write nothing",
          "[model][bad-input]") {
  struct Wrong {
    Spoil<Spoiled&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> lengths = {3, 8};
  static const std::vector<std::int32_t> types(14, 2);
  static ModelSession empty;
  const Wrong rows[] = {
      {[](auto& s) { s.args.ids = {s.args.ids.data, {14}}; },
       {kShapeError, "ids", "is [14]", "[*,*]"}},
      {[](auto& s) { s.args.ids = {s.args.ids.data, {0, 7}}; },
       {kShapeError, "ids", "is [0,7]", "at least 1"}},
      {[](auto& s) { s.args.ids = {s.args.ids.data, {2, 0}}; },
       {kShapeError, "ids", "is [2,0]", "at least 1"}},
      {[](auto& s) { s.args.ids.data = nullptr; }, {kInvalid, "ids", "has no data", "[2,7]"}},
      {[](auto& s) { s.args.ids.strides[1] = 2; }, {kInvalid, "ids", "stride", ""}},
      {[](auto& s) { s.call.tokens.ids[13] = 19; }, {kRange, "ids[13]", "is 19", "[0, 19)"}},
      {[](auto& s) { s.args.token_types = {types.data(), {2, 7}}; },
       {kInvalid, "token_types", "is given", "none"}},
      {[](auto& s) { s.args.key_lengths = {lengths.data(), {2}}; },
       {kRange, "key_lengths[1]", "is 8", "[0, 7]"}},
      {[](auto& s) { s.args.key_lengths = {lengths.data(), {1}}; },
       {kShapeError, "key_lengths", "is [1]", "[2]"}},
      {[](auto& s) { s.args.session = &empty; }, {kInvalid, "session", "is empty", "create()"}},
      {[](auto& s) { s.args.logits = {s.args.logits.data, {2, 3, 19}}; },
       {kShapeError, "logits", "is [2,3,19]", "[2,7,19]"}},
      {[](auto& s) { s.args.logits = {s.args.logits.data, {2, 7, 18}}; },
       {kShapeError, "logits", "is [2,7,18]", "[2,7,19]"}},
      {[](auto& s) { s.args.logits.data = nullptr; },
       {kInvalid, "logits", "has no data", "[2,7,19]"}},
      {[](auto& s) { s.args.logits.strides[1] = 20; }, {kInvalid, "logits", "stride", ""}},
      {[](auto& s) { s.args.surprisal = {s.args.surprisal.data, {2, 7}}; },
       {kShapeError, "surprisal", "is [2,7]", "[2,6]"}},
      {[](auto& s) { s.args.logits.data = s.args.hidden.data; },
       {kInvalid, "hidden", "overlaps logits", ""}},
      {[](auto& s) { s.args.surprisal.data = s.args.logits.data + 100; },
       {kInvalid, "surprisal", "overlaps", "logits"}},
      {[](auto& s) { s.args.surprisal.data = reinterpret_cast<float*>(s.call.tokens.ids.data()); },
       {kInvalid, "surprisal", "overlaps ids", ""}},
  };
  const Wrong in_a_session[] = {
      {[](auto& s) { s.call.tokens.ids[0] = -1; }, {kRange, "ids[0]", "is -1", "[0, 19)"}},
      {[](auto& s) {
         s.call.tokens.lengths = {7, 7};
         s.args.key_lengths = {s.call.tokens.lengths.data(), {2}};
       },
       {kInvalid, "key_lengths", "session", ""}},
      {[](auto& s) { s.args.hidden = {s.args.hidden.data, {2, 2, 64}}; },
       {kShapeError, "hidden", "is [2,2,64]", "[2,7,64]"}},
  };
  const Wrong of_an_encoder[] = {
      {[](auto& s) { s.args.token_types = {types.data(), {2, 7}}; },
       {kRange, "token_types[0]", "is 2", "[0, 2)"}},
      {[](auto& s) { s.args.token_types = {types.data(), {7, 2}}; },
       {kShapeError, "token_types", "is [7,2]", "[2,7]"}},
      {[](auto& s) { s.args.logits = {s.args.hidden.data, {2, 1, 19}}; },
       {kInvalid, "logits", "is given", "no head"}},
      {[](auto& s) { s.args.surprisal = {s.args.hidden.data, {2, 6}}; },
       {kInvalid, "surprisal", "is given", "no head"}},
  };
  const auto require = [](const char* name, bool with_session, const Wrong& row) {
    CAPTURE(name, with_session, row.refusal.argument, row.refusal.was);
    const ModelWeights weights(family(name), 2);
    const LanguageModel model = weights.make();
    ModelTokens tokens(weights.config(), 2, 7, 2);
    tokens.types.clear();
    ModelSession session;
    Workspace workspace;
    if (with_session) {
      require_ok(ModelSession::create(model, {.batch = 2}, session));
      run(model, ModelTokens(weights.config(), 2, 3, 3), {.session = &session}, workspace);
    }
    ModelCall call(model, tokens, {.readings = true, .session = with_session ? &session : nullptr});
    Spoiled spoiled{call, call.args};
    row.spoil(spoiled);
    require_refused(model.forward(call.args, workspace), "LanguageModel::forward", row.refusal);
    CHECK(model.forward_scratch_bytes(call.args) == 0);
    CHECK(untouched(call));
    CHECK(session.length() == (with_session ? 3 : 0));
  };
  for (const Wrong& row : rows) {
    require("gemma2", false, row);
  }
  for (const Wrong& row : in_a_session) {
    require("gemma2", true, row);
  }
  for (const Wrong& row : of_an_encoder) {
    require("bert", false, row);
  }
}

TEST_CASE("LanguageModel::forward: more tokens than there is room for are refused",
          "[model][bad-input]") {
  const ModelWeights weights(family("mistral"), 3);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelCall longer(model, ModelTokens(weights.config(), 1, 49, 1));
  require_refused(model.forward(longer.args, workspace), "LanguageModel::forward",
                  {kRange, "ids", "has rows of 49 tokens", "at most 48"});
  ModelSession session;
  require_ok(ModelSession::create(model, {.capacity = 10}, session));
  run(model, ModelTokens(weights.config(), 1, 6, 2), {.session = &session}, workspace);
  ModelCall beyond(model, ModelTokens(weights.config(), 1, 5, 3), {.session = &session});
  require_refused(model.forward(beyond.args, workspace), "LanguageModel::forward",
                  {kRange, "session", "6 of 10", "at most 4"});
  ModelCall rows(model, ModelTokens(weights.config(), 2, 2, 4), {.session = &session});
  require_refused(model.forward(rows.args, workspace), "LanguageModel::forward",
                  {kShapeError, "ids", "is [2,2]", "[1,*]"});
  CHECK(untouched(beyond));
  CHECK(session.length() == 6);
}

TEST_CASE("LanguageModel::forward: a session of another model is refused", "[model][bad-input]") {
  const ModelWeights weights(family("llama"), 4);
  const LanguageModel model = weights.make();
  const ModelTokens tokens(weights.config(), 1, 5, 4);
  Workspace workspace;
  const auto refused = [&](const auto& change) {
    LanguageModelConfig config = family("llama");
    change(config);
    const LanguageModel other = ModelWeights(config, 5).make();
    ModelSession session;
    require_ok(ModelSession::create(other, {}, session));
    ModelCall call(model, tokens, {.session = &session});
    CHECK(model.forward_scratch_bytes(call.args) == 0);
    const Status status = model.forward(call.args, workspace);
    CHECK_FALSE(status.ok());
    CHECK(std::string(status.message()).find("session") != std::string::npos);
    CHECK(untouched(call));
    CHECK(session.length() == 0);
  };
  refused([](LanguageModelConfig& c) { c.num_layers = 3; });
  refused([](LanguageModelConfig& c) { c.num_layers = 1; });
  refused([](LanguageModelConfig& c) { c.num_kv_heads = 1; });
  refused([](LanguageModelConfig& c) { c.d_k = 8; });
}

TEST_CASE(
    "LanguageModel::forward: a session with more positions than the model has room for the model's",
    "[model][bad-input]") {
  LanguageModelConfig config = family("gpt2");  // of learned positions, which are an array
  config.max_length = 8;
  const ModelWeights weights(config, 6);
  const LanguageModel model = weights.make();
  config.max_length = 64;
  const LanguageModel longer = ModelWeights(config, 6).make();
  Workspace workspace;
  ModelSession session;
  require_ok(ModelSession::create(longer, {}, session));
  run(model, ModelTokens(weights.config(), 1, 7, 1), {.session = &session}, workspace);
  ModelCall two(model, ModelTokens(weights.config(), 1, 2, 2), {.session = &session});
  require_refused(model.forward(two.args, workspace), "LanguageModel::forward",
                  {kRange, "session", "7 of 8", "at most 1"});
  run(longer, ModelTokens(weights.config(), 1, 20, 3), {.session = &session}, workspace);
  ModelCall one(model, ModelTokens(weights.config(), 1, 1, 4), {.session = &session});
  require_refused(model.forward(one.args, workspace), "LanguageModel::forward",
                  {kRange, "session", "27 of 8", "at most 0"});
  CHECK(untouched(one));
  CHECK(session.length() == 27);
}

TEST_CASE("LanguageModel::forward: an encoder takes no session", "[model][bad-input]") {
  LanguageModelConfig config = family("llama");
  const LanguageModel decoder = ModelWeights(config, 7).make();
  config.causal = false;
  const ModelWeights weights(config, 7);
  const LanguageModel encoder = weights.make();
  ModelSession session;
  require_ok(ModelSession::create(decoder, {}, session));
  Workspace workspace;
  ModelCall call(encoder, ModelTokens(weights.config(), 1, 5, 7), {.session = &session});
  require_refused(encoder.forward(call.args, workspace), "LanguageModel::forward",
                  {kInvalid, "causal", "the model is an encoder", "for a session"});
  CHECK(untouched(call));
}

TEST_CASE("LanguageModel::forward: a session of another instruction set is refused",
          "[model][bad-input][isa]") {
  const ModelWeights weights(family("llama"), 8);
  const LanguageModel model = weights.make();
  for (const std::string& name : other_isas()) {
    CAPTURE(name);
    ModelSession session;
    {
      const ActiveIsa active(name);
      require_ok(ModelSession::create(model, {}, session));
    }
    Workspace workspace;
    ModelCall call(model, ModelTokens(weights.config(), 1, 3, 8),
                   {.readings = true, .session = &session});
    require_refused(model.forward(call.args, workspace), "LanguageModel::forward",
                    {StatusCode::kUnsupported, "the session was created for", name.c_str(),
                     "expected the same"});
    CHECK(untouched(call));
  }
}

TEST_CASE("LanguageModel::forward: models that are empty or not finished are refused",
          "[model][bad-input]") {
  const ModelWeights weights(family("llama"), 5);
  const LanguageModel whole = weights.make();
  ModelCall call(whole, ModelTokens(weights.config(), 1, 5, 5));
  Workspace workspace;
  LanguageModel model;
  require_refused(model.forward(call.args, workspace), "LanguageModel::forward",
                  {kInvalid, "the model", "is empty", "create()"});
  CHECK(model.forward_scratch_bytes(call.args) == 0);
  ModelSession session;
  require_refused(ModelSession::create(model, {}, session), "ModelSession::create",
                  {kInvalid, "the model", "is empty", "create()"});
  require_ok(LanguageModel::create(weights.config(), WeightFormat::kF32, model));
  require_refused(model.forward(call.args, workspace), "LanguageModel::forward",
                  {kInvalid, "the model", "is not filled", "finish()"});
  require_refused(ModelSession::create(model, {}, session), "ModelSession::create",
                  {kInvalid, "the model", "is not filled", "finish()"});
  CHECK(model.forward_scratch_bytes(call.args) == 0);
  CHECK(untouched(call));
}

TEST_CASE("ModelSession: sizes without meaning are refused and change nothing",
          "[model][bad-input]") {
  struct Wrong {
    Spoil<ModelSessionConfig&> spoil;
    Refusal refusal;
  };
  const Wrong rows[] = {
      {[](auto& c) { c.batch = 0; }, {kRange, "batch", "is 0", "at least 1"}},
      {[](auto& c) { c.batch = -3; }, {kRange, "batch", "is -3", "at least 1"}},
      {[](auto& c) { c.capacity = 49; }, {kRange, "capacity", "is 49", "1 to 48"}},
      {[](auto& c) { c.capacity = -1; }, {kRange, "capacity", "is -1", "1 to 48"}},
      {[](auto& c) { c.format = static_cast<CacheFormat>(3); },
       {kInvalid, "format", "is 3", "0 to 2"}},
  };
  const ModelWeights weights(family("llama"), 6);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  run(model, ModelTokens(weights.config(), 1, 4, 1), {.session = &session}, workspace);
  for (const Wrong& row : rows) {
    ModelSessionConfig config;
    row.spoil(config);
    const std::size_t bytes = allocated_bytes();
    require_refused(ModelSession::create(model, config, session), "ModelSession::create",
                    row.refusal);
    CHECK(session.length() == 4);
    CHECK(allocated_bytes() == bytes);
  }
  require_refused(session.truncate(5), "ModelSession::truncate",
                  {kRange, "length", "is 5", "0 to 4"});
  require_refused(session.truncate(-1), "ModelSession::truncate",
                  {kRange, "length", "is -1", "0 to 4"});
  CHECK(session.length() == 4);
  const LanguageModel encoder = ModelWeights(family("bert"), 7).make();
  require_refused(ModelSession::create(encoder, {}, session), "ModelSession::create",
                  {kInvalid, "the model", "is an encoder", "causal"});
  ModelSession empty;
  require_ok(empty.truncate(0));
  require_refused(empty.truncate(1), "ModelSession::truncate",
                  {kRange, "length", "is 1", "0 to 0"});
  CHECK(empty.bytes() == 0);
}

TEST_CASE("LanguageModel::forward: a refused call leaves the conversation as it was",
          "[model][bad-input]") {
  const ModelWeights weights(family("gemma2"), 8);
  const LanguageModel model = weights.make();
  const ModelTokens tokens(weights.config(), 1, 8, 8);
  Workspace workspace;
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  run(model, tokens.part(0, 5), {.session = &session}, workspace);
  ModelCall wrong(model, tokens.part(5, 3), {.session = &session});
  wrong.tokens.ids[2] = 99;
  CHECK(model.forward(wrong.args, workspace).code() == StatusCode::kOutOfRange);
  const ModelResults found = run(model, tokens.part(5, 3), {.session = &session}, workspace);
  ModelSession straight;
  require_ok(ModelSession::create(model, {}, straight));
  run(model, tokens.part(0, 5), {.session = &straight}, workspace);
  const ModelResults expected = run(model, tokens.part(5, 3), {.session = &straight}, workspace);
  CHECK(first_difference(expected.all(), found.all()) == "");
}

}  // namespace
}  // namespace qkv::test::bad_input_model_forward_test
