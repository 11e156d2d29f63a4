// linear() and Linear against the oracle, and what the header says beside the formula.
#include <catch2/catch_test_macros.hpp>

#include <string>
#include <tuple>

#include "blocks_oracle.hpp"
#include "guarded.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
#include "qkv/linear.hpp"
#include "refusal.hpp"

namespace qkv::test::linear_test {
namespace {

/// A call that owns its arrays.
struct LinearProblem {
  LinearProblem(Index row_count, Index width, Index columns, WeightLayout stored,
                std::uint64_t seed)
      : rows(row_count), in(width), out(columns), layout(stored) {
    Random random(seed);
    x = random_floats(random, rows * in);
    w = random_floats(random, in * out);
    bias = random_floats(random, out);
    y.assign(static_cast<std::size_t>(rows * out), kUntouched);
  }

  [[nodiscard]] TensorView<const float> weight() const {
    return layout == WeightLayout::kInOut ? TensorView<const float>(w.data(), {in, out})
                                          : TensorView<const float>(w.data(), {out, in});
  }
  [[nodiscard]] LinearArgs args() {
    return {.x = {x.data(), {rows, in}},
            .w = weight(),
            .bias = {bias.data(), {out}},
            .out = {y.data(), {rows, out}},
            .layout = layout};
  }
  /// [in, out], whatever the layout.
  [[nodiscard]] TensorView<const float> by_input() const {
    TensorView<const float> view(w.data(), {in, out});
    if (layout == WeightLayout::kOutIn) {
      view.strides = {1, in, 0, 0};
    }
    return view;
  }
  void check() {
    require_ok(linear(args(), workspace));
    Quantity quantity("linear");
    const oracle::Bounded exact = oracle::linear(oracle::exactly(x), by_input(), args().bias);
    for (std::size_t i = 0; i < y.size(); ++i) {
      quantity.add(static_cast<double>(y[i]), exact.value[i], exact.error[i]);
    }
    require_within(quantity);
  }
  std::vector<float> packed() {
    Linear map;
    require_ok(Linear::create({weight(), args().bias, layout}, map));
    CHECK(std::tuple(map.in(), map.out()) == std::tuple(in, out));
    std::vector<float> result(y.size(), kUntouched);
    require_ok(map.forward(args().x, {result.data(), {rows, out}}, workspace));
    return result;
  }

