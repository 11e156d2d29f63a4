// How tokens are chosen, against the rules in double precision, and that the same are chosen everywhere.
#include "qkv/sampling.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "compare.hpp"
#include "hash.hpp"
#include "problem.hpp"
#include "qkv/isa.hpp"
#include "random.hpp"
#include "refusal.hpp"

namespace qkv::test::sampling_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A choice to be made.
struct Choice {
  std::vector<float> logits;
  SamplingOptions options = {};
  std::vector<std::int32_t> seen = {};

  [[nodiscard]] SamplingArgs args() const {
    SamplingArgs made;
    made.logits = {logits.data(), {static_cast<Index>(logits.size())}};
    if (!seen.empty()) {
      made.seen = {seen.data(), {static_cast<Index>(seen.size())}};
    }
    made.options = options;
    return made;
  }
};

SampledToken draw(const Choice& choice) {
  static Workspace workspace;
  SampledToken token;
  require_ok(sample(choice.args(), workspace, token));
  return token;
}
std::int32_t draw(Choice choice, std::uint64_t step) {
  choice.options.step = step;
  return draw(choice).id;
}

/// A token that may be chosen, and how likely it is among those.
struct Candidate {
  std::int32_t id;
  double z, probability;
};

/// What is left after penalty, temperature, top_k, top_p and min_p, the most likely first; by the rules of the header.
std::vector<Candidate> candidates(const Choice& c) {
  const std::set<std::int32_t> seen(c.seen.begin(), c.seen.end());
  const SamplingOptions& o = c.options;
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < c.logits.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    auto z = static_cast<double>(c.logits[i]);
    if (seen.contains(id)) {
      const auto penalty = static_cast<double>(o.repetition_penalty);
      z = z > 0 ? z / penalty : z * penalty;
    }
    if (z > -INFINITY) {  // not NaN either
      all.push_back({id, z / static_cast<double>(o.temperature), 0});
    }
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.z > b.z || (a.z == b.z && a.id < b.id);
  });
  if (o.top_k > 0 && static_cast<Index>(all.size()) > o.top_k) {
    all.resize(static_cast<std::size_t>(o.top_k));
  }
  const auto normalize = [&all] {
    double sum = 0;
    for (const Candidate& each : all) {
      sum += std::exp(each.z - all[0].z);
    }
    for (Candidate& each : all) {
      each.probability = std::exp(each.z - all[0].z) / sum;
    }
  };
  normalize();
  std::vector<Candidate> kept;
  double before = 0;
  for (const Candidate& each : all) {
    const bool nucleus = kept.empty() || before < static_cast<double>(o.top_p);
    const bool likely = each.probability >= static_cast<double>(o.min_p) * all[0].probability;
    before += each.probability;
    if (nucleus && likely) {
      kept.push_back(each);
    }
  }
  all = kept;
  normalize();
  return all;
}

std::set<std::int32_t> ids_of(const std::vector<Candidate>& all) {
  std::set<std::int32_t> ids;
  for (const Candidate& each : all) {
    ids.insert(each.id);
  }
  return ids;
}

/// All tokens of so many draws.
std::set<std::int32_t> drawn(const Choice& choice, std::uint64_t draws) {
  std::set<std::int32_t> ids;
  for (std::uint64_t step = 0; step < draws; ++step) {
    ids.insert(draw(choice, step));
  }
  return ids;
}

std::vector<float> random_logits(Index count, std::uint64_t seed, float limit = 4.0F) {
  Random random(seed);
  return random_floats(random, count, limit);
}

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
      {0, 1, 2, 3, 4, 5}, {1}, {1, 2}, {1, 2, 4}, {0, 1, 2, 4}, {0, 1, 2, 4, 5}, {0, 1, 2, 3, 4, 5}};
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
  CHECK(left(0.4F) == std::set<std::int32_t>{1, 2});        // exp(-1) = 0.37
  CHECK(left(0.3F) == std::set<std::int32_t>{0, 1, 2});
  CHECK(left(0.13F) == std::set<std::int32_t>{0, 1, 2, 3});  // exp(-2) = 0.135
  CHECK(left(0.4F, 2.0F) == std::set<std::int32_t>{0, 1, 2});
}

