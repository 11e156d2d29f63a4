// ALiBi, T5 and Transformer-XL: biases by distance.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include <limits>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "problem.hpp"
#include "qkv/relative_bias.hpp"
#include "refusal.hpp"

namespace qkv::test::relative_bias_test {
namespace {

std::vector<float> slopes_of(Index heads) {
  std::vector<float> slopes(static_cast<std::size_t>(heads), kUntouched);
  require_ok(alibi_slopes({slopes.data(), {heads}}));
  return slopes;
}

TEST_CASE("alibi: slopes of 1 to 40 heads and of many", "[alibi][any-isa]") {
  Quantity error("alibi_slopes");
  for (Index heads = 1; heads <= 40; ++heads) {
    const std::vector<float> slopes = slopes_of(heads);
    const std::vector<double> exact = oracle::alibi_slopes(heads);
    for (std::size_t h = 0; h < slopes.size(); ++h) {
      error.add(slopes[h], exact[h], bounds::alibi(exact[h]), exact[h]);
    }
  }
  for (Index heads : {63, 64, 65, 100, 1000, 1024}) {
    const std::vector<float> slopes = slopes_of(heads);
    const std::vector<double> exact = oracle::alibi_slopes(heads);
    for (std::size_t h = 0; h < slopes.size(); ++h) {
      error.add(slopes[h], exact[h], bounds::alibi(exact[h]), exact[h]);
    }
  }
  require_within(error);
}

TEST_CASE("alibi: no heads, nothing to do", "[alibi][empty][any-isa]") {
  require_ok(alibi_slopes({nullptr, {0}}));
}

/// The formula as T5 has it, in double precision; boundaries that are whole numbers are nudged off,
/// because there a logarithm may fall to either side.
Index t5_by_logarithm(Index relative_position, Index num_buckets, const T5Options& o) {
  const Index all = o.bidirectional ? num_buckets / 2 : num_buckets;
  const Index base = o.bidirectional && relative_position > 0 ? all : 0;
  const Index n =
      o.bidirectional ? std::abs(relative_position) : std::max(-relative_position, Index{0});
  const Index exact = all / 2;
  if (n < exact) {
    return base + n;
  }
  const double ratio = static_cast<double>(n) / static_cast<double>(exact);
  const double most = static_cast<double>(o.max_distance) / static_cast<double>(exact);
  const double x = std::log(ratio) / std::log(most) * static_cast<double>(all - exact);
  return base + std::min(exact + static_cast<Index>(std::floor(x + 1e-9)), all - 1);
}

TEST_CASE("t5: buckets of all kinds agree with whole numbers and with logarithms",
          "[t5][any-isa]") {
  for (bool bidirectional : {false, true}) {
    for (Index num_buckets : {2, 4, 5, 6, 7, 8, 31, 32, 64, 128}) {
      for (Index max_distance : {3, 17, 33, 64, 65, 81, 128, 256, 1000}) {
        const T5Options options{.bidirectional = bidirectional, .max_distance = max_distance};
        if (num_buckets < (bidirectional ? 4 : 2) ||
            max_distance <= num_buckets / (bidirectional ? 4 : 2)) {
          continue;
        }
        Index wrong = 0;
        for (Index p = -300; p <= 300; p += num_buckets < 64 ? 1 : 7) {
          const Index bucket = t5_bucket(p, num_buckets, options);
          const bool right = bucket == oracle::t5_bucket(p, num_buckets, options) &&
                             bucket == t5_by_logarithm(p, num_buckets, options);
          wrong = right || wrong != 0 ? wrong : p;
        }
        CAPTURE(bidirectional, num_buckets, max_distance);
        CHECK(wrong == 0);  // else the first distance that is
        CHECK(t5_bucket(0, num_buckets, options) == 0);
      }
    }
  }
}

// Boundaries that are whole numbers: exact * s^k with max_distance = exact * s^rest. The least
// distance of bucket exact + k is the boundary itself, and one less belongs to the bucket before.
TEST_CASE("t5: boundaries that are whole numbers are hit exactly", "[t5][any-isa]") {
  for (Index step : {2, 3, 5, 7}) {
    for (Index rest : {2, 3, 4, 5, 6, 7, 8, 9, 10}) {
      const Index exact = rest;  // all = 2 * exact
      Index max_distance = exact;
      for (Index k = 0; k < rest && max_distance <= kMaxPosition; ++k) {
        max_distance *= step;
      }
      if (max_distance > kMaxPosition) {
        continue;
      }
      const T5Options options{.bidirectional = false, .max_distance = max_distance};
      Index boundary = exact;
      for (Index k = 0; k < rest; ++k) {
        CAPTURE(step, rest, k, boundary);
        REQUIRE(t5_bucket(-boundary, 2 * exact, options) == exact + k);
        REQUIRE(t5_bucket(-boundary + 1, 2 * exact, options) == exact + k - 1);
        boundary *= step;
      }
    }
  }
}

// Far out, a distance just below a boundary has a logarithm that is 1e-6 of a bucket away from it.
TEST_CASE("t5: distances beside a boundary fall to the right side", "[t5][any-isa]") {
  for (Index max_distance = kMaxPosition - 40; max_distance <= kMaxPosition; ++max_distance) {
    const T5Options options{.bidirectional = false, .max_distance = max_distance};
    for (Index k : {1, 7, 12, 13, 14, 15}) {
      const double stretch = static_cast<double>(max_distance) / 16;
      const auto boundary = static_cast<Index>(16 * std::pow(stretch, static_cast<double>(k) / 16));
      for (Index n = boundary - 1; n <= boundary + 2; ++n) {
        CAPTURE(max_distance, k, n);
        REQUIRE(t5_bucket(-n, 32, options) == oracle::t5_bucket(-n, 32, options));
      }
    }
  }
}

TEST_CASE("t5: the largest tables agree with whole numbers", "[t5][any-isa]") {
  for (Index max_distance : {Index{513}, kMaxPosition}) {
    const T5Options options{.bidirectional = false, .max_distance = max_distance};
    for (Index n : {Index{512}, Index{724}, Index{23170}, Index{23171}, kMaxPosition}) {
      CAPTURE(max_distance, n);
      REQUIRE(t5_bucket(-n, kMaxT5Buckets, options) ==
              oracle::t5_bucket(-n, kMaxT5Buckets, options));
    }
  }
}

TEST_CASE("t5: no bucket for numbers that make no table", "[t5][bad-input]") {
  CHECK(t5_bucket(1, 3, {}) == -1);
  CHECK(t5_bucket(1, 0, {}) == -1);
  CHECK(t5_bucket(1, -32, {}) == -1);
  CHECK(t5_bucket(1, 1, {.bidirectional = false}) == -1);
  CHECK(t5_bucket(1, 1025, {}) == -1);
  CHECK(t5_bucket(1, 32, {.max_distance = 8}) == -1);
  CHECK(t5_bucket(1, 32, {.max_distance = kMaxPosition + 1}) == -1);
}

TEST_CASE("t5: the bias holds the table's rows, bit for bit", "[t5][any-isa]") {
  Random random(1);
  for (bool bidirectional : {false, true}) {
    for (Index offset : {Index{0}, Index{7}, Index{-3}, Index{200}, kMaxPosition, -kMaxPosition}) {
      for (const auto& [tq, tk] : {std::pair<Index, Index>{1, 1}, {1, 40}, {40, 1}, {33, 47}}) {
        CAPTURE(bidirectional, offset, tq, tk);
        constexpr Index kHeads = 3;
        const T5Options options{
            .bidirectional = bidirectional, .max_distance = 20, .offset = offset};
        std::vector<float> table = random_floats(random, 12 * kHeads);
        table[5] = NAN;
        std::vector<float> bias(static_cast<std::size_t>(kHeads * tq * tk), kUntouched);
        std::vector<float> expected;
        for (Index h = 0; h < kHeads; ++h) {
          for (Index i = 0; i < tq; ++i) {
            for (Index j = 0; j < tk; ++j) {
              const Index bucket = oracle::t5_bucket(j - (i + offset), 12, options);
              expected.push_back(table[static_cast<std::size_t>(bucket * kHeads + h)]);
            }
          }
        }
        require_ok(t5_relative_bias({table.data(), {12, kHeads}}, {bias.data(), {kHeads, tq, tk}},
                                    options));
        REQUIRE(first_difference(expected, bias) == "");
      }
    }
  }
}

TEST_CASE("t5: strided tables and biases, nothing between rows is touched",
          "[t5][strides][any-isa]") {
  Random random(2);
  const std::vector<float> memory = random_floats(random, 8 * 5);
  TensorView<const float> table(memory.data(), {8, 2});
  table.strides[0] = 5;
  std::vector<float> dense_table;
  for (Index bucket = 0; bucket < 8; ++bucket) {
    dense_table.insert(dense_table.end(), table.at(bucket), table.at(bucket) + 2);
  }
  std::vector<float> dense(2 * 4 * 6);
  std::vector<float> gaps(100, kUntouched);
  TensorView<float> bias(gaps.data(), {2, 4, 6});
  bias.strides = {48, 9, 1, 0};
  require_ok(t5_relative_bias({dense_table.data(), {8, 2}}, {dense.data(), {2, 4, 6}}, {}));
  require_ok(t5_relative_bias(table, bias, {}));
  CHECK(first_difference(dense, values_of(bias)) == "");
  std::size_t touched = 0;
  for (float value : gaps) {
    touched += value == kUntouched ? 0U : 1U;
  }
  CHECK(touched == 48);
}

TEST_CASE("t5: empty biases", "[t5][empty][any-isa]") {
  const std::vector<float> table(64);
  require_ok(t5_relative_bias({table.data(), {32, 2}}, {nullptr, {2, 0, 5}}, {}));
  require_ok(t5_relative_bias({table.data(), {32, 2}}, {nullptr, {2, 5, 0}}, {}));
  require_ok(t5_relative_bias({nullptr, {32, 0}}, {nullptr, {0, 5, 5}}, {}));
}

TEST_CASE("t5_relative_bias: of one key the stride of its axis counts for nothing",
          "[t5][any-isa]") {
  const std::vector<float> table = {1.0F, 2.0F, 3.0F, 4.0F};
  std::vector<float> out(3, kUntouched);
  TensorView<float> bias(out.data(), {1, 3, 1});
  bias.strides[2] = std::numeric_limits<Index>::min();
  require_ok(t5_relative_bias({table.data(), {4, 1}}, bias, {.max_distance = 8}));
  CHECK(std::count(out.begin(), out.end(), kUntouched) == 0);
}

TEST_CASE("t5_relative_bias: bad input is refused and nothing written", "[t5][bad-input]") {
  std::vector<float> memory(200, kUntouched);
  std::vector<float> numbers(4000);
  const auto refuse = [&](TensorView<const float> table, TensorView<float> bias,
                          const T5Options& options, const Refusal& refusal) {
    require_refused(t5_relative_bias(table, bias, options), "t5_relative_bias", refusal);
    CHECK(memory == std::vector<float>(200, kUntouched));
  };
  const TensorView<const float> table(numbers.data(), {32, 2});
  const TensorView<float> bias(memory.data(), {2, 5, 7});
  refuse({numbers.data(), {3, 2}}, bias, {}, {kShapeError, "table is", "[3,2]", "4 to 1024 rows"});
  refuse({numbers.data(), {1, 2}}, bias, {.bidirectional = false},
         {kShapeError, "table is", "[1,2]", "2 to 1024 rows"});
  refuse({numbers.data(), {1025, 2}}, bias, {},
         {kShapeError, "table is", "[1025,2]", "4 to 1024 rows"});
  refuse(table, bias, {.max_distance = 8}, {kRange, "max_distance is", "8", "9 to 1048576"});
  refuse(table, bias, {.bidirectional = false, .max_distance = 16},
         {kRange, "max_distance is", "16", "17 to 1048576"});
  refuse(table, bias, {.max_distance = kMaxPosition + 1},
         {kRange, "max_distance is", "1048577", "9 to 1048576"});
  refuse(table, bias, {.offset = kMaxPosition + 1},
         {kRange, "offset is", "1048577", "1048576 in magnitude"});
  refuse(table, bias, {.offset = -kMaxPosition - 1},
         {kRange, "offset is", "-1048577", "1048576 in magnitude"});
}

/// Arrays of a Transformer-XL call.
struct Xl {
  Xl(std::array<Index, 5> sizes, std::uint64_t seed) : size(sizes) {
    const auto [batch, heads, tq, tk, d] = sizes;
    Random random(seed);
    q = random_floats(random, batch * heads * tq * d);
    r = random_floats(random, (tk + tq - 1) * heads * d);
    v = random_floats(random, heads * d);
    bias.assign(static_cast<std::size_t>(batch * heads * tq * tk), kUntouched);
  }
  [[nodiscard]] TensorView<const float> q_view() const {
    return {q.data(), {size[0], size[1], size[2], size[4]}};
  }
  [[nodiscard]] TensorView<const float> r_view() const {
    return {r.data(), {size[2] + size[3] - 1, size[1] * size[4]}};
  }
  [[nodiscard]] TensorView<const float> v_view() const { return {v.data(), {size[1], size[4]}}; }
  [[nodiscard]] TensorView<float> bias_view() {
    return {bias.data(), {size[0], size[1], size[2], size[3]}};
  }
  void run() { require_ok(transformer_xl_bias(q_view(), r_view(), v_view(), bias_view())); }

