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
  std::vector<std::int32_t> bias_ids = {};
  std::vector<float> biases = {};
  std::vector<std::int32_t> allowed = {};  ///< words of 32 bits; none: all

  [[nodiscard]] bool allows(std::size_t id) const {
    return allowed.empty() || (static_cast<std::uint32_t>(allowed[id / 32]) >> id % 32 & 1U) != 0;
  }

  [[nodiscard]] SamplingArgs args() const {
    SamplingArgs made;
    made.logits = {logits.data(), {static_cast<Index>(logits.size())}};
    if (!seen.empty()) {
      made.seen = {seen.data(), {static_cast<Index>(seen.size())}};
    }
    if (!bias_ids.empty()) {
      made.bias_ids = {bias_ids.data(), {static_cast<Index>(bias_ids.size())}};
      made.biases = {biases.data(), {static_cast<Index>(biases.size())}};
    }
    if (!allowed.empty()) {
      made.allowed = {allowed.data(), {static_cast<Index>(allowed.size())}};
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

/// The words of a mask of v tokens that allows these.
inline std::vector<std::int32_t> mask_of(Index v, const std::vector<std::int32_t>& ids) {
  std::vector<std::int32_t> words(static_cast<std::size_t>((v + 31) / 32));
  for (const std::int32_t id : ids) {
    auto& word = words[static_cast<std::size_t>(id / 32)];
    word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | 1U << id % 32);
  }
  return words;
}

/// The logit of a token after biases, penalties and mask, by the rules of the header; NaN as -infinity.
inline double changed_logit(const Choice& c, std::size_t i) {
  const auto id = static_cast<std::int32_t>(i);
  const SamplingOptions& o = c.options;
  auto z = static_cast<double>(c.logits[i]);
  for (std::size_t k = 0; k < c.bias_ids.size(); ++k) {
    z += c.bias_ids[k] == id ? static_cast<double>(c.biases[k]) : 0;
  }
  const auto count = std::count(c.seen.begin(), c.seen.end(), id);
  if (count > 0) {
    const auto penalty = static_cast<double>(o.repetition_penalty);
    z = z > 0 ? z / penalty : z * penalty;
    z -= static_cast<double>(count) * static_cast<double>(o.frequency_penalty);
    z -= static_cast<double>(o.presence_penalty);
  }
  return c.allows(i) && z > -INFINITY ? z : -INFINITY;
}

/// What is left after biases, penalties, mask, temperature, top_k, top_p and min_p, the most likely first; by the rules of the header.
inline std::vector<Candidate> candidates(const Choice& c) {
  const SamplingOptions& o = c.options;
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < c.logits.size(); ++i) {
    const double z = changed_logit(c, i);
    if (z > -INFINITY) {
      all.push_back({static_cast<std::int32_t>(i), z / static_cast<double>(o.temperature), 0});
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
