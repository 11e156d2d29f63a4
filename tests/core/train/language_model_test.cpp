// The language model that is trained: its loss and every gradient against double precision, and its steps.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "compare.hpp"
#include "config_refusals.hpp"
#include "failing_memory.hpp"
#include "hash.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
#include "qkv/train/language_model.hpp"
#include "random.hpp"
#include "refusal.hpp"
#include "train_model_oracle.hpp"
#include "train_slope.hpp"

namespace qkv::test::language_model_test {
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
    for (Index i = 0; config.token_types > 0 && i < batch * tokens; ++i) {
      types.push_back(static_cast<std::int32_t>(random.below(config.token_types)));
    }
  }
  [[nodiscard]] LanguageBatch batch() const {
    LanguageBatch made;
    made.tokens.ids = {ids.data(), {rows, length}};
    if (!types.empty()) {
      made.tokens.token_types = {types.data(), {rows, length}};
    }
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
                            : lengths,
            types};
  }

  Index rows, length;
  std::vector<std::int32_t> ids, targets, lengths, types;
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
  LanguageModelConfig qwen2 = llama;
  qwen2.qk_norm = qwen2.tied_embeddings = false;
  qwen2.qkv_biases = true;
  all.push_back({"qwen2", qwen2});
  LanguageModelConfig masked = bert;
  masked.positions = ModelPositions::kLearned;
  masked.token_types = 3;
  masked.embedding_norm = masked.head_bias = true;
  all.push_back({"bert with types, norm of embeddings, bias of the head", masked});
  static const std::vector<std::int32_t> windows = {2, -1};
  static const std::vector<std::int32_t> rotations = {2, 1};
  LanguageModelConfig gemma = llama;
  gemma.post_norms = true;
  gemma.qk_norm_of = QkNorm::kRotated;
  gemma.attention_scale = 0.3F;
  gemma.windows = {windows.data(), {2}};
  gemma.rotations = {rotations.data(), {2}};
  gemma.second_rotary.base = 100;
  all.push_back({"norms after parts, scale, a window and a rotation for each layer", gemma});
  LanguageModelConfig olmo2 = llama;
  olmo2.norm = NormPlacement::kAfter;
  olmo2.qk_norm_of = QkNorm::kWhole;
  all.push_back({"olmo2", olmo2});
  LanguageModelConfig modern = neox;
  modern.parallel_residual = modern.causal = modern.first_norm = false;
  modern.embedding_norm = modern.symmetric_window = true;
  modern.windows = {windows.data(), {2}};
  all.push_back({"modern bert", modern});
  LanguageModelConfig capped = gemma;
  capped.activation = ModelActivation::kGegluTanh;
  capped.attention_softcap = 2.0F;
  capped.logit_softcap = 1.5F;
  all.push_back({"gemma 2: a gate of gelu_tanh, softcaps of scores and logits", capped});
  LanguageModelConfig squared = neox;
  squared.parallel_residual = false;
  squared.activation = ModelActivation::kRelu2;
  all.push_back({"nemotron: squared relu", squared});
  LanguageModelConfig transformed = masked;
  transformed.head_transform = HeadTransform::kGelu;
  transformed.head_norm = transformed.tied_embeddings = true;
  all.push_back({"bert: transform, norm and bias of a head that is the embedding", transformed});
  for (const HeadTransform f : {HeadTransform::kRelu, HeadTransform::kGeluTanh,
                                HeadTransform::kSilu, HeadTransform::kTanh}) {
    LanguageModelConfig other = base;
    other.head_transform = f;
    other.head_norm = f == HeadTransform::kSilu;
    other.head_bias = f == HeadTransform::kTanh;
    all.push_back({"a head that transforms in another way", other});
  }
  LanguageModelConfig biased = llama;
  biased.head_bias = true;
  all.push_back({"a bias of a head that is the embedding", biased});
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
  shake(trainer, seed);
  return trainer;
}

oracle::Model exact(const LanguageModelTrainer& trainer) {
  return {trainer.config(), exact_arrays(trainer)};
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
    CHECK(std::abs(found.loss - loss(model, tokens.exact())) < 2e-6);
    for (Index i = 0; i < trainer.array_count(); ++i) {
      const oracle::ModelBatch exact_batch = tokens.exact();
      check_slope(
          model.arrays, [&] { return loss(model, exact_batch); }, trainer.array(i), random,
          quantity);
    }
    train::Evaluation again;
    require_ok(trainer.evaluate(tokens.batch(), workspace, again));
    CHECK(again.loss == found.loss);
    CHECK(again.accuracy == found.accuracy);
  }
  require_within(quantity);
}

