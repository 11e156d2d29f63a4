// Rotary embeddings: every argument that does not fit is refused, and nothing written.
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <limits>
#include <string>

#include "refusal.hpp"
#include "rotary_problem.hpp"

namespace qkv::test {
namespace {

using Type = RotaryScaling::Type;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// What a case may spoil.
struct Call {
  TensorView<const float> x;
  TensorView<float> out;
  RotaryOptions options;
};
struct Case {
  const char* what;
  Spoil<Call&> spoil;
  Refusal refusal;
};

float numbers[1000];
std::int32_t places[100];

void require_all_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.what);
    Rotary p({.batch = 2, .heads = 3, .tokens = 5, .d = 8}, 29);
    Call call{p.x_view(), p.out_view(), {}};
    c.spoil(call);
    require_refused(rotary_embedding(call.x, call.out, call.options, p.workspace),
                    "rotary_embedding", c.refusal);
    CHECK(p.out == std::vector<float>(p.out.size(), kUntouched));
    CHECK(p.workspace.capacity_bytes() == 0);
  }
}

TEST_CASE("rotary: arrays that do not fit are refused", "[rotary][bad-input]") {
  require_all_refused({
      {"x absent", [](Call& c) { c.x = {}; }, {kShapeError, "x is", "[]", "[*,*,*,*]"}},
      {"x rank 3",
       [](Call& c) { c.x = {numbers, {2, 5, 24}}; },
       {kShapeError, "x is", "[2,5,24]", "[*,*,*,*]"}},
      {"x without data",
       [](Call& c) { c.x.data = nullptr; },
       {kInvalid, "x has no data", "[2,3,5,8]", "elements"}},
      {"x strided",
       [](Call& c) { c.x.strides[3] = 2; },
       {kInvalid, "the last axis of x", "stride 2", "1"}},
      {"x negative",
       [](Call& c) { c.x.shape[2] = -5; },
       {kShapeError, "x is", "[2,3,-5,8]", "[*,*,*,*]"}},
      {"out absent", [](Call& c) { c.out = {}; }, {kShapeError, "out is", "[]", "[2,3,5,8]"}},
      {"out of another shape",
       [](Call& c) { c.out.shape[2] = 4; },
       {kShapeError, "out is", "[2,3,4,8]", "[2,3,5,8]"}},
      {"out without data",
       [](Call& c) { c.out.data = nullptr; },
       {kInvalid, "out has no data", "[2,3,5,8]", "elements"}},
      {"out strided",
       [](Call& c) { c.out.strides[3] = 3; },
       {kInvalid, "the last axis of out", "stride 3", "1"}},
      {"out on x in another order",
       [](Call& c) {
         c.x = c.out;
         c.x.strides[1] = 8;
         c.x.strides[2] = 24;
       },
       {kInvalid, "axis 1 of out", "stride 40", "expected 8 as in x"}},
  });
}

