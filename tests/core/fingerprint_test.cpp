// One number for everything the kernels compute, to compare builds: instruction sets of equal width
// and two-rounding arithmetic must print the same.
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cinttypes>
#include <cstdio>

#include "layer.hpp"

namespace qkv::test {
namespace {

/// FNV-1a over the bits of floats.
class Hash {
 public:
  void add(const std::vector<float>& values) {
    for (float value : values) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      for (unsigned shift = 0; shift < 32; shift += 8) {
        hash_ = (hash_ ^ ((bits >> shift) & 0xFFU)) * 0x100000001B3U;
      }
    }
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

/// Inputs are integers times powers of two, from integer arithmetic. lse, entropy and encodings are
/// left out: they go through log and sin of the C library, which platforms round differently.
std::uint64_t fingerprint() {
  Hash hash;
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
      p.run();
      hash.add(p.result.out);
      hash.add(p.result.weights);
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
}  // namespace qkv::test