/// All numbers of a trainer that a step changes.
std::vector<float> numbers_of(LanguageModelTrainer& trainer) {
  std::vector<float> all;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    const auto moments = trainer.moments(i);
    all.insert(all.end(), value.data, value.data + value.size());
    all.insert(all.end(), moments.first, moments.first + value.size());
    all.insert(all.end(), moments.second, moments.second + value.size());
  }
  all.push_back(static_cast<float>(trainer.steps()));
  return all;
}

/// A model with every kind of step but those that exclude each other, dropout included.
LanguageModelConfig lively() {
  LanguageModelConfig config = cases()[1].config;
  config.max_length = 16;
  return config;
}

TrainerOptions with_dropout() {
  TrainerOptions options;
  options.seed = 5;
  options.dropout = 0.1F;
  options.schedule = {.peak = 1e-2F, .warmup = 10, .steps = 200, .last = 1e-3F};
  options.deviation = 0.1F;
  return options;
}

void train(LanguageModelTrainer& trainer, std::int64_t steps, Workspace& workspace) {
  while (trainer.steps() < steps) {
    const Tokens tokens(trainer.config(), 4, 16, static_cast<std::uint64_t>(trainer.steps()) % 7);
    train::StepResult result;
    require_ok(trainer.step(tokens.batch(), workspace, result));
  }
}

TEST_CASE(
    "LanguageModelTrainer: two hundred steps give one hash where arithmetic has two roundings",
    "[train][model]") {
  Hash hash;
  Workspace workspace;
  for (const LanguageModelConfig& config : {lively(), cases()[2].config, cases()[4].config}) {
    LanguageModelConfig longer = config;
    longer.max_length = 16;
    LanguageModelTrainer trainer = make(longer, with_dropout());
    train(trainer, 200, workspace);
    hash.add(numbers_of(trainer));
  }
  std::printf("trained %s %016" PRIx64 "\n", active_isa(), hash.value());
  std::fflush(stdout);
  const std::string isa = active_isa();
  if (isa == "scalar" || isa == "sse4" || isa == "wasm-simd128") {
    CHECK(hash.value() == 0x8D3B2F89FD877473U);
  }
}

TEST_CASE("LanguageModelTrainer: readings are what attention() and the layers computed",
          "[train][model]") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    LanguageModelTrainer trainer = make_shaken(c.config, 3);
    const LanguageModelConfig& config = trainer.config();
    const Tokens tokens(config, 2, 6, 4);
    const Index heads = config.num_heads;
    std::vector<float> logits(static_cast<std::size_t>(2 * 6 * config.vocabulary));
    std::vector<float> weights(static_cast<std::size_t>(2 * heads * 6 * 6));
    std::vector<float> entropy(static_cast<std::size_t>(2 * heads * 6));
    std::vector<float> residual(static_cast<std::size_t>(2 * 6 * config.d_model));
    const train::LayerReading reading = {.layer = 1,
                                         .weights = {weights.data(), {2, heads, 6, 6}},
                                         .entropy = {entropy.data(), {2, heads, 6}},
                                         .residual = {residual.data(), {2, 6, config.d_model}}};
    Workspace workspace;
    require_ok(trainer.forward(tokens.batch().tokens, {logits.data(), {2, 6, config.vocabulary}},
                               {&reading, 1}, workspace));
    const oracle::Model model = exact(trainer);
    for (Index b = 0; b < 2; ++b) {
      oracle::Pass pass;
      if (!tokens.types.empty()) {
        pass.types.assign(tokens.types.begin() + b * 6, tokens.types.begin() + (b + 1) * 6);
      }
      const oracle::Rows rows =
          model.trace({tokens.ids.begin() + b * 6, tokens.ids.begin() + (b + 1) * 6}, pass).logits;
      for (Index t = 0; t < 6; ++t) {
        for (Index v = 0; v < config.vocabulary; ++v) {
          const double computed =
              logits[static_cast<std::size_t>((b * 6 + t) * config.vocabulary + v)];
          CHECK(std::abs(computed -
                         rows[static_cast<std::size_t>(t)][static_cast<std::size_t>(v)]) < 2e-5);
        }
      }
    }
    for (std::size_t row = 0; row < entropy.size(); ++row) {
      double sum = 0.0;
      double nats = 0.0;
      for (std::size_t j = 0; j < 6; ++j) {
        const double w = weights[row * 6 + j];
        sum += w;
        nats -= w > 0 ? w * std::log(w) : 0.0;
      }
      CHECK(std::abs(sum - 1.0) < 1e-5);
      CHECK(std::abs(nats - static_cast<double>(entropy[row])) < 1e-5);
    }
    CHECK(std::any_of(residual.begin(), residual.end(), [](float x) { return x != 0.0F; }));
  }
}

