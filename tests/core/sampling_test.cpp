// How tokens are chosen, against the rules in double precision, and that the same are chosen everywhere.
#include "qkv/sampling.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <set>
#include <vector>

#include "sampling_problem.hpp"

namespace qkv::test::sampling_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("sample: by default the most likely token, of equals the first", "[sampling]") {
  CHECK(draw({{1.0F, 3.0F, 2.0F, 3.0F}}).id == 1);
  CHECK(draw({{-5.0F}}).id == 0);
  CHECK(draw({{0.0F, -0.0F}}).id == 0);
  CHECK(draw({{-0.0F, 0.0F}}).id == 0);
  CHECK(draw({{-INFINITY, -3e38F, -INFINITY}}).id == 1);
  CHECK(draw({{kNan, 1.0F, kNan, 2.0F, kNan}}).id == 3);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> logits = random_logits(1 + static_cast<Index>(seed) * 7, seed);
    const auto most = std::max_element(logits.begin(), logits.end()) - logits.begin();
    CHECK(draw({logits, {.top_k = 3, .top_p = 0.5F, .seed = seed, .step = seed}}).id == most);
  }
}

TEST_CASE("sample: the coldest draw is the most likely token, the hottest any", "[sampling]") {
  const std::vector<float> logits = {1.0F, 1.5F, -2.0F, 1.25F, -30.0F};
  for (const float cold : {1e-3F, 1e-20F, std::numeric_limits<float>::min()}) {
    CHECK(drawn({logits, {.temperature = cold}}, 50) == std::set<std::int32_t>{1});
  }
  CHECK(drawn({logits, {.temperature = 1e30F}}, 200) == std::set<std::int32_t>{0, 1, 2, 3, 4});
  CHECK(drawn({{2.0F, 2.0F, 1.0F}, {.temperature = 1e-20F}}, 100) == std::set<std::int32_t>{0, 1});
}

TEST_CASE("sample: a temperature of any size is one", "[sampling]") {
  const std::vector<float> logits = {1.0F, 1.5F, -2.0F};
  CHECK(drawn({logits, {.temperature = std::numeric_limits<float>::denorm_min()}}, 20) ==
        std::set<std::int32_t>{1});
  CHECK(drawn({{-3e38F, 3e38F}, {.temperature = 0.5F}}, 20) == std::set<std::int32_t>{1});
}

TEST_CASE("sample: top_k leaves so many, of equals the first", "[sampling]") {
  const std::vector<float> logits = {0.5F, 2.0F, 2.0F, -1.0F, 2.0F, 0.5F};
  const std::vector<std::set<std::int32_t>> left = {
      {0, 1, 2, 3, 4, 5}, {1}, {1, 2}, {1, 2, 4}, {0, 1, 2, 4}, {0, 1, 2, 4, 5},
      {0, 1, 2, 3, 4, 5}};
  for (std::size_t k = 0; k < left.size(); ++k) {
    CAPTURE(k);
    const Choice choice{logits, {.temperature = 2.0F, .top_k = static_cast<Index>(k)}};
    CHECK(drawn(choice, 400) == left[k]);
  }
  CHECK(drawn({logits, {.temperature = 2.0F, .top_k = 1000}}, 400) == left[6]);
  CHECK(drawn({{-INFINITY, 1.0F, kNan, 1.0F}, {.temperature = 1.0F, .top_k = 3}}, 100) ==
        std::set<std::int32_t>{1, 3});
}

TEST_CASE("sample: top_p leaves those before which less than it adds up", "[sampling]") {
  const std::vector<float> four(4, 1.0F);  // probabilities that are exact
  const auto left = [&](float top_p) {
    return drawn({four, {.temperature = 1.0F, .top_p = top_p}}, 200).size();
  };
  CHECK(left(1e-30F) == 1);
  CHECK(left(0.25F) == 1);
  CHECK(left(0.25000003F) == 2);
  CHECK(left(0.5F) == 2);
  CHECK(left(0.75F) == 3);
  CHECK(left(0.7500001F) == 4);
  CHECK(left(0.9999999F) == 4);
  CHECK(left(1.0F) == 4);
}