TEST_CASE("rotary: options without meaning are refused", "[rotary][bad-input]") {
  const auto base = [](double value) { return [value](Call& c) { c.options.base = value; }; };
  const auto dim = [](Index r) { return [r](Call& c) { c.options.rotary_dim = r; }; };
  const auto scaling = [](const RotaryScaling& s) {
    return [s](Call& c) { c.options.scaling = s; };
  };
  const auto yarn = [&](const std::function<void(RotaryScaling&)>& spoil) {
    RotaryScaling s = kYarn;
    spoil(s);
    return scaling(s);
  };
  using S = RotaryScaling;
  require_all_refused({
      {"base below 1", base(0.5), {kInvalid, "base is", "0.5", "at least 1"}},
      {"base negative", base(-1.0), {kInvalid, "base is", "-1", "at least 1"}},
      {"base NaN", base(kNan), {kInvalid, "base is", "nan", "at least 1"}},
      {"base infinite", base(kInf), {kInvalid, "base is", "inf", "at least 1"}},
      {"r odd", dim(5), {kRange, "rotary_dim is", "5", "an even number from 2 to d = 8"}},
      {"r negative", dim(-2), {kRange, "rotary_dim is", "-2", "an even number from 2 to d = 8"}},
      {"r above d", dim(10), {kRange, "rotary_dim is", "10", "an even number from 2 to d = 8"}},
      {"d odd",
       [](Call& c) {
         c.x = {c.x.data, {2, 3, 5, 7}};
         c.out = {c.out.data, {2, 3, 5, 7}};
       },
       {kRange, "rotary_dim is", "7 (left to d)", "an even number from 2 to d = 7"}},
      {"d 0",
       [](Call& c) { c.x.shape[3] = c.out.shape[3] = 0; },
       {kRange, "rotary_dim is", "0 (left to d)", "an even number from 2 to d = 0"}},
      {"type unknown",
       scaling({.type = static_cast<Type>(9)}),
       {kInvalid, "scaling.type is", "9", "one of the four types"}},
      {"factor without type",
       scaling({.factor = 2.0}),
       {kInvalid, "scaling.factor is", "2", "1 without a scaling.type"}},
      {"factor below 1",
       scaling({.type = Type::kLinear, .factor = 0.5}),
       {kInvalid, "scaling.factor is", "0.5", "at least 1"}},
      {"factor NaN",
       scaling({.type = Type::kNtk, .factor = kNan}),
       {kInvalid, "scaling.factor is", "nan", "at least 1"}},
      {"factor infinite",
       scaling({.type = Type::kYarn, .factor = kInf, .original_length = 1}),
       {kInvalid, "scaling.factor is", "inf", "at least 1"}},
      {"original_length missing",
       yarn([](S& s) { s.original_length = 0; }),
       {kInvalid, "scaling.original_length is", "0", "at least 1"}},
      {"beta_slow 0",
       yarn([](S& s) { s.beta_slow = 0.0; }),
       {kInvalid, "scaling.beta_slow is", "0", "positive finite"}},
      {"beta_slow NaN",
       yarn([](S& s) { s.beta_slow = kNan; }),
       {kInvalid, "scaling.beta_slow is", "nan", "positive finite"}},
      {"beta_fast at beta_slow",
       yarn([](S& s) { s.beta_fast = 1.0; }),
       {kInvalid, "scaling.beta_fast is", "1", "above scaling.beta_slow"}},
      {"beta_fast infinite",
       yarn([](S& s) { s.beta_fast = kInf; }),
       {kInvalid, "scaling.beta_fast is", "inf", "above scaling.beta_slow"}},
      {"attention_factor 0",
       yarn([](S& s) { s.attention_factor = 0.0; }),
       {kInvalid, "scaling.attention_factor is", "0", "positive finite"}},
      {"attention_factor NaN",
       yarn([](S& s) { s.attention_factor = kNan; }),
       {kInvalid, "scaling.attention_factor is", "nan", "positive finite"}},
      {"base 1 with yarn",
       [](Call& c) {
         c.options.base = 1.0;
         c.options.scaling = kYarn;
       },
       {kInvalid, "base is", "1", "more than 1 with yarn"}},
  });
}

