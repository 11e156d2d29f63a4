// What can be read of a pass at every site, and what changes there do, against the formulas in double precision.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "model_sites.hpp"
#include "qkv/parallel.hpp"

namespace qkv::test::language_model_site_test {
namespace {

/// A pass with readings and edits: what it wrote of all.
struct SitePass {
  SitePass(const LanguageModel& model, const ModelTokens& tokens,
           const std::vector<ModelEdit>& edits, ModelSession* session = nullptr,
           ModelRange rows = {}, ThreadPool* pool = nullptr)
      : call(model, tokens, {.session = session}),
        sites(model, call.args, places_of(model.config()), rows) {
    call.args.readings = sites.readings;
    call.args.edits = edits;
    Workspace workspace(pool);
    require_ok(model.forward(call.args, workspace));
  }
  [[nodiscard]] std::vector<float> all() const {
    const std::vector<float> results = call.results.all();
    const std::vector<float> read = sites.all();
    return joined({&results, &read});
  }
  ModelCall call;
  SiteArrays sites;
};

ModelTokens tokens_of(const LanguageModelConfig& config, std::uint64_t seed, Index length = 7) {
  ModelTokens tokens(config, 2, length, seed);
  if (!config.causal) {
    tokens.lengths = {static_cast<std::int32_t>(length), static_cast<std::int32_t>(length - 3)};
  }
  return tokens;
}

/// Whether anything but a reading reads a site.
bool can_be_edited(ModelSite site) {
  using enum ModelSite;
  return site != kHeads && site != kFinal && site != kEntropy && site != kLogits &&
         site != kNormWeights;
}

std::vector<ModelEdit> list_of(const std::vector<SomeEdit>& some) {
  std::vector<ModelEdit> edits;
  for (const SomeEdit& each : some) {
    edits.push_back(each.edit);
  }
  return edits;
}

TEST_CASE("LanguageModel: every site of every family is what its formula says", "[model][site]") {
  std::uint64_t seed = 200;
  for (const Family& f : families()) {
    CAPTURE(f.name);
    const ModelWeights weights(f.config, ++seed);
    const ModelTokens tokens = tokens_of(f.config, seed);
    const LanguageModel model = weights.make();
    const SiteOracle exact(weights.exact(), tokens, {});
    for (const ModelRange rows : {ModelRange{}, ModelRange{2, 6}, ModelRange{6, 7}}) {
      const SitePass pass(model, tokens, {}, nullptr, rows);
      exact.compare("model, sites", pass.sites, rows);
      CHECK(first_difference(pass.call.results.all(), run(model, tokens).all()) == "");
    }
  }
}

TEST_CASE("LanguageModel: edits of every site of every family do what the formula says",
          "[model][site]") {
  std::uint64_t seed = 300;
  for (const Family& f : families()) {
    const ModelWeights weights(f.config, ++seed);
    const ModelTokens tokens = tokens_of(f.config, seed, 6);
    const LanguageModel model = weights.make();
    for (const SitePlace& place : places_of(f.config)) {
      if (!can_be_edited(place.first) || (place.second + static_cast<Index>(seed)) % 2 == 1) {
        continue;  // half of the layers
      }
      CAPTURE(f.name, static_cast<int>(place.first), place.second);
      std::vector<SomeEdit> some;
      for (int i = 0; i < 3; ++i) {
        some.emplace_back(model, tokens, place, ++seed);
      }
      const std::vector<ModelEdit> edits = list_of(some);
      const SiteOracle exact(weights.exact(), tokens, edits);
      exact.compare("model, edited", SitePass(model, tokens, edits).sites);
    }
  }
}

TEST_CASE(
    "LanguageModel: sites of int8 weights are those of d q, with activations rounded by half a "
    "step",
    "[model][site]") {
  std::uint64_t seed = 380;
  for (const char* name : {"gpt2", "llama", "gemma2", "bert", "qwen3", "olmo2"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), ++seed);
    const ModelTokens tokens = tokens_of(weights.config(), seed);
    const LanguageModel model = weights.make(WeightFormat::kInt8);
    const oracle::Model kept = weights.exact(WeightFormat::kInt8);
    const Rounding rounding{.int8_activations = true};
    SiteOracle(kept, tokens, {}, {}, rounding)
        .compare("model, int8 sites", SitePass(model, tokens, {}).sites);
    std::vector<SomeEdit> some;
    some.emplace_back(model, tokens, SitePlace{ModelSite::kZ, 0}, ++seed);
    some.emplace_back(model, tokens, SitePlace{ModelSite::kResidual, 0}, ++seed);
    some.emplace_back(model, tokens, SitePlace{ModelSite::kNeurons, 1}, ++seed);
    const std::vector<ModelEdit> edits = list_of(some);
    SiteOracle(kept, tokens, edits, {}, rounding)
        .compare("model, int8 edited", SitePass(model, tokens, edits).sites);
  }
}

TEST_CASE("LanguageModel: edits of one place act in the order of the list", "[model][site]") {
  const ModelWeights weights(family("llama"), 310);
  const ModelTokens tokens = tokens_of(weights.config(), 310);
  const LanguageModel model = weights.make();
  const float three = 3.0F;
  const TensorView<const float> number = [&] {
    TensorView<const float> view(&three, {2, 7, 24});
    view.strides = {};
    return view;
  }();
  const ModelEdit set{.site = ModelSite::kResidual, .layer = 1, .value = number};
  const ModelEdit twice{.site = ModelSite::kResidual, .layer = 1, .scale = 2.0F};
  const auto stream = [&](const std::vector<ModelEdit>& edits) {
    const SitePass pass(model, tokens, edits);
    for (std::size_t i = 0; i < pass.sites.places.size(); ++i) {
      if (pass.sites.places[i] == SitePlace{ModelSite::kResidual, 1}) {
        return pass.sites.arrays[i][0];
      }
    }
    return 0.0F;
  };
  CHECK(stream({set, twice}) == 6.0F);
  CHECK(stream({twice, set}) == 3.0F);
  ModelEdit all = set;
  all.add = number;
  all.scale = 7.0F;
  CHECK(stream({all}) == 6.0F);
}

TEST_CASE("LanguageModel: a cut edge carries nothing, and a row without edges gives zeros",
          "[model][site]") {
  for (const char* name : {"gpt2", "gemma2", "bloom", "bert"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 320);
    const ModelTokens tokens(weights.config(), 2, 7, 320);
    const LanguageModel model = weights.make();
    const float cut = -INFINITY;
    TensorView<const float> one(&cut, {2, 1, 1, 1});
    one.strides = {};
    TensorView<const float> row(&cut, {2, 1, 1, 7});
    row.strides = {};
    const ModelEdit edge{.site = ModelSite::kScores,
                         .layer = 1,
                         .head = 2,
                         .rows = {4, 5},
                         .keys = {3, 4},
                         .value = one};
    const ModelEdit edges{
        .site = ModelSite::kScores, .layer = 1, .head = 1, .rows = {5, 6}, .value = row};
    const SitePass pass(model, tokens, {edge, edges});
    const SitePass plain(model, tokens, {});
    for (std::size_t i = 0; i < pass.sites.places.size(); ++i) {
      const auto [site, layer] = pass.sites.places[i];
      const ModelReading& reading = pass.sites.readings[i];
      if (layer != 1) {
        continue;
      }
      if (site == ModelSite::kScores) {
        CHECK(*reading.to.at(0, 2, 4, 3) == cut);
        CHECK(*plain.sites.readings[i].to.at(0, 2, 4, 3) != cut);
      }
      if (site == ModelSite::kWeights || site == ModelSite::kNormWeights) {
        CHECK(*reading.to.at(1, 2, 4, 3) == 0.0F);
        for (Index j = 0; j < 7; ++j) {
          CHECK(*reading.to.at(1, 1, 5, j) == 0.0F);
        }
      }
      if (site == ModelSite::kZ || site == ModelSite::kHeads) {
        for (Index d = 0; d < reading.to.extent(3); ++d) {
          CHECK(*reading.to.at(0, 1, 5, d) == 0.0F);
        }
        // Heads beside it keep their bits.
        CHECK(*reading.to.at(0, 0, 5, 1) == *plain.sites.readings[i].to.at(0, 0, 5, 1));
        CHECK(*reading.to.at(0, 1, 4, 1) == *plain.sites.readings[i].to.at(0, 1, 4, 1));
      }
      if (site == ModelSite::kEntropy) {
        CHECK(*reading.to.at(0, 1, 5) == 0.0F);
      }
    }
  }
}

/// Edits of everything, of different layers.
std::vector<SomeEdit> edits_everywhere(const LanguageModel& model, const ModelTokens& tokens,
                                       std::uint64_t seed) {
  std::vector<SomeEdit> some;
  for (const SitePlace& place : places_of(model.config())) {
    if (can_be_edited(place.first)) {
      some.emplace_back(model, tokens, place, ++seed);
    }
  }
  return some;
}

TEST_CASE("LanguageModel: sites and edits have the same bits for any number of threads",
          "[model][site][parallel]") {
  for (const char* name : {"gpt2", "gemma2", "qwen3", "bert", "experts"}) {
    for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8}) {
      CAPTURE(name, static_cast<int>(format));
      LanguageModelConfig config = family(name);
      config.max_length = 200;
      const ModelWeights weights(config, 330);
      const ModelTokens tokens(config, 2, 130, 330);
      const LanguageModel model = weights.make(format);
      const std::vector<SomeEdit> some = edits_everywhere(model, tokens, 330);
      const std::vector<ModelEdit> edits = list_of(some);
      const std::vector<float> expected = SitePass(model, tokens, edits).all();
      for (const int threads : {2, 3, 5}) {
        ThreadPool pool(threads);
        CHECK(first_difference(expected,
                               SitePass(model, tokens, edits, nullptr, {}, &pool).all()) == "");
      }
    }
  }
}