  Index rows, in, out;
  WeightLayout layout;
  std::vector<float> x, w, bias, y;
  Workspace workspace;
};

constexpr WeightLayout kLayouts[] = {WeightLayout::kInOut, WeightLayout::kOutIn};

TEST_CASE("linear: within the bound for every size, and packed weights give the same bits",
          "[linear]") {
  std::uint64_t seed = 1;
  for (const WeightLayout layout : kLayouts) {
    for (const Index in : {1, 2, 7, 16, 33, 64}) {
      for (const Index out : {1, 3, 8, 15, 16, 17, 31, 32, 33, 63, 65, 130}) {
        for (const Index rows : {1, 2, 5, 13}) {
          CAPTURE(static_cast<int>(layout), in, out, rows);
          LinearProblem p(rows, in, out, layout, seed++);
          p.check();
          REQUIRE(first_difference(p.packed(), p.y) == "");
        }
      }
    }
  }
}

TEST_CASE("linear: weights of more than one slice, and few columns of many rows", "[linear]") {
  for (const WeightLayout layout : kLayouts) {
    LinearProblem wide(3, 700, 1001, layout, 1);
    wide.check();
    CHECK(first_difference(wide.packed(), wide.y) == "");
    LinearProblem tall(401, 5, 3, layout, 2);
    tall.check();
    LinearProblem deep(1, 20001, 40, layout, 3);
    deep.check();
    CHECK(first_difference(deep.packed(), deep.y) == "");
  }
}

TEST_CASE("linear: without a bias it is as with one of zeros", "[linear]") {
  LinearProblem p(5, 24, 37, WeightLayout::kInOut, 4);
  p.bias.assign(p.bias.size(), 0.0F);
  p.check();
  const std::vector<float> zeros = p.y;
  LinearArgs args = p.args();
  args.bias = {};
  require_ok(linear(args, p.workspace));
  CHECK(first_difference(p.y, zeros) == "");
}

TEST_CASE("linear: x of rank 1 to 4, and none of its rows", "[linear]") {
  LinearProblem p(24, 9, 5, WeightLayout::kInOut, 5);
  p.check();
  const std::vector<float> expected = p.y;
  const auto same = [&](TensorView<const float> x, TensorView<float> y) {
    p.y.assign(p.y.size(), kUntouched);
    LinearArgs args = p.args();
    args.x = x;
    args.out = y;
    require_ok(linear(args, p.workspace));
    for (Index i = 0; i < y.size(); ++i) {
      REQUIRE(p.y[static_cast<std::size_t>(i)] == expected[static_cast<std::size_t>(i)]);
    }
    for (auto i = static_cast<std::size_t>(y.size()); i < p.y.size(); ++i) {
      REQUIRE(p.y[i] == kUntouched);
    }
  };
  same({p.x.data(), {9}}, {p.y.data(), {5}});
  same({p.x.data(), {2, 12, 9}}, {p.y.data(), {2, 12, 5}});
  same({p.x.data(), {2, 3, 4, 9}}, {p.y.data(), {2, 3, 4, 5}});
  same({p.x.data(), {2, 0, 9}}, {p.y.data(), {2, 0, 5}});
}

TEST_CASE("linear: nothing outside of the arrays is read or written", "[linear][memory]") {
  for (const Edge edge : {Edge::kBegin, Edge::kEnd}) {
    for (const WeightLayout layout : kLayouts) {
      LinearProblem p(7, 19, 35, layout, 6);
      p.check();
      const Guarded<float> x(p.x, edge);
      const Guarded<float> w(p.w, edge);
      const Guarded<float> bias(p.bias, edge);
      const Guarded<float> y(p.y.size(), edge);
      LinearArgs args = p.args();
      args.x.data = x.data();
      args.w.data = w.data();
      args.bias.data = bias.data();
      args.out.data = y.data();
      require_ok(linear(args, p.workspace));
      CHECK(y.intact());
      CHECK(first_difference(y.values(), p.y) == "");
      Linear map;
      require_ok(Linear::create({args.w, args.bias, layout}, map));
      require_ok(map.forward(args.x, args.out, p.workspace));
      CHECK(y.intact());
      CHECK(first_difference(y.values(), p.y) == "");
    }
  }
}

TEST_CASE("linear: NaN in one row of x stays in that row", "[linear]") {
  LinearProblem p(13, 20, 34, WeightLayout::kInOut, 7);
  p.check();
  const std::vector<float> before = p.y;
  p.x[5 * 20 + 3] = std::numeric_limits<float>::quiet_NaN();
  require_ok(linear(p.args(), p.workspace));
  for (std::size_t i = 0; i < p.y.size(); ++i) {
    const bool touched = i / 34 == 5;
    REQUIRE(std::isnan(p.y[i]) == touched);
    REQUIRE((touched || p.y[i] == before[i]));
  }
}

TEST_CASE("linear: a loop allocates once", "[linear][memory]") {
  LinearProblem p(4, 50, 60, WeightLayout::kOutIn, 8);
  p.check();
  const std::size_t before = allocation_count();
  require_ok(linear(p.args(), p.workspace));
  CHECK(allocation_count() == before);
}

TEST_CASE("linear: what it refuses", "[linear][bad-input]") {
  const struct {
    void (*spoil)(LinearArgs&);
    StatusCode code;
    const char* message;
    bool by_map;  ///< Linear::forward() refuses it too, and not Linear::create()
  } rows[] = {
      {[](LinearArgs& a) { a.x = {}; }, kShapeError, "x has rank 0, expected 1 to 4", true},
      {[](LinearArgs& a) { a.x.rank = 5; }, kShapeError, "x has rank 5, expected 1 to 4", true},
      {[](LinearArgs& a) { a.x.shape[1] = 2; }, kShapeError, "x is [4,2], expected [*,3]", true},
      {[](LinearArgs& a) { a.x.shape[0] = -4; }, kShapeError, "x is [-4,3], expected [*,3]", true},
      {[](LinearArgs& a) { a.x.data = nullptr; }, kInvalid,
       "x has no data, expected [4,3] elements", true},
      {[](LinearArgs& a) { a.x.strides[1] = 2; }, kInvalid,
       "the last axis of x has stride 2, expected 1", true},
      {[](LinearArgs& a) { a.x.strides[0] = 4; }, kInvalid,
       "axis 0 of x has stride 4, expected 3 (contiguous)", true},
      {[](LinearArgs& a) { a.out = {}; }, kShapeError, "out is [], expected [4,5]", true},
      {[](LinearArgs& a) { a.out.shape[0] = 3; }, kShapeError, "out is [3,5], expected [4,5]",
       true},
      {[](LinearArgs& a) { a.out.shape[1] = 3; }, kShapeError, "out is [4,3], expected [4,5]",
       true},
      {[](LinearArgs& a) { a.out.data = nullptr; }, kInvalid,
       "out has no data, expected [4,5] elements", true},
      {[](LinearArgs& a) { a.out.strides[0] = 6; }, kInvalid,
       "axis 0 of out has stride 6, expected 5 (contiguous)", true},
      {[](LinearArgs& a) { a.x.data = a.out.data; }, kInvalid,
       "out overlaps x, expected separate memory", true},
      {[](LinearArgs& a) { a.w = {}; }, kShapeError, "w is [], expected [*,*]", false},
      {[](LinearArgs& a) { a.w.rank = 1; }, kShapeError, "w is [3], expected [*,*]", false},
      {[](LinearArgs& a) { a.w.shape[0] = 0; }, kShapeError,
       "w is [0,5], expected extents of at least 1", false},
      {[](LinearArgs& a) { a.w.shape[1] = 0; }, kShapeError,
       "w is [3,0], expected extents of at least 1", false},
      {[](LinearArgs& a) { a.w.data = nullptr; }, kInvalid,
       "w has no data, expected [3,5] elements", false},
      {[](LinearArgs& a) { a.w.strides[1] = 2; }, kInvalid,
       "the last axis of w has stride 2, expected 1", false},
      {[](LinearArgs& a) { a.w.strides[0] = -5; }, kInvalid,
       "axis 0 of w has stride -5, expected at least 0", false},
      {[](LinearArgs& a) { a.bias.shape[0] = 3; }, kShapeError, "bias is [3], expected [5]", false},
      {[](LinearArgs& a) { a.bias.data = nullptr; }, kInvalid,
       "bias has no data, expected [5] elements", false},
      {[](LinearArgs& a) { a.layout = static_cast<WeightLayout>(2); }, kInvalid,
       "layout is 2, expected a value of WeightLayout", false},
  };
  for (const auto& row : rows) {
    INFO(row.message);
    LinearProblem p(4, 3, 5, WeightLayout::kInOut, 9);
    Linear map;
    require_ok(Linear::create({p.weight(), p.args().bias, p.layout}, map));
    LinearArgs args = p.args();
    row.spoil(args);
    const auto require = [&](const Status& status, const char* function) {
      CHECK(status.code() == row.code);
      CHECK(std::string(status.message()) == std::string(function) + ": " + row.message);
      CHECK(p.y == std::vector<float>(p.y.size(), kUntouched));
    };
    require(linear(args, p.workspace), "linear");
    if (row.by_map) {
      require(map.forward(args.x, args.out, p.workspace), "Linear::forward");
      continue;
    }
    Linear other;
    require(Linear::create({args.w, args.bias, args.layout}, other), "Linear::create");
    CHECK(other.in() == 0);
  }
  LinearProblem p(4, 3, 5, WeightLayout::kInOut, 9);
  for (const auto& [name, data] : {std::pair{"w", &p.w}, std::pair{"bias", &p.bias}}) {
    LinearArgs args = p.args();
    args.out.data = data->data();
    args.out.shape[0] = args.x.shape[0] = 1;
    CHECK(std::string(linear(args, p.workspace).message()) ==
          std::string("linear: out overlaps ") + name + ", expected separate memory");
  }
  // Rows of w are 16 floats apart, 4 of them its own: 12 floats fit in between, and 16 meet a row wherever they begin.
  std::vector<float> wide(52, 0.0F);
  for (const Index count : {Index{3}, Index{4}}) {
    LinearProblem sparse(count, 4, 4, WeightLayout::kInOut, 9);
    LinearArgs args = sparse.args();
    args.w = {wide.data(), {Index{4}, Index{4}}};
    args.w.strides[0] = 16;
    args.out.data = wide.data() + 4;
    CHECK(std::string(linear(args, p.workspace).message()) ==
          (count == 3 ? "" : "linear: out overlaps w, expected separate memory"));
  }
  Linear empty;
  CHECK(std::string(empty.forward(p.args().x, p.args().out, p.workspace).message()) ==
        "Linear::forward: the map is empty, expected one made by create()");
  Linear full;
  require_ok(Linear::create({p.weight(), {}, p.layout}, full));
  empty = std::move(full);
  require_ok(empty.forward(p.args().x, p.args().out, p.workspace));
}

}  // namespace
}  // namespace qkv::test::linear_test
