// The number of threads changes no bit of what a trainer learns.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <vector>

#include "problem.hpp"
#include "qkv/threads.hpp"
#include "qkv/train/language_model.hpp"
#include "random.hpp"

namespace qkv::test::parallel_trainer_test {
namespace {

/// The weights after a few steps on rows wide and many enough for products to be shared, of which the embedding has numbers enough
/// for AdamW to be, and the norms of the gradients.
std::vector<float> trained(ModelActivation activation, Workspace& workspace) {
  LanguageModelConfig config;
  config.vocabulary = 300;
  config.num_layers = 2;
  config.d_model = 64;
  config.num_heads = 4;
  config.d_feed_forward = 128;
  config.max_length = 32;
  config.activation = activation;
  // Two of the kinds have what else is computed number by number.
  config.logit_softcap = activation == ModelActivation::kGegluTanh ? 5.0F : 0.0F;
  config.tied_embeddings = config.head_bias = config.head_norm =
      activation == ModelActivation::kRelu2;
  config.head_transform = config.head_norm ? HeadTransform::kTanh : HeadTransform::kNone;
  train::TrainerOptions options;
  options.dropout = 0.1F;
  train::LanguageModelTrainer trainer;
  require_ok(train::LanguageModelTrainer::create(config, options, trainer));
  Random random(1);
  std::vector<float> all;
  for (int step = 0; step < 2; ++step) {
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 16 * 32; ++i) {
      ids.push_back(static_cast<std::int32_t>(random.below(300)));
    }
    train::LanguageBatch batch;
    batch.tokens.ids = {ids.data(), {16, 32}};
    batch.targets = {ids.data(), {16, 32}};
    train::StepResult result;
    require_ok(trainer.step(batch, workspace, result));
    all.push_back(static_cast<float>(result.gradient_norm));
  }
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    all.insert(all.end(), value.data, value.data + value.size());
  }
  return all;
}

TEST_CASE("LanguageModelTrainer: threads change no bit", "[train][model][parallel]") {
  for (const auto activation :
       {ModelActivation::kSwiglu, ModelActivation::kGeglu, ModelActivation::kGelu,
        ModelActivation::kGegluTanh, ModelActivation::kRelu2}) {
    Workspace single;
    const std::vector<float> alone = trained(activation, single);
    for (const unsigned count : {2U, 3U}) {
      CAPTURE(static_cast<int>(activation), count);
      Threads threads(count);
      Workspace workspace(&threads.pool());
      CHECK(first_difference(alone, trained(activation, workspace)) == "");
    }
  }
}

}  // namespace
}  // namespace qkv::test::parallel_trainer_test