  std::array<Index, 5> size;  ///< B, H, Tq, Tk, d
  std::vector<float> q, r, v, bias;
};

TEST_CASE("transformer-xl: every shape is within its bound", "[transformer-xl][any-isa]") {
  Quantity error("transformer_xl_bias");
  std::uint64_t seed = 1;
  for (Index d : {1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 130, 200}) {
    for (const auto& [tq, tk] : {std::pair<Index, Index>{1, 1}, {1, 9}, {9, 1}, {6, 6}, {5, 13}}) {
      Xl p({2, 3, tq, tk, d}, seed++);
      p.run();
      for (Index b = 0; b < 2; ++b) {
        for (Index h = 0; h < 3; ++h) {
          for (Index i = 0; i < tq; ++i) {
            for (Index j = 0; j < tk; ++j) {
              const auto exact =
                  oracle::transformer_xl(p.q_view(), p.r_view(), p.v_view(), tk, {b, h, i, j});
              error.add(*p.bias_view().at(b, h, i, j), exact.value,
                        bounds::transformer_xl(d, exact.size), exact.size);
            }
          }
        }
      }
    }
  }
  require_within(error);
}

TEST_CASE("transformer-xl: row t of r is the distance Tk - 1 - t", "[transformer-xl][any-isa]") {
  // With q = 0, v = 1 and r holding its distance, the bias is the distance.
  constexpr Index kTq = 4;
  constexpr Index kTk = 6;
  Xl p({1, 1, kTq, kTk, 1}, 2);
  p.q.assign(p.q.size(), 0.0F);
  p.v.assign(1, 1.0F);
  for (Index t = 0; t < kTk + kTq - 1; ++t) {
    p.r[static_cast<std::size_t>(t)] = static_cast<float>(kTk - 1 - t);
  }
  p.run();
  for (Index i = 0; i < kTq; ++i) {
    for (Index j = 0; j < kTk; ++j) {
      REQUIRE(*p.bias_view().at(0, 0, i, j) == static_cast<float>(i + (kTk - kTq) - j));
    }
  }
}

TEST_CASE("transformer-xl: heads side by side and gaps give the same bits",
          "[transformer-xl][strides][any-isa]") {
  Xl p({2, 3, 5, 7, 10}, 3);
  p.run();
  std::vector<float> beside(p.q.size());
  const TensorView<float> q = split_heads(beside.data(), 2, 5, 3, 10);
  for (Index b = 0; b < 2; ++b) {
    for (Index h = 0; h < 3; ++h) {
      for (Index t = 0; t < 5; ++t) {
        for (Index c = 0; c < 10; ++c) {
          *q.at(b, h, t, c) = *p.q_view().at(b, h, t, c);
        }
      }
    }
  }
  std::vector<float> wide_r(11 * 33, NAN);
  TensorView<float> r(wide_r.data(), {11, 30});
  r.strides[0] = 33;
  for (Index t = 0; t < 11; ++t) {
    std::copy_n(p.r_view().at(t), 30, r.at(t));
  }
  std::vector<float> wide_bias(2 * 3 * 5 * 9, kUntouched);
  TensorView<float> bias(wide_bias.data(), {2, 3, 5, 7});
  bias.strides = {135, 45, 9, 1};
  require_ok(transformer_xl_bias(q, r, p.v_view(), bias));
  CHECK(first_difference(p.bias, values_of(bias)) == "");
  std::size_t touched = 0;
  for (float value : wide_bias) {
    touched += value == kUntouched ? 0U : 1U;
  }
  CHECK(touched == p.bias.size());
}

TEST_CASE("transformer-xl: NaN reaches its query or its distance alone",
          "[transformer-xl][any-isa]") {
  Xl p({1, 2, 4, 5, 9}, 4);
  p.run();
  const std::vector<float> clean = p.bias;
  p.q[9 + 8] = NAN;                // head 0, query 1
  p.r[3 * 18 + 9 + 2] = INFINITY;  // head 1, t = 3
  p.run();
  for (Index h = 0; h < 2; ++h) {
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 5; ++j) {
        CAPTURE(h, i, j);
        const bool hit = h == 0 ? i == 1 : 4 - 1 - i + j == 3;
        const auto at = static_cast<std::size_t>((h * 4 + i) * 5 + j);
        REQUIRE(std::isfinite(p.bias[at]) == !hit);
        REQUIRE((hit || p.bias[at] == clean[at]));
      }
    }
  }
}

