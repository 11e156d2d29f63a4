// How much of a logit each part of the stream gives, and whether heads copy what they read, against the formulas in double
// precision.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "model_sites.hpp"
#include "refusal.hpp"

namespace qkv::test::attribution_test {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double sizes(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(a[i] * b[i]);
  }
  return sum;
}
Vector sum(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += b[i];
  }
  return a;
}

/// The formulas of LanguageModel::attribute() on what an oracle has at the sites of one token.
class Parts {
 public:
  Parts(const LanguageModelConfig& c, const oracle::Model& model, const SiteOracle::Arrays& arrays,
        std::size_t token, Index answer, Index instead)
      : c_(c), model_(model), arrays_(arrays), token_(token) {
    g_ = weights_of(answer);
    rest = bias_of(answer);
    if (instead >= 0) {
      const Vector other = weights_of(instead);
      for (std::size_t i = 0; i < g_.size(); ++i) {
        g_[i] -= other[i];
      }
      rest -= bias_of(instead);
    }
    const Vector last = at(ModelSite::kFinal, 0);
    total = dot(g_, last) + rest;
    size = sizes(g_, last) + std::abs(rest);
    parts.assign(to_size(c.num_layers * (c.num_heads + 3)), 0.0);
    if (c.norm != NormPlacement::kPost) {
      through("norm", at(ModelSite::kResidual, c.num_layers - 1));
    }
    for (Index n = c.num_layers - 1; n >= 0; --n) {
      layer(n);
    }
    embed = dot(g_, at(ModelSite::kEmbed, 0));
    size += sizes(g_, at(ModelSite::kEmbed, 0));
  }
  Vector parts;
  double embed = 0.0, rest = 0.0, total = 0.0;
  double size = 0.0;  ///< S of the header

 private:
  [[nodiscard]] Vector at(ModelSite site, Index layer, Index head = -1) const {
    return arrays_.at({site, layer}).at(head)[token_];
  }
  [[nodiscard]] Vector weights_of(Index id) const {
    const auto v = to_size(c_.vocabulary);
    Vector column;
    for (std::size_t i = 0; i < to_size(c_.d_model); ++i) {
      column.push_back(c_.tied_embeddings
                           ? model_.get("embedding")[to_size(id) * to_size(c_.d_model) + i]
                           : model_.get("head")[i * v + to_size(id)]);
    }
    return column;
  }
  [[nodiscard]] double bias_of(Index id) const {
    return c_.head_bias ? model_.get("headBias")[to_size(id)] : 0.0;
  }

  /// A direction before a norm of x.
  [[nodiscard]] Vector before(const std::string& norm, const Vector& x, Vector g) const {
    const Vector& gamma = model_.get(norm + ".gamma");
    const auto n = static_cast<double>(x.size());
    const bool centre = c_.norm_type == NormType::kLayer;
    const double mean = centre ? std::accumulate(x.begin(), x.end(), 0.0) / n : 0.0;
    double squares = 0.0;
    for (const double each : x) {
      squares += (each - mean) * (each - mean) / n;
    }
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i] *= gamma[i] / std::sqrt(squares + static_cast<double>(c_.epsilon));
    }
    const double of_g = centre ? std::accumulate(g.begin(), g.end(), 0.0) / n : 0.0;
    for (double& each : g) {
      each -= of_g;
    }
    return g;
  }
  /// The direction goes down through a norm of x; its beta belongs to the rest.
  void through(const std::string& norm, const Vector& x) {
    if (model_.arrays.contains(norm + ".beta")) {
      rest += dot(g_, model_.get(norm + ".beta"));
      size += sizes(g_, model_.get(norm + ".beta"));
    }
    g_ = before(norm, x, g_);
    size += 2 * sizes(g_, x);
  }

  void layer(Index n) {
    const std::string name = "layers." + std::to_string(n) + ".";
    const bool post = c_.norm == NormPlacement::kPost;
    const Vector x = n == 0 ? at(ModelSite::kEmbed, 0) : at(ModelSite::kResidual, n - 1);
    const bool feeds = c_.d_feed_forward > 0;
    const auto part = [&](Index i) -> double& {
      return parts[to_size(n * (c_.num_heads + 3) + i)];
    };
    const Vector attention = at(ModelSite::kAttention, n);
    if (feeds) {
      const Vector fed = at(ModelSite::kFeedForward, n);
      if (post) {
        through(name + "norm2", sum(at(ModelSite::kMiddle, n), fed));
      }
      part(c_.num_heads + 2) = dot(g_, fed);
      size += sizes(g_, fed);
    }
    if (post) {
      through(name + "norm1", sum(x, attention));
    }
    size += 3 * sizes(g_, x) + 3 * sizes(g_, attention);
    Vector g = g_;
    if (c_.post_norms || c_.norm == NormPlacement::kAfter) {
      Vector raw = model_.arrays.contains(name + "attention.bo") ? model_.get(name + "attention.bo")
                                                                 : Vector(to_size(c_.d_model));
      for (Index h = 0; h < c_.num_heads; ++h) {
        raw = sum(raw, at(ModelSite::kHeads, n, h));
      }
      g = before(name + "postNorm1", raw, g);
    }
    part(c_.num_heads) = dot(g_, attention);
    for (Index h = 0; h < c_.num_heads; ++h) {
      part(h) = dot(g, at(ModelSite::kHeads, n, h));
      part(c_.num_heads) -= part(h);
    }
  }

  const LanguageModelConfig& c_;
  const oracle::Model& model_;
  const SiteOracle::Arrays& arrays_;
  std::size_t token_;
  Vector g_;
};

