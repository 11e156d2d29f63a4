// Every argument of KvCache, wrong in every way its header lists.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <utility>

#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

constexpr KvCacheConfig kConfig{.batch = 2, .num_kv_heads = 3, .capacity = 5, .d_k = 4, .d_v = 2};

/// A cache with two of five tokens, and two more of the same.
struct Cache {
  Cache() {
    for (std::size_t i = 0; i < 48; ++i) {
      numbers[i] = static_cast<float>(i);
    }
    require_ok(KvCache::create(kConfig, cache));
    require_ok(cache.append(keys, values));
  }
  /// Keys, then values.
  [[nodiscard]] std::vector<float> held() const {
    std::vector<float> both(72);
    require_ok(cache.read_keys({both.data(), {2, 3, 2, 4}}));
    require_ok(cache.read_values({both.data() + 48, {2, 3, 2, 2}}));
    return both;
  }
  std::vector<float> numbers = std::vector<float>(48);
  TensorView<const float> keys{numbers.data(), {2, 3, 2, 4}};
  TensorView<const float> values{numbers.data(), {2, 3, 2, 2}};
  KvCache cache;
};

TEST_CASE("KvCache::create: sizes without meaning are refused, and the cache there stays",
          "[cache][bad-input]") {
  using C = KvCacheConfig;
  const struct {
    Index C::* field;
    Index value;
    Refusal refusal;
  } cases[] = {
      {&C::batch, 0, {kRange, "batch is", "0", "at least 1"}},
      {&C::batch, -2, {kRange, "batch is", "-2", "at least 1"}},
      {&C::num_kv_heads, 0, {kRange, "num_kv_heads is", "0", "at least 1"}},
      {&C::num_kv_heads, -1, {kRange, "num_kv_heads is", "-1", "at least 1"}},
      {&C::capacity, -1, {kRange, "capacity is", "-1", "at least 0"}},
      {&C::d_k, 0, {kRange, "d_k is", "0", "at least 1"}},
      {&C::d_k, -4, {kRange, "d_k is", "-4", "at least 1"}},
      {&C::d_v, -1, {kRange, "d_v is", "-1", "at least 1"}},
  };
  Cache c;
  const std::vector<float> held = c.held();
  for (const auto& test : cases) {
    KvCacheConfig config = kConfig;
    config.*test.field = test.value;
    const std::size_t bytes = allocated_bytes();
    require_refused(KvCache::create(config, c.cache), "KvCache::create", test.refusal);
    CHECK(allocated_bytes() == bytes);
    CHECK(c.held() == held);
  }
}

TEST_CASE("KvCache::create: sizes that no memory holds are refused", "[cache][bad-input]") {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  constexpr Index kRoot = Index{1} << (sizeof(Index) * 4);  // whose square is no Index
  const KvCacheConfig cases[] = {
      {.batch = kRoot, .num_kv_heads = kRoot, .capacity = 0, .d_k = 1},
      {.batch = kRoot, .num_kv_heads = kRoot, .capacity = 1, .d_k = 1},
      {.num_kv_heads = 1, .capacity = kMost / 4, .d_k = 64},
      {.num_kv_heads = 1, .capacity = kRoot, .d_k = kRoot},
      {.num_kv_heads = kMost, .capacity = 64, .d_k = 64},
      {.num_kv_heads = 1, .capacity = kMost, .d_k = 1},
      {.num_kv_heads = 1, .capacity = kMost - 5, .d_k = 1},
      {.num_kv_heads = 1, .capacity = kMost, .d_k = 64},
      {.num_kv_heads = 1, .capacity = 4, .d_k = kMost},
      {.num_kv_heads = 1, .capacity = 4, .d_k = 1, .d_v = kMost},
  };
  Cache c;
  const std::vector<float> held = c.held();
  for (const KvCacheConfig& config : cases) {
    CAPTURE(config.batch, config.num_kv_heads, config.capacity, config.d_k);
    const Status status = KvCache::create(config, c.cache);
    CHECK(status.code() == StatusCode::kOutOfMemory);
    CHECK(std::string(status.message()).starts_with("out of memory: "));
    CHECK(c.held() == held);
  }
}

