// FeedForward against the oracle, and its checks.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "blocks_oracle.hpp"
#include "guarded.hpp"
#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::feed_forward_test {
namespace {

using F = FeedForwardActivation;
constexpr F kAll[] = {F::kRelu, F::kGelu, F::kGeluTanh, F::kSilu, F::kSwiglu};
constexpr const char* kNames[] = {"feed_forward relu", "feed_forward gelu",
                                  "feed_forward gelu_tanh", "feed_forward silu",
                                  "feed_forward swiglu"};

/// A layer that owns its weights and activations.
struct FeedForwardProblem {
  FeedForwardProblem(const FeedForwardConfig& c, Index batch_size, Index length, std::uint64_t seed)
      : config(c), batch(batch_size), t(length) {
    Random random(seed);
    const auto matrix = [&](Index in, Index out) {  // keeps the variance of what it multiplies
      return random_floats(random, in * out, 1.7320508F / std::sqrt(static_cast<float>(in)));
    };
    w1 = matrix(c.d_model, c.d_feed_forward);
    w2 = matrix(c.d_feed_forward, c.d_model);
    w_gate = matrix(c.d_model, c.d_feed_forward);
    b1 = random_floats(random, c.d_feed_forward, 0.5F);
    b2 = random_floats(random, c.d_model, 0.5F);
    b_gate = random_floats(random, c.d_feed_forward, 0.5F);
    x = random_floats(random, batch * t * c.d_model);
    y.assign(x.size(), kUntouched);
  }

  [[nodiscard]] FeedForwardWeights weights() const {
    FeedForwardWeights w;
    w.w1 = {w1.data(), {config.d_model, config.d_feed_forward}};
    w.b1 = {b1.data(), {config.d_feed_forward}};
    w.w2 = {w2.data(), {config.d_feed_forward, config.d_model}};
    w.b2 = {b2.data(), {config.d_model}};
    if (config.activation == F::kSwiglu) {
      w.w_gate = {w_gate.data(), {config.d_model, config.d_feed_forward}};
      w.b_gate = {b_gate.data(), {config.d_feed_forward}};
    }
    return w;
  }
  [[nodiscard]] FeedForward::ForwardArgs args() {
    return {{x.data(), {batch, t, config.d_model}}, {y.data(), {batch, t, config.d_model}}};
  }
  const std::vector<float>& run() & {
    if (!created) {
      create(weights());
    }
    require_ok(layer.forward(args(), workspace));
    return y;
  }
  void create(const FeedForwardWeights& from) {
    require_ok(FeedForward::create(config, from, layer));
    created = true;
  }
  void check() { check(weights()); }
  /// `as_created`: [in, out] views of what the layer holds.
  void check(const FeedForwardWeights& as_created) {
    if (!created) {
      create(as_created);
    }
    run();
    Quantity quantity(kNames[static_cast<int>(config.activation)]);
    const oracle::Bounded exact =
        oracle::feed_forward(config.activation, as_created, oracle::exactly(x));
    for (std::size_t i = 0; i < y.size(); ++i) {
      quantity.add(static_cast<double>(y[i]), exact.value[i], exact.error[i],
                   std::max(1.0, std::abs(exact.value[i])));
    }
    require_within(quantity);
  }

