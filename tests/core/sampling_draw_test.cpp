// How likely tokens are, what is said of it, and that the same are drawn everywhere.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <vector>

#include "compare.hpp"
#include "hash.hpp"
#include "qkv/isa.hpp"
#include "sampling_problem.hpp"

namespace qkv::test::sampling_draw_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Pearson's statistic of draws beside what is expected, as a normal number (Wilson and Hilferty 1931). Tokens of which fewer than 8
/// are expected are counted together.
double surprise(const std::vector<Candidate>& expected, const std::vector<std::int32_t>& ids) {
  std::vector<double> counts(1), means(1);
  const auto draws = static_cast<double>(ids.size());
  for (const Candidate& each : expected) {
    const auto count = static_cast<double>(std::count(ids.begin(), ids.end(), each.id));
    if (each.probability * draws < 8) {
      counts[0] += count;
      means[0] += each.probability * draws;
    } else {
      counts.push_back(count);
      means.push_back(each.probability * draws);
    }
  }
  REQUIRE(std::accumulate(counts.begin(), counts.end(), 0.0) == draws);  // and no other token
  double statistic = 0;
  double freedom = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (means[i] > 0) {
      statistic += (counts[i] - means[i]) * (counts[i] - means[i]) / means[i];
      freedom += 1;
    }
  }
  if (freedom == 0) {
    return 0;
  }
  const double variance = 2 / (9 * freedom);
  return (std::cbrt(statistic / freedom) - (1 - variance)) / std::sqrt(variance);
}

TEST_CASE("sample: twenty thousand draws are as likely as they should be", "[sampling]") {
  const Choice choices[] = {
      {random_logits(24, 1), {.temperature = 1.0F, .seed = 1}},
      {random_logits(24, 2), {.temperature = 0.5F, .top_k = 7, .seed = 2}},
      {random_logits(24, 3), {.temperature = 1.5F, .top_p = 0.8F, .seed = 3}},
      {random_logits(24, 4), {.temperature = 2.0F, .min_p = 0.1F, .seed = 4}},
      {random_logits(24, 5),
       {.temperature = 1.2F,
        .top_k = 12,
        .top_p = 0.9F,
        .min_p = 0.05F,
        .repetition_penalty = 1.4F,
        .seed = 5},
       {1, 5, 5, 9, 20}},
      {{0.0F, 0.0F}, {.temperature = 1.0F, .seed = 0}},
      {std::vector<float>(64, -7.0F), {.temperature = 3.0F, .seed = ~std::uint64_t{0}}},
  };
  for (const Choice& choice : choices) {
    CAPTURE(choice.options.seed);
    std::vector<std::int32_t> ids;
    for (std::uint64_t step = 0; step < 20'000; ++step) {
      ids.push_back(draw(choice, step));
    }
    // Beyond 4 once in fifteen thousand choices, by chance.
    CHECK(std::abs(surprise(candidates(choice), ids)) < 4);
  }
}

TEST_CASE("sample: a draw says nothing of the next, nor of that of the next seed", "[sampling]") {
  const std::vector<float> four(4, 0.0F);
  for (const bool seeds : {false, true}) {
    std::vector<std::int32_t> pairs;
    const auto at = [&](std::uint64_t n) {
      return draw({four, {.temperature = 1.0F, .seed = seeds ? n : 7, .step = seeds ? 3 : n}}).id;
    };
    for (std::uint64_t n = 0; n < 8000; ++n) {
      pairs.push_back(4 * at(2 * n) + at(2 * n + 1));
    }
    std::vector<Candidate> uniform;
    for (std::int32_t i = 0; i < 16; ++i) {
      uniform.push_back({i, 0, 1.0 / 16});
    }
    CHECK(std::abs(surprise(uniform, pairs)) < 4);
  }
  // A seed is not the step of another.
  int same = 0;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const auto of = [&](std::uint64_t seed, std::uint64_t step) {
      return draw({random_logits(64, 1, 0.1F), {.temperature = 1.0F, .seed = seed, .step = step}})
          .id;
    };
    same += of(n, 1) == of(n + 1, 0) ? 1 : 0;
  }
  CHECK(same < 60);
}

TEST_CASE("sample: the same seed and step draw the same, whatever was drawn before", "[sampling]") {
  const Choice choice{random_logits(200, 9), {.temperature = 1.0F, .seed = 123}};
  std::vector<std::int32_t> forwards;
  for (std::uint64_t step = 0; step < 100; ++step) {
    forwards.push_back(draw(choice, step));
  }
  for (std::size_t step = 100; step-- > 0;) {
    CHECK(draw(choice, step) == forwards[step]);
  }
  Choice other = choice;
  other.options.seed = 124;
  std::vector<std::int32_t> others;
  for (std::uint64_t step = 0; step < 100; ++step) {
    others.push_back(draw(other, step));
  }
  CHECK(others != forwards);
}

