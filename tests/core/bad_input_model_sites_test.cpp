// What readings, edits, lenses and beginnings of passes must be refused for; nothing is written then.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "language_model_problem.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_model_sites_test {
namespace {

constexpr float kNumbers[512] = {};

/// A call of gemma2 (3 layers, 4 heads, 2 of keys, d_k 8, d_model 64, 2 x 7 tokens) with one of each, all correct.
struct Asked {
  Asked(const LanguageModel& model, const ModelTokens& tokens, ModelSession* session = nullptr)
      : call(model, tokens, {.session = session}) {
    const LanguageModelConfig& c = model.config();
    const auto read = [&](ModelSite site, Index layer) {
      ModelReading reading{.site = site, .layer = layer};
      reading.to = model.reading_view(call.args, reading, nullptr);
      std::vector<float>& values = arrays.emplace_back();
      values.assign(to_size(reading.to.size()), kUntouched);
      reading.to.data = values.data();
      readings.push_back(reading);
    };
    read(ModelSite::kWeights, 0);
    read(ModelSite::kResidual, 1);
    read(ModelSite::kK, 1);
    edits = {{.site = ModelSite::kZ, .layer = 0, .head = 1, .rows = {2, 5}, .scale = 0.5F},
             {.site = ModelSite::kScores, .layer = 1, .keys = {1, 3}, .scale = 0.5F},
             {.site = ModelSite::kResidual, .layer = 2, .columns = {4, 8}}};
    edits[2].value = {kNumbers, {2, 7, 4}};
    edits[2].value.strides = {};
    ids.assign(2 * 7 * 3, -5);
    shares.assign(ids.size(), kUntouched);
    lenses = {
        {.layer = 1, .ids = {ids.data(), {2, 7, 3}}, .probabilities = {shares.data(), {2, 7, 3}}}};
    stream.assign(to_size(2 * 7 * c.d_model), 0.5F);
  }
  Status forward(const LanguageModel& model, Workspace& workspace) {
    call.args.readings = readings;
    call.args.edits = edits;
    call.args.lenses = lenses;
    return model.forward(call.args, workspace);
  }
  [[nodiscard]] bool untouched() const {
    bool all = std::all_of(ids.begin(), ids.end(), [](std::int32_t id) { return id == -5; });
    const std::vector<float> results = call.results.all();
    for (const std::vector<float>* values :
         {&results, &arrays[0], &arrays[1], &arrays[2], &shares}) {
      all = all &&
            std::all_of(values->begin(), values->end(), [](float x) { return x == kUntouched; });
    }
    return all;
  }
  void begin_at(Index layer) { call.args.begin = {{stream.data(), {2, 7, 64}}, layer}; }