/// What attribute() wrote.
struct Attribution {
  explicit Attribution(const LanguageModelConfig& c)
      : parts(to_size(c.num_layers * (c.num_heads + 3)), 1e9), rest(3, 1e9) {}
  [[nodiscard]] LanguageModel::AttributeArgs args(const LanguageModelConfig& c,
                                                  const LanguageModel::ForwardArgs& pass) {
    return {.pass = pass,
            .parts = {parts.data(), {c.num_layers, c.num_heads + 3}},
            .rest = {rest.data(), {3}}};
  }
  [[nodiscard]] double sum() const {
    return std::accumulate(parts.begin(), parts.end(), 0.0) + rest[0] + rest[1];
  }
  Vector parts, rest;
};

double bound_of_sum(const LanguageModelConfig& c, double size) {
  const Index d_k = c.d_k == 0 ? c.d_model / c.num_heads : c.d_k;
  const auto n = static_cast<double>((c.num_layers + 2) * std::max(c.d_model, c.num_heads * d_k));
  return 0x1p-51 * (n + 8) * size;
}

TEST_CASE("LanguageModel::attribute: the parts of every family are those of the formulas",
          "[model][attribution]") {
  std::uint64_t seed = 400;
  for (const Family& f : families()) {
    if (!f.config.head || f.config.head_transform != HeadTransform::kNone) {
      continue;
    }
    const ModelWeights weights(f.config, ++seed);
    const ModelTokens tokens(f.config, 2, 7, seed);
    const LanguageModel model = weights.make();
    const LanguageModelConfig& c = model.config();
    const oracle::Model exact = weights.exact();
    const SiteOracle sites(exact, tokens, {});
    for (const auto& [row, instead] : {std::pair<Index, Index>{-1, 3}, {2, -1}}) {
      CAPTURE(f.name, row, instead);
      Attribution found(c);
      ModelCall call(model, tokens);
      LanguageModel::AttributeArgs args = found.args(c, call.args);
      args.batch = 1;
      args.row = row;
      args.answer = 5;
      args.instead = instead;
      Workspace workspace;
      require_ok(model.attribute(args, workspace));
      CHECK(first_difference(call.results.all(), run(model, tokens).all()) == "");
      const std::size_t token = row < 0 ? 6 : to_size(row);
      const Parts expected(c, exact, sites.exact(1), token, 5, instead);
      Vector all = expected.parts;
      all.insert(all.end(), {expected.embed, expected.rest, expected.total});
      Vector moved(all.size());
      for (const SiteOracle::Arrays& draw : sites.draws(1)) {
        const Parts other(c, exact, draw, token, 5, instead);
        Vector numbers = other.parts;
        numbers.insert(numbers.end(), {other.embed, other.rest, other.total});
        for (std::size_t i = 0; i < all.size(); ++i) {
          moved[i] = std::max(moved[i], std::abs(numbers[i] - all[i]));
        }
      }
      const double most = *std::max_element(moved.begin(), moved.end());
      Vector numbers = found.parts;
      numbers.insert(numbers.end(), found.rest.begin(), found.rest.end());
      Quantity quantity("model, attributed");
      for (std::size_t i = 0; i < all.size(); ++i) {
        quantity.add(numbers[i], all[i], 3 * most + 0x1p-22, 1.0);
      }
      require_within(quantity);
      CHECK(std::abs(found.sum() - found.rest[2]) <= bound_of_sum(c, expected.size));
      if (c.logit_softcap == 0.0F) {
        const auto logit = [&](Index id) {
          return id < 0
                     ? 0.0
                     : static_cast<double>(
                           call.results.logits[(7 + token) * to_size(c.vocabulary) + to_size(id)]);
        };
        CHECK(std::abs(found.rest[2] - (logit(5) - logit(instead))) < 1e-4);
      }
    }
  }
}