TEST_CASE("LanguageModel: sites and edits of a conversation are those of one call, also in pieces",
          "[model][site]") {
  for (const char* name : {"mistral", "gemma2", "bloom", "t5 decoder"}) {
    CAPTURE(name);
    LanguageModelConfig config = family(name);
    config.max_length = 300;
    const ModelWeights weights(config, 340);
    const LanguageModel model = weights.make();
    const ModelTokens tokens(config, 1, 270, 340);
    const std::vector<SomeEdit> some = edits_everywhere(model, tokens, 340);
    const std::vector<ModelEdit> edits = list_of(some);
    ModelSession session;
    require_ok(ModelSession::create(model, {}, session));
    const SitePass whole(model, tokens, edits);
    const SitePass pieces(model, tokens, edits, &session);
    CHECK(first_difference(whole.all(), pieces.all()) == "");
    CHECK(session.length() == 270);
  }
}

TEST_CASE("LanguageModel: edits count the keys that a conversation holds", "[model][site]") {
  for (const char* name : {"mistral", "gemma2", "bloom", "gpt2"}) {
    CAPTURE(name);
    const ModelWeights weights(family(name), 345);
    const LanguageModel model = weights.make();
    const ModelTokens tokens(weights.config(), 1, 20, 345);
    const float some[] = {0.25F, -0.5F, 0.125F};
    TensorView<const float> added(some, {1, 1, 8, 3});
    added.strides = {0, 0, 0, 1};
    const auto edits_from = [&](Index first) {
      return std::vector<ModelEdit>{
          {.site = ModelSite::kScores,
           .layer = 0,
           .head = 1,
           .rows = {first, first + 8},
           .keys = {9, 12},
           .add = added},
          {.site = ModelSite::kWeights,
           .layer = 1,
           .rows = {first + 2, first + 3},
           .keys = {13, 14},
           .scale = 0.0F},
          {.site = ModelSite::kScores, .layer = 1, .rows = {first, first + 8}, .scale = 0.5F}};
    };
    const SitePass whole(model, tokens, edits_from(12), nullptr, {12, 20});
    ModelSession session;
    require_ok(ModelSession::create(model, {}, session));
    run(model, tokens.part(0, 12), {.session = &session});
    const SitePass later(model, tokens.part(12, 8), edits_from(0), &session);
    CHECK(first_difference(whole.sites.all(), later.sites.all()) == "");
    const SitePass plain(model, tokens, {}, nullptr, {12, 20});
    CHECK(first_difference(whole.sites.all(), plain.sites.all()) != "");
  }
}

