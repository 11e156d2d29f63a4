// attention() against the formula in double precision, over sizes and options.
#include <catch2/catch_test_macros.hpp>

#include <limits>

#include "problem.hpp"

namespace qkv::test::attention_oracle_test {
namespace {

constexpr Index kLengths[] = {1, 2, 3, 5, 7, 8, 63, 64, 65, 127, 129, 200};
constexpr Index kWidths[] = {1, 3, 4, 5, 16, 64, 65, 80, 256};

TEST_CASE("attention: every length and width of a head is within the bounds", "[attention]") {
  std::uint64_t seed = 1;
  for (Index t : kLengths) {
    for (Index d : kWidths) {
      CAPTURE(t, d);
      Problem(square(t, d), seed++).check();
    }
  }
}

TEST_CASE("attention: d_v differs from d_k", "[attention]") {
  std::uint64_t seed = 100;
  for (Index dk : {1, 5, 65, 256}) {
    for (Index dv : {1, 4, 64, 80}) {
      CAPTURE(dk, dv);
      Problem p({.heads = 2, .kv_heads = 2, .tq = 9, .tk = 19, .dk = dk, .dv = dv}, seed++);
      p.check();
    }
  }
}

TEST_CASE("attention: a thousand tokens", "[attention]") { Problem(square(1000, 8), 300).check(); }

TEST_CASE("attention: causal offsets of every kind", "[attention][causal]") {
  std::uint64_t seed = 600;
  for (Index tq : {1, 7, 64, 65}) {
    for (Index tk : {1, 8, 63, 129}) {
      for (Index offset : {Index{0}, tk - tq, Index{-1}, Index{-3}, -tq, -tq - 5, Index{1},
                           Index{5}, tk, tk + 10, Index{1} << 30, -(Index{1} << 30)}) {
        CAPTURE(tq, tk, offset);
        Problem p({.heads = 2, .kv_heads = 1, .tq = tq, .tk = tk, .dk = 6, .dv = 9}, seed++);
        p.causal(offset);
        p.check();
      }
    }
  }
}

TEST_CASE("attention: the largest and the smallest causal offset there is", "[attention][causal]") {
  for (Index offset : {std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()}) {
    CAPTURE(offset);
    Problem p({.tq = 20, .tk = 30, .dk = 8, .dv = 8}, 650);
    p.causal(offset);
    p.check();
  }
}

TEST_CASE("attention: causal without an offset means 0 for as many keys as queries",
          "[attention][causal]") {
  for (Index t : {1, 2, 63, 64, 65, 130}) {
    CAPTURE(t);
    Problem p(square(t, 16), 700 + static_cast<std::uint64_t>(t));
    p.options.causal = true;
    p.check();
    CHECK(p.result.weights[0] == 1.0F);  // row 0 sees key 0 alone
  }
}

TEST_CASE("attention: any finite scale, also 0 and negative ones", "[attention]") {
  for (float scale : {1.0F, 0.5F, 0.0F, -0.3F, 3.0F}) {
    CAPTURE(scale);
    Problem p({.heads = 2, .kv_heads = 2, .tq = 30, .tk = 41, .dk = 12, .dv = 12}, 900);
    p.options.scale = scale;
    p.check();
  }
}

TEST_CASE("attention: random sizes and options, crossed", "[attention][random]") {
  constexpr Index kBatches[] = {1, 1, 2, 3};
  constexpr Index kKvHeads[] = {1, 1, 2, 3};
  constexpr Index kRatios[] = {1, 2, 3, 8};
  constexpr Index kSizes[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100};
  constexpr float kTemperatures[] = {1.0F, 1.0F, 0.5F, 3.0F};
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    CAPTURE(seed);
    Random random(seed * 7919);
    Shape s;
    s.batch = random.pick(kBatches);
    s.kv_heads = random.pick(kKvHeads);
    s.heads = s.kv_heads * random.pick(kRatios);
    s.tq = random.pick(kSizes);
    s.tk = random.pick(kSizes);
    s.dk = 1 + random.below(40);
    s.dv = 1 + random.below(40);
    Problem p(s, seed);
    p.exclude_at_random(random);
    if (random.chance(0.3)) {
      p.options.scale = random.uniform(1.0F);
    }
    p.options.temperature = random.pick(kTemperatures);
    p.check();
  }
}

}  // namespace
}  // namespace qkv::test::attention_oracle_test
