// Rotary embeddings: every argument that does not fit is refused, and nothing written.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "refusal.hpp"
#include "rotary_problem.hpp"

namespace qkv::test::bad_input_rotary_test {
namespace {

using Type = RotaryScaling::Type;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr const char* kPlaces = "-1048576 to 1048576";
constexpr const char* kFromOne = "a finite number of at least 1";
constexpr const char* kPositive = "a positive finite number";

const float numbers[1000] = {};
std::int32_t places[100];

struct Embedding : Call {
  Embedding() : Call("rotary_embedding") { gather(); }
  Status run() override { return rotary_embedding(x, out, options, workspace); }
  std::vector<Array> arrays() override {
    return {{"x", x, {kAny, kAny, kAny, kAny}},
            {"out", out, {2, 3, 5, 8}, {.written = true, .in_place = "x"}}};
  }
  Rotary p{{.batch = 2, .heads = 3, .tokens = 5, .d = 8}, 29};
  TensorView<const float> x = p.x_view();
  TensorView<float> out = p.out_view();
  RotaryOptions options;
};

TEST_CASE("rotary_embedding: arrays that do not fit are refused", "[rotary][bad-input]") {
  require_arrays_checked(correct<Embedding>);
  require_refused<Embedding>({
      {[](auto& c) { c.x = {numbers, {2, 5, 24}}; }, kShapeError, "x is [2,5,24]", "[*,*,*,*]"},
      {[](auto& c) {
         c.x = c.out;
         c.x.strides[1] = 8;
         c.x.strides[2] = 24;
       },
       kInvalid, "axis 1 of out has stride 40", "8 as in x, whose memory it is"},
  });
}

TEST_CASE("rotary_embedding: a base or a number of dimensions without meaning is refused",
          "[rotary][bad-input]") {
  const auto base = [](double value) { return [=](auto& c) { c.options.base = value; }; };
  const auto dim = [](Index r) { return [=](auto& c) { c.options.rotary_dim = r; }; };
  require_refused<Embedding>({
      {base(0.5), kInvalid, "base is 0.5", kFromOne},
      {base(-1.0), kInvalid, "base is -1", kFromOne},
      {base(kNan), kInvalid, "base is NaN", kFromOne},
      {base(kInf), kInvalid, "base is Infinity", kFromOne},
      {dim(5), kRange, "rotary_dim is 5", "an even number from 2 to d = 8"},
      {dim(-2), kRange, "rotary_dim is -2", "an even number from 2 to d = 8"},
      {dim(10), kRange, "rotary_dim is 10", "an even number from 2 to d = 8"},
      {[](auto& c) { c.x.shape[3] = c.out.shape[3] = 7; }, kRange, "rotary_dim is 7 (left to d)",
       "an even number from 2 to d = 7"},
      {[](auto& c) { c.x.shape[3] = c.out.shape[3] = 5; }, kRange, "rotary_dim is 5 (left to d)",
       "an even number from 2 to d = 5"},
      {[](auto& c) { c.x.shape[3] = c.out.shape[3] = 0; }, kRange, "rotary_dim is 0 (left to d)",
       "an even number from 2 to d = 0"},
  });
}

TEST_CASE("rotary_embedding: scaling without meaning is refused", "[rotary][bad-input]") {
  const auto scaling = [](const RotaryScaling& s) {
    return [=](auto& c) { c.options.scaling = s; };
  };
  const auto yarn = [](auto field, auto value) {
    return [=](auto& c) {
      c.options.scaling = kYarn;
      c.options.scaling.*field = value;
    };
  };
  const auto llama3 = [](auto field, auto value) {
    return [=](auto& c) {
      c.options.scaling = {.type = Type::kLlama3, .factor = 8.0, .original_length = 8192};
      c.options.scaling.*field = value;
    };
  };
  using S = RotaryScaling;
  require_refused<Embedding>({
      {scaling({.type = static_cast<Type>(9)}), kInvalid, "scaling.type is 9",
       "a value of RotaryScaling::Type"},
      {scaling({.factor = 2.0}), kInvalid, "scaling.factor is 2", "1 without a scaling.type"},
      {scaling({.type = Type::kLinear, .factor = 0.5}), kInvalid, "scaling.factor is 0.5",
       kFromOne},
      {scaling({.type = Type::kNtk, .factor = kNan}), kInvalid, "scaling.factor is NaN", kFromOne},
      {scaling({.type = Type::kYarn, .factor = kInf, .original_length = 1}), kInvalid,
       "scaling.factor is Infinity", kFromOne},
      {yarn(&S::original_length, 0), kInvalid, "scaling.original_length is 0", "at least 1"},
      {llama3(&S::original_length, 0), kInvalid, "scaling.original_length is 0", "at least 1"},
      {llama3(&S::factor, 0.5), kInvalid, "scaling.factor is 0.5", kFromOne},
      {llama3(&S::low_frequency_factor, 0.0), kInvalid, "scaling.low_frequency_factor is 0",
       kPositive},
      {llama3(&S::low_frequency_factor, kInf), kInvalid, "scaling.low_frequency_factor is Infinity",
       kPositive},
      {llama3(&S::high_frequency_factor, 1.0), kInvalid, "scaling.high_frequency_factor is 1",
       "a finite number above scaling.low_frequency_factor"},
      {llama3(&S::high_frequency_factor, kNan), kInvalid, "scaling.high_frequency_factor is NaN",
       "a finite number above scaling.low_frequency_factor"},
      {yarn(&S::beta_slow, 0.0), kInvalid, "scaling.beta_slow is 0", kPositive},
      {yarn(&S::beta_slow, kNan), kInvalid, "scaling.beta_slow is NaN", kPositive},
      {yarn(&S::beta_fast, 1.0), kInvalid, "scaling.beta_fast is 1",
       "a finite number above scaling.beta_slow"},
      {yarn(&S::beta_fast, kInf), kInvalid, "scaling.beta_fast is Infinity",
       "a finite number above scaling.beta_slow"},
      {yarn(&S::attention_factor, 0.0), kInvalid, "scaling.attention_factor is 0", kPositive},
      {yarn(&S::attention_factor, kNan), kInvalid, "scaling.attention_factor is NaN", kPositive},
      {[](auto& c) {
         c.options.base = 1.0;
         c.options.scaling = kYarn;
       },
       kInvalid, "base is 1", "more than 1 with yarn scaling"},
  });
}

TEST_CASE("rotary_embedding: factors with which a pair would turn too far are refused",
          "[rotary][bad-input]") {
  const auto factor = [](std::size_t pair, float value, double base) {
    return [=](auto& c) {
      static float factors[4];
      std::fill(std::begin(factors), std::end(factors), 1.0F);
      factors[pair] = value;
      c.options.base = base;
      c.options.scaling = {.type = Type::kFactors, .factors = {factors, {4}}};
    };
  };
  require_refused<Embedding>({
      {factor(0, 0.0F, 1e4), kInvalid, "scaling.factors[0] is 0",
       "a finite number of at least 0.5"},
      {factor(0, 0.4999F, 1e4), kInvalid, "scaling.factors[0] is 0.4999",
       "a finite number of at least 0.5"},
      {factor(1, 1e-30F, 1e4), kInvalid, "scaling.factors[1] is 1e-30",
       "a finite number of at least 0.05"},
      {factor(3, 0.25F, 1.0), kInvalid, "scaling.factors[3] is 0.25",
       "a finite number of at least 0.5"},
      {factor(2, NAN, 1e4), kInvalid, "scaling.factors[2] is NaN",
       "a finite number of at least 0.005"},
      {factor(3, INFINITY, 1e4), kInvalid, "scaling.factors[3] is Infinity",
       "a finite number of at least 0.0005"},
  });
}

TEST_CASE("rotary_embedding: positions that do not fit are refused", "[rotary][bad-input]") {
  constexpr Index kFar = std::numeric_limits<Index>::max();
  static const std::string far = "offset is " + std::to_string(kFar);
  const auto offset = [](Index p) { return [=](auto& c) { c.options.offset = p; }; };
  const auto place = [](Index p, std::size_t at) {
    return [=](auto& c) {
      std::fill(std::begin(places), std::end(places), 0);
      places[at] = static_cast<std::int32_t>(p);
      c.options.positions = {places, {2, 5}};
    };
  };
  const auto positions = [](const std::int32_t* data, std::initializer_list<Index> shape) {
    return [view = TensorView<const std::int32_t>(data, shape)](auto& c) {
      c.options.positions = view;
    };
  };
  require_refused<Embedding>({
      {offset(kMaxPosition + 1), kRange, "offset is 1048577", kPlaces},
      {offset(-kMaxPosition - 1), kRange, "offset is -1048577", kPlaces},
      {offset(kMaxPosition - 3), kRange, "offset + tokens - 1 is 1048577", kPlaces},
      {offset(kFar), kRange, far.c_str(), kPlaces},
      {place(kMaxPosition + 1, 9), kRange, "positions[9] is 1048577", kPlaces},
      {place(std::numeric_limits<std::int32_t>::min(), 0), kRange, "positions[0] is -2147483648",
       kPlaces},
      {positions(places, {4}), kShapeError, "positions is [4]", "[5]"},
      {positions(places, {3, 5}), kShapeError, "positions is [3,5]", "[2,5]"},
      {positions(places, {1, 1, 5}), kShapeError, "positions is [1,1,5]", "[5]"},
      {positions(nullptr, {5}), kInvalid, "positions has no data", "[5] elements"},
      {[](auto& c) {
         c.options.positions = {places, {5}};
         c.options.positions.strides[0] = 2;
       },
       kInvalid, "the last axis of positions has stride 2", "1"},
      {[](auto& c) {
         c.options.positions = {places, {5}};
         c.options.offset = 7;
       },
       kInvalid, "offset is 7 together with positions", "one of the two"},
  });
}

TEST_CASE("rotary_embedding: tables that do not fit are refused", "[rotary][bad-input]") {
  const auto tables = [](std::initializer_list<Index> cos, std::initializer_list<Index> sin) {
    return [cos = TensorView<const float>(numbers, cos),
            sin = TensorView<const float>(numbers, sin)](auto& c) {
      c.options.cos = cos;
      c.options.sin = sin;
    };
  };
  const auto with = [=](std::initializer_list<Index> shape, auto spoil) {
    return [set = tables(shape, shape), spoil](auto& c) {
      set(c);
      spoil(c.options);
    };
  };
  require_refused<Embedding>({
      {[](auto& c) { c.options.cos = {numbers, {9, 4}}; }, kInvalid, "cos is given without sin",
       "both"},
      {[](auto& c) { c.options.sin = {numbers, {9, 4}}; }, kInvalid, "sin is given without cos",
       "both"},
      {tables({4}, {4}), kShapeError, "cos is [4]", "[*,4]"},
      {tables({9, 3}, {9, 4}), kShapeError, "cos is [9,3]", "[*,4]"},
      {tables({9, 4}, {9, 8}), kShapeError, "sin is [9,8]", "[*,4]"},
      {tables({9, 4}, {8, 4}), kShapeError, "sin is [8,4]", "[9,4] to match cos"},
      {tables({2, 5, 4}, {9, 4}), kShapeError, "sin is [9,4]", "[*,*,4]"},
      {tables({2, 4, 4}, {2, 4, 4}), kShapeError, "cos is [2,4,4]", "[2,5,4]"},
      {tables({4, 4}, {4, 4}), kRange, "offset + tokens - 1 is 4", "0 to 3, the rows of cos"},
      {[](auto& c) {
         c.x.shape[2] = c.out.shape[2] = 3;
         c.options.cos = c.options.sin = {numbers, {2, 4}};
       },
       kRange, "offset + tokens - 1 is 2", "0 to 1, the rows of cos"},
      {tables({0, 4}, {0, 4}), kRange, "offset is 0", "0 to -1, the rows of cos"},
      {with({9, 4}, [](auto& o) { o.offset = -1; }), kRange, "offset is -1",
       "0 to 8, the rows of cos"},
      {with({9, 4},
            [](auto& o) {
              std::fill(std::begin(places), std::end(places), 0);
              places[3] = 9;
              o.positions = {places, {5}};
            }),
       kRange, "positions[3] is 9", "0 to 8, the rows of cos"},
      {with({9, 4}, [](auto& o) { o.cos.data = nullptr; }), kInvalid, "cos has no data",
       "[9,4] elements"},
      {with({9, 4}, [](auto& o) { o.sin.strides[1] = 2; }), kInvalid,
       "the last axis of sin has stride 2", "1"},
      {with({9, 4}, [](auto& o) { o.scaling = kYarn; }), kInvalid,
       "scaling is given together with cos and sin", "one of the two"},
      {with({2, 5, 4}, [](auto& o) { o.positions = {places, {5}}; }), kInvalid,
       "positions are given together with one row of cos for each token", "one of the two"},
      {with({2, 5, 4}, [](auto& o) { o.offset = 3; }), kInvalid,
       "offset is given together with one row of cos for each token", "one of the two"},
  });
}

struct Table : Call {
  Table() : Call("rotary_table") { gather(); }
  Status run() override { return rotary_table(cos, sin, options); }
  std::vector<Array> arrays() override {
    return {{"cos", cos, {kAny, kAny}, {.written = true, .dense = true}},
            {"sin", sin, {5, 4}, {.written = true, .dense = true}}};
  }
  std::vector<float> memory_of_both = std::vector<float>(40, kUntouched);
  TensorView<float> cos{memory_of_both.data(), {5, 4}};
  TensorView<float> sin{memory_of_both.data() + 20, {5, 4}};
  RotaryOptions options;
};

TEST_CASE("rotary_table: bad input is refused and nothing written", "[rotary][bad-input]") {
  require_data_checked(correct<Table>);
  require_strides_checked(correct<Table>);
  require_sharing_refused(correct<Table>);
  require_refused<Table>({
      {[](Table& c) { c.cos = {}; }, kShapeError, "cos is []", "[*,*]"},
      {[](Table& c) { c.sin = {}; }, kShapeError, "sin is []", "[5,4]"},
      {[](Table& c) { c.sin.shape[0] = 4; }, kShapeError, "sin is [4,4]", "[5,4]"},
      {[](Table& c) { c.cos = c.sin = {c.cos.data, {5, 0}}; }, kRange,
       "rotary_dim is 0 (left to d)", "an even number from 2 to d = 0"},
      {[](Table& c) { c.options.cos = {numbers, {5, 4}}; }, kInvalid, "options has cos",
       "none: this call makes them"},
      {[](Table& c) { c.options.rotary_dim = 10; }, kShapeError, "cos is [5,4]",
       "rows of rotary_dim / 2 = 5"},
      {[](Table& c) { c.options.rotary_dim = 9; }, kRange, "rotary_dim is 9",
       "an even number from 2 to d = 8"},
      {[](Table& c) { c.options.rotary_dim = -6; }, kRange, "rotary_dim is -6",
       "an even number from 2 to d = 8"},
      {[](Table& c) { c.options.positions = {places, {2, 5}}; }, kShapeError, "positions is [2,5]",
       "[1,5]"},
      {[](Table& c) { c.options.offset = kMaxPosition; }, kRange, "offset + tokens - 1 is 1048580",
       kPlaces},
      {[](Table& c) { c.options.base = 0.0; }, kInvalid, "base is 0", kFromOne},
  });
}

}  // namespace
}  // namespace qkv::test::bad_input_rotary_test
