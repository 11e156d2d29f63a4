// additive_attention() with its projections: it is its parts one after another.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "qkv/linear.hpp"
#include "qkv/train/linear.hpp"
#include "refusal.hpp"
#include "train_additive.hpp"

namespace qkv::test::additive_attention_test {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr AdditiveLayerSizes kSizes[] = {
    {{1, 1, 1, 1, 1}, 1, 1}, {{2, 4, 7, 5, 3}, 6, 9}, {{3, 5, 33, 17, 8}, 20, 11}};

/// x W of dense rows.
std::vector<float> product(const TensorView<const float>& x, const TensorView<const float>& w,
                           Workspace& workspace) {
  std::vector<float> to(at(x.size() / x.extent(2) * w.extent(1)));
  LinearArgs args;
  args.x = x;
  args.w = w;
  args.out = {to.data(), {x.extent(0), x.extent(1), w.extent(1)}};
  require_ok(linear(args, workspace));
  return to;
}

TEST_CASE("additive_attention: it is its parts, bit for bit", "[train][additive]") {
  std::uint64_t seed = 1;
  for (const AdditiveLayerSizes& sizes : kSizes) {
    CAPTURE(sizes.of.batch, sizes.of.tq, sizes.of.tk, sizes.of.da);
    AdditiveLayerProblem p(sizes, seed++);
    p.run();
    const train::AdditiveAttentionBackwardArgs args = p.backward();
    AdditiveProblem parts(sizes.of, 0);
    parts.q = product(args.s, args.score.w, p.workspace);
    parts.k = product(args.h, args.score.u, p.workspace);
    parts.v = p.v;
    parts.values = p.values;
    parts.d_context = p.d_context;
    parts.run();
    CHECK(first_difference(parts.context, p.context) == "");
    CHECK(first_difference(parts.weights, p.weights) == "");
    CHECK(first_difference(parts.dv, p.dv) == "");
    CHECK(first_difference(parts.d_values, p.d_values) == "");
    const auto back = [&](const std::vector<float>& d_out, const TensorView<const float>& x,
                          const TensorView<const float>& w, const std::vector<float>& dx,
                          const std::vector<float>& dw) {
      std::vector<float> own_dx(dx.size());
      std::vector<float> own_dw(dw.size());
      train::LinearBackwardArgs linear;
      linear.d_out = {d_out.data(), {x.extent(0), x.extent(1), w.extent(1)}};
      linear.x = x;
      linear.w = w;
      linear.dx = {own_dx.data(), {x.extent(0), x.extent(1), x.extent(2)}};
      linear.dw = {own_dw.data(), {w.extent(0), w.extent(1)}};
      require_ok(train::linear_backward(linear, p.workspace));
      CHECK(first_difference(own_dx, dx) == "");
      CHECK(first_difference(own_dw, dw) == "");
    };
    back(parts.dq, args.s, args.score.w, p.ds, p.dw);
    back(parts.dk, args.h, args.score.u, p.dh, p.du);
  }
}

TEST_CASE("additive_attention: without values they are the keys", "[train][additive]") {
  for (const bool lengths : {false, true}) {
    CAPTURE(lengths);
    AdditiveLayerProblem given({{2, 4, 6, 5, 7}, 3, 7}, 20);
    given.values = given.h;
    if (lengths) {
      given.lengths = {6, 2};
    }
    given.run();
    AdditiveLayerProblem absent({{2, 4, 6, 5, 7}, 3, 7}, 20);
    absent.lengths = given.lengths;
    train::AdditiveAttentionArgs forward = absent.forward();
    forward.values = {};
    require_ok(train::additive_attention(forward, absent.workspace));
    train::AdditiveAttentionBackwardArgs backward = absent.backward();
    backward.values = {};
    backward.d_values = {};
    require_ok(train::additive_attention_backward(backward, absent.workspace));
    CHECK(first_difference(given.context, absent.context) == "");
    for (std::size_t i = 0; i < given.dh.size(); ++i) {
      given.dh[i] += given.d_values[i];
    }
    CHECK(first_difference(given.dh, absent.dh) == "");
    CHECK(first_difference(given.du, absent.du) == "");
    CHECK(first_difference(given.ds, absent.ds) == "");
  }
}

TEST_CASE("additive_attention: what keys past the length hold changes no bit",
          "[train][additive]") {
  const AdditiveLayerSizes sizes{{3, 4, 7, 9, 5}, 6, 8};
  AdditiveLayerProblem clean(sizes, 30);
  AdditiveLayerProblem spoiled(sizes, 30);
  clean.lengths = spoiled.lengths = {4, 7, 0};
  for (Index b = 0; b < 3; ++b) {
    for (Index j = spoiled.lengths[at(b)]; j < 7; ++j) {
      std::fill_n(spoiled.h.begin() + (b * 7 + j) * 8, 8, NAN);
      std::fill_n(spoiled.values.begin() + (b * 7 + j) * 5, 5, INFINITY);
    }
  }
  std::fill_n(spoiled.s.begin() + 2 * 4 * 6, 4 * 6, NAN);  // queries of the row without keys
  clean.run();
  spoiled.run();
  for (const auto array :
       {&AdditiveLayerProblem::context, &AdditiveLayerProblem::weights, &AdditiveLayerProblem::ds,
        &AdditiveLayerProblem::dh, &AdditiveLayerProblem::dw, &AdditiveLayerProblem::du,
        &AdditiveLayerProblem::dv, &AdditiveLayerProblem::d_values}) {
    CHECK(first_difference(clean.*array, spoiled.*array) == "");
  }
  for (Index i = 4 * 8; i < 7 * 8; ++i) {
    CHECK(spoiled.dh[at(i)] == 0.0F);
  }
  for (Index i = 2 * 4 * 6; i < 3 * 4 * 6; ++i) {
    CHECK(spoiled.ds[at(i)] == 0.0F);
  }
}

TEST_CASE("additive_attention_backward: keys past the length have gradient 0, whatever U holds",
          "[train][additive][nan]") {
  AdditiveLayerProblem p({{2, 4, 7, 9, 5}, 6, 8}, 31);
  p.lengths = {3, 6};
  std::fill(p.u.begin(), p.u.end(), NAN);
  p.run();
  for (Index b = 0; b < 2; ++b) {
    for (Index i = p.lengths[at(b)] * 8; i < 7 * 8; ++i) {
      CHECK(p.dh[at(b * 7 * 8 + i)] == 0.0F);
    }
  }
}

TEST_CASE("additive_attention_backward: each gradient may be left out, and changes no other",
          "[train][additive]") {
  const AdditiveLayerSizes sizes{{2, 3, 5, 4, 6}, 7, 8};
  AdditiveLayerProblem all(sizes, 40);
  all.run();
  using Backward = train::AdditiveAttentionBackwardArgs;
  struct Gradient {
    TensorView<float> Backward::* view;
    std::vector<float> AdditiveLayerProblem::* array;
  };
  constexpr Gradient kGradients[] = {{&Backward::ds, &AdditiveLayerProblem::ds},
                                     {&Backward::dh, &AdditiveLayerProblem::dh},
                                     {&Backward::dw, &AdditiveLayerProblem::dw},
                                     {&Backward::du, &AdditiveLayerProblem::du},
                                     {&Backward::dv, &AdditiveLayerProblem::dv},
                                     {&Backward::d_values, &AdditiveLayerProblem::d_values}};
  for (const Gradient& left_out : kGradients) {
    AdditiveLayerProblem p(sizes, 40);
    p.weights = all.weights;
    Backward args = p.backward();
    args.*left_out.view = {};
    require_ok(train::additive_attention_backward(args, p.workspace));
    for (const Gradient& other : kGradients) {
      if (other.array != left_out.array) {
        CHECK(first_difference(all.*other.array, p.*other.array) == "");
      }
    }
  }
}

// ---------------------------------------------------------------------------------------- refusals

struct ForwardCall : Call, train::AdditiveAttentionArgs {
  ForwardCall() : Call("additive_attention"), problem({{2, 3, 5, 4, 6}, 7, 8}, 50) {
    problem.lengths = {5, 2};
    static_cast<train::AdditiveAttentionArgs&>(*this) = problem.forward();
    gather();
  }
  Status run() override { return train::additive_attention(*this, workspace); }
  std::vector<Array> arrays() override {
    const Demands dense{.dense = true};
    return {{"s", s, {kAny, kAny, kAny}, dense},
            {"w", score.w, {7, kAny}, dense},
            {"h", h, {2, kAny, kAny}, dense},
            {"u", score.u, {8, 4}, dense},
            {"v", score.v, {4}},
            {"key_lengths", key_lengths, {2}, {.optional = true}},
            {"values", values, {2, 5, kAny}, {.optional = true}},
            {"context", context, {2, 3, 6}, {.written = true}},
            {"weights", weights, {2, 3, 5}, {.written = true}}};
  }
  AdditiveLayerProblem problem;
};

TEST_CASE("additive_attention: arrays that do not fit are refused",
          "[train][additive][bad-input]") {
  require_data_checked(correct<ForwardCall>);
  require_strides_checked(correct<ForwardCall>);
  require_overlaps_refused(correct<ForwardCall>);
  require_sharing_refused(correct<ForwardCall>);
  static constexpr std::int32_t kTooLong[] = {5, 6};
  require_refused<ForwardCall>({
      {[](auto& c) { c.s = {}; }, kShapeError, "s is []", "[*,*,*]"},
      {[](auto& c) { c.score.w.shape[0] = 6; }, kShapeError, "w is [6,4]", "[7,*]"},
      {[](auto& c) { c.h.shape[0] = 1; }, kShapeError, "h is [1,5,8]", "[2,*,*]"},
      {[](auto& c) { c.h = {c.h.data, {2, 5, 0}}; }, kShapeError,
       "s is [2,3,7], h [2,5,0] and w [7,4]", "widths of at least 1"},
      {[](auto& c) { c.score.u.shape[1] = 5; }, kShapeError, "u is [8,5]", "[8,4]"},
      {[](auto& c) { c.score.v.shape[0] = 5; }, kShapeError, "v is [5]", "[4]"},
      {[](auto& c) { c.values.shape[1] = 4; }, kShapeError, "values is [2,4,6]", "[2,5,*]"},
      {[](auto& c) { c.values = {}; }, kShapeError, "context is [2,3,6]", "[2,3,8]"},
      {[](auto& c) { c.key_lengths = {kTooLong, {2}}; }, kRange, "key_lengths[1] is 6", "0 to 5"},
  });
}

struct BackwardCall : Call, train::AdditiveAttentionBackwardArgs {
  BackwardCall() : Call("additive_attention_backward"), problem({{2, 3, 5, 4, 6}, 7, 8}, 51) {
    problem.lengths = {5, 2};
    require_ok(train::additive_attention(problem.forward(), problem.workspace));
    static_cast<train::AdditiveAttentionBackwardArgs&>(*this) = problem.backward();
    gather();
  }
  Status run() override { return train::additive_attention_backward(*this, workspace); }
  std::vector<Array> arrays() override {
    const Demands dense{.dense = true};
    const Demands gradient{.written = true, .dense = true, .optional = true};
    return {{"s", s, {kAny, kAny, kAny}, dense},
            {"w", score.w, {7, kAny}, dense},
            {"h", h, {2, kAny, kAny}, dense},
            {"u", score.u, {8, 4}, dense},
            {"v", score.v, {4}},
            {"values", values, {2, 5, kAny}},
            {"key_lengths", key_lengths, {2}, {.optional = true}},
            {"d_context", d_context, {2, 3, 6}},
            {"weights", weights, {2, 3, 5}},
            {"ds", ds, {2, 3, 7}, gradient},
            {"dh", dh, {2, 5, 8}, gradient},
            {"dw", dw, {7, 4}, gradient},
            {"du", du, {8, 4}, gradient},
            {"dv", dv, {4}, gradient},
            {"d_values", d_values, {2, 5, 6}, {.written = true, .optional = true}}};
  }
  AdditiveLayerProblem problem;
};

TEST_CASE("additive_attention_backward: arrays that do not fit are refused",
          "[train][additive][bad-input]") {
  require_data_checked(correct<BackwardCall>);
  require_strides_checked(correct<BackwardCall>);
  require_overlaps_refused(correct<BackwardCall>);
  require_sharing_refused(correct<BackwardCall>);
  require_refused<BackwardCall>({
      {[](auto& c) { c.d_context.shape[1] = 2; }, kShapeError, "d_context is [2,2,6]", "[2,3,6]"},
      {[](auto& c) { c.weights.shape[2] = 4; }, kShapeError, "weights is [2,3,4]", "[2,3,5]"},
      {[](auto& c) { c.ds.shape[2] = 6; }, kShapeError, "ds is [2,3,6]", "[2,3,7]"},
      {[](auto& c) { c.dh.shape[2] = 6; }, kShapeError, "dh is [2,5,6]", "[2,5,8]"},
      {[](auto& c) { c.dw.shape[0] = 6; }, kShapeError, "dw is [6,4]", "[7,4]"},
      {[](auto& c) { c.du.shape[0] = 6; }, kShapeError, "du is [6,4]", "[8,4]"},
      {[](auto& c) { c.dv.shape[0] = 5; }, kShapeError, "dv is [5]", "[4]"},
      {[](auto& c) { c.d_values.shape[2] = 5; }, kShapeError, "d_values is [2,5,5]", "[2,5,6]"},
      {[](auto& c) {
         c.values = {};
         c.d_context.shape[2] = 8;
       },
       kInvalid, "d_values is given without values", "both or neither"},
  });
}

}  // namespace
}  // namespace qkv::test::additive_attention_test