TEST_CASE("LanguageModel: a conversation in a format of its own is read and edited",
          "[model][site]") {
  for (const CacheFormat format : {CacheFormat::kBf16, CacheFormat::kInt8}) {
    const ModelWeights weights(family("qwen3"), 350);
    const LanguageModel model = weights.make();
    const ModelTokens tokens(weights.config(), 1, 20, 350);
    // An edit that changes nothing computes the rows by another way.
    const ModelEdit same{.site = ModelSite::kScores, .layer = 0, .scale = 1.0F};
    ModelSession one;
    ModelSession other;
    require_ok(ModelSession::create(model, {.format = format}, one));
    require_ok(ModelSession::create(model, {.format = format}, other));
    const SitePass plain(model, tokens, {}, &one);
    const SitePass edited(model, tokens, {same}, &other);
    for (std::size_t i = 0; i < plain.sites.places.size(); ++i) {
      CAPTURE(static_cast<int>(plain.sites.places[i].first), plain.sites.places[i].second);
      for (std::size_t at = 0; at < plain.sites.arrays[i].size(); ++at) {
        const auto a = static_cast<double>(plain.sites.arrays[i][at]);
        const auto b = static_cast<double>(edited.sites.arrays[i][at]);
        REQUIRE((a == b || std::abs(a - b) < 3e-3));
      }
    }
  }
}