TEST_CASE("rotary: positions that do not fit are refused", "[rotary][bad-input]") {
  const auto offset = [](Index p) { return [p](Call& c) { c.options.offset = p; }; };
  const auto place = [](Index p, std::size_t at) {
    return [p, at](Call& c) {
      std::fill(std::begin(places), std::end(places), 0);
      places[at] = static_cast<std::int32_t>(p);
      c.options.positions = {places, {2, 5}};
    };
  };
  require_all_refused({
      {"first too high",
       offset(kMaxPosition + 1),
       {kRange, "offset is", "1048577", "-1048576 to 1048576"}},
      {"first too low",
       offset(-kMaxPosition - 1),
       {kRange, "offset is", "-1048577", "-1048576 to 1048576"}},
      {"last too high",
       offset(kMaxPosition - 3),
       {kRange, "offset + tokens - 1 is", "1048577", "-1048576 to 1048576"}},
      {"offset without end",
       offset(std::numeric_limits<Index>::max()),
       {kRange, "offset is", "", "-1048576 to 1048576"}},
      {"a position too high",
       place(kMaxPosition + 1, 9),
       {kRange, "positions[9] is", "1048577", "-1048576 to 1048576"}},
      {"a position too low",
       place(std::numeric_limits<std::int32_t>::min(), 0),
       {kRange, "positions[0] is", "-2147483648", "-1048576 to 1048576"}},
      {"positions of another length",
       [](Call& c) { c.options.positions = {places, {4}}; },
       {kShapeError, "positions is", "[4]", "[5]"}},
      {"positions of other batch rows",
       [](Call& c) { c.options.positions = {places, {3, 5}}; },
       {kShapeError, "positions is", "[3,5]", "[2,5]"}},
      {"positions of rank 3",
       [](Call& c) { c.options.positions = {places, {1, 1, 5}}; },
       {kShapeError, "positions is", "[1,1,5]", "[5]"}},
      {"positions without data",
       [](Call& c) { c.options.positions = {nullptr, {5}}; },
       {kInvalid, "positions has no data", "[5]", "elements"}},
      {"positions strided",
       [](Call& c) {
         c.options.positions = {places, {5}};
         c.options.positions.strides[0] = 2;
       },
       {kInvalid, "the last axis of positions", "stride 2", "1"}},
      {"positions and an offset",
       [](Call& c) {
         c.options.positions = {places, {5}};
         c.options.offset = 7;
       },
       {kInvalid, "offset is", "7", "one of the two"}},
  });
}

TEST_CASE("rotary: tables that do not fit are refused", "[rotary][bad-input]") {
  const auto tables = [](std::initializer_list<Index> cos, std::initializer_list<Index> sin) {
    return [cos = TensorView<const float>(numbers, cos),
            sin = TensorView<const float>(numbers, sin)](Call& c) {
      c.options.cos = cos;
      c.options.sin = sin;
    };
  };
  const auto with = [&](std::initializer_list<Index> shape, auto spoil) {
    return [set = tables(shape, shape), spoil](Call& c) {
      set(c);
      spoil(c);
    };
  };
  require_all_refused({
      {"no sin",
       [](Call& c) { c.options.cos = {numbers, {9, 4}}; },
       {kInvalid, "cos is given without sin", "", "both"}},
      {"no cos",
       [](Call& c) { c.options.sin = {numbers, {9, 4}}; },
       {kInvalid, "sin is given without cos", "", "both"}},
      {"cos of rank 1", tables({4}, {4}), {kShapeError, "cos is", "[4]", "[*,4]"}},
      {"cos of other pairs", tables({9, 3}, {9, 4}), {kShapeError, "cos is", "[9,3]", "[*,4]"}},
      {"sin of other pairs", tables({9, 4}, {9, 8}), {kShapeError, "sin is", "[9,8]", "[*,4]"}},
      {"sin of other positions",
       tables({9, 4}, {8, 4}),
       {kShapeError, "sin is", "[8,4]", "[9,4] to match cos"}},
      {"sin of another rank",
       tables({2, 5, 4}, {9, 4}),
       {kShapeError, "sin is", "[9,4]", "[*,*,4]"}},
      {"rows for other tokens",
       tables({2, 4, 4}, {2, 4, 4}),
       {kShapeError, "cos is", "[2,4,4]", "[2,5,4]"}},
      {"too few positions",
       tables({4, 4}, {4, 4}),
       {kRange, "offset + tokens - 1 is", "4", "0 to 3, the rows of cos"}},
      {"no positions",
       tables({0, 4}, {0, 4}),
       {kRange, "offset is", "0", "0 to -1, the rows of cos"}},
      {"a negative position",
       with({9, 4}, [](Call& c) { c.options.offset = -1; }),
       {kRange, "offset is", "-1", "0 to 8, the rows of cos"}},
      {"a position past the table",
       with({9, 4},
            [](Call& c) {
              std::fill(std::begin(places), std::end(places), 0);
              places[3] = 9;
              c.options.positions = {places, {5}};
            }),
       {kRange, "positions[3] is", "9", "0 to 8, the rows of cos"}},
      {"cos without data",
       with({9, 4}, [](Call& c) { c.options.cos.data = nullptr; }),
       {kInvalid, "cos has no data", "[9,4]", "elements"}},
      {"sin strided",
       with({9, 4}, [](Call& c) { c.options.sin.strides[1] = 2; }),
       {kInvalid, "the last axis of sin", "stride 2", "1"}},
      {"scaling too",
       with({9, 4}, [](Call& c) { c.options.scaling = kYarn; }),
       {kInvalid, "scaling is given beside cos and sin", "", "one of the two"}},
      {"rows for each token and positions",
       with({2, 5, 4}, [](Call& c) { c.options.positions = {places, {5}}; }),
       {kInvalid, "positions are given", "", "one of the two"}},
      {"rows for each token and an offset",
       with({2, 5, 4}, [](Call& c) { c.options.offset = 3; }),
       {kInvalid, "offset is given", "", "one of the two"}},
  });
}