TEST_CASE("LanguageModelTrainer: what a row does not read changes no bit, even NaN",
          "[train][model]") {
  LanguageModelConfig config = cases()[3].config;  // an encoder
  Workspace workspace;
  std::vector<float> before;
  for (const bool spoil : {false, true}) {
    LanguageModelTrainer trainer = make_shaken(config, 3);
    Tokens tokens(trainer.config(), 2, 6, 4);
    tokens.lengths = {4, 6};
    std::replace(tokens.ids.begin(), tokens.ids.end(), 10,
                 0);  // 10 stands in the unread place alone
    tokens.ids[5] = 10;
    tokens.targets[4] = tokens.targets[5] = -1;
    TensorView<float> embedding = trainer.array(0).value;
    for (Index d = 0; spoil && d < config.d_model; ++d) {
      *embedding.at(10, d) = 100.0F;
    }
    train::Evaluation found;
    require_ok(trainer.differentiate(tokens.batch(), workspace, found));
    std::vector<float> gradients;
    for (Index i = 0; i < trainer.array_count(); ++i) {
      const TensorView<const float> g = trainer.array(i).gradient;
      gradients.insert(gradients.end(), g.data, g.data + g.size());
    }
    const TensorView<const float> of_embedding = trainer.array(0).gradient;
    for (Index d = 0; d < config.d_model; ++d) {
      CHECK(*of_embedding.at(10, d) == 0.0F);
    }
    if (spoil) {
      CHECK(first_difference(before, gradients) == "");
    }
    before = gradients;
  }
}

