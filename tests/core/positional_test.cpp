// Sinusoidal encodings and their shifts.
#include <catch2/catch_test_macros.hpp>

#include <limits>

#include "compare.hpp"
#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::positional_test {
namespace {

constexpr SinusoidLayout kLayouts[] = {SinusoidLayout::kInterleaved, SinusoidLayout::kConcatenated};
constexpr Index kWidths[] = {1, 2, 3, 4, 7, 8, 15, 64, 65, 128};
/// Where 130 rows start: the origin from both sides, the sizes people use, and both ends.
constexpr Index kOffsets[] = {0,
                              1,
                              63,
                              64,
                              -1,
                              -64,
                              -65,
                              -130,
                              4000,
                              65500,
                              -65600,
                              (Index{1} << 19) - 7,
                              kMaxPosition - 129,
                              -kMaxPosition};

std::vector<float> encode(Index length, Index d_model, Index offset,
                          const SinusoidOptions& options = {}) {
  std::vector<float> table(static_cast<std::size_t>(length * d_model), kUntouched);
  require_ok(sinusoidal_encoding({table.data(), {length, d_model}}, offset, options));
  return table;
}

TEST_CASE("sinusoid: every position, width, layout and base is within 1.2e-7", "[positional]") {
  Quantity error("sinusoidal_encoding");
  for (SinusoidLayout layout : kLayouts) {
    for (double base : {10000.0, 1.0, 2.0, 100.0, 500000.0}) {
      for (Index d_model : kWidths) {
        for (Index offset : kOffsets) {
          const SinusoidOptions options{base, layout};
          const std::vector<float> table = encode(130, d_model, offset, options);
          for (Index r = 0; r < 130; ++r) {
            for (Index c = 0; c < d_model; ++c) {
              error.add(table[static_cast<std::size_t>(r * d_model + c)],
                        oracle::sinusoid(static_cast<double>(offset + r), c, d_model, options),
                        bounds::kSinusoid, 1.0);
            }
          }
        }
      }
    }
  }
  require_within(error);
}

TEST_CASE("sinusoid: a row is the same to the bit wherever its table starts", "[positional]") {
  for (Index at : {Index{-200}, Index{-1}, Index{0}, Index{100}, Index{4096}, kMaxPosition - 300}) {
    const std::vector<float> table = encode(300, 6, at);
    for (Index start : {1, 5, 63, 64, 65, 128, 200, 299}) {
      CAPTURE(at, start);
      const std::vector<float> later = encode(300 - start, 6, at + start);
      REQUIRE(first_difference({table.begin() + start * 6, table.end()}, later) == "");
    }
  }
}

/// 2x2 blocks of M_k as (sin, cos) -> (sin, cos).
std::vector<float> shift_blocks(Index k, Index d_model, const SinusoidOptions& options = {}) {
  std::vector<float> blocks(static_cast<std::size_t>((d_model + 1) / 2 * 4), kUntouched);
  require_ok(
      sinusoidal_shift_blocks({blocks.data(), {(d_model + 1) / 2, 2, 2}}, k, d_model, options));
  return blocks;
}

std::vector<float> shift_matrix(Index k, Index d_model, const SinusoidOptions& options = {}) {
  std::vector<float> matrix(static_cast<std::size_t>(d_model * d_model), kUntouched);
  require_ok(sinusoidal_shift_matrix({matrix.data(), {d_model, d_model}}, k, options));
  return matrix;
}

/// Positions and shifts that stay within kMaxPosition, both signs of k.
struct Move {
  Index p, k;
};
constexpr Move kMoves[] = {{0, 1},
                           {0, 0},
                           {5, 3},
                           {100, -100},
                           {4096, 1},
                           {4096, -4000},
                           {65536, 65536},
                           {-500, 1000},
                           {Index{1} << 19, Index{1} << 19},
                           {kMaxPosition, -1},
                           {kMaxPosition, -kMaxPosition},
                           {-kMaxPosition + 5, kMaxPosition},
                           {kMaxPosition - 77, 77}};

TEST_CASE("shift: PE(p + k) = M_k PE(p) within 2.4e-7, as a matrix", "[positional][shift]") {
  Quantity error("sinusoidal_shift_matrix");
  for (SinusoidLayout layout : kLayouts) {
    for (double base : {10000.0, 50.0}) {
      for (Index d_model : {2, 4, 6, 16, 64, 66}) {
        const SinusoidOptions options{base, layout};
        for (const auto& [p, k] : kMoves) {
          const auto matrix = shift_matrix(k, d_model, options);
          const auto before = encode(1, d_model, p, options);
          const auto after = encode(1, d_model, p + k, options);
          for (Index row = 0; row < d_model; ++row) {
            double moved = 0.0;
            for (Index c = 0; c < d_model; ++c) {
              moved += static_cast<double>(matrix[static_cast<std::size_t>(row * d_model + c)]) *
                       static_cast<double>(before[static_cast<std::size_t>(c)]);
            }
            error.add(moved, after[static_cast<std::size_t>(row)], bounds::kShift, 1.0);
          }
        }
      }
    }
  }
  require_within(error);
}

TEST_CASE("shift: PE(p + k) = M_k PE(p) within 2.4e-7, as blocks, also for odd widths",
          "[positional][shift]") {
  Quantity error("sinusoidal_shift_blocks");
  for (Index d_model : {1, 2, 3, 7, 64, 65}) {
    const Index pairs = (d_model + 1) / 2;
    for (const auto& [p, k] : kMoves) {
      const auto blocks = shift_blocks(k, d_model);
      for (Index i = 0; i < pairs; ++i) {
        // The cosine beside the last sine of an odd encoding comes from the formula.
        const auto pe = [&, d = d_model](Index position, Index c) {
          return c < d ? static_cast<double>(encode(1, d, position)[static_cast<std::size_t>(c)])
                       : std::cos(static_cast<double>(position) *
                                  std::pow(10000.0,
                                           -2.0 * static_cast<double>(i) / static_cast<double>(d)));
        };
        const float* m = blocks.data() + 4 * i;
        const double sine = pe(p, 2 * i);
        const double cosine = pe(p, 2 * i + 1);
        error.add(m[0] * sine + m[1] * cosine, pe(p + k, 2 * i), bounds::kShift, 1.0);
        error.add(m[2] * sine + m[3] * cosine, pe(p + k, 2 * i + 1), bounds::kShift, 1.0);
      }
    }
  }
  require_within(error);
}

TEST_CASE("shift: the matrix holds the blocks and zeros", "[positional][shift]") {
  for (SinusoidLayout layout : kLayouts) {
    for (Index d_model : {2, 4, 10, 64}) {
      for (Index k : {-7, 0, 1, 12345}) {
        CAPTURE(d_model, k);
        const auto blocks = shift_blocks(k, d_model, {10000.0, layout});
        std::vector<float> expected(static_cast<std::size_t>(d_model * d_model), 0.0F);
        for (Index i = 0; i < d_model / 2; ++i) {
          const bool interleaved = layout == SinusoidLayout::kInterleaved;
          const Index sine = interleaved ? 2 * i : i;
          const Index cosine = interleaved ? 2 * i + 1 : d_model / 2 + i;
          const float* block = blocks.data() + 4 * i;
          expected[static_cast<std::size_t>(sine * d_model + sine)] = block[0];
          expected[static_cast<std::size_t>(sine * d_model + cosine)] = block[1];
          expected[static_cast<std::size_t>(cosine * d_model + sine)] = block[2];
          expected[static_cast<std::size_t>(cosine * d_model + cosine)] = block[3];
        }
        REQUIRE(first_difference(expected, shift_matrix(k, d_model, {10000.0, layout})) == "");
      }
    }
  }
}

TEST_CASE("sinusoidal_encoding: bad input is refused and nothing written",
          "[positional][bad-input]") {
  std::vector<float> memory(24, kUntouched);
  const auto refuse = [&](TensorView<float> table, Index offset, const SinusoidOptions& options,
                          const Refusal& refusal) {
    require_refused(sinusoidal_encoding(table, offset, options), "sinusoidal_encoding", refusal);
    CHECK(memory == std::vector<float>(24, kUntouched));
  };
  const TensorView<float> table(memory.data(), {4, 6});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  refuse({memory.data(), {4, 0}}, 0, {}, {kShapeError, "d_model is", "0", "at least 1"});
  refuse(table, 0, {.base = 0.0}, {kInvalid, "base is", "0", "at least 1"});
  refuse(table, 0, {.base = 0.999}, {kInvalid, "base is", "0.999", "at least 1"});
  refuse(table, 0, {.base = -2.0}, {kInvalid, "base is", "-2", "at least 1"});
  refuse(table, 0, {.base = kNan}, {kInvalid, "base is", "NaN", "at least 1"});
  refuse(table, 0, {.base = kInf}, {kInvalid, "base is", "Infinity", "at least 1"});
  refuse(table, kMaxPosition + 1, {}, {kRange, "offset reaches", "1048577", "1048576"});
  refuse(table, -kMaxPosition - 1, {}, {kRange, "offset reaches", "-1048577", "1048576"});
  refuse(table, kMaxPosition - 2, {}, {kRange, "offset + length", "1048577", "1048576"});
}

TEST_CASE("sinusoidal_encoding: the last position there is", "[positional]") {
  encode(4, 6, kMaxPosition - 3);
}

TEST_CASE("sinusoidal_shift_blocks: bad input is refused and nothing written",
          "[positional][bad-input]") {
  std::vector<float> memory(12, kUntouched);
  const auto refuse = [&](TensorView<float> blocks, Index k, Index d_model, double base,
                          const Refusal& refusal) {
    require_refused(sinusoidal_shift_blocks(blocks, k, d_model, {.base = base}),
                    "sinusoidal_shift_blocks", refusal);
    CHECK(memory == std::vector<float>(12, kUntouched));
  };
  const TensorView<float> blocks(memory.data(), {3, 2, 2});
  refuse(blocks, 1, 4, 1e4, {kShapeError, "blocks is", "[3,2,2]", "[2,2,2]"});
  refuse(blocks, 1, 7, 1e4, {kShapeError, "blocks is", "[3,2,2]", "[4,2,2]"});
  refuse(blocks, 1, 0, 1e4, {kShapeError, "d_model is", "0", "at least 1"});
  refuse(blocks, 1, -6, 1e4, {kShapeError, "d_model is", "-6", "at least 1"});
  refuse(blocks, 1, 6, -1.0, {kInvalid, "base is", "-1", "at least 1"});
  refuse(blocks, kMaxPosition + 1, 6, 1e4, {kRange, "k reaches", "1048577", "1048576"});
  refuse(blocks, -kMaxPosition - 1, 6, 1e4, {kRange, "k reaches", "-1048577", "1048576"});
}

TEST_CASE("sinusoidal_shift_matrix: bad input is refused and nothing written",
          "[positional][bad-input]") {
  std::vector<float> memory(36, kUntouched);
  const auto refuse = [&](TensorView<float> matrix, Index k, double base, const Refusal& refusal) {
    require_refused(sinusoidal_shift_matrix(matrix, k, {.base = base}), "sinusoidal_shift_matrix",
                    refusal);
    CHECK(memory == std::vector<float>(36, kUntouched));
  };
  const TensorView<float> matrix(memory.data(), {6, 6});
  refuse({memory.data(), {36}}, 1, 1e4, {kShapeError, "matrix is", "[36]", "[*,*]"});
  refuse({memory.data(), {6, 4}}, 1, 1e4, {kShapeError, "matrix is", "[6,4]", "[6,6]"});
  refuse({memory.data(), {0, 0}}, 1, 1e4, {kShapeError, "d_model is", "0", "at least 1"});
  refuse(matrix, 1, 0.0, {kInvalid, "base is", "0", "at least 1"});
  refuse(matrix, kMaxPosition + 1, 1e4, {kRange, "k reaches", "1048577", "1048576"});
  refuse({memory.data(), {5, 5}}, 1, 1e4,
         {StatusCode::kUnsupported, "d_model is", "5", "an even number"});
}

TEST_CASE("positional: nothing is allocated", "[positional][memory]") {
  std::vector<float> memory(256);
  const std::size_t allocations = allocation_count();
  require_ok(sinusoidal_encoding({memory.data(), {16, 16}}, 5, {}));
  require_ok(sinusoidal_shift_blocks({memory.data(), {8, 2, 2}}, 5, 16, {}));
  require_ok(sinusoidal_shift_matrix({memory.data(), {16, 16}}, 5, {}));
  CHECK(allocation_count() == allocations);
}

}  // namespace
}  // namespace qkv::test::positional_test
