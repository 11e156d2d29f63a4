// Language models against PyTorch, whose numbers in float64 are in tests/reference/torch/fixtures/models.json.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "block.hpp"
#include "language_model_problem.hpp"
#include "torch_state.hpp"

namespace qkv::test::torch_models_test {
namespace {

constexpr Index kVocabulary = 11;
constexpr Index kModel = 12;
constexpr Index kLength = 6;

LanguageModelConfig config_of(const std::string& name) {
  LanguageModelConfig c;
  c.vocabulary = kVocabulary;
  c.num_layers = 2;
  c.d_model = kModel;
  c.num_heads = 3;
  c.d_feed_forward = 20;
  c.max_length = kLength;
  if (name == "gpt2") {
    c.activation = ModelActivation::kGeluTanh;
    c.tied_embeddings = true;
  } else if (name == "llama") {
    c.num_heads = 4;
    c.num_kv_heads = 2;
    c.d_k = 8;
    c.norm_type = NormType::kRms;
    c.epsilon = 1e-6F;
    c.activation = ModelActivation::kSwiglu;
    c.positions = ModelPositions::kRotary;
    c.rotary.base = 500000;
    c.rotary.scaling = {.type = RotaryScaling::Type::kLlama3, .factor = 8, .original_length = 64};
  } else {
    c.causal = false;
    c.norm = NormPlacement::kPost;
    c.epsilon = 1e-12F;
    c.token_types = 2;
    c.embedding_norm = true;
    c.head = false;
  }
  return c;
}

/// Rows of numbers one after another.
std::vector<std::int32_t> flat(const Json& rows) {
  std::vector<std::int32_t> all;
  for (const Json& row : rows) {
    for (const Json& x : row) {
      all.push_back(x.get<std::int32_t>());
    }
  }
  return all;
}

/// Matrices are [out, in] in the fixture, tables and vectors as they are.
void fill_from(const Json& state, LanguageModel& model) {
  REQUIRE(static_cast<Index>(state.size()) == model.array_count());
  for (Index i = 0; i < model.array_count(); ++i) {
    CAPTURE(model.array(i).name);
    const JsonArray array(state.at(model.array(i).name));
    const bool matrix = array.shape.size() == 2;
    require_ok(model.fill(i, {.data = array.values.data(),
                              .count = matrix ? array.shape[0] : 1,
                              .row_bytes = array.shape.back() * 4,
                              .layout = WeightLayout::kOutIn}));
  }
  require_ok(model.finish());
}

/// The oracle with the same arrays, its matrices the other way round.
oracle::Model exact_of(const Json& state, const LanguageModelConfig& config) {
  std::map<std::string, std::vector<double>> arrays;
  for (const auto& [name, json] : state.items()) {
    const JsonArray array(json);
    const std::vector<double> given(array.values.begin(), array.values.end());
    std::vector<double>& values = arrays[name] = given;
    const bool table = name == "embedding" || name == "positions" || name == "tokenTypes";
    for (Index o = 0; array.shape.size() == 2 && !table && o < array.shape[0]; ++o) {
      for (Index i = 0; i < array.shape[1]; ++i) {
        values[to_size(i * array.shape[0] + o)] = given[to_size(o * array.shape[1] + i)];
      }
    }
  }
  return {config, arrays};
}

/// What the oracle of the other tests makes of the tokens is what PyTorch makes of them.
void check_oracle(const oracle::Model& model, const ModelTokens& tokens,
                  const std::vector<double>& exact) {
  Quantity quantity("oracle and torch, language model");
  auto next = exact.begin();
  for (Index b = 0; b < tokens.batch; ++b) {
    oracle::Pass pass;
    if (!tokens.types.empty()) {
      pass.types = {tokens.types.begin() + b * kLength, tokens.types.begin() + (b + 1) * kLength};
      pass.length = tokens.lengths[to_size(b)];
    }
    const oracle::Trace trace = model.trace(tokens.row(b), pass);
    for (const std::vector<double>& row : trace.logits.empty() ? trace.hidden : trace.logits) {
      for (const double x : row) {
        // An epsilon of 1e-5 is rounded to float32 in the config, which moves results by as much as 3e-12.
        quantity.add(x, *next++, 1e-11, 1.0);
      }
    }
  }
  CHECK(next == exact.end());
  require_within(quantity);
}

TEST_CASE("torch: language models of three kinds", "[torch][model]") {
  const Json file = Json::parse(fixtures().at("models"));
  REQUIRE(file.at("cases").size() == 3);
  for (const Json& c : file.at("cases")) {
    const std::string name = c.at("name");
    INFO(name);
    LanguageModel model;
    require_ok(LanguageModel::create(config_of(name), WeightFormat::kF32, model));
    fill_from(c.at("state"), model);
    ModelTokens tokens(model.config(), 2, kLength, 1);
    tokens.ids = flat(c.at("ids"));
    if (name == "bert") {
      tokens.types = flat(c.at("types"));
      tokens.lengths = c.at("lengths").get<std::vector<std::int32_t>>();
    }
    const ModelResults found = run(model, tokens);
    const std::vector<float>& computed = name == "bert" ? found.hidden : found.logits;
    const std::vector<double> exact = JsonArray(c.at("output")).exact;
    REQUIRE(computed.size() == exact.size());
    check_oracle(exact_of(c.at("state"), config_of(name)), tokens, exact);
    Quantity quantity("torch language model");
    for (std::size_t i = 0; i < exact.size(); ++i) {
      // The bound of a block (qkv/transformer.hpp), once for each of the two.
      quantity.add(static_cast<double>(computed[i]), exact[i],
                   2 * bounds::kBlock * std::max(1.0, std::abs(exact[i])), 1.0);
    }
    require_within(quantity);
  }
}

}  // namespace
}  // namespace qkv::test::torch_models_test