TEST_CASE("LanguageModel: a pass that begins at a layer is the rest of a whole one, bit for bit",
          "[model][site]") {
  for (const Family& f : families()) {
    const ModelWeights weights(f.config, 360);
    const ModelTokens tokens = tokens_of(f.config, 360);
    const LanguageModel model = weights.make();
    const LanguageModelConfig& c = model.config();
    for (Index layer = 0; layer < c.num_layers; ++layer) {
      CAPTURE(f.name, layer);
      ModelCall whole(model, tokens);
      const SitePlace before =
          layer == 0 ? SitePlace{ModelSite::kEmbed, 0} : SitePlace{ModelSite::kResidual, layer - 1};
      SiteArrays stream(model, whole.args, {before});
      SiteArrays all(model, whole.args, places_of(f.config, std::max<Index>(layer, 1)));
      std::vector<ModelReading> readings = stream.readings;
      readings.insert(readings.end(), all.readings.begin(), all.readings.end());
      whole.args.readings = readings;
      Workspace workspace;
      require_ok(model.forward(whole.args, workspace));
      ModelCall rest(model, tokens);
      SiteArrays again(model, rest.args, all.places);
      rest.args.readings = again.readings;
      rest.args.token_types = {};
      rest.args.begin = {{stream.arrays[0].data(), {2, 7, c.d_model}}, layer};
      require_ok(model.forward(rest.args, workspace));
      CHECK(first_difference(whole.results.all(), rest.results.all()) == "");
      CHECK(first_difference(all.all(), again.all()) == "");
    }
  }
}

TEST_CASE("LanguageModel: a pass that begins above the first layer leaves a conversation as it was",
          "[model][site]") {
  LanguageModelConfig config = family("gemma2");
  config.max_length = 400;
  const ModelWeights weights(config, 370);
  const LanguageModel model = weights.make();
  const ModelTokens tokens(config, 1, 300, 370);
  Workspace workspace;
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  run(model, tokens.part(0, 20), {.session = &session}, workspace);
  ModelCall whole(model, tokens.part(20, 280), {.session = &session});
  SiteArrays stream(model, whole.args, {{ModelSite::kResidual, 0}});
  whole.args.readings = stream.readings;
  require_ok(model.forward(whole.args, workspace));
  require_ok(session.truncate(20));
  ModelCall rest(model, tokens.part(20, 280), {.session = &session});
  rest.args.begin = {{stream.arrays[0].data(), {1, 280, 64}}, 1};
  require_ok(model.forward(rest.args, workspace));
  CHECK(first_difference(whole.results.all(), rest.results.all()) == "");
  CHECK(session.length() == 20);
  // The next call goes on as if nothing had been.
  const ModelResults next = run(model, tokens.part(20, 280), {.session = &session}, workspace);
  CHECK(first_difference(whole.results.all(), next.all()) == "");
}

