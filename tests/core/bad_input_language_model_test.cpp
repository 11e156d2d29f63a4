// What calls of language models must refuse; nothing is written then, and a conversation stays as it is.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "language_model_problem.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_language_model_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool untouched(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return x == kUntouched; });
}

/// Whether nothing has been written of all that a call may write.
bool untouched(const ModelCall& call) {
  bool all = untouched(call.results.all());
  for (const ModelResults::Layer& layer : call.results.layers) {
    all = all && untouched(layer.weights) && untouched(layer.entropy) &&
          untouched(layer.residual) && untouched(layer.logits);
  }
  return all;
}

TEST_CASE("LanguageModel::create: configs without meaning are refused", "[model][bad-input]") {
  struct Wrong {
    Spoil<LanguageModelConfig&, WeightFormat&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> windows = {3, -2, 4};
  const Wrong rows[] = {
      {[](auto& c, auto&) { c.vocabulary = 0; }, {kRange, "vocabulary", "is 0", "at least 1"}},
      {[](auto& c, auto&) { c.num_layers = 0; }, {kRange, "num_layers", "is 0", "at least 1"}},
      {[](auto& c, auto&) { c.num_layers = 65'537; },
       {kRange, "num_layers", "is 65537", "at most 65536"}},
      {[](auto& c, auto&) { c.d_model = -1; }, {kRange, "d_model", "is -1", "at least 1"}},
      {[](auto& c, auto&) { c.num_heads = 0; }, {kRange, "num_heads", "is 0", "at least 1"}},
      {[](auto& c, auto&) { c.num_kv_heads = 3; },
       {kRange, "num_kv_heads", "is 3", "a divisor of num_heads = 4"}},
      {[](auto& c, auto&) {
         c.d_k = 0;
         c.d_model = 65;
       },
       {kRange, "d_model", "is 65", "a multiple of num_heads = 4"}},
      {[](auto& c, auto&) { c.d_k = -2; }, {kRange, "d_k", "is -2", "at least 1"}},
      {[](auto& c, auto&) { c.d_k = 5; }, {kRange, "rotary.rotary_dim", "5", "even"}},
      {[](auto& c, auto&) { c.d_feed_forward = -1; },
       {kRange, "d_feed_forward", "is -1", "at least 0"}},
      {[](auto& c, auto&) { c.max_length = 0; }, {kRange, "max_length", "is 0", "at least 1"}},
      {[](auto& c, auto&) { c.max_length = kMaxPosition + 1; },
       {kRange, "max_length", "is 1048577", "at most 1048576"}},
      {[](auto& c, auto&) { c.norm = static_cast<NormPlacement>(2); },
       {kInvalid, "norm", "is 2", "0 to 1"}},
      {[](auto& c, auto&) { c.norm_type = static_cast<NormType>(9); },
       {kInvalid, "norm_type", "is 9", "0 to 1"}},
      {[](auto& c, auto&) { c.activation = static_cast<ModelActivation>(7); },
       {kInvalid, "activation", "is 7", "0 to 6"}},
      {[](auto& c, auto&) { c.positions = static_cast<ModelPositions>(5); },
       {kInvalid, "positions", "is 5", "0 to 4"}},
      {[](auto& c, auto&) {
         c.norm = NormPlacement::kPost;
         c.post_norms = false;
         c.parallel_residual = true;
       },
       {kInvalid, "parallel_residual", "is true", "false"}},
      {[](auto& c, auto&) { c.norm = NormPlacement::kPost; },
       {kInvalid, "post_norms", "is true", "false"}},
      {[](auto& c, auto&) { c.rotary.offset = 1; }, {kInvalid, "rotary", "has an offset", "base"}},
      {[](auto& c, auto&) { c.rotary.base = 0.5; }, {kInvalid, "rotary.base", "0.5", "at least 1"}},
      {[](auto& c, auto&) { c.rotary.scaling.type = RotaryScaling::Type::kLlama3; },
       {kInvalid, "rotary.scaling.original_length", "0", "at least 1"}},
      {[](auto& c, auto&) { c.epsilon = -1.0F; }, {kInvalid, "epsilon", "is -1", "finite"}},
      {[](auto& c, auto&) { c.window = -2; }, {kRange, "window", "is -2", "at least -1"}},
      {[](auto& c, auto&) { c.windows = {windows.data(), {3}}; },
       {kRange, "windows[1]", "is -2", "at least -1"}},
      {[](auto& c, auto&) { c.windows = {windows.data(), {2}}; },
       {kShapeError, "windows", "is [2]", "[3]"}},
      {[](auto& c, auto&) { c.windows = {windows.data(), {3, 1}}; },
       {kShapeError, "windows", "is [3,1]", "[3]"}},
      {[](auto& c, auto&) { c.windows.data = nullptr; },
       {kInvalid, "windows", "has no data", "[3]"}},
      {[](auto& c, auto&) { c.embedding_scale = 0.0F; },
       {kRange, "embedding_scale", "is 0", "other than 0"}},
      {[](auto& c, auto&) { c.embedding_scale = kNan; },
       {kRange, "embedding_scale", "is NaN", "finite"}},
      {[](auto& c, auto&) { c.attention_softcap = -1.0F; },
       {kRange, "attention_softcap", "is -1", "at least 0"}},
      {[](auto& c, auto&) { c.logit_softcap = -1.0F; },
       {kRange, "logit_softcap", "is -1", "at least 0"}},
      {[](auto& c, auto&) { c.logit_softcap = INFINITY; },
       {kRange, "logit_softcap", "is Infinity", "finite"}},
      {[](auto& c, auto&) { c.attention_scale = kNan; },
       {kInvalid, "attention_scale", "is NaN", "finite"}},
      {[](auto& c, auto&) { c.token_types = -1; }, {kRange, "token_types", "is -1", "at least 0"}},
      {[](auto& c, auto&) {
         c.head = false;
         c.tied_embeddings = false;
         c.logit_softcap = 0.0F;
       },
       {kInvalid, "causal", "true", "head"}},
      {[](auto&, auto& f) { f = static_cast<WeightFormat>(3); },
       {kInvalid, "format", "is 3", "0 to 2"}},
  };
  const ModelWeights weights(family("gemma2"), 1);
  const ModelTokens tokens(weights.config(), 1, 5, 1);
  LanguageModel model = weights.make();
  const ModelResults before = run(model, tokens);
  int n = 0;
  for (const Wrong& row : rows) {
    CAPTURE(n++);
    LanguageModelConfig config = family("gemma2");
    WeightFormat format = WeightFormat::kF32;
    row.spoil(config, format);
    const std::size_t bytes = allocated_bytes();
    require_refused(LanguageModel::create(config, format, model), "LanguageModel::create",
                    row.refusal);
    CHECK(allocated_bytes() == bytes);
  }
  CHECK(first_difference(before.all(), run(model, tokens).all()) == "");
}

TEST_CASE("LanguageModel::create: more than all memory is out of memory", "[model][bad-input]") {
  LanguageModel model;
  for (const Index wide : {Index{1} << 20, Index{1} << 40, std::numeric_limits<Index>::max() / 2}) {
    LanguageModelConfig config = family("llama");
    config.vocabulary = wide;
    config.d_model = wide;
    config.num_heads = 1;
    config.num_kv_heads = 1;
    config.d_k = 2;
    const std::size_t bytes = allocated_bytes();
    CHECK(LanguageModel::create(config, WeightFormat::kF32, model).code() ==
          StatusCode::kOutOfMemory);
    CHECK(model.array_count() == 0);
    CHECK(allocated_bytes() == bytes);
  }
}

TEST_CASE("LanguageModel::fill: rows that do not fit are refused and change nothing", "[model][fill][bad-input]") {
  struct Wrong {
    WeightFormat format;
    const char* array;
    Spoil<ModelRows&> spoil;
    Refusal refusal;
  };
  static const std::vector<float> numbers(64 * 96);
  static const std::vector<std::uint16_t> scales(96 * 3, 0x3C00);
  static const std::vector<std::uint16_t> nans(96 * 3, 0x7E00);
  static const std::vector<std::uint8_t> blocks(34 * 96 * 3, 0x7C);  // whose scales are NaN
  constexpr auto kF32 = WeightFormat::kF32;
  constexpr auto kInt8 = WeightFormat::kInt8;
  constexpr const char* kMap = "layers.1.feedForward.w1";  // [64, 96]
  constexpr const char* kGain = "layers.0.norm1.gamma";    // [64]
  const Wrong rows[] = {
      {kF32, kMap, [](auto& r) { r.data = nullptr; }, {kInvalid, "data", "null", "64"}},
      {kF32, kMap, [](auto& r) { r.type = static_cast<NumberType>(5); },
       {kInvalid, "type", "is 5", "NumberType"}},
      {kF32, kMap, [](auto& r) { r.layout = static_cast<WeightLayout>(2); },
       {kInvalid, "layout", "is 2", ""}},
      {kF32, kMap, [](auto& r) { r.count = 0; }, {kRange, "count", "is 0", "at least 1"}},
      {kF32, kMap, [](auto& r) { r.count = 65; }, {kRange, "count", "is 65", "at most 64"}},
      {kF32, kMap,
       [](auto& r) {
         r.layout = WeightLayout::kOutIn;
         r.count = 97;
       },
       {kRange, "count", "is 97", "at most 96"}},
      {kF32, kMap, [](auto& r) { r.row_bytes = 383; }, {kRange, "row_bytes", "is 383", "384"}},
      {kF32, kMap, [](auto& r) { r.row_bytes = -384; }, {kRange, "row_bytes", "is -384", "384"}},
      {kF32, kGain, [](auto& r) { r.count = 2; }, {kRange, "count", "is 2", "at most 1"}},
      {kF32, kGain, [](auto& r) { r.type = NumberType::kInt8; },
       {kInvalid, "type", "kInt8", "another type"}},
      {kF32, kMap, [](auto& r) { r.type = NumberType::kInt8; },
       {kInvalid, "type", "without scales", ""}},
      {kF32, kMap, [](auto& r) { r.type = NumberType::kQ8_0; },
       {kInvalid, "type", "kQ8_0", "kOutIn"}},
      {kInt8, kMap, [](auto& r) { r.count = 31; }, {kRange, "count", "is 31", "a multiple of 32"}},
      {kF32, kMap,
       [](auto& r) {
         r.type = NumberType::kInt8;
         r.scales = scales.data();
         r.scale_stride = 96;
         r.count = 33;
       },
       {kRange, "count", "is 33", "a multiple of 32"}},
      {kF32, kMap,
       [](auto& r) {
         r.type = NumberType::kInt8;
         r.scales = nans.data();
         r.scale_stride = 96;
       },
       {kInvalid, "scales", "NaN", "finite"}},
      {kInt8, kMap,
       [](auto& r) {
         r.type = NumberType::kInt8;
         r.layout = WeightLayout::kOutIn;
         r.scales = nans.data();
         r.scale_stride = 2;
         r.count = 96;
       },
       {kInvalid, "scales", "NaN", "finite"}},
      {kInt8, kMap,
       [](auto& r) {
         r.type = NumberType::kQ8_0;
         r.layout = WeightLayout::kOutIn;
         r.data = blocks.data();
         r.row_bytes = 68;
         r.count = 96;
       },
       {kInvalid, "scale", "NaN", "finite"}},
  };
  int n = 0;
  for (const Wrong& row : rows) {
    CAPTURE(n++);
    LanguageModel model;
    require_ok(LanguageModel::create(family("gemma2"), row.format, model));
    Index i = 0;
    while (model.array(i).name != std::string(row.array)) {
      ++i;
    }
    const ModelArray array = model.array(i);
    ModelRows given{.data = numbers.data(),
                    .count = array.rank == 2 ? array.shape[0] : 1,
                    .row_bytes = array.shape[array.rank - 1] * 4};
    row.spoil(given);
    require_refused(model.fill(i, given), "LanguageModel::fill", row.refusal);
    CHECK(model.array(i).filled == 0);
  }
}

TEST_CASE("LanguageModel::fill: arrays that are none, layouts that change, and models that are filled", "[model][fill][bad-input]") {
  const std::vector<float> numbers(64 * 64);
  const ModelRows row{.data = numbers.data(), .count = 1, .row_bytes = 256};
  LanguageModel model;
  require_refused(model.fill(0, row), "LanguageModel::fill",
                  {kInvalid, "the model", "is empty", "to be filled"});
  require_refused(model.finish(), "LanguageModel::finish",
                  {kInvalid, "the model", "is empty", "create()"});
  require_ok(LanguageModel::create(family("gemma2"), WeightFormat::kF32, model));
  require_refused(model.fill(-1, row), "LanguageModel::fill", {kRange, "i", "is -1", "[0, "});
  require_refused(model.fill(model.array_count(), row), "LanguageModel::fill",
                  {kRange, "i", "is 45", "[0, 45)"});
  Index wq = 0;
  while (model.array(wq).name != std::string("layers.0.attention.wq")) {
    ++wq;
  }
  require_ok(model.fill(wq, row));
  ModelRows turned = row;
  turned.layout = WeightLayout::kOutIn;
  require_refused(model.fill(wq, turned), "LanguageModel::fill",
                  {kInvalid, "layout", "is 1", "rows before"});
  CHECK(model.array(wq).filled == 32);
  // Not one row more than there are.
  ModelRows rest = row;
  rest.count = 64;
  rest.row_bytes = 128;
  require_refused(model.fill(wq, rest), "LanguageModel::fill", {kRange, "count", "is 64", "at most 63"});
  rest.count = 63;
  require_ok(model.fill(wq, rest));
  LanguageModel whole = ModelWeights(family("gemma2"), 1).make();
  require_refused(whole.fill(0, row), "LanguageModel::fill",
                  {kInvalid, "the model", "is filled", "to be filled"});
}

// ---------------------------------------------------------------------------------------------- forward

/// What a row of the table may spoil.
struct Spoiled {
  ModelCall& call;
  LanguageModel::ForwardArgs& args;
};

TEST_CASE("LanguageModel::forward: calls that do not fit are refused and write nothing", "[model][bad-input]") {
  struct Wrong {
    const char* family;
    bool session;
    Spoil<Spoiled&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> lengths = {3, 8};
  static const std::vector<std::int32_t> types(14, 2);
  static ModelSession empty;
  static ModelHead head = {0, 4};
  const Wrong rows[] = {
      {"gemma2", false, [](auto& s) { s.args.ids = {s.args.ids.data, {14}}; },
       {kShapeError, "ids", "is [14]", "[*,*]"}},
      {"gemma2", false, [](auto& s) { s.args.ids.shape = {0, 7}; },
       {kShapeError, "ids", "is [0,7]", "at least 1"}},
      {"gemma2", false, [](auto& s) { s.args.ids.shape = {2, 0}; },
       {kShapeError, "ids", "is [2,0]", "at least 1"}},
      {"gemma2", false, [](auto& s) { s.args.ids.data = nullptr; },
       {kInvalid, "ids", "has no data", "[2,7]"}},
      {"gemma2", false, [](auto& s) { s.args.ids.strides[1] = 2; },
       {kInvalid, "ids", "strides", ""}},
      {"gemma2", false, [](auto& s) { s.call.tokens.ids[13] = 19; },
       {kRange, "ids[13]", "is 19", "[0, 19)"}},
      {"gemma2", true, [](auto& s) { s.call.tokens.ids[0] = -1; },
       {kRange, "ids[0]", "is -1", "[0, 19)"}},
      {"gemma2", false, [](auto& s) { s.args.token_types = {types.data(), {2, 7}}; },
       {kInvalid, "token_types", "is given", "none"}},
      {"bert", false, [](auto& s) { s.args.token_types = {types.data(), {2, 7}}; },
       {kRange, "token_types[0]", "is 2", "[0, 2)"}},
      {"bert", false, [](auto& s) { s.args.token_types = {types.data(), {7, 2}}; },
       {kShapeError, "token_types", "is [7,2]", "[2,7]"}},
      {"gemma2", false, [](auto& s) { s.args.key_lengths = {lengths.data(), {2}}; },
       {kRange, "key_lengths[1]", "is 8", "[0, 7]"}},
      {"gemma2", false, [](auto& s) { s.args.key_lengths = {lengths.data(), {1}}; },
       {kShapeError, "key_lengths", "is [1]", "[2]"}},
      {"gemma2", true,
       [](auto& s) {
         s.call.tokens.lengths = {7, 7};
         s.args.key_lengths = {s.call.tokens.lengths.data(), {2}};
       },
       {kInvalid, "key_lengths", "session", ""}},
      {"gemma2", false, [](auto& s) { s.args.session = &empty; },
       {kInvalid, "session", "is empty", "create()"}},
      {"bert", false, [](auto& s) { s.args.logits = {s.args.hidden.data, {2, 1, 19}}; },
       {kInvalid, "logits", "is given", "no head"}},
      {"bert", false, [](auto& s) { s.args.surprisal = {s.args.hidden.data, {2, 6}}; },
       {kInvalid, "surprisal", "is given", "no head"}},
      {"gemma2", false, [](auto& s) { s.args.logits = {s.args.logits.data, {2, 3, 19}}; },
       {kShapeError, "logits", "is [2,3,19]", "[2,7,19]"}},
      {"gemma2", false, [](auto& s) { s.args.logits = {s.args.logits.data, {2, 7, 18}}; },
       {kShapeError, "logits", "is [2,7,18]", "[2,7,19]"}},
      {"gemma2", false, [](auto& s) { s.args.logits.data = nullptr; },
       {kInvalid, "logits", "has no data", "[2,7,19]"}},
      {"gemma2", false, [](auto& s) { s.args.logits.strides[1] = 20; },
       {kInvalid, "logits", "strides", ""}},
      {"gemma2", true, [](auto& s) { s.args.hidden = {s.args.hidden.data, {2, 2, 64}}; },
       {kShapeError, "hidden", "is [2,2,64]", "[2,7,64]"}},
      {"gemma2", false, [](auto& s) { s.args.surprisal = {s.args.surprisal.data, {2, 7}}; },
       {kShapeError, "surprisal", "is [2,7]", "[2,6]"}},
      {"gemma2", false, [](auto& s) { s.args.hidden.data = s.args.logits.data; },
       {kInvalid, "hidden", "in the memory of logits", ""}},
      {"gemma2", false, [](auto& s) { s.args.surprisal.data = s.args.logits.data + 100; },
       {kInvalid, "surprisal", "in the memory of", "logits"}},
      {"gemma2", false,
       [](auto& s) {
         s.args.surprisal.data = reinterpret_cast<float*>(s.call.tokens.ids.data());
       },
       {kInvalid, "surprisal", "in the memory of ids", ""}},
      {"gemma2", false, [](auto& s) { s.call.readings[1].layer = 3; },
       {kRange, "layer", "is 3", "[0, 3)"}},
      {"gemma2", false, [](auto& s) { s.call.readings[1].layer = -1; },
       {kRange, "layer", "is -1", "[0, 3)"}},
      {"gemma2", false, [](auto& s) { s.call.readings[2].layer = 0; },
       {kInvalid, "layer", "twice", "once"}},
      {"gemma2", false, [](auto& s) { s.call.readings[0].row_begin = -1; },
       {kRange, "row", "-1", "0 to 7"}},
      {"gemma2", false, [](auto& s) { s.call.readings[0].row_end = 8; },
       {kRange, "row", "8", "0 to 7"}},
      {"gemma2", false,
       [](auto& s) {
         s.call.readings[0].row_begin = 5;
         s.call.readings[0].row_end = 4;
       },
       {kRange, "row", "5", "4"}},
      {"gemma2", false, [](auto& s) { s.call.readings[0].weights.shape[3] = 6; },
       {kShapeError, "weights", "is [2,4,7,6]", "[2,4,7,7]"}},
      {"gemma2", true, [](auto& s) { s.call.readings[0].weights.shape[3] = 7; },
       {kShapeError, "weights", "is [2,4,7,7]", "[2,4,7,10]"}},
      {"gemma2", false, [](auto& s) { s.call.readings[2].entropy.shape[1] = 2; },
       {kShapeError, "entropy", "is [2,2,7]", "[2,4,7]"}},
      {"gemma2", false, [](auto& s) { s.call.readings[2].residual.shape[2] = 19; },
       {kShapeError, "residual", "is [2,7,19]", "[2,7,64]"}},
      {"gemma2", false, [](auto& s) { s.call.readings[2].logits.shape[1] = 1; },
       {kShapeError, "logits", "is [2,1,19]", "[2,7,19]"}},
      {"gemma2", false,
       [](auto& s) { s.call.readings[1].entropy.data = s.call.readings[0].residual.data; },
       {kInvalid, "in the memory of", "entropy", "residual"}},
      {"gemma2", false,
       [](auto& s) { s.call.readings[1].entropy.data = s.args.logits.data; },
       {kInvalid, "in the memory of", "entropy", "logits"}},
      {"bert", false,
       [](auto& s) { s.call.readings[1].logits = {s.args.hidden.data, {2, 7, 19}}; },
       {kInvalid, "logits", "is given", "no head"}},
      {"gemma2", false,
       [](auto& s) {
         head = {0, 4};
         s.args.ablated = {&head, 1};
       },
       {kRange, "ablated", "4", "[0, 4)"}},
      {"gemma2", true,
       [](auto& s) {
         head = {3, 0};
         s.args.ablated = {&head, 1};
       },
       {kRange, "ablated", "3", "[0, 3)"}},
      {"gemma2", true,
       [](auto& s) {
         head = {-1, 0};
         s.args.ablated = {&head, 1};
       },
       {kRange, "ablated", "-1", "[0, 3)"}},
  };
  int n = 0;
  for (const Wrong& row : rows) {
    CAPTURE(n++, row.refusal.argument, row.refusal.was);
    const ModelWeights weights(family(row.family), 2);
    const LanguageModel model = weights.make();
    ModelTokens tokens(weights.config(), 2, 7, 2);
    tokens.types.clear();
    ModelSession session;
    Workspace workspace;
    if (row.session) {
      require_ok(ModelSession::create(model, {.batch = 2}, session));
      run(model, ModelTokens(weights.config(), 2, 3, 3), {.session = &session}, workspace);
    }
    ModelAsk ask{.readings = true, .session = row.session ? &session : nullptr};
    ModelCall call(model, tokens, ask);
    Spoiled spoiled{call, call.args};
    row.spoil(spoiled);
    require_refused(model.forward(call.args, workspace), "LanguageModel::forward", row.refusal);
    CHECK(model.forward_scratch_bytes(call.args) == 0);
    CHECK(untouched(call));
    CHECK(session.length() == (row.session ? 3 : 0));
  }
}

TEST_CASE("LanguageModel::forward: more tokens than there is room for are refused", "[model][bad-input]") {
  const ModelWeights weights(family("mistral"), 3);
  const LanguageModel model = weights.make();
  Workspace workspace;
  ModelCall longer(model, ModelTokens(weights.config(), 1, 49, 1));
  require_refused(model.forward(longer.args, workspace), "LanguageModel::forward",
                  {kRange, "ids", "has 49 tokens", "at most 48"});
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

TEST_CASE("LanguageModel::forward: models that are empty or not finished are refused", "[model][bad-input]") {
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

TEST_CASE("ModelSession: sizes without meaning are refused and change nothing", "[model][bad-input]") {
  struct Wrong {
    Spoil<ModelSessionConfig&> spoil;
    Refusal refusal;
  };
  const Wrong rows[] = {
      {[](auto& c) { c.batch = 0; }, {kRange, "batch", "is 0", "at least 1"}},
      {[](auto& c) { c.batch = -3; }, {kRange, "batch", "is -3", "at least 1"}},
      {[](auto& c) { c.capacity = 49; }, {kRange, "capacity", "is 49", "1 to 48"}},
      {[](auto& c) { c.capacity = -1; }, {kRange, "capacity", "is -1", "1 to 48"}},
      {[](auto& c) { c.format = static_cast<CacheFormat>(2); },
       {kInvalid, "format", "is 2", "0 to 1"}},
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
  require_refused(session.truncate(5), "ModelSession::truncate", {kRange, "length", "is 5", "0 to 4"});
  require_refused(session.truncate(-1), "ModelSession::truncate",
                  {kRange, "length", "is -1", "0 to 4"});
  CHECK(session.length() == 4);
  const LanguageModel encoder = ModelWeights(family("bert"), 7).make();
  require_refused(ModelSession::create(encoder, {}, session), "ModelSession::create",
                  {kInvalid, "the model", "is an encoder", "causal"});
  ModelSession empty;
  require_refused(empty.truncate(1), "ModelSession::truncate", {kRange, "length", "is 1", "0 to 0"});
  CHECK(empty.bytes() == 0);
}

TEST_CASE("LanguageModel::forward: a refused call leaves the conversation as it was", "[model][bad-input]") {
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
}  // namespace qkv::test::bad_input_language_model_test
