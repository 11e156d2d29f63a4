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

TEST_CASE("embedding: ids that the table has not are refused", "[embedding][bad-input]") {
  const std::vector<float> values = table_of(7, 5);
  const auto refused = [&](Index rows, std::vector<std::int32_t> ids, const Refusal& refusal) {
    std::vector<float> written(15, kUntouched);
    require_refused(
        embedding({values.data(), {rows, 5}}, {ids.data(), {3}}, {written.data(), {3, 5}}),
        "embedding", refusal);
    CHECK(written == std::vector<float>(15, kUntouched));
  };
  refused(7, {0, 1, 7}, {kRange, "ids[2] is", "7", "[0, 7)"});
  refused(7, {0, -1, 2}, {kRange, "ids[1] is", "-1", "[0, 7)"});
  refused(7, {2147483647, 1, 2}, {kRange, "ids[0] is", "2147483647", "[0, 7)"});
  refused(7, {0, 1, -2147483647 - 1}, {kRange, "ids[2] is", "-2147483648", "[0, 7)"});
  refused(0, {6, 0, 3}, {kRange, "ids[0] is", "6", "[0, 0)"});
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

TEST_CASE("learned: offsets and modes without meaning are refused",
          "[embedding][learned][bad-input]") {
  const std::vector<float> values = table_of(7, 5);
  const auto refused = [&](Index rows, Index offset, OutOfRange mode, const Refusal& refusal) {
    std::vector<float> written(15, kUntouched);
    require_refused(
        learned_encoding({values.data(), {rows, 5}}, {written.data(), {3, 5}}, offset, mode),
        "learned_encoding", refusal);
    CHECK(written == std::vector<float>(15, kUntouched));
  };
  for (const OutOfRange mode : {OutOfRange::kError, OutOfRange::kClamp}) {
    refused(7, -1, mode, {kRange, "offset is", "-1", "at least 0"});
  }
  refused(7, 5, OutOfRange::kError, {kRange, "offset is 5", "length 3", "at most 7 rows"});
  refused(7, std::numeric_limits<Index>::max(), OutOfRange::kError,
          {kRange, "offset is", "length 3", "at most 7 rows"});
  refused(0, 0, OutOfRange::kClamp,
          {kRange, "offset is 0", "length 3", "at least one to clamp to"});
  refused(7, 0, static_cast<OutOfRange>(2),
          {kInvalid, "out_of_range is", "2", "a value of OutOfRange"});
}

}  // namespace
}  // namespace qkv::test::embedding_test