  FeedForwardConfig config;
  Index batch, t;
  std::vector<float> w1, w2, w_gate, b1, b2, b_gate, x, y;
  FeedForward layer;
  bool created = false;
  Workspace workspace;
};

TEST_CASE("feed-forward: within the bounds for every size", "[feed-forward]") {
  std::uint64_t seed = 1;
  for (F f : kAll) {
    for (Index size : {1, 2, 3, 5, 7, 8, 15, 16, 17, 63, 64, 65, 127, 129}) {
      CAPTURE(kNames[static_cast<int>(f)], size);
      FeedForwardProblem({.d_model = size, .d_feed_forward = 9, .activation = f}, 1, 3, seed++)
          .check();
      FeedForwardProblem({.d_model = 6, .d_feed_forward = size, .activation = f}, 2, 2, seed++)
          .check();
      FeedForwardProblem({.d_model = 6, .d_feed_forward = 10, .activation = f}, 1, size, seed++)
          .check();
    }
  }
}

TEST_CASE("feed-forward: more tokens than are held at a time", "[feed-forward]") {
  for (F f : {F::kGelu, F::kSwiglu}) {
    for (Index t : {191, 192, 193, 384, 500}) {
      CAPTURE(kNames[static_cast<int>(f)], t);
      FeedForwardProblem({.d_model = 5, .d_feed_forward = 18, .activation = f}, 1, t, 100).check();
    }
  }
}

TEST_CASE("feed-forward: tokens are independent, bit for bit", "[feed-forward]") {
  for (F f : kAll) {
    FeedForwardProblem all({.d_model = 12, .d_feed_forward = 31, .activation = f}, 2, 110, 200);
    all.run();
    for (Index token : {0, 1, 7, 109, 110, 191, 192, 219}) {
      CAPTURE(kNames[static_cast<int>(f)], token);
      FeedForwardProblem one(all.config, 1, 1, 200);
      one.x.assign(all.x.begin() + token * 12, all.x.begin() + (token + 1) * 12);
      REQUIRE(first_difference({all.y.begin() + token * 12, all.y.begin() + (token + 1) * 12},
                               one.run()) == "");
    }
  }
}

TEST_CASE("feed-forward: x itself may be y", "[feed-forward][alias]") {
  for (F f : kAll) {
    for (Index t : {1, 7, 200}) {
      CAPTURE(kNames[static_cast<int>(f)], t);
      FeedForwardProblem p({.d_model = 9, .d_feed_forward = 20, .activation = f}, 2, t, 300);
      const std::vector<float> apart = p.run();
      auto args = p.args();
      args.y.data = p.x.data();
      require_ok(p.layer.forward(args, p.workspace));
      REQUIRE(first_difference(apart, p.x) == "");
    }
  }
}

TEST_CASE("feed-forward: each bias counts, and each may be left out", "[feed-forward]") {
  for (int given = 0; given < 8; ++given) {
    CAPTURE(given);
    FeedForwardProblem p({.d_model = 9, .d_feed_forward = 20, .activation = F::kSwiglu}, 2, 4, 400);
    FeedForwardWeights w = p.weights();
    TensorView<const float>* biases[] = {&w.b1, &w.b2, &w.b_gate};
    for (int i = 0; i < 3; ++i) {
      if ((given >> i & 1) == 0) {
        *biases[i] = {};
      }
    }
    p.check(w);
  }
}

TEST_CASE("feed-forward: [out, in] matrices give the bits of their transposes",
          "[feed-forward][layout]") {
  const auto transposed = [](const std::vector<float>& from, std::size_t columns) {
    std::vector<float> to(from.size());
    const std::size_t rows = from.size() / columns;
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i % columns * rows + i / columns] = from[i];
    }
    return to;
  };
  FeedForwardProblem in_out({.d_model = 9, .d_feed_forward = 20, .activation = F::kSwiglu}, 2, 4,
                            500);
  FeedForwardProblem out_in(in_out.config, 2, 4, 500);
  out_in.config.weight_layout = WeightLayout::kOutIn;
  FeedForwardWeights w = out_in.weights();
  const auto w1 = transposed(out_in.w1, 20);
  const auto w2 = transposed(out_in.w2, 9);
  const auto w_gate = transposed(out_in.w_gate, 20);
  w.w1 = {w1.data(), {20, 9}};
  w.w2 = {w2.data(), {9, 20}};
  w.w_gate = {w_gate.data(), {20, 9}};
  out_in.create(w);
  CHECK(first_difference(in_out.run(), out_in.run()) == "");
}

TEST_CASE("feed-forward: NaN stays in its token", "[feed-forward][extremes]") {
  for (F f : kAll) {
    FeedForwardProblem p({.d_model = 9, .d_feed_forward = 20, .activation = f}, 1, 15, 600);
    const std::vector<float> before = p.run();
    p.x[7 * 9 + 3] = NAN;
    p.run();
    for (std::size_t i = 0; i < before.size(); ++i) {
      REQUIRE((i / 9 == 7 ? std::isnan(p.y[i]) : p.y[i] == before[i]));
    }
  }
}

TEST_CASE("feed-forward: the arrays given to create() may go away, and the layer may move",
          "[feed-forward][move]") {
  FeedForwardProblem p({.d_model = 9, .d_feed_forward = 20, .activation = F::kSwiglu}, 1, 5, 700);
  const std::vector<float> before = p.run();
  for (auto* values : {&p.w1, &p.w2, &p.w_gate, &p.b1, &p.b2, &p.b_gate}) {
    std::fill(values->begin(), values->end(), NAN);
  }
  FeedForward moved(std::move(p.layer));
  // NOLINTNEXTLINE(bugprone-use-after-move): what it does is the question.
  const Status empty = p.layer.forward(p.args(), p.workspace);
  CHECK(empty.code() == StatusCode::kInvalidArgument);
  CHECK(std::string(empty.message()) ==
        "FeedForward::forward: the layer is empty, expected one made by create()");
  CHECK(p.layer.forward_scratch_bytes(p.args()) == 0);
  p.layer = std::move(moved);
  CHECK(first_difference(before, p.run()) == "");
  CHECK(p.layer.config().d_feed_forward == 20);
}

TEST_CASE("feed-forward: creating over a layer with biases and a gate replaces them",
          "[feed-forward]") {
  FeedForwardProblem old({.d_model = 9, .d_feed_forward = 20, .activation = F::kSwiglu}, 1, 5, 800);
  old.run();
  FeedForwardProblem p({.d_model = 7, .d_feed_forward = 11}, 1, 5, 801);
  FeedForwardWeights w = p.weights();
  w.b1 = w.b2 = {};
  p.layer = std::move(old.layer);
  p.create(w);
  p.check(w);
}

