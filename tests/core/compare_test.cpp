// The comparisons of this suite themselves: that nothing which is wrong, or was never compared, passes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "ceilings.hpp"
#include "compare.hpp"
#include "problem.hpp"

namespace qkv::test::compare_test {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kCeiling = 0.5;

std::string problem_with(const Quantity& quantity) {
  return test::problem_with(quantity, Bounds::kMeaningful, &kCeiling);
}

struct Added {
  double computed, exact, bound, scale;
};

/// A quantity of two good values, with one more between them or before them.
Quantity with(const Added& value, bool first) {
  Quantity quantity("y", ", of a family");
  if (first) {
    quantity.add(value.computed, value.exact, value.bound, value.scale);
  }
  quantity.add(1.0, 1.01, 0.03, 1.0);
  if (!first) {
    quantity.add(value.computed, value.exact, value.bound, value.scale);
  }
  quantity.add(2.0, 2.0, 0.03, 1.0);
  return quantity;
}

TEST_CASE("compare: values within bound and ceiling pass", "[compare][any-isa]") {
  for (const Added& value : {Added{1, 1, 0, 1},
                             {1, 1.01, 0.03, 1},
                             {kInf, kInf, 1e-9, 0},
                             {-kInf, -kInf, 1e-9, 0},
                             {0, 0, 0, 0},
                             {1.0, 1.01, 9.0, 0}}) {
    for (const bool first : {false, true}) {
      CAPTURE(value.computed, value.bound, first);
      CHECK(problem_with(with(value, first)) == "");
    }
  }
  const Quantity quantity = with({1, 1.02, 0.1, 4}, false);
  CHECK(std::abs(quantity.ratio() - 1.0 / 3) < 1e-12);
  CHECK(std::abs(quantity.vacuity() - 0.03) < 1e-12);
}

TEST_CASE("compare: NaN, infinity and bounds that are none fail wherever they stand",
          "[compare][any-isa]") {
  for (const Added& value : {Added{kNan, 1, 0.03, 1},
                             {1, kNan, 0.03, 1},
                             {kNan, kNan, 0.03, 1},
                             {1, 1, kNan, 1},
                             {1, 1.01, kNan, 1},
                             {1, 1, kInf, 1},
                             {1, 1, kInf, 0},
                             {1, 1, -0.03, 1},
                             {kInf, 1, 0.03, 1},
                             {1, kInf, 0.03, 1},
                             {kInf, -kInf, 0.03, 1},
                             {1, 1.5, 0, 1},
                             {1, 1.04, 0.03, 1}}) {
    for (const bool first : {false, true}) {
      CAPTURE(value.computed, value.exact, value.bound, first);
      CHECK_THAT(problem_with(with(value, first)),
                 ContainsSubstring("y, of a family: error / bound is ") &&
                     ContainsSubstring("at most 1 is allowed; value " + std::to_string(!first)));
    }
  }
}

TEST_CASE("compare: a bound near the size of the values fails, unless any will do",
          "[compare][any-isa]") {
  for (const Added& value : {Added{1, 1, 0.04, 1}, {1, 1, 0.03, kNan}, {1, 1, 0.03, -1}}) {
    for (const bool first : {false, true}) {
      CAPTURE(value.bound, value.scale, first);
      const Quantity quantity = with(value, first);
      CHECK_THAT(problem_with(quantity), ContainsSubstring("y, of a family: bound / size is "));
      CHECK(test::problem_with(quantity, Bounds::kAny, &kCeiling) == "");
    }
  }
}

TEST_CASE("compare: a ratio above its ceiling fails, and so does a quantity without one",
          "[compare][any-isa]") {
  CHECK(problem_with(with({1, 1.0149, 0.03, 1}, false)) == "");
  CHECK_THAT(problem_with(with({1, 1.0151, 0.03, 1}, false)),
             ContainsSubstring("y, of a family: error / bound is 0.503, its ceiling "
                               "(ceilings.def) is 0.5; value 1 is 1, exactly 1.0"));
  CHECK_THAT(test::problem_with(with({1, 1, 0.03, 1}, false), Bounds::kAny, nullptr),
             ContainsSubstring("y, of a family: error / bound is 0.333 and has no ceiling"));
}

TEST_CASE("compare: nothing compared fails unless it may be", "[compare][any-isa]") {
  CHECK(problem_with(Quantity("y")) == "y: nothing was compared");
  CHECK(problem_with(Quantity("y").may_be_empty()) == "");
  Quantity exact("y");
  exact.add_exact(0.0, 0.0);
  CHECK(problem_with(exact) == "");
  exact.add_exact(1e-40, 0.0);
  CHECK_THAT(problem_with(exact), ContainsSubstring("at most 1 is allowed"));
}

TEST_CASE("compare: a value that attention() did not write fails", "[compare][any-isa]") {
  Problem p(square(5, 4), 1);
  p.run();
  const auto problems = [&] {
    std::set<std::string> names;
    for (const Quantity& quantity : compare_attention(p.args()).quantities) {
      if (problem_with(quantity) != "") {
        names.insert(quantity.name());
      }
    }
    return names;
  };
  CHECK(problems().empty());
  for (auto* values : {&p.result.out, &p.result.weights, &p.result.lse, &p.result.entropy}) {
    for (const float wrong : {kUntouched, NAN}) {
      const float right = std::exchange(values->back(), wrong);
      CHECK(problems().size() == 1);
      values->back() = right;
    }
  }
}

TEST_CASE("compare: every ceiling is a part of the bound and has a name of its own",
          "[compare][any-isa]") {
  std::set<std::string> names;
  for (const Ceiling& ceiling : ceilings()) {
    CAPTURE(ceiling.name);
    CHECK((ceiling.ratio >= 0.0 && ceiling.ratio <= 1.0));
    CHECK(names.insert(ceiling.name).second);
  }
}

}  // namespace
}  // namespace qkv::test::compare_test
