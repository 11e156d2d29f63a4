// What biases, penalties and a mask leave of the tokens, and the likeliest tokens beside the one that is chosen.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "compare.hpp"
#include "sampling_problem.hpp"

namespace qkv::test::sampling_changes_test {
namespace {

using Ids = std::set<std::int32_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("sample: a bias is added, -infinity bans, and biases of one token add up", "[sampling]") {
  const auto best = [](std::vector<float> logits, std::vector<std::int32_t> ids,
                       std::vector<float> biases) {
    return draw({std::move(logits), {}, {}, std::move(ids), std::move(biases)}).id;
  };
  const std::vector<float> logits = {3.0F, 2.0F, 1.0F};
  CHECK(best(logits, {1}, {0.5F}) == 0);
  CHECK(best(logits, {1}, {1.5F}) == 1);
  CHECK(best(logits, {1}, {1.0F}) == 0);  // equal to the first
  CHECK(best(logits, {0}, {-1.5F}) == 1);
  CHECK(best(logits, {0, 1}, {-INFINITY, -INFINITY}) == 2);
  CHECK(best(logits, {1, 1}, {0.75F, 0.75F}) == 1);
  CHECK(best(logits, {2, 2}, {100.0F, -INFINITY}) == 0);
  CHECK(best({-INFINITY, 0.0F, kNan}, {0, 2}, {1e30F, 1e30F}) == 1);
  CHECK(best({3e38F, 0.0F}, {1, 1}, {3e38F, 3e38F}) == 1);
  const Choice hot{logits, {.temperature = 1e20F}, {}, {1}, {-INFINITY}};
  CHECK(drawn(hot, 200) == Ids{0, 2});
}

TEST_CASE("sample: the bias comes before the penalty, which comes before those of OpenAI",
          "[sampling]") {
  // 1 + 2 = 3, halved: 1.5; without the bias first it would be 0.5 + 2 = 2.5.
  const Choice choice{{1.0F, 2.0F}, {.repetition_penalty = 2.0F}, {0}, {0}, {2.0F}};
  CHECK(draw(choice).id == 1);
  // (4 / 2) - 1.5 = 0.5, and (4 - 1.5) / 2 = 1.25.
  const Choice presence{{4.0F, 1.0F}, {.repetition_penalty = 2.0F, .presence_penalty = 1.5F}, {0}};
  CHECK(draw(presence).id == 1);
}

TEST_CASE("sample: frequency counts how often a token was seen, presence that it was",
          "[sampling]") {
  const auto best = [](float frequency, float presence, std::vector<std::int32_t> seen) {
    return draw({{3.0F, 2.0F, 0.0F},
                 {.frequency_penalty = frequency, .presence_penalty = presence},
                 std::move(seen)})
        .id;
  };
  CHECK(best(0.75F, 0.0F, {0}) == 0);
  CHECK(best(0.75F, 0.0F, {0, 0}) == 1);
  CHECK(best(0.0F, 0.75F, {0, 0, 0}) == 0);
  CHECK(best(0.0F, 1.25F, {0}) == 1);
  CHECK(best(0.5F, 0.75F, {0}) == 1);
  CHECK(best(-1.25F, 0.0F, {1}) == 1);
  CHECK(best(0.0F, -1.25F, {1}) == 1);
}

TEST_CASE("sample: only tokens whose bit is set are chosen, whatever else is asked", "[sampling]") {
  for (const Index v : {1, 31, 32, 33, 64, 100}) {
    CAPTURE(v);
    const std::vector<float> logits = random_logits(v, 3, 2.0F);
    for (Index id = 0; id < v; ++id) {
      Choice one{logits, {}, {}, {}, {}, mask_of(v, {static_cast<std::int32_t>(id)})};
      CHECK(draw(one).id == id);
      one.options.temperature = 5.0F;
      CHECK(drawn(one, 3) == Ids{static_cast<std::int32_t>(id)});
    }
  }
  Choice some{{5.0F, 4.0F, 3.0F, 2.0F, 1.0F}, {.temperature = 3.0F}, {}, {}, {},
              mask_of(5, {1, 3, 4})};
  CHECK(drawn(some, 300) == Ids{1, 3, 4});
  some.options.top_k = 2;  // of those that may be chosen
  CHECK(drawn(some, 300) == Ids{1, 3});
  some.options = {.temperature = 3.0F, .min_p = 0.4F};  // exp(-2 / 3) = 0.51, exp(-1) = 0.37
  CHECK(drawn(some, 300) == Ids{1, 3});
}

TEST_CASE("sample: biases, penalties, mask and rules together leave what the formulas leave",
          "[sampling]") {
  Random random(6);
  int cases = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Index v = random.pick({2, 9, 40});
    Choice choice{random_logits(v, seed)};
    const auto some = [&] { return static_cast<std::int32_t>(random.below(v)); };
    SamplingOptions& o = choice.options;
    o.temperature = random.pick({0.3F, 1.0F, 2.5F});
    o.top_k = random.pick({0, 3, 100});
    o.top_p = random.pick({1.0F, 0.7F});
    o.min_p = random.pick({0.0F, 0.05F});
    o.repetition_penalty = random.pick({1.0F, 1.3F, 0.8F});
    o.frequency_penalty = random.pick({0.0F, 0.7F, -0.4F});
    o.presence_penalty = random.pick({0.0F, 1.1F, -0.4F});
    o.seed = seed;
    for (Index n = random.below(8); n > 0; --n) {
      choice.seen.push_back(some());
    }
    for (Index n = random.below(5); n > 0; --n) {
      choice.bias_ids.push_back(some());
      choice.biases.push_back(random.pick({1.5F, -2.0F, 6.0F, -INFINITY}));
    }
    if (random.below(2) == 0) {
      std::vector<std::int32_t> ids;
      for (Index n = v / 2 + 1; n > 0; --n) {
        ids.push_back(some());
      }
      choice.allowed = mask_of(v, ids);
    }
    const std::vector<Candidate> kept = candidates(choice);
    if (kept.empty()) {
      continue;  // there may be none
    }
    const Ids allowed = ids_of(kept);
    const Ids found = drawn(choice, 120);
    CHECK(std::includes(allowed.begin(), allowed.end(), found.begin(), found.end()));
    for (const Candidate& each : kept) {
      if (each.probability > 0.2) {
        CHECK(found.contains(each.id));
        ++cases;
      }
    }
  }
  CHECK(cases > 200);
}

TEST_CASE("sample: log_probability knows no bias and no mask", "[sampling]") {
  const std::vector<float> logits = {2.0F, 1.0F, 0.0F};
  const float plain = draw({{1.0F, 2.0F, 0.0F}}).log_probability;
  Choice choice{logits, {.temperature = 1.0F}, {}, {0}, {-INFINITY}, mask_of(3, {0, 1})};
  const SampledToken token = draw(choice);
  CHECK(token.id == 1);
  CHECK(std::abs(token.log_probability - (plain - 1.0F)) < 1e-6F);
}

/// The n likeliest of a choice.
struct Top {
  explicit Top(const Choice& choice, Index n, bool after_changes = false)
      : ids(static_cast<std::size_t>(n), -1), log_probabilities(ids.size(), 7.0F) {
    Workspace workspace;
    SamplingArgs args = choice.args();
    args.top_ids = {ids.data(), {n}};
    args.top_log_probabilities = {log_probabilities.data(), {n}};
    args.top_after_changes = after_changes;
    require_ok(sample(args, workspace, token));
  }
  std::vector<std::int32_t> ids;
  std::vector<float> log_probabilities;
  SampledToken token;
};

TEST_CASE("sample: the likeliest tokens, of equals the first, whatever is chosen", "[sampling]") {
  const std::vector<float> logits = {1.0F, 3.0F, -INFINITY, 3.0F, 2.0F, kNan};
  Choice choice{logits,      {.temperature = 1.0F, .repetition_penalty = 5.0F},
                {1},         {3},
                {-INFINITY}, mask_of(6, {0})};
  const Top all(choice, 6);
  CHECK(all.token.id == 0);
  CHECK(all.ids == std::vector<std::int32_t>{1, 3, 4, 0, 2, 5});
  CHECK(all.log_probabilities[3] == all.token.log_probability);
  CHECK(all.log_probabilities[0] == all.log_probabilities[1]);
  CHECK(all.log_probabilities[4] == -INFINITY);
  CHECK(all.log_probabilities[5] == -INFINITY);
  CHECK(Top(choice, 2).ids == std::vector<std::int32_t>{1, 3});
  CHECK(Top(choice, 0).token.id == 0);
  choice = {logits};
  CHECK(Top(choice, 1).log_probabilities[0] == Top(choice, 1).token.log_probability);
}

TEST_CASE("sample: the likeliest tokens of those that may be chosen, in the order of the choice",
          "[sampling]") {
  // After the bias and the penalty: 1, 3, -, 4, 1, -. The mask leaves out 0.
  const Choice choice{{1.0F, 6.0F, -INFINITY, 3.0F, 1.0F, kNan},
                      {.temperature = 1.0F, .repetition_penalty = 2.0F},
                      {1},
                      {3},
                      {1.0F},
                      mask_of(6, {1, 2, 3, 4, 5})};
  const Top given(choice, 6);
  const Top changed(choice, 6, true);
  CHECK(given.ids == std::vector<std::int32_t>{1, 3, 0, 4, 2, 5});
  CHECK(changed.ids == std::vector<std::int32_t>{3, 1, 4, 0, 2, 5});
  CHECK(changed.token.id == given.token.id);
  // By the logits as they were given.
  CHECK(changed.log_probabilities[0] == given.log_probabilities[1]);
  CHECK(changed.log_probabilities[1] == given.log_probabilities[0]);
  CHECK(changed.log_probabilities[2] == given.log_probabilities[3]);
  CHECK(std::all_of(changed.log_probabilities.begin() + 3, changed.log_probabilities.end(),
                    [](float p) { return p == -INFINITY; }));
  CHECK(Top({choice.logits}, 6, true).ids == given.ids);
}

TEST_CASE("sample: log probabilities of the likeliest tokens", "[sampling]") {
  Quantity quantity("sample top_log_probabilities");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Choice choice{random_logits(seed % 2 == 0 ? 9 : 400, seed, seed % 3 == 0 ? 0.1F : 20.0F),
                        {.temperature = seed % 4 == 0 ? 0.0F : 1.3F, .seed = seed}};
    const Top top(choice, 9);
    std::vector<double> sorted(choice.logits.begin(), choice.logits.end());
    std::sort(sorted.rbegin(), sorted.rend());
    for (std::size_t i = 0; i < top.ids.size(); ++i) {
      const auto of = static_cast<double>(choice.logits[static_cast<std::size_t>(top.ids[i])]);
      CHECK(of == sorted[i]);
      double others = 0;
      for (std::size_t k = 0; k < choice.logits.size(); ++k) {
        const bool self = static_cast<std::int32_t>(k) == top.ids[i];
        others += self ? 0 : std::exp(static_cast<double>(choice.logits[k]) - of);
      }
      const double exact = -std::log1p(others);
      quantity.add(static_cast<double>(top.log_probabilities[i]), exact,
                   0x1p-24 * std::abs(exact) + 1e-12);
    }
  }
  require_within(quantity);
}

TEST_CASE("sample: changes take 16 bytes for each token, and ask for memory once",
          "[sampling][any-isa]") {
  Choice choice{random_logits(5000, 3), {.temperature = 1.0F, .frequency_penalty = 0.5F}};
  choice.seen.assign(1000, 4);
  choice.bias_ids.assign(500, 5);
  choice.biases.assign(500, 0.25F);
  Workspace workspace;
  SampledToken token;
  require_ok(sample(choice.args(), workspace, token));
  CHECK(workspace.capacity_bytes() >= 12 * 5000 + 16 * 1500);
  CHECK(workspace.capacity_bytes() <= 12 * 5000 + 16 * 1500 + 6 * kAlignment);
  const std::size_t requests = allocation_count();
  for (int n = 0; n < 10; ++n) {
    require_ok(sample(choice.args(), workspace, token));
  }
  CHECK(allocation_count() == requests);
}

}  // namespace
}  // namespace qkv::test::sampling_changes_test
