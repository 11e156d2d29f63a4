// Configs that are no language model, and rows that are none of its weights.
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "config_refusals.hpp"
#include "language_model_problem.hpp"
#include "qkv/language_model.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_model_create_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("LanguageModel::create: configs without meaning are refused", "[model][bad-input]") {
  struct Wrong {
    Spoil<LanguageModelConfig&, WeightFormat&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> windows = {3, -2, 4};
  static const std::vector<std::int32_t> rotations = {1, 3, 0};
  static const std::vector<std::int32_t> second = {1, 2, 0};
  static const float factors[] = {1.0F, 2.0F, 0.0F, 4.0F};
  const Wrong rows[] = {
      {[](auto& c, auto&) { c.num_layers = 65'537; },
       {kRange, "num_layers", "is 65537", "at most 65536"}},
      {[](auto& c, auto&) { c.norm = NormPlacement::kPost; },
       {kInvalid, "post_norms", "is true", "false"}},
      {[](auto& c, auto&) { c.rotary.scaling.type = RotaryScaling::Type::kLlama3; },
       {kInvalid, "rotary.scaling.original_length", "0", "at least 1"}},
      {[](auto& c, auto&) { c.windows = {windows.data(), {3}}; },
       {kRange, "windows[1]", "is -2", "at least -1"}},
      {[](auto& c, auto&) { c.windows = {windows.data(), {2}}; },
       {kShapeError, "windows", "is [2]", "[3]"}},
      {[](auto& c, auto&) { c.windows = {windows.data(), {3, 1}}; },
       {kShapeError, "windows", "is [3,1]", "[3]"}},
      {[](auto& c, auto&) { c.windows.data = nullptr; },
       {kInvalid, "windows", "has no data", "[3]"}},
      {[](auto& c, auto&) { c.norm = NormPlacement::kAfter; },
       {kInvalid, "post_norms", "is true", "false"}},
      {[](auto& c, auto&) {
         c.norm = NormPlacement::kPost;
         c.post_norms = false;
         c.first_norm = false;
       },
       {kInvalid, "first_norm", "is false", "true"}},
      {[](auto& c, auto&) { c.qk_norm_of = static_cast<QkNorm>(3); },
       {kInvalid, "qk_norm_of", "is 3", "0 to 2"}},
      {[](auto& c, auto&) { c.rotations = {rotations.data(), {3}}; },
       {kRange, "rotations[1]", "is 3", "0 to 2"}},
      {[](auto& c, auto&) { c.rotations = {rotations.data(), {2}}; },
       {kShapeError, "rotations", "is [2]", "[3]"}},
      {[](auto& c, auto&) {
         c.rotations = {second.data(), {3}};
         c.second_rotary.base = 0.5;
       },
       {kInvalid, "second_rotary.base", "0.5", "at least 1"}},
      {[](auto& c, auto&) {
         c.rotations = {second.data(), {3}};
         c.positions = ModelPositions::kNone;
       },
       {kInvalid, "rotations", "are given", "kRotary"}},
      {[](auto& c, auto&) { c.rotary.scaling = {.type = RotaryScaling::Type::kFactors}; },
       {kShapeError, "rotary.scaling.factors", "", "[4]"}},
      {[](auto& c, auto&) {
         c.rotary.scaling = {.type = RotaryScaling::Type::kFactors, .factors = {factors, {4}}};
       },
       {kInvalid, "rotary.scaling.factors[2]", "is 0", "a finite number of at least "}},
      {[](auto& c, auto&) {
         c.rotary.scaling = {
             .type = RotaryScaling::Type::kFactors, .factor = 2, .factors = {factors, {4}}};
       },
       {kInvalid, "rotary.scaling.factor", "is 2", "1 with"}},
      {[](auto& c, auto&) {
         c.causal = c.head = c.tied_embeddings = false;
         c.logit_softcap = 0.0F;
         c.head_bias = true;
       },
       {kInvalid, "head_bias", "without head", "none"}},
      {[](auto& c, auto&) {
         c.causal = c.head = c.tied_embeddings = false;
         c.logit_softcap = 0.0F;
         c.head_transform = HeadTransform::kTanh;
       },
       {kInvalid, "head_transform", "without head", "none"}},
      {[](auto& c, auto&) {
         c.causal = c.head = c.tied_embeddings = false;
         c.logit_softcap = 0.0F;
         c.head_pooling = HeadPooling::kFirst;
       },
       {kInvalid, "head_pooling", "without head", "none"}},
      {[](auto& c, auto&) {
         c.causal = c.head = c.tied_embeddings = false;
         c.logit_softcap = 0.0F;
         c.classes = 2;
       },
       {kInvalid, "classes", "without head", "none"}},
      {[](auto& c, auto&) { c.classes = 2; }, {kInvalid, "classes", "is 2", "0"}},
      {[](auto& c, auto&) { c.classes = -1; }, {kRange, "classes", "is -1", "at least 0"}},
      {[](auto& c, auto&) { c.head_norm = true; },
       {kInvalid, "head_norm", "is true", "false without head_transform"}},
      {[](auto& c, auto&) { c.head_transform = static_cast<HeadTransform>(6); },
       {kInvalid, "head_transform", "is 6", "0 to 5"}},
      {[](auto& c, auto&) { c.head_pooling = static_cast<HeadPooling>(4); },
       {kInvalid, "head_pooling", "is 4", "0 to 3"}},
      {[](auto& c, auto&) { c.symmetric_window = true; },
       {kInvalid, "symmetric_window", "is true", "false"}},
      {[](auto& c, auto&) { c.encoder_layers = -1; },
       {kRange, "encoder_layers", "is -1", "at least 0"}},
      {[](auto& c, auto&) { c.encoder_layers = 65'537; },
       {kRange, "encoder_layers", "is 65537", "at most 65536"}},
      {[](auto& c, auto&) { c.encoder_layers = 2; },
       {kUnsupported, "positions", "is given with encoder_layers = 2", "none of the options"}},
      {[](auto& c, auto&) {  // enough for a decoder, and not for its encoder
         c.encoder_layers = 2;
         c.relative_buckets = 3;
       },
       {kRange, "relative_buckets", "is 3", "4 to 1024"}},
      {[](auto& c, auto&) { c.relative_buckets = -1; },
       {kRange, "relative_buckets", "is -1", "at least 0"}},
      {[](auto& c, auto&) { c.relative_buckets = 1; },
       {kRange, "relative_buckets", "is 1", "2 to 1024"}},
      {[](auto& c, auto&) {
         c.relative_buckets = 8;
         c.positions = ModelPositions::kAlibi;
       },
       {kInvalid, "relative_buckets", "is 8", "0"}},
      {[](auto& c, auto&) { c.num_experts = 1025; },
       {kRange, "num_experts", "is 1025", "at most 1024"}},
      {[](auto& c, auto&) { c.num_experts = 2; }, {kRange, "experts_per_token", "is 0", "1 to 2"}},
      {[](auto& c, auto&) { c.experts_per_token = 1; },
       {kRange, "experts_per_token", "is 1", "0 to 0"}},
      {[](auto& c, auto&) {
         c.num_experts = c.experts_per_token = 2;
         c.d_feed_forward = 0;
       },
       {kInvalid, "num_experts", "d_feed_forward 0", "width"}},
      {[](auto& c, auto&) { c.embedding_scale = kNan; },
       {kRange, "embedding_scale", "is NaN", "finite"}},
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
       {kInvalid, "causal", "is true without head", "false"}},
      {[](auto& c, auto&) { c.causal = c.head = false; },
       {kInvalid, "tied_embeddings", "without head", "none"}},
      {[](auto& c, auto&) { c.causal = c.head = c.tied_embeddings = false; },
       {kInvalid, "logit_softcap", "without head", "none"}},
      {[](auto&, auto& f) { f = static_cast<WeightFormat>(6); },
       {kInvalid, "format", "is 6", "0 to 5"}},
  };
  const ModelWeights weights(family("gemma2"), 1);
  const ModelTokens tokens(weights.config(), 1, 5, 1);
  LanguageModel model = weights.make();
  const ModelResults before = run(model, tokens);
  const auto refused = [&](const LanguageModelConfig& config, WeightFormat format,
                           const Refusal& refusal) {
    const std::size_t bytes = allocated_bytes();
    require_refused(LanguageModel::create(config, format, model), "LanguageModel::create", refusal);
    CHECK(allocated_bytes() == bytes);
  };
  for (const ConfigRefusal& row : config_refusals()) {
    LanguageModelConfig config = family("gemma2");
    row.spoil(config);
    refused(config, WeightFormat::kF32, row.refusal);
  }
  for (const Wrong& row : rows) {
    LanguageModelConfig config = family("gemma2");
    WeightFormat format = WeightFormat::kF32;
    row.spoil(config, format);
    refused(config, format, row.refusal);
  }
  CHECK(first_difference(before.all(), run(model, tokens).all()) == "");
}

TEST_CASE("LanguageModel::create: more than all memory is out of memory", "[model][bad-input]") {
  LanguageModel model;
  constexpr Index kMost = std::numeric_limits<Index>::max();
  for (const Index wide : {Index{1} << 20, kMost / 2, kMost}) {
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

TEST_CASE("LanguageModel::fill: rows that do not fit are refused and change nothing",
          "[model][fill][bad-input]") {
  struct Wrong {
    Spoil<ModelRows&> spoil;
    Refusal refusal;
    const char* array = "layers.1.feedForward.w1";  ///< [64, 96]
  };
  static const std::vector<float> numbers(64 * 96);
  static const std::vector<float> wrong(64 * 96, kNan);
  static const std::vector<float> large(64 * 96, 1e9F);  // more than 127 times what binary16 holds
  static const std::vector<std::uint16_t> scales(96 * 3, 0x3C00);
  static const std::vector<std::uint16_t> nans(96 * 3, 0x7E00);
  static const std::vector<std::uint8_t> blocks(34 * 96 * 3, 0x7C);  // whose scales are NaN
  constexpr const char* kGain = "layers.0.norm1.gamma";              // [64]
  const Wrong in_f32[] = {
      {[](auto& r) { r.data = nullptr; }, {kInvalid, "data", "null", "64"}},
      {[](auto& r) { r.type = static_cast<NumberType>(16); },
       {kInvalid, "type", "is 16", "NumberType"}},
      {[](auto& r) { r.layout = static_cast<WeightLayout>(2); }, {kInvalid, "layout", "is 2", ""}},
      {[](auto& r) { r.count = 0; }, {kRange, "count", "is 0", "at least 1"}},
      {[](auto& r) { r.count = 65; }, {kRange, "count", "is 65", "at most 64"}},
      {[](auto& r) {
         r.layout = WeightLayout::kOutIn;
         r.count = 97;
       },
       {kRange, "count", "is 97", "at most 96"}},
      {[](auto& r) { r.row_bytes = 383; }, {kRange, "row_bytes", "is 383", "384"}},
      {[](auto& r) { r.row_bytes = -384; }, {kRange, "row_bytes", "is -384", "384"}},
      {[](auto& r) { r.count = 2; }, {kRange, "count", "is 2", "at most 1"}, kGain},
      {[](auto& r) { r.type = NumberType::kInt8; },
       {kInvalid, "type", "kInt8", "another type"},
       kGain},
      {[](auto& r) { r.type = NumberType::kInt8; }, {kInvalid, "type", "without scales", ""}},
      {[](auto& r) { r.type = NumberType::kQ8_0; }, {kInvalid, "type", "has blocks", "kOutIn"}},
      {[](auto& r) { r.type = NumberType::kIq4Xs; }, {kInvalid, "type", "has blocks", "kOutIn"}},
      {[](auto& r) {
         r.type = NumberType::kInt8;
         r.scales = scales.data();
         r.scale_stride = 96;
         r.count = 33;
       },
       {kRange, "count", "is 33", "a multiple of 32"}},
      {[](auto& r) {
         r.type = NumberType::kInt8;
         r.scales = scales.data();
         r.scale_stride = 95;
       },
       {kRange, "scale_stride", "is 95", "at least 96"}},
      {[](auto& r) {
         r.type = NumberType::kInt8;
         r.scales = scales.data();
         r.scale_stride = 1;
         r.count = 2;
       },
       {kRange, "scale_stride", "is 1", "at least 2"},
       "embedding"},
      {[](auto& r) {
         r.type = NumberType::kInt8;
         r.scales = nans.data();
         r.scale_stride = 96;
       },
       {kInvalid, "layers.1.feedForward.w1", "has a scale", "finite"}},
  };
  const Wrong in_int8[] = {
      {[](auto& r) { r.count = 31; }, {kRange, "count", "is 31", "a multiple of 32"}},
      {[](auto& r) {
         r.type = NumberType::kInt8;
         r.scales = scales.data();
         r.scale_stride = -96;
       },
       {kRange, "scale_stride", "is -96", "at least 96"}},
      {[](auto& r) {
         r.type = NumberType::kInt8;
         r.layout = WeightLayout::kOutIn;
         r.scales = scales.data();
         r.row_bytes = 64;
         r.count = 2;
       },
       {kRange, "scale_stride", "is 0", "at least 2"}},
      {[](auto& r) {
         r.type = NumberType::kInt8;
         r.layout = WeightLayout::kOutIn;
         r.scales = nans.data();
         r.scale_stride = 2;
         r.row_bytes = 64;
         r.count = 96;
       },
       {kInvalid, "layers.1.feedForward.w1", "has a scale", "finite"}},
      {[](auto& r) { r.data = wrong.data(); },
       {kInvalid, "layers.1.feedForward.w1", "has a number that is not finite",
        "int8 holds no such"}},
      {[](auto& r) { r.data = large.data(); },
       {kInvalid, "layers.1.feedForward.w1", "at least 8.3e6 in magnitude", "int8 holds no such"}},
      {[](auto& r) {
         r.type = NumberType::kQ8_0;
         r.layout = WeightLayout::kOutIn;
         r.data = blocks.data();
         r.row_bytes = 68;
         r.count = 96;
       },
       {kInvalid, "layers.1.feedForward.w1", "has a scale", "finite"}},
  };
  const Wrong in_halves[] = {
      {[](auto& r) { r.data = wrong.data(); },
       {kInvalid, "layers.1.feedForward.w1", "not finite", "holds no such"}},
      {[](auto& r) { r.data = large.data(); },
       {kInvalid, "layers.1.feedForward.w1", "at least 65,520", "another format"}},
  };
  const Wrong in_q4k[] = {
      {[](auto&) {}, {kInvalid, "layers.1.feedForward.w1", "has format q4_k", "layout kOutIn"}},
      {[](auto& r) {
         r.type = NumberType::kQ8_0;
         r.layout = WeightLayout::kOutIn;
         r.data = blocks.data();
         r.row_bytes = 68;
         r.count = 96;
       },
       {kInvalid, "layers.1.feedForward.w1", "has format q4_k", "rows of that type"}},
      {[](auto& r) {
         r.type = NumberType::kQ4K;
         r.layout = WeightLayout::kOutIn;
         r.row_bytes = 144;
         r.factor = 2.0;
       },
       {kInvalid, "layers.1.feedForward.w1", "has format q4_k", "as they are"}},
      {[](auto& r) { r.type = NumberType::kQ4K; }, {kInvalid, "type", "has blocks", "kOutIn"}},
      {[](auto& r) {
         r.type = NumberType::kQ4K;
         r.layout = WeightLayout::kOutIn;
         r.data = wrong.data();
         r.row_bytes = 144;
         r.count = 1;
       },
       {kInvalid, "layers.1.feedForward.w1", "has a scale", "finite"}},
  };
  const auto require = [](WeightFormat format, const Wrong& row) {
    CAPTURE(row.refusal.argument, row.refusal.was);
    LanguageModel model;
    require_ok(LanguageModel::create(family("gemma2"), format, model));
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
  };
  for (const Wrong& row : in_f32) {
    require(WeightFormat::kF32, row);
  }
  for (const Wrong& row : in_int8) {
    require(WeightFormat::kInt8, row);
  }
  for (const Wrong& row : in_halves) {
    require(WeightFormat::kF16, row);
    require(WeightFormat::kInt4, row);
  }
  for (const Wrong& row : in_q4k) {
    require(WeightFormat::kQ4K, row);
  }
}

TEST_CASE("LanguageModel::create, LanguageModel::read: formats and rows that do not fit",
          "[model][bad-input]") {
  LanguageModel model;
  const WeightFormat formats[] = {WeightFormat::kInt4, static_cast<WeightFormat>(6)};
  const auto create = [&](std::size_t count) {
    return LanguageModel::create(family("gemma2"), WeightFormat::kF32, model, {formats, count});
  };
  require_refused(create(1), "LanguageModel::create",
                  {StatusCode::kShapeMismatch, "formats", "1 element", "35"});
  require_refused(create(2), "LanguageModel::create", {kInvalid, "formats", "is 6", "0 to 5"});
  std::byte room[8] = {};
  require_refused(model.read(0, 0, 1, room), "LanguageModel::read",
                  {kInvalid, "the model", "is empty", "create()"});
  require_ok(LanguageModel::create(family("gemma2"), WeightFormat::kInt4, model));
  const Index rows = model.array(0).rows;
  require_refused(model.read(0, 0, 1, nullptr), "LanguageModel::read",
                  {kInvalid, "to", "is null", "memory"});
  require_refused(model.read(35, 0, 1, room), "LanguageModel::read",
                  {kRange, "i", "is 35", "[0, 35)"});
  for (const auto& [first, count] :
       {std::pair{Index{-1}, Index{1}}, {0, -1}, {rows, 1}, {1, rows}}) {
    require_refused(model.read(0, first, count, room), "LanguageModel::read",
                    {kRange, "first", "count", "rows of [0, "});
  }
}

TEST_CASE(
    "LanguageModel::fill: arrays that are none, layouts that change, and models that are filled",
    "[model][fill][bad-input]") {
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
                  {kRange, "i", "is 35", "[0, 35)"});
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
  require_refused(model.fill(wq, rest), "LanguageModel::fill",
                  {kRange, "count", "is 64", "at most 63"});
  rest.count = 63;
  require_ok(model.fill(wq, rest));
  LanguageModel whole = ModelWeights(family("gemma2"), 1).make();
  require_refused(whole.fill(0, row), "LanguageModel::fill",
                  {kInvalid, "the model", "is filled", "to be filled"});
}

}  // namespace
}  // namespace qkv::test::bad_input_model_create_test
