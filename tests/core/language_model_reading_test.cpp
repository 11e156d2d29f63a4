// What can be read of a model beside its results, and heads that are silenced.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "bounds.hpp"
#include "language_model_check.hpp"
#include "qkv/language_model.hpp"
#include "qkv/relative_bias.hpp"

namespace qkv::test::language_model_reading_test {
namespace {

using oracle::RowId;

/// Every row of [B, H, T, Tk].
std::vector<RowId> rows_of(const TensorView<float>& weights) {
  std::vector<RowId> rows;
  for (Index b = 0; b < weights.extent(0); ++b) {
    for (Index h = 0; h < weights.extent(1); ++h) {
      for (Index i = 0; i < weights.extent(2); ++i) {
        rows.push_back({b, h, i});
      }
    }
  }
  return rows;
}

TEST_CASE("LanguageModel: weights, entropy, stream and lens of every layer and family",
          "[model][reading]") {
  std::uint64_t seed = 80;
  for (const Family& f : families()) {
    CAPTURE(f.name);
    const ModelWeights weights(f.config, ++seed);
    ModelTokens tokens(f.config, 2, 9, seed);
    if (!f.config.causal) {
      tokens.lengths = {9, 5};
    }
    const ModelAsk all{.readings = true};
    const ModelCheck check(weights.exact(), tokens);
    check.compare("model, read", run(weights.make(), tokens, all), all);
  }
}

TEST_CASE("LanguageModel: readings change no bit of the results", "[model][reading]") {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8,
                                    WeightFormat::kF16, WeightFormat::kInt4}) {
    for (const Family& f : families()) {
      CAPTURE(f.name);
      const ModelWeights weights(f.config, 90);
      const ModelTokens tokens(f.config, 2, 9, 90);
      const LanguageModel model = weights.make(format);
      const ModelResults plain = run(model, tokens);
      const ModelResults read = run(model, tokens, {.readings = true});
      CHECK(first_difference(plain.all(), read.all()) == "");
      // The last layer's lens is the logits themselves.
      CHECK(first_difference(plain.logits, read.layers.back().logits) == "");
    }
  }
}

TEST_CASE("LanguageModel: any rows of the weights are the same as in all of them",
          "[model][reading]") {
  const ModelWeights weights(family("gemma2"), 91);
  const ModelTokens tokens(weights.config(), 2, 9, 91);
  const LanguageModel model = weights.make();
  const ModelCheck check(weights.exact(), tokens);
  for (const auto& [begin, end] :
       {std::pair<Index, Index>{0, 1}, {8, 9}, {3, 7}, {8, -1}, {4, 4}}) {
    CAPTURE(begin, end);
    const ModelAsk ask{.readings = true, .row_begin = begin, .row_end = end};
    const ModelResults found = run(model, tokens, ask);
    if (begin != end) {
      check.compare("model, read", found, ask);
    }
    CHECK(first_difference(found.layers[1].entropy,
                           run(model, tokens, {.readings = true}).layers[1].entropy) == "");
  }
}

TEST_CASE("LanguageModel: each reading alone is what it is beside the others", "[model][reading]") {
  const ModelWeights weights(family("qwen3"), 92);
  const ModelTokens tokens(weights.config(), 2, 9, 92);
  const LanguageModel model = weights.make();
  const ModelResults whole = run(model, tokens, {.readings = true});
  Workspace workspace;
  for (int which = 0; which < 7; ++which) {
    for (Index layer = 0; layer < 2; ++layer) {
      CAPTURE(which, layer);
      ModelCall call(model, tokens, {.readings = true});
      constexpr ModelSite kSites[] = {
          ModelSite::kWeights, ModelSite::kEntropy, ModelSite::kResidual, ModelSite::kLogits,
          ModelSite::kQ,       ModelSite::kK,       ModelSite::kV};
      call.args.readings = {&call.reading(kSites[which], layer), 1};
      require_ok(model.forward(call.args, workspace));
      const ModelResults::Layer& found = call.results.layers[static_cast<std::size_t>(layer)];
      const ModelResults::Layer& expected = whole.layers[static_cast<std::size_t>(layer)];
      const auto one = [which](const ModelResults::Layer& of) {
        return which == 0   ? of.weights
               : which == 1 ? of.entropy
               : which == 2 ? of.residual
               : which == 3 ? of.logits
               : which == 4 ? of.q
               : which == 5 ? of.k
                            : of.v;
      };
      CHECK(first_difference(one(expected), one(found)) == "");
      CHECK(first_difference(whole.all(), call.results.all()) == "");
    }
  }
}