TEST_CASE("rotary_table: bad input is refused and nothing written", "[rotary][bad-input]") {
  std::vector<float> memory(80, kUntouched);
  const auto refuse = [&](TensorView<float> cos, TensorView<float> sin,
                          const RotaryOptions& options, const Refusal& refusal) {
    require_refused(rotary_table(cos, sin, options), "rotary_table", refusal);
    CHECK(memory == std::vector<float>(80, kUntouched));
  };
  const TensorView<float> cos(memory.data(), {5, 4});
  const TensorView<float> sin(memory.data() + 40, {5, 4});
  TensorView<float> gaps = cos;
  gaps.strides[0] = 5;
  RotaryOptions given;
  given.cos = {numbers, {5, 4}};
  RotaryOptions wide;
  wide.rotary_dim = 10;
  RotaryOptions far;
  far.offset = kMaxPosition;
  RotaryOptions no_base;
  no_base.base = 0.0;
  RotaryOptions by_row;
  by_row.positions = {places, {2, 5}};
  refuse({}, sin, {}, {kShapeError, "cos is", "[]", "[*,*]"});
  refuse(cos, {}, {}, {kShapeError, "sin is", "[]", "[5,4]"});
  refuse(cos, {memory.data(), {4, 4}}, {}, {kShapeError, "sin is", "[4,4]", "[5,4]"});
  refuse({memory.data(), {5, 0}}, {memory.data(), {5, 0}}, {},
         {kRange, "rotary_dim is", "0", "from 2"});
  refuse({nullptr, {5, 4}}, sin, {}, {kInvalid, "cos has no data", "[5,4]", "elements"});
  refuse(cos, {nullptr, {5, 4}}, {}, {kInvalid, "sin has no data", "[5,4]", "elements"});
  refuse(gaps, sin, {}, {kInvalid, "axis 0 of cos", "stride 5", "expected 4"});
  refuse(cos, sin, given, {kInvalid, "options has cos", "", "none"});
  refuse(cos, sin, wide, {kShapeError, "cos is", "[5,4]", "rotary_dim / 2 = 5"});
  refuse(cos, sin, by_row, {kShapeError, "positions is", "[2,5]", "[1,5]"});
  refuse(cos, sin, far, {kRange, "offset + tokens - 1", "1048580", "1048576"});
  refuse(cos, sin, no_base, {kInvalid, "base is", "0", "at least 1"});
}

TEST_CASE("rotary: refusals read as one sentence", "[rotary][bad-input]") {
  Rotary p({.tokens = 3, .d = 5}, 30);
  const auto message = [&] {
    return std::string(
        rotary_embedding(p.x_view(), p.out_view(), p.options, p.workspace).message());
  };
  CHECK(message() ==
        "rotary_embedding: rotary_dim is 5 (left to d), expected an even number from 2 to d = 5");
  p.options.rotary_dim = 4;
  p.options.scaling = {.type = Type::kYarn, .factor = 4.0};
  CHECK(message() == "rotary_embedding: scaling.original_length is 0, expected at least 1");
  p.options.scaling = {};
  p.options.cos = p.options.sin = {numbers, {2, 2}};
  CHECK(message() ==
        "rotary_embedding: offset + tokens - 1 is 2, expected 0 to 1, the rows of cos");
}

}  // namespace
}  // namespace qkv::test
