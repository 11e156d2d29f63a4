// Tokens drawn one after another, and the logits behind them, have the same bits wherever arithmetic has two roundings.
// tests/package/determinism/generated.test.js reads the table below and holds the package to it.
#include <catch2/catch_test_macros.hpp>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "hash.hpp"
#include "language_model_problem.hpp"
#include "qkv/isa.hpp"
#include "qkv/language_model.hpp"
#include "qkv/sampling.hpp"

namespace qkv::test::language_model_generation_test {
namespace {

constexpr Index kTokens = 24;

/// A model, how its weights and its session are kept, and the hash of what it says.
struct Kept {
  const char* model;
  WeightFormat weights;
  CacheFormat cache;
  std::uint64_t hash;
};
constexpr Kept kAll[] = {
    {"llama", WeightFormat::kF32, CacheFormat::kF32, 0x5CCB2FA1650B7DC0U},
    {"llama", WeightFormat::kInt8, CacheFormat::kBf16, 0x9B63E82813FF8996U},
    {"gpt2", WeightFormat::kBf16, CacheFormat::kF32, 0x2B73E733DCCE0B78U},
    {"gemma2", WeightFormat::kInt8, CacheFormat::kF32, 0x52641E66B2407AE8U},
    {"qwen3", WeightFormat::kF32, CacheFormat::kBf16, 0x87C90EEB629B3629U},
    {"bloom", WeightFormat::kBf16, CacheFormat::kBf16, 0x2D2C543C128DB9F2U},
    {"wide", WeightFormat::kInt8, CacheFormat::kF32, 0x20667B938C037D4FU},
};

/// Numbers in [-1, 1), as random() of tests/support/js/arrays.js gives them.
class Xorshift {
 public:
  explicit Xorshift(std::uint32_t seed) : state_(((seed + 1U) * 0x9E3779B1U) ^ 0x5BD1E995U) {}
  double next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 17U;
    state_ ^= state_ << 5U;
    return static_cast<double>(static_cast<std::int32_t>(state_)) * 0x1p-31;
  }

 private:
  std::uint32_t state_;
};

/// The weights of randomWeights(config, 5) of tests/support/js/model-oracle.js.
ModelWeights weights_of(const LanguageModelConfig& config) {
  ModelWeights all(config, 0);
  Xorshift random(5);
  for (const ModelArrayOf& array : all.list) {
    const bool gain = array.name.ends_with("amma");
    const bool map =
        array.shape.size() == 2 && array.name != "embedding" && array.name != "positions";
    const double size =
        map ? 1.7 / std::sqrt(static_cast<double>(array.shape[0])) : (gain ? 0.2 : 0.5);
    for (float& x : all.arrays.at(array.name)) {
      x = static_cast<float>((gain ? 1.0 : 0.0) + size * random.next());
    }
  }
  return all;
}

/// A family of its own name; "wide" has products and rows that threads would share.
LanguageModelConfig config_of(const std::string& name) {
  if (name != "wide") {
    return family(name);
  }
  LanguageModelConfig config = family("llama");
  config.vocabulary = 300;
  config.d_model = 192;
  config.d_feed_forward = 256;
  return config;
}

std::vector<std::int32_t> prompt_of(const LanguageModelConfig& config) {
  std::vector<std::int32_t> row;
  for (Index i = 0; i < 7; ++i) {
    row.push_back(static_cast<std::int32_t>((7 * i * i + 3 * i + 1) % config.vocabulary));
  }
  return row;
}

SamplingOptions draw(Index step) {
  return {.temperature = 0.9F,
          .top_k = 9,
          .top_p = 0.95F,
          .min_p = 0.02F,
          .repetition_penalty = 1.1F,
          .seed = (std::uint64_t{1} << 53U) - 1,
          .step = static_cast<std::uint64_t>(step)};
}

/// A conversation, and the logits of the token that was read last.
struct Talk {
  Talk(const LanguageModel& of, CacheFormat cache)
      : model(of), logits(to_size(of.config().vocabulary)) {
    require_ok(ModelSession::create(of, {.format = cache}, session));
  }
  void read(const std::vector<std::int32_t>& ids) {
    const auto count = static_cast<Index>(ids.size());
    require_ok(model.forward({.ids = {ids.data(), {1, count}},
                              .session = &session,
                              .logits = {logits.data(), {1, 1, model.config().vocabulary}}},
                             workspace));
  }
  SampledToken choose(const std::vector<std::int32_t>& seen, Index step) {
    SampledToken token;
    require_ok(sample({.logits = {logits.data(), {model.config().vocabulary}},
                       .seen = {seen.data(), {static_cast<Index>(seen.size())}},
                       .options = draw(step)},
                      workspace, token));
    return token;
  }

  const LanguageModel& model;
  std::vector<float> logits;
  ModelSession session;
  Workspace workspace;
};

/// The tokens and how likely they were, the logits after them, and those of all tokens at once without a session.
std::uint64_t said_by(const Kept& kept) {
  const LanguageModelConfig config = config_of(kept.model);
  const LanguageModel model = weights_of(config).make(kept.weights);
  Talk talk(model, kept.cache);
  std::vector<std::int32_t> row = prompt_of(config);
  std::vector<float> ids;
  std::vector<float> log_probabilities;
  talk.read(row);
  for (Index step = 0; step < kTokens; ++step) {
    const SampledToken token = talk.choose(row, step);
    ids.push_back(static_cast<float>(token.id));
    log_probabilities.push_back(token.log_probability);
    row.push_back(token.id);
    talk.read({token.id});
  }
  talk.read({3});
  const auto length = static_cast<Index>(row.size());
  std::vector<float> whole(row.size() * to_size(config.vocabulary));
  Workspace workspace;
  require_ok(model.forward(
      {.ids = {row.data(), {1, length}}, .logits = {whole.data(), {1, length, config.vocabulary}}},
      workspace));
  Hash hash;
  for (const std::vector<float>& part : {ids, log_probabilities, talk.logits, whole}) {
    hash.add(part);
  }
  return hash.value();
}

TEST_CASE("LanguageModel: what is generated has one hash where arithmetic has two roundings",
          "[model][sampling]") {
  const std::string isa = active_isa();
  for (const Kept& kept : kAll) {
    CAPTURE(kept.model, static_cast<int>(kept.weights), static_cast<int>(kept.cache));
    const std::uint64_t hash = said_by(kept);
    std::printf("generated %s %s %016" PRIX64 "\n", isa.c_str(), kept.model, hash);
    if (isa == "scalar" || isa == "sse4" || isa == "wasm-simd128") {
      CHECK(hash == kept.hash);
    } else {
      CHECK(said_by(kept) == hash);
    }
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace qkv::test::language_model_generation_test