/// How attention of layer n makes weights of scores, as the headers say of a config.
AttentionOptions options_of(const LanguageModelConfig& c, const ModelCall& call,
                            std::vector<float>& slopes, Index n) {
  AttentionOptions options;
  options.scale = c.attention_scale;
  options.softcap = c.attention_softcap;
  options.causal = c.causal;
  options.window_left = c.windows.absent() ? c.window : Index{*c.windows.at(n)};
  options.window_right = c.symmetric_window ? options.window_left : -1;
  options.key_lengths = call.args.key_lengths;
  if (c.positions == ModelPositions::kAlibi) {
    slopes.resize(to_size(c.num_heads));
    require_ok(alibi_slopes({slopes.data(), {c.num_heads}}));
    options.alibi_slopes = {slopes.data(), {c.num_heads}};
  }
  return options;
}

TEST_CASE("LanguageModel: weights are those of the queries and keys that are read",
          "[model][reading]") {
  Quantity quantity("model weights of its q and k");
  std::uint64_t seed = 110;
  for (const Family& f : families()) {
    const ModelWeights weights(f.config, ++seed);
    const LanguageModel model = weights.make();
    const LanguageModelConfig& c = model.config();
    ModelTokens tokens(f.config, 2, 9, seed);
    if (!c.causal) {
      tokens.lengths = {9, 5};
    }
    ModelCall call(model, tokens, {.readings = true, .row_begin = 2, .row_end = 8});
    Workspace workspace;
    require_ok(model.forward(call.args, workspace));
    for (Index layer = 0; layer < c.num_layers; ++layer) {
      const struct {
        Index layer, row_begin;
        TensorView<float> q, k, v, weights;
      } r = {layer,
             2,
             call.reading(ModelSite::kQ, layer).to,
             call.reading(ModelSite::kK, layer).to,
             call.reading(ModelSite::kV, layer).to,
             call.reading(ModelSite::kWeights, layer).to};
      CAPTURE(f.name, r.layer);
      std::vector<float> slopes;
      AttentionOptions options = options_of(f.config, call, slopes, r.layer);
      options.causal_offset = r.row_begin;
      std::vector<float> bias;
      if (c.relative_buckets > 0) {
        bias.resize(to_size(c.num_heads * 6 * 9));
        require_ok(t5_relative_bias(
            {weights.arrays.at("relativeBias").data(), {c.relative_buckets, c.num_heads}},
            {bias.data(), {c.num_heads, 6, 9}},
            {.bidirectional = !c.causal,
             .max_distance = c.relative_max_distance,
             .offset = r.row_begin}));
        options.bias = {bias.data(), {1, c.num_heads, 6, 9}};
      }
      for (const RowId row : rows_of(r.weights)) {
        const oracle::Row exact = oracle::attention_row<float>({r.q, r.k, r.v}, options, row);
        const auto bound = bounds::attention(exact, c.d_k, 9);
        for (Index j = 0; j < 9; ++j) {
          const double w = exact.weights[to_size(j)];
          quantity.add(static_cast<double>(*r.weights.at(row.b, row.h, row.i, j)), w,
                       bound.weight(w), w);
        }
      }
    }
  }
  require_within(quantity);
}

TEST_CASE(
    "LanguageModel: queries, keys and values of a conversation, in pieces and with its format",
    "[model][reading]") {
  LanguageModelConfig config = family("mistral");
  config.max_length = 300;
  const ModelWeights weights(config, 111);
  const LanguageModel model = weights.make();
  const ModelTokens tokens(config, 1, 270, 111);
  const ModelCheck check(weights.exact(), tokens);
  Workspace workspace;
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  // The second of two pieces begins at token 259 of the row.
  const ModelAsk first{.readings = true, .session = &session};
  check.compare("model, conversation", run(model, tokens.part(0, 3), first, workspace), first, 0,
                3);
  const ModelAsk rest{.readings = true, .row_begin = 250, .session = &session};
  check.compare("model, conversation", run(model, tokens.part(3, 267), rest, workspace), rest, 3,
                267);
  // Keys are read before a session rounds them.
  ModelSession small;
  require_ok(ModelSession::create(model, {.format = CacheFormat::kBf16}, small));
  ModelSession whole;
  require_ok(ModelSession::create(model, {}, whole));
  const auto read = [&](ModelSession& of) {
    const ModelAsk ask{.readings = true, .session = &of};
    return run(model, tokens.part(0, 9), ask, workspace).layers[0];
  };
  CHECK(first_difference(read(small).k, read(whole).k) == "");
}

