// One number for everything the kernels compute, to compare builds: instruction sets of equal width
// and two-rounding arithmetic must print the same.
#include <catch2/catch_test_macros.hpp>

#include <cinttypes>
#include <cstdio>

#include "hash.hpp"
#include "layer.hpp"

namespace qkv::test::fingerprint_test {
namespace {

/// Positions near 0 and at both ends, where an angle that is rounded otherwise shows most.
constexpr Index kStarts[] = {0, 61, -70, kMaxPosition - 130, -kMaxPosition};

void add_sinusoids(Hash& hash) {
  for (const double base : {10000.0, 500000.0, 7.0, 1.0}) {
    for (const Index start : kStarts) {
      std::vector<float> table(130 * 66);
      require_ok(sinusoidal_encoding({table.data(), {130, 66}}, start, {.base = base}));
      hash.add(table);
      require_ok(sinusoidal_shift_matrix({table.data(), {66, 66}}, start, {.base = base}));
      hash.add(table);
    }
  }
}

void add_rotary_tables(Hash& hash) {
  using Type = RotaryScaling::Type;
  const RotaryScaling scalings[] = {{},
                                    {.type = Type::kLinear, .factor = 3.0},
                                    {.type = Type::kNtk, .factor = 7.0},
                                    {.type = Type::kYarn, .factor = 5.0, .original_length = 4096}};
  for (const RotaryScaling& scaling : scalings) {
    for (const Index start : kStarts) {
      std::vector<float> cos(130 * 33);
      std::vector<float> sin(cos.size());
      require_ok(rotary_table({cos.data(), {130, 33}}, {sin.data(), {130, 33}},
                              {.offset = start, .base = 500000.0, .scaling = scaling}));
      hash.add(cos);
      hash.add(sin);
    }
  }
}

void add_relative_biases(Hash& hash) {
  for (const Index heads : {1, 6, 8, 12, 40, 96}) {
    std::vector<float> slopes(static_cast<std::size_t>(heads));
    require_ok(alibi_slopes({slopes.data(), {heads}}));
    hash.add(slopes);
  }
  std::vector<float> buckets;
  for (const Index num_buckets : {2, 9, 32, 512}) {
    for (Index distance = -1500; distance < 1500; ++distance) {
      buckets.push_back(static_cast<float>(t5_bucket(
          distance, num_buckets, {.bidirectional = num_buckets > 2, .max_distance = 1024})));
    }
  }
  hash.add(buckets);
}

/// Inputs are integers times powers of two, from integer arithmetic.
std::uint64_t fingerprint() {
  Hash hash;
  add_sinusoids(hash);
  add_rotary_tables(hash);
  add_relative_biases(hash);
  std::uint64_t seed = 1;
  constexpr Index kSizes[] = {1, 5, 8, 31, 64, 65, 130};
  for (Index t : kSizes) {
    for (Index d : {1, 7, 16, 33, 64}) {
      Problem p({.batch = 1, .heads = 4, .kv_heads = 2, .tq = t, .tk = t, .dk = d, .dv = d + 3},
                seed++);
      Random random(seed);
      for (auto* values : {&p.q, &p.k, &p.v}) {
        *values = random_floats(random, static_cast<Index>(values->size()), 2.0F);
      }
      p.options.scale = 0.375F;
      if (seed % 2 == 0) {
        p.causal(0);
      }
      if (seed % 3 == 0) {
        p.add_mask({t, t});
      }
      if (seed % 5 == 0) {
        p.add_bias({t, t});
      }
      const std::vector<float> sinks{0.5F, -1.25F, 3.0F, -7.0F};
      if (seed % 7 == 0) {
        p.options.sinks = {sinks.data(), {4}};
      }
      p.run();
      hash.add(p.result.out);
      hash.add(p.result.weights);
      hash.add(p.result.lse);
      hash.add(p.result.entropy);
    }
  }
  for (Index d_model : {8, 24, 66}) {
    LayerProblem p({.d_model = d_model, .num_heads = 2}, {.batch = 2, .tq = 37}, seed++);
    Random random(seed);
    for (auto* values : {&p.wq, &p.wk, &p.wv, &p.wo, &p.bq, &p.bk, &p.bv, &p.bo, &p.x}) {
      *values = random_floats(random, static_cast<Index>(values->size()), 0.25F);
    }
    p.options.scale = 0.25F;
    hash.add(p.run().y);
  }
  for (int axis : {0, 1, 2}) {
    Random random(seed++);
    const std::vector<float> x = random_floats(random, 37 * 23 * 67, 8.0F);
    std::vector<float> y(x.size());
    require_ok(softmax({x.data(), {37, 23, 67}}, {y.data(), {37, 23, 67}},
                       {.axis = axis, .temperature = 0.75F}));
    hash.add(y);
  }
  return hash.value();
}

TEST_CASE("fingerprint: encodings have the same bits on every instruction set and platform",
          "[fingerprint][positions]") {
  Hash sinusoids;
  Hash rotations;
  Hash biases;
  add_sinusoids(sinusoids);
  add_rotary_tables(rotations);
  add_relative_biases(biases);
  CHECK(sinusoids.value() == 0x9D5F7FE2435DD866U);
  CHECK(rotations.value() == 0xBB4ED45F9A9B7F3AU);
  CHECK(biases.value() == 0xB6BBABE1F1FF4DB4U);
}

// Prints a line for the runner, which compares instruction sets and builds.
TEST_CASE("fingerprint: two runs agree", "[fingerprint]") {
  const std::uint64_t first = fingerprint();
  CHECK(fingerprint() == first);
  std::printf("fingerprint %s %016" PRIx64 "\n", active_isa(), first);
  std::fflush(stdout);
}

#if defined(__x86_64__)
TEST_CASE("fingerprint: scalar and sse4 give the same bits", "[isa][any-isa]") {
  std::vector<std::uint64_t> fingerprints;
  for (const char* name : {"scalar", "sse4"}) {
    if (select_isa(name).ok()) {
      fingerprints.push_back(fingerprint());
    }
  }
  require_ok(select_isa(nullptr));
  if (fingerprints.size() < 2) {
    SKIP("this build or machine has no sse4 beside scalar");
  }
  CHECK(fingerprints[0] == fingerprints[1]);
}
#endif

}  // namespace
}  // namespace qkv::test::fingerprint_test