TEST_CASE("LanguageModel: a lens tells the greatest logits and their probabilities",
          "[model][site]") {
  for (const char* name : {"gpt2", "gemma2", "sinusoidal", "mistral"}) {
    CAPTURE(name);
    LanguageModelConfig config = family(name);
    config.max_length = 300;
    ModelWeights weights(config, 380);
    // Three tokens whose logits are equal: the first of them is told first.
    const auto [v_all, d] = std::pair(to_size(config.vocabulary), to_size(config.d_model));
    for (std::size_t i = 0; i < d; ++i) {
      for (const std::size_t id : {std::size_t{7}, std::size_t{11}}) {
        if (config.tied_embeddings) {
          std::vector<float>& table = weights.arrays.at("embedding");
          table[id * d + i] = table[3 * d + i];
        } else {
          std::vector<float>& head = weights.arrays.at("head");
          head[i * v_all + id] = head[i * v_all + 3];
        }
      }
    }
    const LanguageModel model = weights.make();
    const ModelTokens tokens(config, 2, 250, 380);
    ModelSession session;
    require_ok(ModelSession::create(model, {.batch = 2}, session));
    ModelCall call(model, tokens, {.session = &session});
    const Index top = 5;
    const Index v = config.vocabulary;
    SiteArrays logits(model, call.args, {{ModelSite::kLogits, 0}, {ModelSite::kLogits, 1}},
                      {230, 249});
    std::vector<std::int32_t> ids(to_size(2 * 2 * 19 * top));
    std::vector<float> shares(ids.size());
    std::vector<ModelLens> lenses;
    for (Index n = 0; n < 2; ++n) {
      const Index at = n * 2 * 19 * top;
      lenses.push_back({.layer = n,
                        .row_begin = 230,
                        .row_end = 249,
                        .ids = {ids.data() + at, {2, 19, top}},
                        .probabilities = {shares.data() + at, {2, 19, top}}});
    }
    call.args.readings = logits.readings;
    call.args.lenses = lenses;
    Workspace workspace;
    require_ok(model.forward(call.args, workspace));
    const ModelResults plain = run(model, tokens);
    CHECK(first_difference(plain.all(), call.results.all()) == "");
    for (Index n = 0; n < 2; ++n) {
      for (Index r = 0; r < 2 * 19; ++r) {
        const float* row = logits.arrays[to_size(n)].data() + r * v;
        const std::vector<double> exact(row, row + v);
        const std::vector<double> surprisal = oracle::negative_log_softmax(exact);
        std::vector<Index> order(to_size(v));
        for (Index i = 0; i < v; ++i) {
          order[to_size(i)] = i;
        }
        std::sort(order.begin(), order.end(), [&](Index one, Index other) {
          const double x = exact[to_size(one)];
          const double y = exact[to_size(other)];
          return x > y || (x == y && one < other);
        });
        for (Index i = 0; i < top; ++i) {
          const std::size_t at = to_size((n * 2 * 19 + r) * top + i);
          CHECK(ids[at] == order[to_size(i)]);
          const double share = std::exp(-surprisal[to_size(order[to_size(i)])]);
          CHECK(std::abs(static_cast<double>(shares[at]) - share) < 1e-6);
        }
      }
    }
  }
}

TEST_CASE("LanguageModel: the encoder is read and edited, and the decoder reads what it became",
          "[model][site]") {
  LanguageModelConfig config = family("t5 decoder");
  config.encoder_layers = 2;
  const ModelWeights weights(config, 390);
  const LanguageModel model = weights.make();
  const ModelTokens source(config, 1, 6, 391);
  const ModelTokens tokens(config, 1, 5, 392);
  const float half = 0.5F;
  TensorView<const float> number(&half, {1, 6, 24});
  number.strides = {};
  const std::vector<ModelEdit> edits = {
      {.site = ModelSite::kResidual, .layer = 0, .columns = {}, .add = number},
      {.site = ModelSite::kZ, .layer = 1, .head = 2, .scale = 0.0F}};
  ModelSession session;
  require_ok(ModelSession::create(model, {}, session));
  oracle::Model exact = weights.exact();
  exact.source = source.row(0);
  const SiteOracle of_encoder(exact.encoder(), source, edits);
  std::vector<float> last(6 * 24);
  const ModelReading readings[] = {{.site = ModelSite::kFinal, .to = {last.data(), {1, 6, 24}}}};
  Workspace workspace;
  LanguageModel::EncodeArgs args{.source = {source.ids.data(), {1, 6}}, .session = &session};
  args.readings = readings;
  args.edits = edits;
  require_ok(model.encode(args, workspace));
  Quantity quantity("model, encoder edited");
  for (std::size_t i = 0; i < last.size(); ++i) {
    const double x = of_encoder.at(0, {ModelSite::kFinal, 0})[i / 24][i % 24];
    quantity.add(static_cast<double>(last[i]), x, 2e-5, 1.0);
  }
  require_within(quantity);
  // Of the decoder all sites, with what was not edited.
  require_ok(session.truncate(0));
  args.readings = {};
  args.edits = {};
  require_ok(model.encode(args, workspace));
  const SiteOracle of_decoder(exact, tokens, {});
  of_decoder.compare("model, sites", SitePass(model, tokens, {}, &session).sites);
}

}  // namespace
}  // namespace qkv::test::language_model_site_test
