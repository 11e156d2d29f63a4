// The language model that is trained: its loss and every gradient against double precision, and its steps.
#include <catch2/catch_test_macros.hpp>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "compare.hpp"
#include "hash.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
#include "qkv/train/language_model.hpp"
#include "random.hpp"
#include "refusal.hpp"
#include "train_model_oracle.hpp"

namespace qkv::test {
namespace {

using train::LanguageBatch;
using train::LanguageModelTrainer;
using train::TrainerOptions;

/// Rows of random tokens with random targets, some of which do not count.
struct Tokens {
  Tokens(const LanguageModelConfig& config, Index batch, Index tokens, std::uint64_t seed)
      : rows(batch), length(tokens) {
    Random random(seed);
    for (Index i = 0; i < batch * tokens; ++i) {
      ids.push_back(static_cast<std::int32_t>(random.below(config.vocabulary)));
      targets.push_back(
          random.chance(0.2) ? -1 : static_cast<std::int32_t>(random.below(config.vocabulary)));
    }
    targets[0] = 0;
  }
  [[nodiscard]] LanguageBatch batch() const {
    LanguageBatch made;
    made.tokens.ids = {ids.data(), {rows, length}};
    made.targets = {targets.data(), {rows, length}};
    if (!lengths.empty()) {
      made.tokens.key_lengths = {lengths.data(), {rows}};
    }
    return made;
  }
  [[nodiscard]] oracle::ModelBatch exact() const {
    return {length, ids, targets,
            lengths.empty() ? std::vector<std::int32_t>(static_cast<std::size_t>(rows),
                                                        static_cast<std::int32_t>(length))
                            : lengths};
  }

  Index rows, length;
  std::vector<std::int32_t> ids, targets, lengths;
};

struct Case {
  const char* name;
  LanguageModelConfig config;
};

/// One model of each kind that the config can name.
std::vector<Case> cases() {
  LanguageModelConfig base;
  base.vocabulary = 11;
  base.num_layers = 2;
  base.d_model = 12;
  base.num_heads = 3;
  base.d_feed_forward = 20;
  base.max_length = 9;
  std::vector<Case> all = {{"gpt2", base}};
  LanguageModelConfig llama = base;
  llama.num_heads = 4;
  llama.num_kv_heads = 2;
  llama.d_k = 6;
  llama.norm_type = NormType::kRms;
  llama.activation = ModelActivation::kSwiglu;
  llama.positions = ModelPositions::kRotary;
  llama.qk_norm = true;
  llama.tied_embeddings = true;
  llama.epsilon = 1e-6F;
  all.push_back({"llama with qk norm, tied", llama});
  LanguageModelConfig neox = base;
  neox.parallel_residual = true;
  neox.d_k = 8;
  neox.activation = ModelActivation::kGeglu;
  neox.positions = ModelPositions::kRotary;
  neox.rotary.rotary_dim = 4;
  neox.rotary.interleaved = true;
  neox.embedding_scale = 3.0F;
  all.push_back({"neox", neox});
  LanguageModelConfig bert = base;
  bert.causal = false;
  bert.norm = NormPlacement::kPost;
  bert.activation = ModelActivation::kGeluTanh;
  bert.positions = ModelPositions::kSinusoidal;
  all.push_back({"bert", bert});
  LanguageModelConfig bare = base;
  bare.d_feed_forward = 0;
  bare.num_heads = 4;
  bare.positions = ModelPositions::kAlibi;
  bare.window = 3;
  bare.attention_softcap = 2.0F;
  bare.biases = false;
  bare.qk_norm = true;
  all.push_back({"attention alone, alibi, window, softcap", bare});
  LanguageModelConfig post = base;
  post.d_feed_forward = 0;
  post.norm = NormPlacement::kPost;
  post.positions = ModelPositions::kNone;
  post.tied_embeddings = true;
  all.push_back({"attention alone, post", post});
  LanguageModelConfig relu = base;
  relu.activation = ModelActivation::kRelu;
  relu.norm_type = NormType::kRms;
  relu.biases = true;
  relu.num_kv_heads = 1;
  all.push_back({"relu, rms with biases, one kv head", relu});
  LanguageModelConfig silu = base;
  silu.activation = ModelActivation::kSilu;
  all.push_back({"silu", silu});
  return all;
}

LanguageModelTrainer make(const LanguageModelConfig& config, const TrainerOptions& options) {
  LanguageModelTrainer trainer;
  require_ok(LanguageModelTrainer::create(config, options, trainer));
  return trainer;
}

/// Weights that are far from their start: gains beside 1, biases beside 0.
LanguageModelTrainer make_shaken(const LanguageModelConfig& config, std::uint64_t seed) {
  TrainerOptions options;
  options.deviation = 0.3F;
  options.seed = seed;
  LanguageModelTrainer trainer = make(config, options);
  Random random(seed);
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    for (Index j = 0; value.rank == 1 && j < value.size(); ++j) {
      value.data[j] += random.uniform(0.3F);
    }
  }
  return trainer;
}

oracle::Model exact(const LanguageModelTrainer& trainer) {
  std::map<std::string, std::vector<double>> arrays;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const train::TrainedArray a = trainer.array(i);
    arrays[a.name] = {a.value.data, a.value.data + a.value.size()};
  }
  return {trainer.config(), std::move(arrays)};
}