TEST_CASE("LanguageModel::attribute: parts add up in every format, with edits and from a layer on",
          "[model][attribution]") {
  for (const char* name : {"gpt2", "gemma2", "sinusoidal", "olmo2", "gpt-neox", "bare"}) {
    for (const WeightFormat format :
         {WeightFormat::kF32, WeightFormat::kBf16, WeightFormat::kInt8, WeightFormat::kInt4}) {
      CAPTURE(name, static_cast<int>(format));
      const ModelWeights weights(family(name), 420);
      const ModelTokens tokens(weights.config(), 1, 6, 420);
      const LanguageModel model = weights.make(format);
      const LanguageModelConfig& c = model.config();
      const SomeEdit steer(model, tokens, {ModelSite::kResidual, 0}, 421);
      const SomeEdit head(model, tokens, {ModelSite::kZ, 1}, 422);
      const std::vector<ModelEdit> edits = {steer.edit, head.edit};
      Workspace workspace;
      ModelCall call(model, tokens);
      call.args.edits = edits;
      SiteArrays stream(model, call.args, {{ModelSite::kResidual, 0}});
      call.args.readings = stream.readings;
      require_ok(model.forward(call.args, workspace));
      call.args.readings = {};
      Attribution whole(c);
      LanguageModel::AttributeArgs args = whole.args(c, call.args);
      args.answer = 4;
      require_ok(model.attribute(args, workspace));
      // The sizes of the terms are at most some thousands here.
      CHECK(std::abs(whole.sum() - whole.rest[2]) <= bound_of_sum(c, 1e4));
      CHECK(std::abs(whole.rest[2]) < 100.0);
      Attribution from(c);
      args = from.args(c, call.args);
      args.pass.edits = call.args.edits.subspan(1);
      args.pass.begin = {{stream.arrays[0].data(), {1, 6, c.d_model}}, 1};
      args.answer = 4;
      require_ok(model.attribute(args, workspace));
      CHECK(std::abs(from.sum() - from.rest[2]) <= bound_of_sum(c, 1e4));
      CHECK(from.rest[2] == whole.rest[2]);
      const auto of_layer = c.num_heads + 3;
      for (Index i = 0; i < of_layer; ++i) {
        CHECK(from.parts[to_size(i)] == 0.0);
        CHECK(from.parts[to_size(of_layer + i)] == whole.parts[to_size(of_layer + i)]);
      }
    }
  }
}

TEST_CASE("LanguageModel::attribute: a conversation goes on, and the threads change no bit",
          "[model][attribution][parallel]") {
  const ModelWeights weights(family("qwen3"), 430);
  const LanguageModel model = weights.make(WeightFormat::kInt8);
  const ModelTokens tokens(weights.config(), 1, 20, 430);
  const LanguageModelConfig& c = model.config();
  ThreadPool pool(3);
  Workspace alone;
  Workspace shared(&pool);
  std::vector<Vector> found;
  for (Workspace* workspace : {&alone, &shared}) {
    ModelSession session;
    require_ok(ModelSession::create(model, {}, session));
    run(model, tokens.part(0, 12), {.session = &session}, *workspace);
    ModelCall call(model, tokens.part(12, 8), {.session = &session});
    Attribution attribution(c);
    LanguageModel::AttributeArgs args = attribution.args(c, call.args);
    args.answer = 2;
    args.instead = 3;
    require_ok(model.attribute(args, *workspace));
    CHECK(session.length() == 20);
    found.push_back(attribution.parts);
    found.back().insert(found.back().end(), attribution.rest.begin(), attribution.rest.end());
  }
  CHECK(found[0] == found[1]);
}

