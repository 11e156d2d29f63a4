// Choices of tokens, and what the rules of qkv/sampling.hpp leave of them in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "problem.hpp"
#include "qkv/sampling.hpp"
#include "random.hpp"

namespace qkv::test {

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

inline SampledToken draw(const Choice& choice) {
  static Workspace workspace;
  SampledToken token;
  require_ok(sample(choice.args(), workspace, token));
  return token;
}
inline std::int32_t draw(Choice choice, std::uint64_t step) {
  choice.options.step = step;
  return draw(choice).id;
}

/// A token that may be chosen, and how likely it is among those.
struct Candidate {
  std::int32_t id;
  double z, probability;
};

/// What is left after penalty, temperature, top_k, top_p and min_p, the most likely first; by the rules of the header.
inline std::vector<Candidate> candidates(const Choice& c) {
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

inline std::set<std::int32_t> ids_of(const std::vector<Candidate>& all) {
  std::set<std::int32_t> ids;
  for (const Candidate& each : all) {
    ids.insert(each.id);
  }
  return ids;
}

/// All tokens of so many draws.
inline std::set<std::int32_t> drawn(const Choice& choice, std::uint64_t draws) {
  std::set<std::int32_t> ids;
  for (std::uint64_t step = 0; step < draws; ++step) {
    ids.insert(draw(choice, step));
  }
  return ids;
}

inline std::vector<float> random_logits(Index count, std::uint64_t seed, float limit = 4.0F) {
  Random random(seed);
  return random_floats(random, count, limit);
}

}  // namespace qkv::test