  ModelCall call;
  std::vector<std::vector<float>> arrays;
  std::vector<ModelReading> readings;
  std::vector<ModelEdit> edits;
  std::vector<ModelLens> lenses;
  std::vector<std::int32_t> ids, room;
  std::vector<float> shares, stream;
};

struct Wrong {
  Spoil<Asked&> spoil;
  Refusal refusal;
};

void require_each(const char* name, std::initializer_list<Wrong> rows) {
  const ModelWeights weights(family(name), 2);
  const LanguageModel model = weights.make();
  ModelTokens tokens(weights.config(), 2, 7, 2);
  tokens.types.clear();
  for (const Wrong& row : rows) {
    CAPTURE(name, row.refusal.argument, row.refusal.was);
    Asked asked(model, tokens);
    row.spoil(asked);
    Workspace workspace;
    require_refused(asked.forward(model, workspace), "LanguageModel::forward", row.refusal);
    CHECK(model.forward_scratch_bytes(asked.call.args) == 0);
    CHECK(asked.untouched());
  }
}

TEST_CASE("LanguageModel::forward: readings that do not fit are refused", "[model][bad-input]") {
  require_each(
      "gemma2",
      {
          {[](Asked& a) { a.readings[1].layer = 3; }, {kRange, "readings[1]", "is 3", "[0, 3)"}},
          {[](Asked& a) { a.readings[1].layer = -1; }, {kRange, "readings[1]", "is -1", "[0, 3)"}},
          {[](Asked& a) { a.readings[1].site = static_cast<ModelSite>(18); },
           {kInvalid, "readings[1]", "is 18", "0 to 17"}},
          {[](Asked& a) {
             a.readings[1].site = ModelSite::kEmbed;
             a.readings[1].layer = 1;
           },
           {kRange, "readings[1]", "is 1", "[0, 1)"}},
          {[](Asked& a) { a.readings[1].site = ModelSite::kCross; },
           {StatusCode::kUnsupported, "readings[1]", "kCross", "no encoder"}},
          {[](Asked& a) { a.readings[0].row_begin = -1; },
           {kRange, "rows of readings[0]", "[-1, 7)", "[0, 7)"}},
          {[](Asked& a) { a.readings[0].row_end = 8; },
           {kRange, "rows of readings[0]", "[0, 8)", "[0, 7)"}},
          {[](Asked& a) {
             a.readings[0].row_begin = 5;
             a.readings[0].row_end = 4;
           },
           {kRange, "rows of readings[0]", "[5, 4)", "[0, 7)"}},
          {[](Asked& a) { a.readings[0].row_begin = 2; },
           {kShapeError, "kWeights", "is [2,4,7,7]", "[2,4,5,7]"}},
          {[](Asked& a) { a.readings[0].to.shape[3] = 6; },
           {kShapeError, "kWeights", "is [2,4,7,6]", "[2,4,7,7]"}},
          {[](Asked& a) { a.readings[2].to.shape[1] = 4; },
           {kShapeError, "kK", "is [2,4,7,8]", "[2,2,7,8]"}},
          {[](Asked& a) { a.readings[2].to = {}; }, {kShapeError, "kK", "is []", "[2,2,7,8]"}},
          {[](Asked& a) { a.readings[1].to.data = nullptr; },
           {kInvalid, "kResidual", "has no data", "[2,7,64]"}},
          {[](Asked& a) { a.readings[2].to.strides[3] = 2; }, {kInvalid, "kK", "stride", ""}},
          {[](Asked& a) {
             a.readings[1].site = ModelSite::kWeights;
             a.readings[1].layer = 0;
             a.readings[1].to = a.readings[0].to;
           },
           {kInvalid, "kWeights", "of layer 0 is read twice", "once"}},
          {[](Asked& a) { a.readings[1].to.data = a.readings[0].to.data; },
           {kInvalid, "kWeights", "overlaps kResidual", "separate memory"}},
          {[](Asked& a) { a.readings[1].to.data = a.call.results.logits.data(); },
           {kInvalid, "kResidual", "overlaps logits", "separate memory"}},
          {[](Asked& a) {
             // The ids begin memory that has room for the weights, so that these overlap nothing else.
             a.room.assign(a.arrays[0].size(), 0);
             std::ranges::copy(a.call.tokens.ids, a.room.begin());
             a.call.args.ids.data = a.room.data();
             a.readings[0].to.data = reinterpret_cast<float*>(a.room.data());
           },
           {kInvalid, "kWeights", "overlaps ids", "separate memory"}},
          {[](Asked& a) { a.edits[2].value.data = a.readings[1].to.data; },
           {kInvalid, "kResidual", "overlaps value", "separate memory"}},
      });
}

TEST_CASE("LanguageModel::forward: edits that do not fit are refused", "[model][bad-input]") {
  require_each(
      "gemma2",
      {
          {[](Asked& a) { a.edits[0].layer = 3; }, {kRange, "edits[0]", "is 3", "[0, 3)"}},
          {[](Asked& a) { a.edits[0].site = static_cast<ModelSite>(200); },
           {kInvalid, "edits[0]", "is 200", "0 to 17"}},
          {[](Asked& a) { a.edits[0].head = 4; }, {kRange, "edits[0]", "is 4", "[0, 4)"}},
          {[](Asked& a) {
             a.edits[0].site = ModelSite::kV;
             a.edits[0].head = 2;
           },
           {kRange, "edits[0]", "is 2", "[0, 2)"}},
          {[](Asked& a) { a.edits[2].head = 0; }, {kInvalid, "edits[2]", "head 0", "no heads"}},
          {[](Asked& a) { a.edits[0].scale = {}; },
           {kInvalid, "edits[0]", "none of value, add and scale", "one at least"}},
          {[](Asked& a) { a.edits[0].site = ModelSite::kHeads; },
           {kInvalid, "edits[0]", "kHeads", "something in the pass reads"}},
          {[](Asked& a) {
             a.edits[0].site = ModelSite::kFinal;
             a.edits[0].head = -1;
           },
           {kInvalid, "edits[0]", "kFinal", "something in the pass reads"}},
          {[](Asked& a) { a.edits[0].site = ModelSite::kEntropy; },
           {kInvalid, "edits[0]", "kEntropy", "something in the pass reads"}},
          {[](Asked& a) { a.edits[0].site = ModelSite::kLogits; },
           {kInvalid, "edits[0]", "kLogits", "something in the pass reads"}},
          {[](Asked& a) { a.edits[0].site = ModelSite::kNormWeights; },
           {kInvalid, "edits[0]", "kNormWeights", "something in the pass reads"}},
          {[](Asked& a) { a.edits[0].batch = {0, 3}; },
           {kRange, "batch of edits[0]", "[0, 3)", "[0, 2)"}},
          {[](Asked& a) { a.edits[0].rows = {-1, 3}; },
           {kRange, "rows of edits[0]", "[-1, 3)", "[0, 7)"}},
          {[](Asked& a) { a.edits[0].rows = {4, 3}; },
           {kRange, "rows of edits[0]", "[4, 3)", "[0, 7)"}},
          {[](Asked& a) { a.edits[0].columns = {0, 9}; },
           {kRange, "columns of edits[0]", "[0, 9)", "[0, 8)"}},
          {[](Asked& a) { a.edits[0].keys = {0, 1}; },
           {kInvalid, "edits[0]", "chooses keys", "kScores and kWeights"}},
          {[](Asked& a) { a.edits[1].keys = {0, 8}; },
           {kRange, "keys of edits[1]", "[0, 8)", "[0, 7)"}},
          {[](Asked& a) { a.edits[1].columns = {0, 1}; },
           {kInvalid, "edits[1]", "chooses columns", "keys"}},
          {[](Asked& a) { a.edits[2].value.shape[2] = 5; },
           {kShapeError, "value of edits[2]", "[2,7,5]", "[2,7,4]"}},
          {[](Asked& a) { a.edits[2].add = {kNumbers, {2, 1, 7, 4}}; },
           {kShapeError, "add of edits[2]", "[2,1,7,4]", "[2,7,4]"}},
          {[](Asked& a) { a.edits[0].value = {kNumbers, {2, 4, 3, 8}}; },
           {kShapeError, "value of edits[0]", "[2,4,3,8]", "[2,1,3,8]"}},
          {[](Asked& a) { a.edits[2].value.data = nullptr; },
           {kInvalid, "value of edits[2]", "no data", "[2,7,4]"}},
          {[](Asked& a) { a.edits[2].value.strides[0] = -1; },
           {kInvalid, "value", "stride -1", ""}},
      });
  require_each("gpt-neox", {{[](Asked& a) {
                               a.edits = {{.site = ModelSite::kMiddle, .scale = 2.0F}};
                               a.readings.clear();
                               a.lenses.clear();
                             },
                             {StatusCode::kUnsupported, "edits[0]", "kMiddle", "same stream"}}});
  require_each("experts", {{[](Asked& a) {
                              a.edits = {{.site = ModelSite::kNeurons, .scale = 2.0F}};
                              a.readings.clear();
                              a.lenses.clear();
                            },
                            {StatusCode::kUnsupported, "edits[0]", "kNeurons", "experts"}}});
  for (const ModelSite site : {ModelSite::kMiddle, ModelSite::kNeurons, ModelSite::kFeedForward}) {
    const ModelWeights weights(family("bare"), 2);
    const LanguageModel model = weights.make();
    ModelCall call(model, ModelTokens(weights.config(), 1, 3, 1));
    const ModelEdit edit{.site = site, .scale = 2.0F};
    call.args.edits = {&edit, 1};
    Workspace workspace;
    require_refused(model.forward(call.args, workspace), "LanguageModel::forward",
                    {StatusCode::kUnsupported, "edits[0]", "is k", "attention alone"});
  }
}

TEST_CASE("LanguageModel::forward: lenses and beginnings that do not fit are refused",
          "[model][bad-input]") {
  require_each(
      "gemma2",
      {
          {[](Asked& a) { a.lenses[0].layer = 3; }, {kRange, "lenses[0]", "is 3", "[0, 3)"}},
          {[](Asked& a) { a.lenses[0].row_end = 8; },
           {kRange, "rows of lenses[0]", "[0, 8)", "[0, 7)"}},
          {[](Asked& a) { a.lenses[0].ids.shape[2] = 0; },
           {kRange, "lenses[0]", "0 tokens", "1 to 19"}},
          {[](Asked& a) { a.lenses[0].ids.shape[2] = 20; },
           {kRange, "lenses[0]", "20 tokens", "1 to 19"}},
          {[](Asked& a) { a.lenses[0].row_begin = 1; },
           {kShapeError, "ids", "is [2,7,3]", "[2,6,3]"}},
          {[](Asked& a) { a.lenses[0].probabilities.shape[2] = 2; },
           {kShapeError, "probabilities", "is [2,7,2]", "[2,7,3]"}},
          {[](Asked& a) { a.lenses[0].probabilities.data = nullptr; },
           {kInvalid, "probabilities", "has no data", "[2,7,3]"}},
          {[](Asked& a) { a.lenses.push_back(a.lenses[0]); },
           {kInvalid, "lens of layer 1", "twice", "once"}},
          {[](Asked& a) {
             a.lenses[0].probabilities.data = reinterpret_cast<float*>(a.ids.data());
           },
           {kInvalid, "ids", "overlaps probabilities", "separate memory"}},
          {[](Asked& a) { a.call.args.begin.layer = 1; },
           {kInvalid, "begin", "stream is absent", "a stream"}},
          {[](Asked& a) { a.begin_at(3); }, {kRange, "begin", "is 3", "[0, 3)"}},
          {[](Asked& a) { a.begin_at(-1); }, {kRange, "begin", "is -1", "[0, 3)"}},
          {[](Asked& a) {
             a.begin_at(0);
             a.call.args.begin.stream.shape[1] = 6;
           },
           {kShapeError, "begin", "is [2,6,64]", "[2,7,64]"}},
          {[](Asked& a) {
             a.begin_at(0);
             a.call.args.begin.stream.data = a.call.results.hidden.data();
           },
           {kInvalid, "hidden", "overlaps begin", "separate memory"}},
          {[](Asked& a) { a.begin_at(1); }, {kRange, "readings[0]", "is 0", "at least 1"}},
          {[](Asked& a) {
             a.begin_at(1);
             a.readings.erase(a.readings.begin());
           },
           {kRange, "edits[0]", "is 0", "at least 1"}},
          {[](Asked& a) {
             a.begin_at(2);
             a.readings.clear();
             a.edits.clear();
           },
           {kRange, "lenses[0]", "is 1", "at least 2"}},
          {[](Asked& a) {
             a.begin_at(1);
             a.edits = {{.site = ModelSite::kEmbed, .scale = 2.0F}};
             a.readings.clear();
           },
           {kRange, "edits[0]", "is 0", "at least 1"}},
      });
  require_each("bert", {{[](Asked& a) {
                           a.readings.clear();
                           a.edits.clear();
                         },
                         {kInvalid, "lenses[0]", "kLogits", "no head"}},
                        {[](Asked& a) {
                           static const std::vector<std::int32_t> types(14, 0);
                           a.readings.clear();
                           a.edits.clear();
                           a.lenses.clear();
                           a.call.args.token_types = {types.data(), {2, 7}};
                           a.call.args.begin = {{a.stream.data(), {2, 7, 24}}, 0};
                         },
                         {kInvalid, "token_types", "begin", "none"}}});
}

TEST_CASE("LanguageModel::forward: keys of sites are those that the session then holds",
          "[model][bad-input]") {
  const ModelWeights weights(family("gemma2"), 3);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelSession session;
  require_ok(ModelSession::create(model, {.batch = 2}, session));
  run(model, ModelTokens(weights.config(), 2, 3, 3), {.session = &session}, workspace);
  Asked asked(model, ModelTokens(weights.config(), 2, 7, 2), &session);
  asked.readings[0].to.shape[3] = 7;
  require_refused(asked.forward(model, workspace), "LanguageModel::forward",
                  {kShapeError, "kWeights", "is [2,4,7,7]", "[2,4,7,10]"});
  asked.readings[0].to.shape[3] = 10;
  asked.edits[1].keys = {0, 11};
  require_refused(asked.forward(model, workspace), "LanguageModel::forward",
                  {kRange, "keys of edits[1]", "[0, 11)", "[0, 10)"});
  CHECK(asked.untouched());
  CHECK(session.length() == 3);
  asked.edits[1].keys = {0, 10};
  require_ok(asked.forward(model, workspace));
  CHECK(session.length() == 10);
}

TEST_CASE("LanguageModel::encode: sites that do not fit are refused", "[model][bad-input]") {
  LanguageModelConfig config = family("t5 decoder");
  config.encoder_layers = 1;
  const ModelWeights weights(config, 4);
  const LanguageModel model = weights.make();
  const ModelTokens source(config, 1, 6, 4);
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  Workspace workspace;
  std::vector<float> to(6 * 24);
  ModelReading reading{.site = ModelSite::kResidual, .layer = 1, .to = {to.data(), {1, 6, 24}}};
  ModelEdit edit{.site = ModelSite::kResidual, .layer = 1, .scale = 2.0F};
  LanguageModel::EncodeArgs args{.source = {source.ids.data(), {1, 6}}, .session = &session};
  args.readings = {&reading, 1};
  require_refused(model.encode(args, workspace), "LanguageModel::encode",
                  {kRange, "readings[0]", "is 1", "[0, 1)"});
  reading.site = ModelSite::kCross;
  reading.layer = 0;
  require_refused(model.encode(args, workspace), "LanguageModel::encode",
                  {StatusCode::kUnsupported, "readings[0]", "kCross", "no encoder"});
  args.readings = {};
  args.edits = {&edit, 1};
  require_refused(model.encode(args, workspace), "LanguageModel::encode",
                  {kRange, "edits[0]", "is 1", "[0, 1)"});
  CHECK(session.source_length() == 0);
}

}  // namespace
}  // namespace qkv::test::bad_input_model_sites_test