TEST_CASE("transformer-xl: empty biases", "[transformer-xl][empty][any-isa]") {
  const std::vector<float> numbers(100);
  const float* n = numbers.data();
  require_ok(transformer_xl_bias({nullptr, {0, 2, 3, 4}}, {n, {6, 8}}, {n, {2, 4}},
                                 {nullptr, {0, 2, 3, 4}}));
  require_ok(transformer_xl_bias({nullptr, {1, 0, 3, 4}}, {nullptr, {6, 0}}, {nullptr, {0, 4}},
                                 {nullptr, {1, 0, 3, 4}}));
  require_ok(transformer_xl_bias({nullptr, {1, 2, 0, 4}}, {n, {3, 8}}, {n, {2, 4}},
                                 {nullptr, {1, 2, 0, 4}}));
  require_ok(
      transformer_xl_bias({n, {1, 2, 3, 4}}, {n, {2, 8}}, {n, {2, 4}}, {nullptr, {1, 2, 3, 0}}));
  require_ok(transformer_xl_bias({nullptr, {1, 2, 0, 4}}, {nullptr, {0, 8}}, {n, {2, 4}},
                                 {nullptr, {1, 2, 0, 0}}));
}

TEST_CASE("relative bias: nothing is allocated", "[alibi][t5][transformer-xl][memory][any-isa]") {
  Xl p({1, 2, 30, 40, 64}, 6);
  const std::vector<float> table(64);
  std::vector<float> bias(2 * 30 * 40);
  const std::size_t before = allocation_count();
  p.run();
  require_ok(t5_relative_bias({table.data(), {32, 2}}, {bias.data(), {2, 30, 40}}, {}));
  slopes_of(12);
  CHECK(allocation_count() == before);
}

}  // namespace
}  // namespace qkv::test::relative_bias_test
