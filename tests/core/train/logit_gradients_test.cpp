// The difference of two logits and its gradients by activations, against slopes of the formula in double precision and against edits.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "failing_memory.hpp"
#include "model_sites.hpp"
#include "qkv/parallel.hpp"
#include "qkv/threads.hpp"
#include "refusal.hpp"
#include "thread_count.hpp"
#include "train_families.hpp"
#include "train_trainers.hpp"

namespace qkv::test::logit_gradients_test {
namespace {

using train::LanguageModelTrainer;
using LogitArgs = LanguageModelTrainer::LogitArgs;

constexpr const char* kName = "LanguageModelTrainer::logit_gradients";
constexpr Index kTokens = 6;

/// Whether a trainer keeps what is at a site.
bool is_kept(ModelSite site) {
  using enum ModelSite;
  return site != kScores && site != kWeights && site != kHeads && site != kEntropy &&
         site != kLogits && site != kNormWeights;
}

/// Sites with gradients, of all layers.
std::vector<SitePlace> places_kept(const LanguageModelConfig& config) {
  std::vector<SitePlace> places = places_of(config);
  std::erase_if(places, [](const SitePlace& place) { return !is_kept(place.first); });
  return places;
}

/// A model with the trainer of its weights, rows of tokens, and everything that logit_gradients() writes.
struct Problem {
  Problem(const LanguageModelConfig& config, std::uint64_t seed, ModelRange rows = {})
      : weights(config, seed),
        model(weights.make()),
        trainer(trainer_of(weights)),
        tokens(config, 2, kTokens, seed),
        call(model, with_lengths(tokens, config)),
        activations(model, call.args, places_kept(model.config()), rows),
        gradients(model, call.args, places_kept(model.config()), rows) {
    args.tokens.ids = call.args.ids;
    args.tokens.key_lengths = call.args.key_lengths;
    args.tokens.token_types = call.args.token_types;
    args.batch = 1;
    args.row = config.causal ? kTokens - 2 : 1;
    args.answer = 3;
    args.instead = 5;
    args.activations = activations.readings;
    args.gradients = gradients.readings;
  }
  /// Encoders have rows of different lengths.
  static const ModelTokens& with_lengths(ModelTokens& tokens, const LanguageModelConfig& config) {
    if (!config.causal) {
      tokens.lengths = {kTokens, kTokens - 2};
    }
    return tokens;
  }
  double run(ThreadPool* pool = nullptr) {
    Workspace workspace(pool);
    double value = 0.0;
    require_ok(trainer.logit_gradients(args, workspace, value));
    return value;
  }
  [[nodiscard]] std::vector<float> written() const {
    const std::vector<float> read = activations.all();
    const std::vector<float> found = gradients.all();
    return joined({&read, &found});
  }