TEST_CASE("sample: the penalty divides what is positive and multiplies the rest, once", "[sampling]") {
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
TEST_CASE("sample: sums are those of double precision, also where top_p is next to one", "[sampling]") {
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

/// Pearson's statistic of draws beside what is expected, minus its mean, in units of its deviation. Tokens of which fewer
/// than 8 are expected are counted together.
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
  return freedom == 0 ? 0 : (statistic - freedom) / std::sqrt(2 * freedom);
}

TEST_CASE("sample: twenty thousand draws are as likely as they should be", "[sampling]") {
  const Choice choices[] = {
      {random_logits(24, 1), {.temperature = 1.0F, .seed = 1}},
      {random_logits(24, 2), {.temperature = 0.5F, .top_k = 7, .seed = 2}},
      {random_logits(24, 3), {.temperature = 1.5F, .top_p = 0.8F, .seed = 3}},
      {random_logits(24, 4), {.temperature = 2.0F, .min_p = 0.1F, .seed = 4}},
      {random_logits(24, 5),
       {.temperature = 1.2F, .top_k = 12, .top_p = 0.9F, .min_p = 0.05F, .repetition_penalty = 1.4F,
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
    // Beyond 4 once in ten thousand choices; below -4 never, by chance.
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
      return draw({random_logits(64, 1, 0.1F), {.temperature = 1.0F, .seed = seed, .step = step}}).id;
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
  for (std::uint64_t step = 100; step-- > 0;) {
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
  CHECK(hash.value() == 0x0U);
}

TEST_CASE("sample: it takes 12 bytes for each logit and asks for memory once", "[sampling][any-isa]") {
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

TEST_CASE("sample: what has no meaning is refused, and no token is written", "[sampling][bad-input]") {
  struct Wrong {
    Spoil<Choice&, SamplingArgs&> spoil;
    Refusal refusal;
  };
  const Wrong rows[] = {
      {[](auto&, auto& a) { a.logits.data = nullptr; }, {kInvalid, "logits", "has no data", "[*]"}},
      {[](auto&, auto& a) { a.logits = {}; }, {kShapeError, "logits", "", ""}},
      {[](auto&, auto& a) { a.logits = {a.logits.data, {1, 9}}; },
       {kShapeError, "logits", "is [1,9]", "[*]"}},
      {[](auto&, auto& a) { a.logits.shape[0] = 0; }, {kShapeError, "logits", "is [0]", "at least"}},
      {[](auto&, auto& a) { a.logits.strides[0] = 2; }, {kInvalid, "logits", "strides", ""}},
      {[](auto& c, auto&) { c.logits[4] = INFINITY; },
       {kInvalid, "logits[4]", "is Infinity", ""}},
      {[](auto& c, auto&) { std::fill(c.logits.begin(), c.logits.end(), -INFINITY); },
       {kRange, "logits", "none that can be chosen", "finite"}},
      {[](auto& c, auto&) { std::fill(c.logits.begin(), c.logits.end(), kNan); },
       {kRange, "logits", "none that can be chosen", "finite"}},
      {[](auto&, auto& a) { a.seen = {a.seen.data, {2, 1}}; },
       {kShapeError, "seen", "is [2,1]", "[*]"}},
      {[](auto&, auto& a) { a.seen.data = nullptr; }, {kInvalid, "seen", "has no data", "[*]"}},
      {[](auto& c, auto&) { c.seen[1] = 9; }, {kRange, "seen[1]", "is 9", "[0, 9)"}},
      {[](auto& c, auto&) { c.seen[0] = -1; }, {kRange, "seen[0]", "is -1", "[0, 9)"}},
      {[](auto&, auto& a) { a.options.temperature = -1.0F; }, {kRange, "temperature", "is -1", ""}},
      {[](auto&, auto& a) { a.options.temperature = kNan; },
       {kInvalid, "temperature", "is NaN", "finite"}},
      {[](auto&, auto& a) { a.options.temperature = INFINITY; },
       {kInvalid, "temperature", "is Infinity", "finite"}},
      {[](auto&, auto& a) { a.options.top_k = -1; }, {kRange, "top_k", "is -1", "at least 0"}},
      {[](auto&, auto& a) { a.options.top_p = 0.0F; }, {kRange, "top_p", "is 0", "above 0"}},
      {[](auto&, auto& a) { a.options.top_p = 1.5F; }, {kRange, "top_p", "is 1.5", "1"}},
      {[](auto&, auto& a) { a.options.top_p = kNan; }, {kInvalid, "top_p", "is NaN", "finite"}},
      {[](auto&, auto& a) { a.options.min_p = -0.5F; }, {kRange, "min_p", "is -0.5", "0 to 1"}},
      {[](auto&, auto& a) { a.options.min_p = 1.5F; }, {kRange, "min_p", "is 1.5", "0 to 1"}},
      {[](auto&, auto& a) { a.options.min_p = -INFINITY; },
       {kInvalid, "min_p", "is -Infinity", "finite"}},
      {[](auto&, auto& a) { a.options.repetition_penalty = 0.0F; },
       {kRange, "repetition_penalty", "is 0", "above 0"}},
      {[](auto&, auto& a) { a.options.repetition_penalty = -2.0F; },
       {kRange, "repetition_penalty", "is -2", "above 0"}},
      {[](auto&, auto& a) { a.options.repetition_penalty = INFINITY; },
       {kInvalid, "repetition_penalty", "is Infinity", "finite"}},
  };
  int n = 0;
  for (const Wrong& row : rows) {
    CAPTURE(n++);
    Choice choice{random_logits(9, 1), {.temperature = 1.0F}, {1, 2}};
    SamplingArgs args = choice.args();
    row.spoil(choice, args);
    Workspace workspace;
    SampledToken token{.id = 77, .log_probability = 5.0F};
    require_refused(sample(args, workspace, token), "sample", row.refusal);
    CHECK(token.id == 77);
    CHECK(token.log_probability == 5.0F);
  }
}

}  // namespace
}  // namespace qkv::test::sampling_test
