// A language model that was trained is the same when it is run: LanguageModelTrainer and LanguageModel with one config and
// the same weights.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "language_model_check.hpp"
#include "train_families.hpp"

namespace qkv::test::language_model_parity_test {
namespace {

TEST_CASE("LanguageModel: it says what the trainer of the same weights says", "[train][model]") {
  int kinds = 0;
  for (const Family& f : families()) {
    if (!is_trained(f.config)) {
      continue;
    }
    CAPTURE(f.name);
    const ModelWeights weights(f.config, 200);
    train::LanguageModelTrainer trainer = trainer_of(weights);
    ++kinds;
    const LanguageModel model = weights.make();
    REQUIRE(trainer.array_count() == model.array_count());
    const ModelTokens tokens(f.config, 2, 9, 200);
    const ModelAsk all{.readings = true};
    const ModelResults run_alone = run(model, tokens, all);
    ModelCall call(model, tokens, all);
    Workspace workspace;
    train::TokenBatch batch;
    batch.ids = call.args.ids;
    batch.token_types = call.args.token_types;
    ModelResults& trained = call.results;
    std::vector<train::LayerReading> readings;
    for (Index layer = 0; layer < f.config.num_layers; ++layer) {
      const auto of = [&](ModelSite site) { return call.reading(site, layer).to; };
      readings.push_back({.layer = layer,
                          .weights = of(ModelSite::kWeights),
                          .entropy = of(ModelSite::kEntropy),
                          .residual = of(ModelSite::kResidual),
                          .q = of(ModelSite::kQ),
                          .k = of(ModelSite::kK),
                          .v = of(ModelSite::kV)});
    }
    require_ok(trainer.forward(batch, call.args.logits, readings, workspace));
    // Each is within the bound of the oracle, so they are within two of each other.
    const ModelBounds bounds = ModelCheck(weights.exact(), tokens).bounds;
    const auto compare = [](const std::vector<float>& a, const std::vector<float>& b,
                            double bound) {
      REQUIRE(a.size() == b.size());
      Quantity quantity("LanguageModel and trainer");
      for (std::size_t i = 0; i < a.size(); ++i) {
        quantity.add(static_cast<double>(a[i]), static_cast<double>(b[i]), 2 * bound, 1.0);
      }
      require_within(quantity);
    };
    compare(run_alone.logits, trained.logits, bounds.logits);
    for (std::size_t n = 0; n < readings.size(); ++n) {
      compare(run_alone.layers[n].weights, trained.layers[n].weights, bounds.layers[n].weights);
      compare(run_alone.layers[n].entropy, trained.layers[n].entropy, bounds.layers[n].entropy);
      compare(run_alone.layers[n].residual, trained.layers[n].residual, bounds.layers[n].residual);
      compare(run_alone.layers[n].q, trained.layers[n].q, bounds.layers[n].q);
      compare(run_alone.layers[n].k, trained.layers[n].k, bounds.layers[n].k);
      compare(run_alone.layers[n].v, trained.layers[n].v, bounds.layers[n].v);
    }
  }
  CHECK(kinds >= 22);
}

TEST_CASE("LanguageModelTrainer: what it does not train it refuses", "[train][model][bad-input]") {
  using Change = void (*)(LanguageModelConfig&);
  const Change changes[] = {
      [](LanguageModelConfig& c) { c.classes = 3; },
      [](LanguageModelConfig& c) { c.num_experts = c.experts_per_token = 2; },
      [](LanguageModelConfig& c) { c.relative_buckets = 8; },
      [](LanguageModelConfig& c) {
        c.causal = false;
        c.head = false;
      },
  };
  int n = 0;
  for (const Change change : changes) {
    CAPTURE(n++);
    LanguageModelConfig config = family("llama");
    change(config);
    train::LanguageModelTrainer trainer;
    const Status status = train::LanguageModelTrainer::create(config, {}, trainer);
    CHECK_FALSE(status.ok());
    CHECK(std::string(status.message()).find(", expected ") != std::string::npos);
    CHECK(trainer.array_count() == 0);
  }
}

}  // namespace
}  // namespace qkv::test::language_model_parity_test