/// Holds the gradient of one array to the slope of the exact loss along a random direction of that array. A central difference
/// over h errs by h^2 times a third derivative; two of them, at h and 2 h, leave h^4 (Richardson).
void check_gradient(oracle::Model& model, const oracle::ModelBatch& batch,
                    const train::TrainedArray& array, Random& random, Quantity& quantity) {
  std::vector<double>& at = model.arrays[array.name];
  const std::vector<double> before = at;
  std::vector<double> direction(before.size());
  for (double& d : direction) {
    d = static_cast<double>(random.uniform(1.0F));
  }
  const auto loss_at = [&](double h) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      at[i] = before[i] + h * direction[i];
    }
    return model.loss(batch);
  };
  constexpr double kStep = 1e-4;
  const double near = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  const double far = (loss_at(2 * kStep) - loss_at(-2 * kStep)) / (4 * kStep);
  at = before;
  const double exact_slope = (4 * near - far) / 3;
  double slope = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double of_it = static_cast<double>(array.gradient.data[i]) * direction[i];
    slope += of_it;
    size += std::abs(of_it);
  }
  CAPTURE(array.name);
  // Some two dozen products of up to 20 terms lie between a weight and the loss, each with 2^-24 (n + 2) of its size; the
  // difference of losses, of size 3, is exact to 1e-15 / 1e-4.
  quantity.add(slope, exact_slope, bounds::kU * 24 * 22 * (size + 0.005) + 1e-10, size + 0.005);
}

TEST_CASE("LanguageModelTrainer: loss and gradients of every array, for each kind of model",
          "[train][model]") {
  Quantity quantity("LanguageModelTrainer gradients");
  std::uint64_t seed = 0;
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    Random random(++seed);
    LanguageModelTrainer trainer = make_shaken(c.config, seed);
    Tokens tokens(trainer.config(), 3, 7, seed);
    if (!c.config.causal) {
      tokens.lengths = {7, 4, 5};
    }
    Workspace workspace;
    train::Evaluation found;
    require_ok(trainer.differentiate(tokens.batch(), workspace, found));
    oracle::Model model = exact(trainer);
    CHECK(std::abs(found.loss - model.loss(tokens.exact())) < 2e-6);
    for (Index i = 0; i < trainer.array_count(); ++i) {
      check_gradient(model, tokens.exact(), trainer.array(i), random, quantity);
    }
    train::Evaluation again;
    require_ok(trainer.evaluate(tokens.batch(), workspace, again));
    CHECK(again.loss == found.loss);
    CHECK(again.accuracy == found.accuracy);
  }
  require_within(quantity);
}

}  // namespace
}  // namespace qkv::test