TEST_CASE("feed-forward: nothing outside the arrays is touched", "[feed-forward][memory][guard]") {
  for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
    for (Index d : {1, 5, 8, 17, 64, 65}) {
      CAPTURE(static_cast<int>(edge), d);
      FeedForwardProblem p({.d_model = d, .d_feed_forward = d + 3, .activation = F::kSwiglu}, 1, 7,
                           1100);
      const std::vector<float> expected = p.run();
      const Guarded w1(p.w1, edge);
      const Guarded w2(p.w2, edge);
      const Guarded w_gate(p.w_gate, edge);
      const Guarded b1(p.b1, edge);
      const Guarded b2(p.b2, edge);
      const Guarded b_gate(p.b_gate, edge);
      const Guarded x(p.x, edge);
      const Guarded<float> y(p.y.size(), edge);
      FeedForwardWeights w = p.weights();
      w.w1.data = w1.data();
      w.w2.data = w2.data();
      w.w_gate.data = w_gate.data();
      w.b1.data = b1.data();
      w.b2.data = b2.data();
      w.b_gate.data = b_gate.data();
      p.create(w);
      auto args = p.args();
      args.x.data = x.data();
      args.y.data = y.data();
      require_ok(p.layer.forward(args, p.workspace));
      REQUIRE(first_difference(expected, y.values()) == "");
      REQUIRE(y.intact());
    }
  }
}

TEST_CASE("feed-forward: no tokens", "[feed-forward][empty]") {
  FeedForwardProblem none({.d_model = 9, .d_feed_forward = 20}, 2, 0, 1200);
  CHECK(none.run().empty());
  FeedForwardProblem no_batch({.d_model = 9, .d_feed_forward = 20}, 0, 3, 1200);
  CHECK(no_batch.run().empty());
}

struct CreateCase {
  const char* what;
  Spoil<FeedForwardConfig&, FeedForwardWeights&> spoil;
  Refusal refusal;
};

void require_all_refused(F f, const std::vector<CreateCase>& cases) {
  FeedForwardProblem there({.d_model = 4, .d_feed_forward = 6}, 1, 3, 1300);
  const std::vector<float> before = there.run();
  for (const CreateCase& c : cases) {
    INFO(c.what);
    const FeedForwardProblem p({.d_model = 5, .d_feed_forward = 7, .activation = f}, 1, 3, 1301);
    FeedForwardConfig config = p.config;
    FeedForwardWeights weights = p.weights();
    c.spoil(config, weights);
    const std::size_t bytes = allocated_bytes();
    require_refused(FeedForward::create(config, weights, there.layer), "FeedForward::create",
                    c.refusal);
    CHECK(allocated_bytes() == bytes);
    CHECK(first_difference(before, there.run()) == "");
  }
}

TEST_CASE("feed-forward: bad weights are refused", "[feed-forward][bad-input]") {
  using C = FeedForwardConfig;
  using W = FeedForwardWeights;
  require_all_refused(
      F::kSwiglu,
      {
          {"d_model 0", [](C& c, W&) { c.d_model = 0; }, {kRange, "d_model is", "0", "at least 1"}},
          {"d_feed_forward < 0",
           [](C& c, W&) { c.d_feed_forward = -7; },
           {kRange, "d_feed_forward is", "-7", "at least 1"}},
          {"no such activation",
           [](C& c, W&) { c.activation = static_cast<F>(5); },
           {kInvalid, "activation is", "5", "a value of FeedForwardActivation"}},
          {"w1 missing", [](C&, W& w) { w.w1 = {}; }, {kInvalid, "w1", "missing", ""}},
          {"w2 missing", [](C&, W& w) { w.w2 = {}; }, {kInvalid, "w2", "missing", ""}},
          {"w_gate missing", [](C&, W& w) { w.w_gate = {}; }, {kInvalid, "w_gate", "missing", ""}},
          {"the other layout",
           [](C& c, W&) { c.weight_layout = WeightLayout::kOutIn; },
           {kShapeError, "w1 is", "[5,7]", "[7,5]"}},
          {"w_gate transposed",
           [](C&, W& w) { w.w_gate = {w.w_gate.data, {7, 5}}; },
           {kShapeError, "w_gate is", "[7,5]", "[5,7]"}},
          {"b_gate",
           [](C&, W& w) { w.b_gate.shape[0] = 5; },
           {kShapeError, "b_gate is", "[5]", "[7]"}},
      });
  require_all_refused(F::kGelu, {
                                    {"w_gate without SwiGLU",
                                     [](C&, W& w) { w.w_gate = w.w1; },
                                     {kInvalid, "w_gate is given", "not kSwiglu", "none"}},
                                    {"b_gate without SwiGLU",
                                     [](C&, W& w) { w.b_gate = w.b1; },
                                     {kInvalid, "b_gate is given", "not kSwiglu", "none"}},
                                });
}

}  // namespace
}  // namespace qkv::test::feed_forward_test