TEST_CASE("KvCache::append: tokens that do not fit are refused", "[cache][bad-input]") {
  const struct {
    const char* what;
    Spoil<Cache&> spoil;
    Refusal refusal;
  } cases[] = {
      {"keys absent", [](Cache& c) { c.keys = {}; }, {kShapeError, "keys is", "[]", "[2,3,*,4]"}},
      {"keys of rank 3",
       [](Cache& c) { c.keys.rank = 3; },
       {kShapeError, "keys is", "[2,3,2]", "[2,3,*,4]"}},
      {"keys of no rank there is",
       [](Cache& c) { c.keys.rank = 7; },
       {kShapeError, "keys is", "of rank 7", "[2,3,*,4]"}},
      {"keys of another batch",
       [](Cache& c) { c.keys.shape[0] = 1; },
       {kShapeError, "keys is", "[1,3,2,4]", "[2,3,*,4]"}},
      {"keys of other heads",
       [](Cache& c) { c.keys.shape[1] = 6; },
       {kShapeError, "keys is", "[2,6,2,4]", "[2,3,*,4]"}},
      {"keys of the width of values",
       [](Cache& c) { c.keys.shape[3] = 2; },
       {kShapeError, "keys is", "[2,3,2,2]", "[2,3,*,4]"}},
      {"keys null",
       [](Cache& c) { c.keys.data = nullptr; },
       {kInvalid, "keys has no data", "[2,3,2,4]", "elements"}},
      {"keys strided",
       [](Cache& c) { c.keys.strides[3] = 2; },
       {kInvalid, "the last axis of keys", "stride 2", "expected 1"}},
      {"keys backwards",
       [](Cache& c) { c.keys.strides[2] = -4; },
       {kInvalid, "axis 2 of keys", "stride -4", "at least 0"}},
      {"values absent",
       [](Cache& c) { c.values = {}; },
       {kShapeError, "values is", "[]", "[2,3,2,2]"}},
      {"values of another length",
       [](Cache& c) { c.values.shape[2] = 1; },
       {kShapeError, "values is", "[2,3,1,2]", "[2,3,2,2]"}},
      {"values of the width of keys",
       [](Cache& c) { c.values.shape[3] = 4; },
       {kShapeError, "values is", "[2,3,2,4]", "[2,3,2,2]"}},
      {"values null",
       [](Cache& c) { c.values.data = nullptr; },
       {kInvalid, "values has no data", "[2,3,2,2]", "elements"}},
      {"values strided",
       [](Cache& c) { c.values.strides[3] = 3; },
       {kInvalid, "the last axis of values", "stride 3", "expected 1"}},
      {"more than there is room for",
       [](Cache& c) {
         c.keys = {c.numbers.data(), {2, 3, 4, 4}};
         c.values = {c.numbers.data(), {2, 3, 4, 2}};
       },
       {kRange, "the cache holds 2 of 5 tokens", "4 are to be added", "at most 3"}},
  };
  for (const auto& test : cases) {
    INFO(test.what);
    Cache c;
    c.numbers.resize(96);
    c.keys.data = c.values.data = c.numbers.data();
    const std::vector<float> held = c.held();
    test.spoil(c);
    require_refused(c.cache.append(c.keys, c.values), "KvCache::append", test.refusal);
    CHECK(c.cache.length() == 2);
    CHECK(c.held() == held);
  }
}

TEST_CASE("KvCache::truncate: lengths that it has not are refused", "[cache][bad-input]") {
  Cache c;
  const std::vector<float> held = c.held();
  for (Index length : {Index{-1}, Index{3}, std::numeric_limits<Index>::max()}) {
    const std::string was = std::to_string(length);
    require_refused(c.cache.truncate(length), "KvCache::truncate",
                    {kRange, "length is", was.c_str(), "0 to 2"});
  }
  CHECK(c.held() == held);
}

TEST_CASE("KvCache::read_keys and read_values: places that do not fit are refused",
          "[cache][bad-input]") {
  Cache c;
  std::vector<float> memory(48, kUntouched);
  const auto refuse = [&](TensorView<float> view, bool keys, const Refusal& refusal) {
    require_refused(keys ? c.cache.read_keys(view) : c.cache.read_values(view),
                    keys ? "KvCache::read_keys" : "KvCache::read_values", refusal);
    CHECK(memory == std::vector<float>(48, kUntouched));
  };
  for (const bool keys : {true, false}) {
    const Index d = keys ? 4 : 2;
    const char* is = keys ? "keys is" : "values is";
    const char* no_data = keys ? "keys has no data" : "values has no data";
    const char* strides = keys ? "keys has strides" : "values has strides";
    const char* last = keys ? "the last axis of keys" : "the last axis of values";
    const char* wanted = keys ? "[2,3,2,4]" : "[2,3,2,2]";
    TensorView<float> view(memory.data(), {2, 3, 2, d});
    refuse({}, keys, {kShapeError, is, "[]", wanted});
    refuse({memory.data(), {2, 3, 2 * d}}, keys, {kShapeError, is, "[2,3,", wanted});
    refuse({memory.data(), {2, 3, 1, d}}, keys, {kShapeError, is, "[2,3,1,", wanted});
    refuse({nullptr, {2, 3, 2, d}}, keys, {kInvalid, no_data, wanted, "elements"});
    view.strides[2] = 0;
    refuse(view, keys, {kInvalid, strides, "0,1]", "a place of its own"});
    view.strides[2] = d;
    view.strides[3] = 2;
    refuse(view, keys, {kInvalid, last, "stride 2", "expected 1"});
  }
}

TEST_CASE("KvCache: one without room, or that was moved from, is refused", "[cache][bad-input]") {
  Cache c;
  KvCache taken(std::move(c.cache));
  CHECK(taken.length() == 2);
  KvCache fresh;
  // NOLINTNEXTLINE(bugprone-use-after-move): what it does is the question.
  for (KvCache* empty : {&c.cache, &fresh}) {
    require_refused(empty->append(c.keys, c.values), "KvCache::append",
                    {kInvalid, "the cache is", "empty", "made by create()"});
    require_refused(empty->truncate(1), "KvCache::truncate", {kRange, "length is", "1", "0 to 0"});
    CHECK(empty->length() == 0);
  }
}

}  // namespace
}  // namespace qkv::test
