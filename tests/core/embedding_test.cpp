// Rows of tables, bit for bit.
#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>

#include "guarded.hpp"
#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::embedding_test {
namespace {

std::vector<float> table_of(Index rows, Index width) {
  Random random(1);
  return random_floats(random, rows * width);
}

/// Rows of `table` by their numbers.
std::vector<float> rows_of(const std::vector<float>& table, Index width,
                           const std::vector<std::int32_t>& numbers) {
  std::vector<float> rows;
  for (const std::int32_t row : numbers) {
    rows.insert(rows.end(), table.begin() + row * width, table.begin() + (row + 1) * width);
  }
  return rows;
}

TEST_CASE("embedding: gives the rows of the table", "[embedding][any-isa]") {
  for (Index width : {1, 2, 3, 5, 7, 8, 15, 16, 17, 63, 64, 65, 127, 129}) {
    for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
      CAPTURE(width, static_cast<int>(edge));
      const std::vector<std::int32_t> numbers{3, 0, 6, 6, 1, 5, 0, 2, 4};
      const auto n = static_cast<Index>(numbers.size());
      std::vector<float> values = table_of(7, width);
      values[0] = std::numeric_limits<float>::quiet_NaN();
      const Guarded table(values, edge);
      const Guarded ids(numbers, edge);
      const Guarded<float> out(static_cast<std::size_t>(n * width), edge);
      const std::size_t allocations = allocation_count();
      require_ok(
          embedding({table.data(), {7, width}}, {ids.data(), {n}}, {out.data(), {n, width}}));
      REQUIRE(allocation_count() == allocations);
      REQUIRE(out.intact());
      REQUIRE(first_difference(rows_of(values, width, numbers), out.values()) == "");
    }
  }
}

TEST_CASE("embedding: arrays without elements", "[embedding][empty][any-isa]") {
  const std::vector<float> table = table_of(4, 3);
  require_ok(embedding({table.data(), {4, 3}}, {nullptr, {0}}, {nullptr, {0, 3}}));
  require_ok(embedding({nullptr, {0, 3}}, {nullptr, {0}}, {nullptr, {0, 3}}));
  const std::int32_t id = 2;
  require_ok(embedding({nullptr, {4, 0}}, {&id, {1}}, {nullptr, {1, 0}}));
}

struct Case {
  const char* what;
  Spoil<TensorView<const float>&, TensorView<const std::int32_t>&, TensorView<float>&> spoil;
  Refusal refusal;
};

