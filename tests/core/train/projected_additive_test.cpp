// Additive attention of projected queries and keys against the formulas in double precision.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "refusal.hpp"
#include "train_additive.hpp"
#include "train_differences.hpp"

namespace qkv::test::projected_additive_test {
namespace {

constexpr double kU = bounds::kU;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr AdditiveSizes kSizes[] = {{1, 1, 1, 1, 1},   {2, 1, 9, 5, 3},    {2, 5, 7, 8, 4},
                                    {1, 3, 17, 31, 9}, {3, 4, 33, 64, 16}, {2, 9, 5, 65, 33}};

/// What the rounding of scores does to weights and to their sum with values.
double turn(const AdditiveProblem& p) {
  double of_v = 0.0;
  for (const float value : p.v) {
    of_v += std::abs(static_cast<double>(value));
  }
  const double score = kU * of_v * static_cast<double>(p.s.da + 10);
  return std::expm1(2 * score + kU * static_cast<double>(p.s.tk + 40));
}

void check_forward(const AdditiveProblem& p) {
  const AdditiveNumbers numbers = p.numbers();
  const ExactAdditive exact(p.s, numbers, p.lengths);
  const Doubles weights = exact.weights();
  const oracle::Product context = exact.context(weights);
  Quantity of_weights("projected_additive_attention weights");
  Quantity of_context("projected_additive_attention context");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    of_weights.add(static_cast<double>(p.weights[i]), weights[i], weights[i] * turn(p) + 0x1p-126,
                   weights[i]);
  }
  for (std::size_t i = 0; i < context.value.size(); ++i) {
    of_context.add(static_cast<double>(p.context[i]), context.value[i],
                   (turn(p) + kU * static_cast<double>(p.s.tk + 2)) * context.size[i] + 0x1p-126,
                   context.size[i]);
  }
  require_within(Comparison{{of_weights, of_context}});
}

Quantity compare(const char* name, const std::vector<float>& got, const oracle::Product& exact,
                 Index roundings) {
  Quantity quantity(std::string("projected_additive_attention_backward ") + name);
  for (std::size_t i = 0; i < got.size(); ++i) {
    quantity.add(static_cast<double>(got[i]), exact.value[i],
                 kU * static_cast<double>(roundings) * exact.size[i] + 0x1p-120, exact.size[i]);
  }
  return quantity;
}

void check_backward(const AdditiveProblem& p) {
  const AdditiveNumbers numbers = p.numbers();
  const ExactAdditive exact(p.s, numbers, p.lengths);
  const AdditiveGradients of = exact.gradients({p.d_context.begin(), p.d_context.end()},
                                               {p.weights.begin(), p.weights.end()});
  require_within(Comparison{{compare("dq", p.dq, of.dq, p.s.dv + p.s.tk + 30),
                             compare("dk", p.dk, of.dk, p.s.dv + p.s.tq + 30),
                             compare("dv", p.dv, of.dv, p.s.dv + p.s.tq + p.s.tk + 30),
                             compare("d_values", p.d_values, of.d_values, p.s.tq + 2)}});
}

TEST_CASE("projected_additive_attention: every size is within the bounds", "[train][additive]") {
  std::uint64_t seed = 1;
  for (const AdditiveSizes& s : kSizes) {
    CAPTURE(s.batch, s.tq, s.tk, s.da, s.dv);
    AdditiveProblem p(s, seed++);
    p.run();
    check_forward(p);
    check_backward(p);
  }
}

TEST_CASE("projected_additive_attention: key lengths, 0 and 1 among them", "[train][additive]") {
  AdditiveProblem p({4, 3, 9, 13, 5}, 20);
  p.lengths = {9, 0, 1, 6};
  p.run();
  check_forward(p);
  check_backward(p);
  for (Index b = 0; b < 4; ++b) {
    for (Index j = p.lengths[at(b)]; j < 9; ++j) {
      for (Index i = 0; i < 3; ++i) {
        CHECK(p.weights[at((b * 3 + i) * 9 + j)] == 0.0F);
      }
      for (Index d = 0; d < 13; ++d) {
        CHECK(p.dk[at((b * 9 + j) * 13 + d)] == 0.0F);
      }
      for (Index c = 0; c < 5; ++c) {
        CHECK(p.d_values[at((b * 9 + j) * 5 + c)] == 0.0F);
      }
    }
  }
  for (Index d = 0; d < 3 * 13; ++d) {
    CHECK(p.dq[at(3 * 13 + d)] == 0.0F);  // batch row 1 has no key
  }
}

TEST_CASE("projected_additive_attention: what keys past the length hold changes no bit",
          "[train][additive]") {
  AdditiveProblem clean({3, 4, 7, 9, 5}, 30);
  AdditiveProblem spoiled({3, 4, 7, 9, 5}, 30);
  clean.lengths = spoiled.lengths = {4, 7, 0};
  for (Index b = 0; b < 3; ++b) {
    for (Index j = spoiled.lengths[at(b)]; j < 7; ++j) {
      std::fill_n(spoiled.k.begin() + (b * 7 + j) * 9, 9, NAN);
      std::fill_n(spoiled.values.begin() + (b * 7 + j) * 5, 5, INFINITY);
    }
  }
  clean.run();
  spoiled.run();
  CHECK(first_difference(clean.written(), spoiled.written()) == "");
}

TEST_CASE("projected_additive_attention: scores beyond the range of exp", "[train][additive]") {
  AdditiveProblem p({1, 2, 6, 8, 3}, 40);
  for (float& value : p.v) {
    value *= 400.0F;
  }
  p.values[0] = INFINITY;  // of a key whose weight is 0
  for (Index d = 0; d < 8; ++d) {
    p.k[at(d)] = p.v[at(d)] < 0.0F ? 20.0F : -20.0F;
  }
  p.run();
  CHECK(p.weights[0] == 0.0F);
  CHECK(p.weights[6] == 0.0F);
  for (const float value : p.dq) {
    CHECK(std::isfinite(value));
  }
  for (Index d = 0; d < 8; ++d) {
    CHECK(p.dk[at(d)] == 0.0F);
  }
}

// J u is what the exact function does along u.
TEST_CASE("projected_additive_attention_backward: <J u, w> = <u, J^T w>", "[train][additive]") {
  AdditiveProblem p({2, 5, 9, 20, 7}, 60);
  p.run();
  AdditiveProblem u({2, 5, 9, 20, 7}, 61);
  const Doubles d_context(p.d_context.begin(), p.d_context.end());
  const auto moved = [&](double step) {
    AdditiveNumbers numbers = p.numbers();
    const AdditiveNumbers by = u.numbers();
    for (Doubles AdditiveNumbers::* array : {&AdditiveNumbers::q, &AdditiveNumbers::k,
                                             &AdditiveNumbers::v, &AdditiveNumbers::values}) {
      for (std::size_t i = 0; i < (numbers.*array).size(); ++i) {
        (numbers.*array)[i] += step * (by.*array)[i];
      }
    }
    return ExactAdditive(p.s, numbers, {}).loss(d_context);
  };
  constexpr double kStep = 1e-5;
  const double left = (moved(kStep) - moved(-kStep)) / (2 * kStep);
  const double right = inner_product(u.q, p.dq) + inner_product(u.k, p.dk) +
                       inner_product(u.v, p.dv) + inner_product(u.values, p.d_values);
  CHECK(std::abs(left - right) < 1e-4);
}

TEST_CASE("projected_additive_attention: one step at a time gives the bits of all at once",
          "[train][additive]") {
  constexpr AdditiveSizes kAll{3, 5, 7, 9, 4};
  AdditiveProblem all(kAll, 70);
  AdditiveProblem steps(kAll, 70);
  all.lengths = steps.lengths = {7, 3, 5};
  all.run();
  const auto step_of = [](auto view, Index t) {
    view.data = view.at(0, t);
    view.shape[1] = 1;
    return view;
  };
  for (Index t = 0; t < kAll.tq; ++t) {
    train::ProjectedAdditiveArgs args = steps.forward();
    args.q = step_of(args.q, t);
    args.context = step_of(args.context, t);
    args.weights = step_of(args.weights, t);
    require_ok(train::projected_additive_attention(args, steps.workspace));
  }
  CHECK(first_difference(all.context, steps.context) == "");
  CHECK(first_difference(all.weights, steps.weights) == "");
  for (Index t = kAll.tq - 1; t >= 0; --t) {
    train::ProjectedAdditiveBackwardArgs args = steps.backward();
    args.d_context = step_of(args.d_context, t);
    args.q = step_of(args.q, t);
    args.weights = step_of(args.weights, t);
    args.dq = step_of(args.dq, t);
    args.dk = args.dv = args.d_values = {};
    require_ok(train::projected_additive_attention_backward(args, steps.workspace));
  }
  train::ProjectedAdditiveBackwardArgs rest = steps.backward();
  rest.dq = {};
  require_ok(train::projected_additive_attention_backward(rest, steps.workspace));
  CHECK(first_difference(all.written(), steps.written()) == "");
}

TEST_CASE("projected_additive_attention: without queries, keys, values or rows",
          "[train][additive]") {
  for (const AdditiveSizes& s :
       {AdditiveSizes{0, 2, 3, 4, 5}, {2, 0, 3, 4, 5}, {2, 2, 0, 4, 5}, {2, 2, 3, 4, 0}}) {
    CAPTURE(s.batch, s.tq, s.tk, s.dv);
    AdditiveProblem p(s, 80);
    p.run();
    for (const std::vector<float>* gradient : {&p.dq, &p.dk, &p.dv, &p.d_values}) {
      CHECK(*gradient == std::vector<float>(gradient->size(), 0.0F));
    }
    CHECK((s.tk > 0 || p.context == std::vector<float>(p.context.size(), 0.0F)));
  }
}

// ---------------------------------------------------------------------------------------- refusals

struct ForwardCall : Call, train::ProjectedAdditiveArgs {
  ForwardCall() : Call("projected_additive_attention"), problem({2, 3, 5, 4, 6}, 90) {
    problem.lengths = {5, 2};
    static_cast<train::ProjectedAdditiveArgs&>(*this) = problem.forward();
    gather();
  }
  Status run() override { return train::projected_additive_attention(*this, workspace); }
  std::vector<Array> arrays() override {
    return {{"q", q, {kAny, kAny, kAny}},
            {"k", k, {2, kAny, 4}},
            {"v", v, {4}},
            {"values", values, {2, 5, kAny}},
            {"key_lengths", key_lengths, {2}, {.optional = true}},
            {"context", context, {2, 3, 6}, {.written = true}},
            {"weights", weights, {2, 3, 5}, {.written = true}}};
  }
  AdditiveProblem problem;
};

TEST_CASE("projected_additive_attention: arrays that do not fit are refused",
          "[train][additive][bad-input]") {
  require_arrays_checked(correct<ForwardCall>);
  require_sharing_refused(correct<ForwardCall>);
  static constexpr std::int32_t kTooLong[] = {5, 6};
  static constexpr std::int32_t kNegative[] = {-1, 5};
  require_refused<ForwardCall>({
      {[](auto& c) { c.q.shape[2] = 0; }, kShapeError, "q is [2,3,0]", "a width of at least 1"},
      {[](auto& c) { c.key_lengths = {kTooLong, {2}}; }, kRange, "key_lengths[1] is 6", "0 to 5"},
      {[](auto& c) { c.key_lengths = {kNegative, {2}}; }, kRange, "key_lengths[0] is -1", "0 to 5"},
  });
}

struct BackwardCall : Call, train::ProjectedAdditiveBackwardArgs {
  BackwardCall() : Call("projected_additive_attention_backward"), problem({2, 3, 5, 4, 6}, 91) {
    problem.lengths = {5, 2};
    require_ok(train::projected_additive_attention(problem.forward(), problem.workspace));
    static_cast<train::ProjectedAdditiveBackwardArgs&>(*this) = problem.backward();
    gather();
  }
  Status run() override { return train::projected_additive_attention_backward(*this, workspace); }
  std::vector<Array> arrays() override {
    const Demands gradient{.written = true, .optional = true};
    return {{"q", q, {kAny, kAny, kAny}},
            {"k", k, {2, kAny, 4}},
            {"v", v, {4}},
            {"values", values, {2, 5, kAny}},
            {"key_lengths", key_lengths, {2}, {.optional = true}},
            {"d_context", d_context, {2, 3, 6}},
            {"weights", weights, {2, 3, 5}},
            {"dq", dq, {2, 3, 4}, gradient},
            {"dk", dk, {2, 5, 4}, gradient},
            {"dv", dv, {4}, gradient},
            {"d_values", d_values, {2, 5, 6}, gradient}};
  }
  AdditiveProblem problem;
};

TEST_CASE("projected_additive_attention_backward: arrays that do not fit are refused",
          "[train][additive][bad-input]") {
  require_arrays_checked(correct<BackwardCall>);
  require_sharing_refused(correct<BackwardCall>);
}

}  // namespace
}  // namespace qkv::test::projected_additive_test