  ModelWeights weights;
  LanguageModel model;
  LanguageModelTrainer trainer;
  ModelTokens tokens;
  ModelCall call;
  SiteArrays activations, gradients;
  LogitArgs args;
};

/// The difference of the logits in double precision while `h` times a direction is added at a place of the batch row; the direction
/// is [heads][T][width], flat.
double exact_value(const Problem& p, SitePlace place, const std::vector<double>& direction,
                   double h) {
  const LogitArgs& args = p.args;
  oracle::Pass pass;
  pass.length = p.tokens.lengths.empty() ? -1 : Index{p.tokens.lengths[to_size(args.batch)]};
  if (!p.tokens.types.empty()) {
    const auto own = p.tokens.types.begin() + args.batch * kTokens;
    pass.types.assign(own, own + kTokens);
  }
  pass.visit = [&](ModelSite site, Index layer, Index head, oracle::Rows& rows) {
    if (SitePlace{site, layer} != place) {
      return;
    }
    std::size_t at = to_size(std::max<Index>(head, 0)) * rows.size() * rows[0].size();
    for (std::vector<double>& row : rows) {
      for (double& x : row) {
        x += h * direction[at++];
      }
    }
  };
  const oracle::Trace trace = p.weights.exact().trace(p.tokens.row(args.batch), pass);
  // The logits of a trace are made of the stream before what is added at its end.
  const bool end = place.first == ModelSite::kFinal;
  const std::vector<double> row = end ? p.weights.exact().head({trace.hidden[to_size(args.row)]})[0]
                                      : trace.logits[to_size(args.row)];
  return row[to_size(args.answer)] - row[to_size(args.instead)];
}

/// What the head reads has the difference of two of its columns as gradient, in the one row.
void require_of_head(const Problem& p, const std::vector<float>& found) {
  const Index d = p.model.config().d_model;
  const Index v = p.model.config().vocabulary;
  const bool tied = p.model.config().tied_embeddings;
  const std::vector<float>& head = p.weights.arrays.at(tied ? "embedding" : "head");
  for (Index i = 0; i < static_cast<Index>(found.size()); ++i) {
    const bool own = i / d == p.args.batch * kTokens + p.args.row;
    const auto of = [&](Index id) { return head[to_size(tied ? id * d + i % d : i % d * v + id)]; };
    REQUIRE(found[to_size(i)] == (own ? of(p.args.answer) - of(p.args.instead) : 0.0F));
  }
}

TEST_CASE("LanguageModelTrainer: gradients of a difference of logits at every site of every family",
          "[train][site]") {
  Quantity slopes("logit_gradients");
  Quantity values("logit_gradients, value");
  std::uint64_t seed = 400;
  int kinds = 0;
  for (const Family& f : families()) {
    if (!is_trained(f.config)) {
      continue;
    }
    CAPTURE(f.name);
    ++kinds;
    Problem p(f.config, ++seed);
    const double value = p.run();
    const std::vector<double> none;
    const double exact = exact_value(p, {ModelSite::kLogits, -1}, none, 0.0);
    values.add(value, exact, 1e-4, 1.0);
    Random random(seed);
    for (std::size_t i = 0; i < p.gradients.places.size(); ++i) {
      const SitePlace place = p.gradients.places[i];
      CAPTURE(static_cast<int>(place.first), place.second);
      const std::vector<float>& found = p.gradients.arrays[i];
      if (place.first == ModelSite::kFinal && f.config.logit_softcap == 0.0F &&
          f.config.head_transform == HeadTransform::kNone) {
        require_of_head(p, found);
      }
      const std::size_t size = found.size() / 2;
      std::vector<double> direction(size);
      double slope = 0.0;
      double scale = 0.0;
      for (std::size_t j = 0; j < size; ++j) {
        direction[j] = static_cast<double>(random.uniform(1.0F));
        const double of_it = static_cast<double>(found[size + j]) * direction[j];
        slope += of_it;
        scale += std::abs(of_it);
        REQUIRE(found[j] == 0.0F);  // the other row of the batch
      }
      constexpr double kStep = 1e-4;
      const auto difference = [&](double h) {
        return (exact_value(p, place, direction, h) - exact_value(p, place, direction, -h)) /
               (2 * h);
      };
      // Richardson's extrapolation leaves the fourth power of the step.
      const double exact_slope = (4 * difference(kStep) - difference(2 * kStep)) / 3;
      slopes.add(slope, exact_slope, bounds::kU * 24 * 48 * (scale + 0.05) + 1e-9, scale + 0.05);
    }
  }
  CHECK(kinds >= 22);
  require_within(slopes);
  require_within(values);
}

TEST_CASE("LanguageModelTrainer: activations beside gradients are those of the model",
          "[train][site]") {
  std::uint64_t seed = 430;
  for (const Family& f : families()) {
    if (!is_trained(f.config)) {
      continue;
    }
    CAPTURE(f.name);
    for (const ModelRange rows : {ModelRange{}, ModelRange{2, 5}}) {
      Problem p(f.config, ++seed, rows);
      p.run();
      const SiteOracle exact(p.weights.exact(), p.tokens, {});
      exact.compare("trainer, sites", p.activations, rows);
    }
  }
}

TEST_CASE("LanguageModelTrainer: a small edit of the model does what the gradient says",
          "[train][site]") {
  Problem p(family("llama"), 450);
  const double value = p.run();
  int compared = 0;
  for (std::size_t i = 0; i < p.gradients.places.size(); ++i) {
    const auto [site, layer] = p.gradients.places[i];
    if (site == ModelSite::kFinal) {
      continue;  // cannot be edited
    }
    CAPTURE(static_cast<int>(site), layer);
    // Along the gradient itself, so that the change is the greatest for the size of the edit: h |g|^2.
    const std::vector<float>& g = p.gradients.arrays[i];
    double squares = 0.0;
    for (const float x : g) {
      squares += static_cast<double>(x) * static_cast<double>(x);
    }
    REQUIRE(squares > 0.0);
    const double h = 0.01 / squares;
    std::vector<float> add(g.size());
    std::transform(g.begin(), g.end(), add.begin(),
                   [&](float x) { return static_cast<float>(h * static_cast<double>(x)); });
    ModelEdit edit{.site = site, .layer = layer};
    edit.add = p.gradients.readings[i].to;
    edit.add.data = add.data();
    LanguageModel::ForwardArgs args = p.call.args;
    args.edits = {&edit, 1};
    Workspace workspace;
    require_ok(p.model.forward(args, workspace));
    const Index v = p.model.config().vocabulary;
    const float* row = p.call.args.logits.data + (p.args.batch * kTokens + p.args.row) * v;
    const double changed =
        static_cast<double>(row[p.args.answer]) - static_cast<double>(row[p.args.instead]) - value;
    // 0.01 but for curvature, the square of the step, and rounding of logits of size 10.
    CHECK(std::abs(changed - 0.01) < 0.0005);
    ++compared;
  }
  CHECK(compared >= 10);
}

TEST_CASE("LanguageModelTrainer: a logit alone, the last token, and no gradients",
          "[train][site]") {
  Problem p(family("llama"), 460);
  p.args.row = -1;
  const double both = p.run();
  const std::vector<float> last = p.written();
  p.args.row = kTokens - 1;
  CHECK(p.run() == both);
  CHECK(first_difference(last, p.written()) == "");
  p.args.gradients = {};
  CHECK(p.run() == both);
  p.args.instead = -1;
  const double answer = p.run();
  p.args.answer = 5;
  CHECK(std::abs(answer - p.run() - both) < 1e-12);
}

TEST_CASE("LanguageModelTrainer: gradients by activations change nothing else, and threads no bit",
          "[train][site][parallel]") {
  const OfLanguageModel of;
  Workspace workspace;
  auto trainer = make_trainer(of, lively_options());
  make_step(of, trainer, 1, workspace);
  const std::vector<float> state = state_of(trainer);
  const std::vector<float> gradients = gradients_of(trainer);
  const OfLanguageModel::Rows rows(3, 7, 2);
  std::vector<float> stream(3 * 7 * 12);
  const ModelReading reading{.site = ModelSite::kResidual, .to = {stream.data(), {3, 7, 12}}};
  LogitArgs args{.tokens = rows.view().tokens, .gradients = {&reading, 1}};
  double value = 0.0;
  require_ok(trainer.logit_gradients(args, workspace, value));
  CHECK(first_difference(state, state_of(trainer)) == "");
  CHECK(first_difference(gradients, gradients_of(trainer)) == "");
  auto undisturbed = make_trainer(of, lively_options());
  make_step(of, undisturbed, 1, workspace);
  make_step(of, trainer, 3, workspace);
  make_step(of, undisturbed, 3, workspace);
  CHECK(first_difference(state_of(undisturbed), state_of(trainer)) == "");

  Problem p(family("llama"), 470);
  p.run();
  const std::vector<float> alone = p.written();
  Threads threads(kThreads);
  p.run(&threads.pool());
  CHECK(first_difference(alone, p.written()) == "");
}

TEST_CASE("LanguageModelTrainer: logit_gradients refuses before anything is written",
          "[train][site][bad-input]") {
  struct Wrong {
    Spoil<LogitArgs&, ModelReading&> spoil;
    Refusal refusal;
  };
  static const std::vector<std::int32_t> strange(2 * kTokens, 1000);
  const Wrong rows[] = {
      {[](LogitArgs& a, auto&) { a.tokens.ids = {strange.data(), {2, kTokens}}; },
       {kRange, "ids[0]", "is 1000", "[0, "}},
      {[](LogitArgs& a, auto&) { a.tokens.ids.shape = {0, kTokens}; },
       {kShapeError, "ids", "is [0,6]", "at least 1"}},
      {[](LogitArgs& a, auto&) { a.tokens.key_lengths = {strange.data(), {2}}; },
       {kRange, "key_lengths[0]", "is 1000", "[0, 6]"}},
      {[](LogitArgs& a, auto&) { a.batch = 2; }, {kRange, "batch", "is 2", "[0, 2)"}},
      {[](LogitArgs& a, auto&) { a.batch = -1; }, {kRange, "batch", "is -1", "[0, 2)"}},
      {[](LogitArgs& a, auto&) { a.row = kTokens; }, {kRange, "row", "is 6", "[-1, 6)"}},
      {[](LogitArgs& a, auto&) { a.answer = -1; }, {kRange, "answer", "is -1", "[0, "}},
      {[](LogitArgs& a, auto&) { a.instead = 1000; }, {kRange, "instead", "is 1000", "[-1, "}},
      {[](auto&, ModelReading& r) { r.layer = 9; },
       {kRange, "the layer of gradients[1]", "is 9", "[0, "}},
      {[](auto&, ModelReading& r) { r.site = static_cast<ModelSite>(99); },
       {kInvalid, "the site of gradients[1]", "is 99", "0 to 17"}},
      {[](auto&, ModelReading& r) { r.site = ModelSite::kCross; },
       {kUnsupported, "the site of gradients[1]", "is kCross", "another"}},
      {[](auto&, ModelReading& r) {
         r.site = ModelSite::kWeights;
         r.to = {r.to.data, {2, 4, kTokens, kTokens}};
       },
       {kUnsupported, "the site of gradients[1]", "is kWeights", "does not keep it"}},
      {[](auto&, ModelReading& r) { r.row_end = kTokens + 1; },
       {kRange, "rows of gradients[1]", "are [0, 7)", "[0, 6)"}},
      {[](auto&, ModelReading& r) { r.to.shape[1] = 3; },
       {kShapeError, "kResidual", "is [2,3,", "[2,6,"}},
      {[](auto&, ModelReading& r) { r.to.data = nullptr; },
       {kInvalid, "kResidual", "has no data", "[2,6,"}},
      {[](auto&, ModelReading& r) { r.layer = 0; },
       {kInvalid, "kResidual of layer 0", "is read twice", "once"}},
      {[](auto&, ModelReading& r) { r.to.data -= 1; },
       {kInvalid, "kResidual", "overlaps kResidual", "separate memory"}},
  };
  Problem p(family("llama"), 480);
  const Index d = p.model.config().d_model;
  REQUIRE(p.model.config().num_heads == 4);
  for (const Wrong& row : rows) {
    std::vector<float> written(to_size(4 * 2 * kTokens * d), kUntouched);
    const auto part = [&](Index i) {
      return TensorView<float>(written.data() + i * 2 * kTokens * d, {2, kTokens, d});
    };
    const ModelReading read{.site = ModelSite::kResidual, .layer = 1, .to = part(0)};
    ModelReading both[2] = {{.site = ModelSite::kResidual, .layer = 0, .to = part(1)},
                            {.site = ModelSite::kResidual, .layer = 1, .to = part(2)}};
    LogitArgs args = p.args;
    args.activations = {&read, 1};
    args.gradients = both;
    row.spoil(args, both[1]);
    Workspace workspace;
    double value = -7.0;
    require_refused(p.trainer.logit_gradients(args, workspace, value), kName, row.refusal);
    CHECK(value == -7.0);
    CHECK(first_difference(std::vector<float>(written.size(), kUntouched), written) == "");
  }
  LanguageModelTrainer empty;
  Workspace workspace;
  double value = -7.0;
  require_refused(empty.logit_gradients(p.args, workspace, value), kName,
                  {kInvalid, "the trainer", "is empty", "create()"});
}

TEST_CASE("LanguageModelTrainer: gradients by activations survive when memory runs out",
          "[train][site][out-of-memory]") {
  Problem whole(family("llama"), 490);
  const double expected = whole.run();
  int request = 0;
  for (bool failed = true; failed; ++request) {
    CAPTURE(request);
    Problem p(family("llama"), 490);
    const std::vector<float> untouched = p.written();
    Workspace workspace;
    double value = -7.0;
    Status status;
    {
      const FailingMemory memory(request);
      status = p.trainer.logit_gradients(p.args, workspace, value);
      failed = memory.failed();
    }
    if (failed) {
      REQUIRE(status.code() == StatusCode::kOutOfMemory);
      REQUIRE(value == -7.0);
      REQUIRE(first_difference(untouched, p.written()) == "");
      status = p.trainer.logit_gradients(p.args, workspace, value);
    }
    require_ok(status);
    REQUIRE(value == expected);
    REQUIRE(first_difference(whole.written(), p.written()) == "");
    const FailingMemory memory(-1);
    status = p.trainer.logit_gradients(p.args, workspace, value);
    REQUIRE(memory.aligned_requests() + memory.other_requests() == 0);
  }
  CHECK(request - 1 >= 4);  // values and gradients of the tape, what is kept, the workspace
}

}  // namespace
}  // namespace qkv::test::logit_gradients_test
