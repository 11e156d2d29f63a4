// Every argument of KvCache, wrong in every way its header lists.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test::bad_input_cache_test {
namespace {

/// A cache with two of five tokens, and room in memory for four more.
class CacheCall : public Call {
 public:
  explicit CacheCall(const char* name) : Call(name) {
    require_ok(KvCache::create(config, held));
    require_ok(held.append(keys, values));
  }

  KvCacheConfig config{.batch = 2, .num_kv_heads = 3, .capacity = 5, .d_k = 4, .d_v = 2};
  std::vector<float> numbers = std::vector<float>(96, 0.25F);
  TensorView<const float> keys{numbers.data(), {2, 3, 2, 4}};
  TensorView<const float> values{numbers.data(), {2, 3, 2, 2}};
};

/// Over the cache that is there.
struct Create : CacheCall {
  Create() : CacheCall("KvCache::create") {}
  Status run() override { return KvCache::create(config, held); }
  std::size_t memory() override { return allocated_bytes(); }
};

struct Append : CacheCall {
  Append() : CacheCall("KvCache::append") {}
  Status run() override { return held.append(keys, values); }
  std::vector<Array> arrays() override {
    return {{"keys", keys, {2, 3, kAny, 4}}, {"values", values, {2, 3, 2, 2}}};
  }
};

struct Truncate : CacheCall {
  Truncate() : CacheCall("KvCache::truncate") {}
  Status run() override { return held.truncate(length); }
  Index length = 1;
};

/// Keys or values.
template <bool kKeys>
struct Read : CacheCall {
  Read() : CacheCall(kKeys ? "KvCache::read_keys" : "KvCache::read_values") { gather(); }
  Status run() override { return kKeys ? held.read_keys(out) : held.read_values(out); }
  std::vector<Array> arrays() override {
    return {{kKeys ? "keys" : "values", out, {2, 3, 2, kKeys ? 4 : 2}, {.written = true}}};
  }
  std::vector<float> untouched = std::vector<float>(48, kUntouched);
  TensorView<float> out{untouched.data(), {2, 3, 2, kKeys ? 4 : 2}};
};

/// Leaves a cache as one that was moved from.
constexpr auto kMove = [](auto& c) {
  const KvCache taken(std::move(c.held));
  CHECK(taken.length() == 2);
};

TEST_CASE("KvCache::create: sizes without meaning are refused, and the cache there stays",
          "[cache][bad-input]") {
  using C = KvCacheConfig;
  const auto set = [](Index C::* field, Index value) {
    return [=](Create& c) { c.config.*field = value; };
  };
  require_refused<Create>({
      {set(&C::batch, 0), kRange, "batch is 0", "at least 1"},
      {set(&C::batch, -2), kRange, "batch is -2", "at least 1"},
      {set(&C::num_kv_heads, 0), kRange, "num_kv_heads is 0", "at least 1"},
      {set(&C::num_kv_heads, -1), kRange, "num_kv_heads is -1", "at least 1"},
      {set(&C::capacity, -1), kRange, "capacity is -1", "at least 0"},
      {set(&C::d_k, 0), kRange, "d_k is 0", "at least 1"},
      {set(&C::d_k, -4), kRange, "d_k is -4", "at least 1"},
      {set(&C::d_v, -1), kRange, "d_v is -1", "at least 1"},
      {[](Create& c) { c.config.format = static_cast<CacheFormat>(3); }, kInvalid, "format is 3",
       "a value of CacheFormat"},
  });
}

TEST_CASE("KvCache::create: sizes that no memory holds are refused", "[cache][bad-input]") {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  constexpr Index kRoot = Index{1} << (sizeof(Index) * 4);  // whose square is no Index
  const auto refuse = [](const KvCacheConfig& config, const std::string& what) {
    require_refused(correct<Create>,
                    {"sizes for " + what, [&](Call& c) { static_cast<Create&>(c).config = config; },
                     StatusCode::kOutOfMemory,
                     "out of memory: a cache of " + what + " is larger than the address space"});
  };
  for (Index capacity : {0, 1}) {
    const std::string root = std::to_string(kRoot);
    refuse({kRoot, kRoot, capacity, 1}, root + " rows with " + root + " heads");
  }
  refuse({1, kMost, 64, 64}, "1 rows with " + std::to_string(kMost) + " heads");
  for (const auto& [capacity, d_k] : {std::pair{kMost / 4, Index{64}},
                                      {kRoot, kRoot},
                                      {kMost, 1},
                                      {kMost - 5, 1},
                                      {kMost, 64},
                                      {4, kMost}}) {
    refuse({1, 1, capacity, d_k}, std::to_string(capacity) + " tokens");
  }
  refuse({1, 1, 4, 1, kMost}, "4 tokens");
}

TEST_CASE("KvCache::append: tokens that do not fit are refused", "[cache][bad-input]") {
  require_arrays_checked(correct<Append>);
  require_refused<Append>({
      {[](Append& c) { c.keys.shape[2] = c.values.shape[2] = 4; }, kRange,
       "the cache holds 2 of 5 tokens and 4 are to be added", "at most 3"},
      {[](Append& c) { c.held = {}; }, kInvalid, "the cache is empty", "one made by create()"},
      {kMove, kInvalid, "the cache is empty", "one made by create()"},
  });
}

TEST_CASE("KvCache::truncate: lengths that it has not are refused", "[cache][bad-input]") {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  static const std::string most = "length is " + std::to_string(kMost);
  require_refused<Truncate>({
      {[](Truncate& c) { c.length = -1; }, kRange, "length is -1", "0 to 2"},
      {[](Truncate& c) { c.length = 3; }, kRange, "length is 3", "0 to 2"},
      {[](Truncate& c) { c.length = kMost; }, kRange, most.c_str(), "0 to 2"},
      {[](Truncate& c) { c.held = {}; }, kRange, "length is 1", "0 to 0"},
      {kMove, kRange, "length is 1", "0 to 0"},
  });
}

TEST_CASE("KvCache::read_keys and read_values: places that do not fit are refused",
          "[cache][bad-input]") {
  require_arrays_checked(correct<Read<true>>);
  require_arrays_checked(correct<Read<false>>);
}

}  // namespace
}  // namespace qkv::test::bad_input_cache_test