TEST_CASE("LanguageModel::copying: the place of a token's own logit through a head",
          "[model][attribution]") {
  for (const char* name : {"gpt2", "gemma2", "llama", "olmo2", "bloom", "phi", "sinusoidal"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 440);
    const LanguageModel model = weights.make();
    const LanguageModelConfig& c = model.config();
    const oracle::Model exact = weights.exact();
    std::vector<std::int32_t> ids(19 + 4);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::int32_t>(i % 19);
    }
    const auto n = static_cast<Index>(ids.size());
    std::vector<float> scores(to_size(n * c.num_heads), 9.0F);
    Workspace workspace;
    require_ok(model.copying(
        {.layer = 1, .ids = {ids.data(), {n}}, .scores = {scores.data(), {n, c.num_heads}}},
        workspace));
    const std::string at = "layers.1.";
    const auto d = to_size(c.d_model);
    for (Index r = 0; r < n; ++r) {
      oracle::Rows x = {oracle::Model::row_of(exact.get("embedding"), to_size(ids[to_size(r)]), d)};
      for (double& each : x[0]) {
        each *= static_cast<double>(c.embedding_scale);
      }
      x = c.embedding_norm ? exact.norm("embeddingNorm.gamma", "embeddingNorm.beta", x) : x;
      x = c.norm == NormPlacement::kPre ? exact.norm(at + "norm1.gamma", at + "norm1.beta", x) : x;
      const oracle::Rows v = exact.map(at + "attention.wv", "", x);
      for (Index h = 0; h < c.num_heads; ++h) {
        Vector y = exact.brought(at + "attention.", v, h / (c.num_heads / c.num_kv_heads), h)[0];
        const auto centre = [&](const std::string& norm) {
          const double mean =
              c.norm_type == NormType::kLayer
                  ? std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(d)
                  : 0.0;
          for (std::size_t i = 0; i < d; ++i) {
            y[i] = (y[i] - mean) * exact.get(norm + ".gamma")[i];
          }
        };
        if (c.post_norms || c.norm == NormPlacement::kAfter) {
          centre(at + "postNorm1");
        }
        if (c.norm != NormPlacement::kPost) {
          centre("norm");
        }
        Vector logits;
        for (Index id = 0; id < c.vocabulary; ++id) {
          double sum = 0.0;
          for (std::size_t i = 0; i < d; ++i) {
            sum += y[i] * (c.tied_embeddings
                               ? exact.get("embedding")[to_size(id) * d + i]
                               : exact.get("head")[i * to_size(c.vocabulary) + to_size(id)]);
          }
          logits.push_back(sum);
        }
        const double own = logits[to_size(ids[to_size(r)])];
        const auto greater =
            std::count_if(logits.begin(), logits.end(), [&](double logit) { return logit > own; });
        const double expected = 1.0 - 2.0 * static_cast<double>(greater) / 18.0;
        CHECK(std::abs(static_cast<double>(scores[to_size(r * c.num_heads + h)]) - expected) <
              1e-6);
      }
    }
    // The same of a stream that is given.
    std::vector<float> stream;
    for (const std::int32_t id : ids) {
      oracle::Rows x = {oracle::Model::row_of(exact.get("embedding"), to_size(id), d)};
      for (double& each : x[0]) {
        each *= static_cast<double>(c.embedding_scale);
      }
      x = c.embedding_norm ? exact.norm("embeddingNorm.gamma", "embeddingNorm.beta", x) : x;
      stream.insert(stream.end(), x[0].begin(), x[0].end());
    }
    std::vector<float> again(scores.size());
    require_ok(model.copying({.layer = 1,
                              .ids = {ids.data(), {n}},
                              .stream = {stream.data(), {n, c.d_model}},
                              .scores = {again.data(), {n, c.num_heads}}},
                             workspace));
    CHECK(first_difference(scores, again) == "");
  }
}