TEST_CASE("embedding: bad arguments are refused", "[embedding][bad-input]") {
  static constexpr std::int32_t kLast[] = {0, 1, 7};
  static constexpr std::int32_t kNegative[] = {0, -1, 2};
  static constexpr std::int32_t kHuge[] = {2147483647, 1, 2};
  static constexpr std::int32_t kLeast[] = {0, 1, -2147483647 - 1};
  const auto ids = [](const std::int32_t* values) {
    return [values](auto&, auto& view, auto&) { view = {values, {3}}; };
  };
  const std::vector<Case> cases{
      {"table absent",
       [](auto& t, auto&, auto&) { t = {}; },
       {kShapeError, "table is", "[]", "[*,*]"}},
      {"table of rank 3",
       [](auto& t, auto&, auto&) { t = {t.data, {1, 7, 5}}; },
       {kShapeError, "table is", "[1,7,5]", "[*,*]"}},
      {"table null",
       [](auto& t, auto&, auto&) { t.data = nullptr; },
       {kInvalid, "table has no data", "[7,5]", "elements"}},
      {"table with gaps",
       [](auto& t, auto&, auto&) { t.strides[0] = 6; },
       {kInvalid, "axis 0 of table", "stride 6", "expected 5"}},
      {"ids absent", [](auto&, auto& i, auto&) { i = {}; }, {kShapeError, "ids is", "[]", "[*]"}},
      {"ids of rank 2",
       [](auto&, auto& i, auto&) { i = {i.data, {1, 3}}; },
       {kShapeError, "ids is", "[1,3]", "[*]"}},
      {"ids null",
       [](auto&, auto& i, auto&) { i.data = nullptr; },
       {kInvalid, "ids has no data", "[3]", "elements"}},
      {"ids strided",
       [](auto&, auto& i, auto&) { i.strides[0] = 2; },
       {kInvalid, "the last axis of ids", "stride 2", "expected 1"}},
      {"out too short",
       [](auto&, auto&, auto& o) { o.shape[0] = 2; },
       {kShapeError, "out is", "[2,5]", "[3,5]"}},
      {"out of another width",
       [](auto&, auto&, auto& o) { o.shape[1] = 4; },
       {kShapeError, "out is", "[3,4]", "[3,5]"}},
      {"out null",
       [](auto&, auto&, auto& o) { o.data = nullptr; },
       {kInvalid, "out has no data", "[3,5]", "elements"}},
      {"out with gaps",
       [](auto&, auto&, auto& o) { o.strides[0] = 8; },
       {kInvalid, "axis 0 of out", "stride 8", "expected 5"}},
      {"id past the end", ids(kLast), {kRange, "ids[2] is", "7", "[0, 7)"}},
      {"id below 0", ids(kNegative), {kRange, "ids[1] is", "-1", "[0, 7)"}},
      {"huge id", ids(kHuge), {kRange, "ids[0] is", "2147483647", "[0, 7)"}},
      {"least id", ids(kLeast), {kRange, "ids[2] is", "-2147483648", "[0, 7)"}},
      {"empty table",
       [](auto& t, auto&, auto&) { t.shape[0] = 0; },
       {kRange, "ids[0] is", "6", "[0, 0)"}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const std::vector<float> values = table_of(7, 5);
    const std::vector<std::int32_t> numbers{6, 0, 3};
    std::vector<float> written(15, kUntouched);
    TensorView<const float> table{values.data(), {7, 5}};
    TensorView<const std::int32_t> view{numbers.data(), {3}};
    TensorView<float> out{written.data(), {3, 5}};
    c.spoil(table, view, out);
    require_refused(embedding(table, view, out), "embedding", c.refusal);
    CHECK(written == std::vector<float>(15, kUntouched));
  }
}

std::vector<float> learned(const std::vector<float>& table, Index width, Index length, Index offset,
                           OutOfRange out_of_range) {
  const Index rows = static_cast<Index>(table.size()) / width;
  std::vector<float> out(static_cast<std::size_t>(length * width), kUntouched);
  require_ok(learned_encoding({table.data(), {rows, width}}, {out.data(), {length, width}}, offset,
                              out_of_range));
  return out;
}

TEST_CASE("learned: gives rows from the offset on", "[embedding][learned][any-isa]") {
  for (Index width : {1, 3, 8, 65}) {
    const std::vector<float> table = table_of(6, width);
    for (Index offset = 0; offset <= 6; ++offset) {
      for (Index length = 0; offset + length <= 6; ++length) {
        CAPTURE(width, offset, length);
        const std::vector<float> expected(table.begin() + offset * width,
                                          table.begin() + (offset + length) * width);
        for (OutOfRange mode : {OutOfRange::kError, OutOfRange::kClamp}) {
          REQUIRE(first_difference(expected, learned(table, width, length, offset, mode)) == "");
        }
      }
    }
  }
}

TEST_CASE("learned: kClamp repeats the last row", "[embedding][learned][any-isa]") {
  const std::vector<float> table = table_of(4, 3);
  CHECK(learned(table, 3, 5, 2, OutOfRange::kClamp) == rows_of(table, 3, {2, 3, 3, 3, 3}));
  CHECK(learned(table, 3, 2, 100, OutOfRange::kClamp) == rows_of(table, 3, {3, 3}));
  CHECK(learned(table, 3, 3, std::numeric_limits<Index>::max(), OutOfRange::kClamp) ==
        rows_of(table, 3, {3, 3, 3}));
}

TEST_CASE("learned: writes nothing outside its array",
          "[embedding][learned][memory][guard][any-isa]") {
  for (Edge edge : {Edge::kBegin, Edge::kEnd}) {
    const std::vector<float> values = table_of(5, 7);
    const Guarded table(values, edge);
    const Guarded<float> out(6 * 7, edge);
    const std::size_t allocations = allocation_count();
    require_ok(
        learned_encoding({table.data(), {5, 7}}, {out.data(), {6, 7}}, 1, OutOfRange::kClamp));
    CHECK(allocation_count() == allocations);
    CHECK(out.intact());
    CHECK(out.values() == rows_of(values, 7, {1, 2, 3, 4, 4, 4}));
  }
}

TEST_CASE("learned: an empty result is always fine", "[embedding][learned][empty][any-isa]") {
  for (OutOfRange mode : {OutOfRange::kError, OutOfRange::kClamp}) {
    require_ok(learned_encoding({nullptr, {0, 3}}, {nullptr, {0, 3}}, 0, mode));
    require_ok(learned_encoding({nullptr, {0, 3}}, {nullptr, {0, 3}}, 9, mode));
    require_ok(learned_encoding({nullptr, {4, 0}}, {nullptr, {4, 0}}, 0, mode));
  }
}

struct LearnedCase {
  const char* what;
  Spoil<TensorView<const float>&, TensorView<float>&, Index&, OutOfRange&> spoil;
  Refusal refusal;
};

TEST_CASE("learned: bad arguments are refused", "[embedding][learned][bad-input]") {
  const std::vector<LearnedCase> cases{
      {"table absent",
       [](auto& t, auto&, auto&, auto&) { t = {}; },
       {kShapeError, "table is", "[]", "[*,*]"}},
      {"table null",
       [](auto& t, auto&, auto&, auto&) { t.data = nullptr; },
       {kInvalid, "table has no data", "[7,5]", "elements"}},
      {"table strided",
       [](auto& t, auto&, auto&, auto&) { t.strides[1] = 2; },
       {kInvalid, "the last axis of table", "stride 2", "expected 1"}},
      {"out absent",
       [](auto&, auto& o, auto&, auto&) { o = {}; },
       {kShapeError, "out is", "[]", "[*,5]"}},
      {"out of another width",
       [](auto&, auto& o, auto&, auto&) { o.shape[1] = 6; },
       {kShapeError, "out is", "[3,6]", "[*,5]"}},
      {"out null",
       [](auto&, auto& o, auto&, auto&) { o.data = nullptr; },
       {kInvalid, "out has no data", "[3,5]", "elements"}},
      {"out with gaps",
       [](auto&, auto& o, auto&, auto&) { o.strides[0] = 7; },
       {kInvalid, "axis 0 of out", "stride 7", "expected 5"}},
      {"offset below 0",
       [](auto&, auto&, Index& offset, auto&) { offset = -1; },
       {kRange, "offset is", "-1", "at least 0"}},
      {"offset below 0, clamped",
       [](auto&, auto&, Index& offset, OutOfRange& mode) {
         offset = -1;
         mode = OutOfRange::kClamp;
       },
       {kRange, "offset is", "-1", "at least 0"}},
      {"one row too many",
       [](auto&, auto&, Index& offset, auto&) { offset = 5; },
       {kRange, "offset is 5", "length 3", "at most 7 rows"}},
      {"huge offset",
       [](auto&, auto&, Index& offset, auto&) { offset = std::numeric_limits<Index>::max(); },
       {kRange, "offset is", "length 3", "at most 7 rows"}},
      {"no row to clamp to",
       [](auto& t, auto&, auto&, OutOfRange& mode) {
         t.shape[0] = 0;
         mode = OutOfRange::kClamp;
       },
       {kRange, "offset is 0", "length 3", "at least one to clamp to"}},
      {"no such mode",
       [](auto&, auto&, auto&, OutOfRange& mode) { mode = static_cast<OutOfRange>(2); },
       {kInvalid, "out_of_range is", "2", "a value of OutOfRange"}},
  };
  for (const LearnedCase& c : cases) {
    INFO(c.what);
    const std::vector<float> values = table_of(7, 5);
    std::vector<float> written(15, kUntouched);
    TensorView<const float> table{values.data(), {7, 5}};
    TensorView<float> out{written.data(), {3, 5}};
    Index offset = 0;
    OutOfRange mode = OutOfRange::kError;
    c.spoil(table, out, offset, mode);
    require_refused(learned_encoding(table, out, offset, mode), "learned_encoding", c.refusal);
    CHECK(written == std::vector<float>(15, kUntouched));
  }
}

}  // namespace
}  // namespace qkv::test::embedding_test
