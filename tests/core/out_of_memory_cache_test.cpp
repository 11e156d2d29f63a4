// Caches for whose next tokens there is no memory.
#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

#include "compare.hpp"
#include "failing_memory.hpp"
#include "problem.hpp"

namespace qkv::test::out_of_memory_cache_test {
namespace {

/// A cache of two heads of 64, whole panels of every instruction set, and its tokens.
struct Grown {
  explicit Grown(Index capacity) : numbers(2 * 200 * 64) {
    require_ok(KvCache::create({.num_kv_heads = 2, .capacity = capacity, .d_k = 64}, cache));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(i) / 8;
    }
  }
  Status append(Index count) {
    TensorView<const float> k(numbers.data(), {1, 2, 200, 64});
    k.data += cache.length() * 64;
    k.shape[2] = count;
    return cache.append(k, k);
  }
  /// It holds so many of them, bit for bit.
  void expect(Index tokens) const {
    REQUIRE(cache.length() == tokens);
    std::vector<float> keys(static_cast<std::size_t>(2 * tokens * 64));
    std::vector<float> values = keys;
    require_ok(cache.read_keys({keys.data(), {1, 2, tokens, 64}}));
    require_ok(cache.read_values({values.data(), {1, 2, tokens, 64}}));
    std::vector<float> expected;
    for (const Index head : {0, 1}) {
      const auto first = numbers.begin() + head * 200 * 64;
      expected.insert(expected.end(), first, first + tokens * 64);
    }
    CHECK(first_difference(keys, expected) == "");
    CHECK(first_difference(values, expected) == "");
  }

  KvCache cache;
  std::vector<float> numbers;
};

TEST_CASE("out of memory: a cache holds the tokens that it had", "[cache][memory]") {
  Grown grown(128);
  require_ok(grown.append(60));
  const std::size_t bytes = allocated_bytes();
  for (const int request : {0, 1}) {  // of keys and of values
    Status status;
    {
      const FailingMemory memory(request);
      status = grown.append(10);
    }
    CHECK(status.code() == StatusCode::kOutOfMemory);
    CHECK(std::string(status.message()) ==
          "out of memory: 65536 bytes could not be allocated: the cache holds 60 tokens and needs "
          "room for 70 of capacity 128, at 1024 bytes each");
    grown.expect(60);
    CHECK(allocated_bytes() == bytes);
  }
  require_ok(grown.append(10));
  grown.expect(70);
}

TEST_CASE("out of memory: a cache takes what it needs where twice its room is not to be had",
          "[cache][memory]") {
  Grown grown(1000);
  require_ok(grown.append(128));
  {
    const FailingMemory memory(0);
    require_ok(grown.append(10));
    CHECK(memory.failed());
  }
  CHECK(grown.cache.bytes() == std::size_t{192} * 1024);  // and not 256 of them
  grown.expect(138);
}

}  // namespace
}  // namespace qkv::test::out_of_memory_cache_test
