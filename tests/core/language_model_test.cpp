// Language models of every family and number format against the oracle, and what must not change a bit.
#include "qkv/language_model.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "language_model_check.hpp"

namespace qkv::test::language_model_test {
namespace {

TEST_CASE("LanguageModel: every family is within its bound of the formulas", "[model]") {
  std::uint64_t seed = 0;
  for (const Family& f : families()) {
    CAPTURE(f.name);
    const ModelWeights weights(f.config, ++seed);
    const ModelTokens tokens(f.config, 2, 9, seed);
    const ModelCheck check(weights.exact(), tokens);
    check.compare("model", run(weights.make(), tokens));
  }
}

TEST_CASE("LanguageModel: bfloat16 weights are those numbers, and nothing else is rounded",
          "[model]") {
  for (const char* name : {"gpt2", "llama", "gemma2", "bert", "experts"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 5);
    const ModelTokens tokens(weights.config(), 2, 9, 5);
    const ModelCheck check(weights.exact(WeightFormat::kBf16), tokens);
    check.compare("model, bf16", run(weights.make(WeightFormat::kBf16), tokens));
  }
}

TEST_CASE("LanguageModel: int8 weights are d q, and activations are rounded by half a step",
          "[model]") {
  for (const char* name : {"gpt2", "llama", "gemma2", "bert", "qwen3"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 6);
    const ModelTokens tokens(weights.config(), 2, 9, 6);
    const ModelCheck check(weights.exact(WeightFormat::kInt8), tokens, {.int8_activations = true});
    check.compare("model, int8", run(weights.make(WeightFormat::kInt8), tokens));
  }
}

TEST_CASE("LanguageModel: a token that is no number makes none of its row, and nothing of others",
          "[model]") {
  for (const char* name : {"llama", "experts", "normalized experts"}) {
    CAPTURE(name);
    ModelWeights weights(family(name), 14);
    ModelTokens tokens(weights.config(), 2, 5, 14);
    std::fill(tokens.ids.begin(), tokens.ids.end(), 1);
    const ModelResults expected = run(weights.make(), tokens);
    tokens.ids[2] = 2;
    const Index width = weights.config().d_model;
    weights.arrays["embedding"][to_size(2 * width)] = std::numeric_limits<float>::quiet_NaN();
    const ModelResults found = run(weights.make(), tokens);
    for (std::size_t i = 0; i < found.hidden.size(); ++i) {
      const auto token = static_cast<Index>(i) / width;
      const bool spoiled = token >= 2 && token < 5;
      CHECK((spoiled ? std::isnan(found.hidden[i]) : found.hidden[i] == expected.hidden[i]));
    }
  }
}

TEST_CASE("LanguageModel: one head of keys, two, and one for each query head", "[model]") {
  for (const Index kv_heads : {1, 2, 4}) {
    CAPTURE(kv_heads);
    LanguageModelConfig config = family("llama");
    config.num_kv_heads = kv_heads;
    config.d_k = 8;
    config.d_model = 20;
    const ModelWeights weights(config, 7);
    const ModelTokens tokens(config, 1, 12, 7);
    ModelCheck(weights.exact(), tokens).compare("model", run(weights.make(), tokens));
  }
}

TEST_CASE("LanguageModel: widths and lengths beside whole registers and blocks", "[model]") {
  for (const Index width : {1, 3, 31, 33, 65}) {
    for (const Index length : {1, 2, 17}) {
      CAPTURE(width, length);
      LanguageModelConfig config = family("gpt2");
      config.d_model = width;
      config.num_heads = 1;
      config.d_feed_forward = width + 1;
      config.vocabulary = width + 2;
      const ModelWeights weights(config, static_cast<std::uint64_t>(width));
      const ModelTokens tokens(config, 1, length, static_cast<std::uint64_t>(length));
      ModelCheck(weights.exact(), tokens).compare("model", run(weights.make(), tokens));
    }
  }
}

TEST_CASE("LanguageModel: of a row that is cut short the rest is not read", "[model]") {
  for (const char* name : {"bert", "masked", "gpt2", "mistral"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 8);
    ModelTokens tokens(weights.config(), 4, 9, 8);
    tokens.lengths = {9, 4, 1, 0};
    const LanguageModel model = weights.make();
    const ModelResults whole = run(model, tokens);
    ModelCheck(weights.exact(), tokens).compare("model, key lengths", whole);
    ModelTokens other = tokens;
    for (Index t = 4; t < 9; ++t) {  // of the second row
      other.ids[static_cast<std::size_t>(9 + t)] = static_cast<std::int32_t>(t);
    }
    const ModelResults again = run(model, other);
    const auto same = [&](Index first, Index count) {
      const Index width = weights.config().d_model;
      return std::equal(whole.hidden.begin() + first * width,
                        whole.hidden.begin() + (first + count) * width,
                        again.hidden.begin() + first * width);
    };
    CHECK(same(0, 13));
    CHECK(same(18, 18));
    CHECK_FALSE(same(13, 5));
  }
}

TEST_CASE("LanguageModel: logits and hidden of the last tokens are those of all", "[model]") {
  for (const Family& f : families()) {
    CAPTURE(f.name);
    const ModelWeights weights(f.config, 9);
    const ModelTokens tokens(f.config, 3, 7, 9);
    const LanguageModel model = weights.make();
    const ModelResults last = run(model, tokens, {.last = true});
    ModelCheck(weights.exact(), tokens).compare("model, last token", last, {.last = true});
    // One of the two may be of all tokens, the other of the last.
    ModelCall call(model, tokens);
    call.args.hidden = {call.results.hidden.data(), {3, 1, f.config.d_model}};
    call.results.hidden.resize(static_cast<std::size_t>(3 * f.config.d_model));
    Workspace workspace;
    require_ok(model.forward(call.args, workspace));
    CHECK(first_difference(call.results.logits, run(model, tokens).logits) == "");
  }
}

TEST_CASE("LanguageModel: the last of a row that is cut short is the last that is read",
          "[model]") {
  for (const char* name : {"masked", "gpt2"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 13);
    ModelTokens tokens(weights.config(), 3, 9, 13);
    tokens.lengths = {9, 4, 1};
    const LanguageModel model = weights.make();
    const ModelResults whole = run(model, tokens);
    const ModelResults last = run(model, tokens, {.last = true});
    const auto v = static_cast<std::ptrdiff_t>(weights.config().vocabulary);
    for (std::ptrdiff_t b = 0; b < 3; ++b) {
      const auto row = whole.logits.begin() + (b * 9 + tokens.lengths[to_size(b)] - 1) * v;
      const auto found = last.logits.begin() + b * v;
      // Products of one row and of nine add up in the same order.
      CHECK(first_difference({row, row + v}, {found, found + v}) == "");
    }
  }
}

TEST_CASE("LanguageModel: results that are left out change no bit of the others", "[model]") {
  const ModelWeights weights(family("gemma2"), 10);
  const ModelTokens tokens(weights.config(), 2, 9, 10);
  const LanguageModel model = weights.make();
  const ModelResults whole = run(model, tokens);
  Workspace workspace;
  for (int left = 0; left < 8; ++left) {
    CAPTURE(left);
    ModelCall call(model, tokens);
    const auto judge = [&](int bit, TensorView<float>& view, std::vector<float>& found,
                           const std::vector<float>& expected) {
      if ((left & bit) != 0) {
        view = {};
        found = expected;
      }
    };
    judge(1, call.args.logits, call.results.logits, whole.logits);
    judge(2, call.args.hidden, call.results.hidden, whole.hidden);
    judge(4, call.args.surprisal, call.results.surprisal, whole.surprisal);
    require_ok(model.forward(call.args, workspace));
    CHECK(first_difference(whole.all(), call.results.all()) == "");
  }
}

TEST_CASE("LanguageModel: absent token types are zeros", "[model]") {
  const ModelWeights weights(family("bert"), 11);
  ModelTokens tokens(weights.config(), 2, 9, 11);
  const LanguageModel model = weights.make();
  std::fill(tokens.types.begin(), tokens.types.end(), 0);
  const ModelResults zeros = run(model, tokens);
  tokens.types.clear();
  CHECK(first_difference(zeros.hidden, run(model, tokens).hidden) == "");
}

TEST_CASE("LanguageModel: batch rows do not meet", "[model]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                    WeightFormat::kF16, WeightFormat::kInt4}) {
    const ModelWeights weights(family("gemma2"), 12);
    const LanguageModel model = weights.make(format);
    const ModelTokens tokens(weights.config(), 3, 9, 12);
    const ModelResults together = run(model, tokens);
    for (const std::int32_t spoiled : {0, 18}) {
      ModelTokens other = tokens;
      for (std::size_t t = 9; t < 18; ++t) {
        other.ids[t] = spoiled;
      }
      const ModelResults found = run(model, other);
      const Index n = 9 * weights.config().vocabulary;
      CHECK(std::equal(together.logits.begin(), together.logits.begin() + n, found.logits.begin()));
      CHECK(std::equal(together.logits.begin() + 2 * n, together.logits.end(),
                       found.logits.begin() + 2 * n));
    }
  }
}

TEST_CASE("LanguageModel: what it says of itself", "[model][any-isa]") {
  for (const Family& f : families()) {
    CAPTURE(f.name);
    const ModelWeights weights(f.config, 1);
    const LanguageModel model = weights.make(WeightFormat::kBf16);
    REQUIRE(model.array_count() == static_cast<Index>(weights.list.size()));
    Index parameters = 0;
    for (Index i = 0; i < model.array_count(); ++i) {
      const ModelArray array = model.array(i);
      const ModelArrayOf& expected = weights.list[static_cast<std::size_t>(i)];
      CHECK(array.name == expected.name);
      REQUIRE(array.rank == static_cast<int>(expected.shape.size()));
      Index count = 1;
      for (int axis = 0; axis < array.rank; ++axis) {
        CHECK(array.shape[axis] == expected.shape[static_cast<std::size_t>(axis)]);
        count *= array.shape[axis];
      }
      CHECK(array.filled == count);
      parameters += count;
    }
    CHECK(model.parameter_count() == parameters);
    CHECK(model.format() == WeightFormat::kBf16);
    const LanguageModelConfig& c = model.config();
    CHECK(c.num_kv_heads == (f.config.num_kv_heads == 0 ? c.num_heads : f.config.num_kv_heads));
    CHECK(c.d_k == (f.config.d_k == 0 ? c.d_model / c.num_heads : f.config.d_k));
    CHECK(c.biases.has_value());
    CHECK(c.qkv_biases.has_value());
  }
}

TEST_CASE("LanguageModel: bytes are those of the weights in their format, once", "[model]") {
  LanguageModelConfig config = family("llama");
  config.vocabulary = 512;
  config.d_model = 256;
  config.d_k = 64;
  config.d_feed_forward = 512;
  const auto bytes_of = [&](WeightFormat format, bool tied) {
    config.tied_embeddings = tied;
    LanguageModel model;
    const std::size_t before = allocated_bytes();
    require_ok(LanguageModel::create(config, format, model));
    CHECK(model.bytes() <= allocated_bytes() - before);
    CHECK(allocated_bytes() - before <= model.bytes() + (std::size_t{64} << 10U));
    return static_cast<double>(model.bytes()) / static_cast<double>(model.parameter_count());
  };
  CHECK(bytes_of(WeightFormat::kF32, false) < 4.1);
  CHECK(bytes_of(WeightFormat::kBf16, false) < 2.1);
  CHECK(bytes_of(WeightFormat::kInt8, false) < 1.2);
  CHECK(bytes_of(WeightFormat::kF16, false) < 2.1);
  CHECK(bytes_of(WeightFormat::kInt4, false) < 0.75);
  CHECK(bytes_of(WeightFormat::kF32, true) < 4.1);
}

}  // namespace
}  // namespace qkv::test::language_model_test