TEST_CASE("LanguageModel: readings come in any order", "[model][reading]") {
  const ModelWeights weights(family("gemma2"), 93);
  const ModelTokens tokens(weights.config(), 1, 7, 93);
  const LanguageModel model = weights.make();
  const ModelResults expected = run(model, tokens, {.readings = true});
  ModelCall call(model, tokens, {.readings = true});
  std::reverse(call.readings.begin(), call.readings.end());
  Workspace workspace;
  require_ok(model.forward(call.args, workspace));
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(first_difference(expected.layers[n].residual, call.results.layers[n].residual) == "");
    CHECK(first_difference(expected.layers[n].weights, call.results.layers[n].weights) == "");
  }
}

TEST_CASE("LanguageModel: ablated heads give zeros, and only these", "[model][reading]") {
  for (const char* name : {"gpt2", "gemma2", "bert"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 94);
    const ModelTokens tokens(weights.config(), 2, 9, 94);
    const LanguageModel model = weights.make();
    const Index last = weights.config().num_heads - 1;
    const std::vector<std::vector<ModelHead>> choices = {
        {{0, 0}}, {{1, last}}, {{0, 1}, {1, 0}, {1, 2}}, {{0, 2}, {0, 2}}};
    for (const std::vector<ModelHead>& heads : choices) {
      const ModelAsk ask{.readings = true, .ablated = heads};
      const ModelCheck check(weights.exact(), tokens, {}, heads);
      const ModelResults found = run(model, tokens, ask);
      check.compare("model, ablated", found, ask);
      CHECK(first_difference(found.hidden, run(model, tokens).hidden) != "");
    }
  }
}

TEST_CASE("LanguageModel: heads stay silent token by token", "[model][reading]") {
  const ModelWeights weights(family("llama"), 95);
  const ModelTokens tokens(weights.config(), 1, 6, 95);
  const LanguageModel model = weights.make();
  const std::vector<ModelHead> heads = {{0, 3}, {1, 1}};
  const ModelCheck check(weights.exact(), tokens, {}, heads);
  Workspace workspace;
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  for (Index t = 0; t < 6; ++t) {
    const ModelAsk ask{.session = &session, .ablated = heads};
    check.compare("model, ablated", run(model, tokens.part(t, 1), ask, workspace), ask, t, 1);
  }
}

TEST_CASE("LanguageModel: surprisal is that of its own logits", "[model][reading]") {
  // Logits far from 0, of more tokens than are held at a time.
  LanguageModelConfig config = family("gpt2");
  config.embedding_scale = 8.0F;
  const ModelWeights weights(config, 96);
  const ModelTokens tokens(config, 2, 41, 96);
  const LanguageModel model = weights.make();
  const ModelResults found = run(model, tokens);
  const auto v = static_cast<std::size_t>(config.vocabulary);
  Quantity quantity("model surprisal of its logits");
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t t = 0; t < 40; ++t) {
      const auto first = found.logits.begin() + static_cast<std::ptrdiff_t>((b * 41 + t) * v);
      const std::vector<double> row(first, first + static_cast<std::ptrdiff_t>(v));
      const auto next = static_cast<std::size_t>(tokens.ids[b * 41 + t + 1]);
      const double exact = oracle::negative_log_softmax(row)[next];
      double size = 1.0;
      for (const double x : row) {
        size = std::max(size, std::abs(x));
      }
      // A sum of exponentials and its logarithm, and the logit that is taken from it.
      quantity.add(static_cast<double>(found.surprisal[b * 40 + t]), exact,
                   bounds::kU * (static_cast<double>(v) + 30 + 4 * size), size);
    }
  }
  require_within(quantity);
}

}  // namespace
}  // namespace qkv::test::language_model_reading_test