TEST_CASE("sample: min_p leaves those that are at least so likely beside the first", "[sampling]") {
  const std::vector<float> logits = {0.0F, 1.0F, 1.0F, -1.0F, -20.0F};
  const auto left = [&](float min_p, float temperature = 1.0F) {
    return drawn({logits, {.temperature = temperature, .min_p = min_p}}, 600);
  };
  CHECK(left(1.0F) == std::set<std::int32_t>{1, 2});
  CHECK(left(0.4F) == std::set<std::int32_t>{1, 2});  // exp(-1) = 0.37
  CHECK(left(0.3F) == std::set<std::int32_t>{0, 1, 2});
  CHECK(left(0.13F) == std::set<std::int32_t>{0, 1, 2, 3});  // exp(-2) = 0.135
  CHECK(left(0.4F, 2.0F) == std::set<std::int32_t>{0, 1, 2});
}

TEST_CASE("sample: the penalty divides what is positive and multiplies the rest, once",
          "[sampling]") {
  const auto best = [](std::vector<float> logits, float penalty, std::vector<std::int32_t> seen) {
    return draw({std::move(logits), {.repetition_penalty = penalty}, std::move(seen)}).id;
  };
  CHECK(best({3.0F, 2.0F, 1.0F}, 2.0F, {0}) == 1);
  CHECK(best({3.0F, 2.0F, 1.0F}, 1.4F, {0}) == 0);
  CHECK(best({3.0F, 2.0F, 1.0F}, 1.4F, {0, 0, 0}) == 0);
  CHECK(best({3.0F, 2.0F, 1.0F}, 4.0F, {1, 0, 1}) == 2);
  CHECK(best({-1.0F, -1.5F}, 2.0F, {0}) == 1);
  CHECK(best({-1.0F, -1.5F}, 0.5F, {1}) == 1);
  CHECK(best({3.0F, 2.0F}, 0.5F, {1}) == 1);
  CHECK(best({0.0F, -1.0F}, 100.0F, {0}) == 0);
  CHECK(best({-INFINITY, -1.0F}, 2.0F, {0, 1}) == 1);
  CHECK(best({kNan, -1.0F}, 2.0F, {0, 1}) == 1);
  // What leaves the range of float may still be chosen.
  CHECK(best({-3e38F, -INFINITY}, 2.0F, {0}) == 0);
  CHECK(best({3e38F, 1.0F}, 0.5F, {0}) == 0);
}

TEST_CASE("sample: all rules together leave what the formulas leave", "[sampling]") {
  Random random(5);
  int cases = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Choice choice{random_logits(random.pick({1, 2, 9, 30}), seed)};
    SamplingOptions& o = choice.options;
    o.temperature = random.pick({0.3F, 0.8F, 1.0F, 2.5F});
    o.top_k = random.pick({0, 1, 3, 8, 100});
    o.top_p = random.pick({1.0F, 0.9F, 0.61F, 0.2F});
    o.min_p = random.pick({0.0F, 0.05F, 0.31F, 1.0F});
    o.repetition_penalty = random.pick({1.0F, 1.3F, 0.8F, 2.0F});
    o.seed = seed;
    for (Index n = random.below(6); n > 0; --n) {
      choice.seen.push_back(
          static_cast<std::int32_t>(random.below(static_cast<Index>(choice.logits.size()))));
    }
    const std::set<std::int32_t> allowed = ids_of(candidates(choice));
    const std::set<std::int32_t> found = drawn(choice, 120);
    CHECK(std::includes(allowed.begin(), allowed.end(), found.begin(), found.end()));
    // Those that are likely are there.
    for (const Candidate& each : candidates(choice)) {
      if (each.probability > 0.2) {
        CHECK(found.contains(each.id));
        ++cases;
      }
    }
  }
  CHECK(cases > 300);
}

/// Tokens whose sums stand where a rounding decides: top_p is the float next to a sum of probabilities.
TEST_CASE("sample: sums are those of double precision, also where top_p is next to one",
          "[sampling]") {
  int last = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Choice choice{random_logits(8, seed), {.temperature = 0.9F, .seed = seed}};
    const std::vector<Candidate> all = candidates(choice);
    double sum = 0;
    for (std::size_t k = 0; k + 1 < all.size(); ++k) {
      sum += all[k].probability;
      choice.options.top_p = std::min(1.0F, static_cast<float>(sum));
      const std::vector<Candidate> kept = candidates(choice);
      const std::set<std::int32_t> allowed = ids_of(kept);
      for (std::uint64_t step = 0; step < 8; ++step) {
        const std::int32_t id = draw(choice, step);
        CHECK(allowed.contains(id));
        last += id == kept.back().id ? 1 : 0;
      }
    }
  }
  CHECK(last > 1000);
}

}  // namespace
}  // namespace qkv::test::sampling_test