TEST_CASE("LanguageModelTrainer: configs and options without meaning are refused",
          "[train][model][bad-input]") {
  struct Wrong {
    Spoil<LanguageModelConfig&, TrainerOptions&> spoil;
    Refusal refusal;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Wrong rows[] = {
      {[](auto& c, auto&) {
         c.tied_embeddings = false;
         c.classes = 3;
       },
       {kUnsupported, "classes", "is given", "the default"}},
      {[](auto& c, auto&) { c.head_pooling = HeadPooling::kMean; },
       {kUnsupported, "head_pooling", "is given", "the default"}},
      {[](auto& c, auto&) {
         c.encoder_layers = 1;
         c.positions = ModelPositions::kNone;
         c.norm = NormPlacement::kPre;
         c.window = -1;
         c.parallel_residual = c.qk_norm = false;
       },
       {kUnsupported, "encoder_layers", "is given", "the default"}},
      {[](auto& c, auto&) { c.num_experts = c.experts_per_token = 2; },
       {kUnsupported, "num_experts", "is given", "the default"}},
      {[](auto& c, auto&) { c.relative_buckets = 8; },
       {kUnsupported, "relative_buckets", "is given", "the default"}},
      {[](auto& c, auto&) {
         c.tied_embeddings = false;
         c.head = false;
       },
       {kUnsupported, "head", "is false", "true"}},
      {[nan](auto&, auto& o) { o.schedule.peak = nan; },
       {kRange, "schedule.peak", "is NaN", "finite"}},
      {[](auto&, auto& o) { o.schedule.last = -1.0F; },
       {kRange, "schedule.last", "is -1", "at least 0"}},
      {[](auto&, auto& o) { o.schedule.warmup = -1; },
       {kRange, "schedule.warmup", "is -1", "at least 0"}},
      {[](auto&, auto& o) { o.schedule.steps = -1; },
       {kRange, "schedule.steps", "is -1", "at least 0"}},
      {[](auto&, auto& o) { o.beta1 = 1.0F; }, {kRange, "beta1", "is 1", "[0, 1)"}},
      {[](auto&, auto& o) { o.beta2 = -0.5F; }, {kRange, "beta2", "is -0.5", "[0, 1)"}},
      {[](auto&, auto& o) { o.epsilon = 0.0F; }, {kRange, "epsilon", "is 0", "above 0"}},
      {[](auto&, auto& o) { o.weight_decay = -1.0F; },
       {kRange, "weight_decay", "is -1", "at least 0"}},
      {[](auto&, auto& o) { o.clip_norm = -1.0F; }, {kRange, "clip_norm", "is -1", "at least 0"}},
      {[](auto&, auto& o) { o.dropout = 1.0F; }, {kRange, "dropout", "is 1", "[0, 1)"}},
      {[](auto&, auto& o) { o.deviation = 0.0F; }, {kRange, "deviation", "is 0", "above 0"}},
  };
  const auto refused = [](const LanguageModelConfig& config, const TrainerOptions& options,
                          const Refusal& refusal) {
    LanguageModelTrainer trainer = make(lively(), {});
    const Index count = trainer.parameter_count();
    require_refused(LanguageModelTrainer::create(config, options, trainer),
                    "LanguageModelTrainer::create", refusal);
    CHECK(trainer.parameter_count() == count);
  };
  for (const ConfigRefusal& row : config_refusals()) {
    LanguageModelConfig config = lively();
    row.spoil(config);
    refused(config, {}, row.refusal);
  }
  for (const Wrong& row : rows) {
    LanguageModelConfig config = lively();
    TrainerOptions options;
    row.spoil(config, options);
    refused(config, options, row.refusal);
  }
}

TEST_CASE("LanguageModelTrainer: batches that do not fit are refused and change nothing",
          "[train][model][bad-input]") {
  struct Wrong {
    Spoil<Tokens&, LanguageBatch&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> lengths = {4, 17, 3, 2};
  const Wrong rows[] = {
      {[](Tokens&, LanguageBatch& b) { b.tokens.ids = {b.tokens.ids.data, {64}}; },
       {kShapeError, "ids", "is [64]", "[*,*]"}},
      {[](Tokens&, LanguageBatch& b) { b.tokens.ids.shape = {0, 16}; },
       {kShapeError, "ids", "is [0,16]", "at least 1"}},
      {[](Tokens&, LanguageBatch& b) { b.tokens.ids.data = nullptr; },
       {kInvalid, "ids", "has no data", "[4,16]"}},
      {[](Tokens&, LanguageBatch& b) { b.tokens.ids = {b.tokens.ids.data, {2, 32}}; },
       {kRange, "ids", "has rows of 32 tokens", "at most 16"}},
      {[](Tokens& t, LanguageBatch&) { t.ids[5] = 11; }, {kRange, "ids[5]", "is 11", "[0, 11)"}},
      {[](Tokens& t, LanguageBatch&) { t.ids[63] = -1; }, {kRange, "ids[63]", "is -1", "[0, 11)"}},
      {[](Tokens& t, LanguageBatch&) { t.targets[7] = 11; },
       {kRange, "targets[7]", "is 11", "-1 or [0, 11)"}},
      {[](Tokens& t, LanguageBatch&) { t.targets[8] = -2; },
       {kRange, "targets[8]", "is -2", "-1 or [0, 11)"}},
      {[](Tokens& t, LanguageBatch&) { std::fill(t.targets.begin(), t.targets.end(), -1); },
       {kRange, "targets", "are all -1", "at least one"}},
      {[](Tokens&, LanguageBatch& b) { b.targets = {b.targets.data, {4, 15}}; },
       {kShapeError, "targets", "is [4,15]", "[4,16]"}},
      {[](Tokens&, LanguageBatch& b) { b.tokens.key_lengths = {lengths.data(), {3}}; },
       {kShapeError, "key_lengths", "is [3]", "[4]"}},
      {[](Tokens&, LanguageBatch& b) { b.tokens.key_lengths = {lengths.data(), {4}}; },
       {kRange, "key_lengths[1]", "is 17", "[0, 16]"}},
      {[](Tokens&, LanguageBatch& b) { b.tokens.token_types = b.tokens.ids; },
       {kInvalid, "token_types", "is given", "none"}},
  };
  Workspace workspace;
  LanguageModelTrainer trainer = make(lively(), with_dropout());
  train(trainer, 2, workspace);
  const std::vector<float> before = numbers_of(trainer);
  for (const Wrong& row : rows) {
    Tokens tokens(trainer.config(), 4, 16, 1);
    LanguageBatch batch = tokens.batch();
    row.spoil(tokens, batch);
    train::StepResult result;
    train::Evaluation found;
    require_refused(trainer.step(batch, workspace, result), "LanguageModelTrainer::step",
                    row.refusal);
    require_refused(trainer.evaluate(batch, workspace, found), "LanguageModelTrainer::evaluate",
                    row.refusal);
    CHECK(first_difference(before, numbers_of(trainer)) == "");
  }
}

}  // namespace
}  // namespace qkv::test::language_model_test