TEST_CASE("LanguageModel::attribute and copying: calls that do not fit are refused",
          "[model][attribution][bad-input]") {
  const ModelWeights weights(family("gemma2"), 450);
  const LanguageModel model = weights.make();
  const LanguageModelConfig& c = model.config();
  const ModelTokens tokens(c, 2, 7, 450);
  ModelCall call(model, tokens);
  Attribution attribution(c);
  Workspace workspace;
  const auto refused = [&](auto spoil, const Refusal& refusal) {
    LanguageModel::AttributeArgs args = attribution.args(c, call.args);
    spoil(args);
    const Status status = model.attribute(args, workspace);
    CAPTURE(std::string(status.message()));
    CHECK(status.code() == refusal.code);
    for (const char* part : {refusal.argument, refusal.was, refusal.expected}) {
      CHECK(std::string(status.message()).find(part) != std::string::npos);
    }
    CHECK(attribution.rest[2] == 1e9);
    CHECK(attribution.parts[0] == 1e9);
    CHECK(call.results.logits[0] == kUntouched);
  };
  using Args = LanguageModel::AttributeArgs;
  static const ModelReading reading[] = {{.site = ModelSite::kFinal}};
  static const ModelLens lens[] = {{.layer = 0}};
  refused([](Args& a) { a.batch = 2; }, {kRange, "batch", "is 2", "[0, 2)"});
  refused([](Args& a) { a.batch = -1; }, {kRange, "batch", "is -1", "[0, 2)"});
  refused([](Args& a) { a.row = 7; }, {kRange, "row", "is 7", "[-1, 7)"});
  refused([](Args& a) { a.row = -2; }, {kRange, "row", "is -2", "[-1, 7)"});
  refused([](Args& a) { a.answer = 19; }, {kRange, "answer", "is 19", "[0, 19)"});
  refused([](Args& a) { a.answer = -1; }, {kRange, "answer", "is -1", "[0, 19)"});
  refused([](Args& a) { a.instead = 19; }, {kRange, "instead", "is 19", "[-1, 19)"});
  refused([](Args& a) { a.pass.readings = reading; }, {kShapeError, "kFinal", "", ""});
  refused([](Args& a) { a.pass.lenses = lens; }, {kRange, "lenses[0]", "0 tokens", "1 to 19"});
  refused([](Args& a) { a.parts.shape[1] = 6; }, {kShapeError, "parts", "[3,6]", "[3,7]"});
  refused([](Args& a) { a.rest.shape[0] = 2; }, {kShapeError, "rest", "[2]", "[3]"});
  refused([](Args& a) { a.rest.data = a.parts.data; }, {kInvalid, "rest", "overlaps", "parts"});
  refused(
      [](Args& a) {
        a.pass.ids.shape[0] = 3;
        a.pass.ids.data = nullptr;
      },
      {kInvalid, "ids", "has no data", ""});
  const ModelWeights of_bert(family("bert"), 451);
  const LanguageModel bert = of_bert.make();
  const ModelTokens bert_tokens(of_bert.config(), 2, 7, 451);
  ModelCall bert_call(bert, bert_tokens);
  CHECK(bert.attribute(attribution.args(bert.config(), bert_call.args), workspace).code() ==
        StatusCode::kInvalidArgument);

  std::vector<float> scores(8, kUntouched);
  std::vector<std::int32_t> ids = {1, 2};
  const auto no_copy = [&](const LanguageModel& of, auto spoil, const Refusal& refusal) {
    LanguageModel::CopyingArgs args{.ids = {ids.data(), {2}}, .scores = {scores.data(), {2, 4}}};
    spoil(args);
    require_refused(of.copying(args, workspace), "LanguageModel::copying", refusal);
    CHECK(scores[0] == kUntouched);
  };
  using Copy = LanguageModel::CopyingArgs;
  static std::int32_t high[] = {1, 19};
  no_copy(model, [](Copy& a) { a.layer = 3; }, {kRange, "layer", "is 3", "[0, 3)"});
  no_copy(model, [](Copy& a) { a.layer = -1; }, {kRange, "layer", "is -1", "[0, 3)"});
  no_copy(model, [](Copy& a) { a.ids.data = high; }, {kRange, "ids[1]", "is 19", "[0, 19)"});
  no_copy(model, [](Copy& a) { a.scores.shape[1] = 3; }, {kShapeError, "scores", "[2,3]", "[2,4]"});
  no_copy(model, [&](Copy& a) { a.stream = {scores.data(), {2, 4}}; },
          {kShapeError, "stream", "[2,4]", "[2,64]"});
  no_copy(bert, [](Copy&) {}, {kInvalid, "no head", "", ""});
  no_copy(LanguageModel(), [](Copy&) {}, {kInvalid, "empty", "", ""});
}

}  // namespace
}  // namespace qkv::test::attribution_test