TEST_CASE("sample: log_probability is that of the logits as they were given", "[sampling]") {
  Quantity quantity("sample log_probability");
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const float limit = seed % 3 == 0 ? 0.01F : seed % 3 == 1 ? 5.0F : 60.0F;
    Choice choice{random_logits(seed % 2 == 0 ? 7 : 300, seed, limit),
                  {.temperature = 3.0F, .top_k = 5, .repetition_penalty = 2.0F, .seed = seed},
                  {0, 1, 2}};
    if (seed % 5 == 0) {
      choice.logits[1] = -INFINITY;
    }
    for (const float temperature : {0.0F, 3.0F}) {
      choice.options.temperature = temperature;
      const SampledToken token = draw(choice);
      const auto of = [&](std::size_t i) { return static_cast<double>(choice.logits[i]); };
      const auto chosen = static_cast<std::size_t>(token.id);
      double others = 0;  // ln p = -ln(1 + sum of the others beside it), exact where p is nearly 1
      for (std::size_t i = 0; i < choice.logits.size(); ++i) {
        others += i == chosen ? 0 : std::exp(of(i) - of(chosen));
      }
      const double exact = -std::log1p(others);
      quantity.add(static_cast<double>(token.log_probability), exact,
                   0x1p-24 * std::abs(exact) + 1e-12);
    }
  }
  require_within(quantity);
}

TEST_CASE("sample: any number of logits, and the last of them, beside whole vectors",
          "[sampling]") {
  for (Index v = 1; v <= 40; ++v) {
    CAPTURE(v);
    std::vector<float> logits(static_cast<std::size_t>(v), -3.0F);
    logits.back() = -1.0F;
    int last = 0;
    for (std::uint64_t step = 0; step < 40; ++step) {
      const SampledToken token = draw({logits, {.temperature = 1.0F, .seed = 3, .step = step}});
      const double above = token.id == v - 1 ? 0.0 : -2.0;
      const double exact = above - std::log(1.0 + static_cast<double>(v - 1) * std::exp(-2.0));
      CHECK(std::abs(static_cast<double>(token.log_probability) - exact) < 1e-6);
      last += token.id == v - 1 ? 1 : 0;
    }
    CHECK(last > 0);  // of 40 draws with a probability of at least 0.16
  }
}

TEST_CASE("sample: log_probability of one token is 0, and none is NaN", "[sampling]") {
  CHECK(draw({{-7.5F}}).log_probability == 0.0F);
  CHECK(draw({{-INFINITY, 3.0F}}).log_probability == 0.0F);
  CHECK(draw({{3e38F, -3e38F}}).log_probability == 0.0F);
  CHECK(std::abs(draw({{kNan, 1.0F, 1.0F}}).log_probability + std::log(2.0F)) < 1e-6F);
}

TEST_CASE("sample: the same tokens on every instruction set", "[sampling]") {
  Hash hash;
  const std::vector<float> logits = random_logits(1000, 77);
  for (std::uint64_t step = 0; step < 3000; ++step) {
    Choice choice{{logits.begin() + static_cast<std::ptrdiff_t>(step % 500), logits.end()},
                  {.temperature = 0.7F, .seed = 9, .step = step}};
    choice.options.top_k = step % 3 == 0 ? 40 : 0;
    choice.options.top_p = step % 2 == 0 ? 0.9F : 1.0F;
    choice.options.min_p = step % 5 == 0 ? 0.02F : 0.0F;
    const SampledToken token = draw(choice);
    hash.add(std::vector<float>{static_cast<float>(token.id)});
  }
  std::printf("sampled %s %016" PRIx64 "\n", active_isa(), hash.value());
  std::fflush(stdout);
  CHECK(hash.value() == 0xB7341B10F3AE4EA0U);
}

TEST_CASE("sample: it takes 12 bytes for each logit and asks for memory once",
          "[sampling][any-isa]") {
  const Choice choice{random_logits(5000, 3), {.temperature = 1.0F, .top_k = 50, .top_p = 0.9F}};
  Workspace workspace;
  SampledToken token;
  require_ok(sample(choice.args(), workspace, token));
  CHECK(workspace.capacity_bytes() >= 12 * 5000);
  CHECK(workspace.capacity_bytes() <= 12 * 5000 + 3 * kAlignment);
  const std::size_t requests = allocation_count();
  for (int n = 0; n < 10; ++n) {
    require_ok(sample(choice.args(), workspace, token));
  }
  CHECK(allocation_count() == requests);
}

}  // namespace
}  // namespace qkv::test::sampling_draw_test
