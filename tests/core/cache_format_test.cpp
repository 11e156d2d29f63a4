// Caches of bfloat16: the same bits as caches of float32 that hold the rounded numbers.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

#include "compare.hpp"
#include "kernels/number_conversion.hpp"
#include "problem.hpp"

namespace qkv::test::cache_format_test {
namespace {

void round_all(std::vector<float>& numbers) {
  for (float& number : numbers) {
    number = from_bf16(to_bf16(number));
  }
}

/// A cache of either kind with room for more than the tokens of a problem.
KvCache cache_for(const Shape& s, CacheFormat format) {
  KvCache cache;
  require_ok(KvCache::create({.batch = s.batch,
                              .num_kv_heads = s.kv_heads,
                              .capacity = s.tk + 5,
                              .d_k = s.dk,
                              .d_v = s.dv,
                              .format = format},
                             cache));
  return cache;
}

/// All that a cache holds, keys and then values.
std::vector<float> held(const KvCache& cache) {
  const KvCacheConfig& c = cache.config();
  const Index rows = c.batch * c.num_kv_heads * cache.length();
  std::vector<float> keys(static_cast<std::size_t>(rows * c.d_k));
  std::vector<float> values(static_cast<std::size_t>(rows * c.d_v));
  require_ok(cache.read_keys({keys.data(), {c.batch, c.num_kv_heads, cache.length(), c.d_k}}));
  require_ok(cache.read_values({values.data(), {c.batch, c.num_kv_heads, cache.length(), c.d_v}}));
  return joined({&keys, &values});
}

/// Everything that attention writes for the problem's tokens, in portions.
std::vector<float> through(Problem& p, KvCache& cache, std::initializer_list<Index> portions) {
  std::vector<float> all;
  Index done = 0;
  for (const Index portion : portions) {
    const Shape& s = p.shape;
    const auto size = static_cast<std::size_t>(s.batch * s.heads * portion);
    const Index keys = done + portion;
    std::vector<float> out(size * static_cast<std::size_t>(s.dv), kUntouched);
    std::vector<float> weights(size * static_cast<std::size_t>(keys), kUntouched);
    std::vector<float> logits = weights;
    std::vector<float> lse(size, kUntouched);
    std::vector<float> entropy = lse;
    AttentionArgs args = p.args();
    args.cache = &cache;
    for (auto* view : {&args.q, &args.k, &args.v}) {
      view->data += done * view->stride(2);
      view->shape[2] = portion;
    }
    args.out = {out.data(), {s.batch, s.heads, portion, s.dv}};
    args.extras = {};
    args.extras.weights = {weights.data(), {s.batch, s.heads, portion, keys}};
    args.extras.logits = {logits.data(), {s.batch, s.heads, portion, keys}};
    args.extras.lse = {lse.data(), {s.batch, s.heads, portion}};
    args.extras.entropy = {entropy.data(), {s.batch, s.heads, portion}};
    require_ok(attention(args, p.workspace));
    for (const auto* array : {&out, &weights, &logits, &lse, &entropy}) {
      all.insert(all.end(), array->begin(), array->end());
    }
    done += portion;
  }
  return all;
}

TEST_CASE("cache: of bfloat16 attention has the bits of float32 that holds the rounded numbers",
          "[attention][cache]") {
  std::uint64_t seed = 1;
  for (const Index dk : {1, 17, 64}) {
    for (const Index dv : {9, 64}) {
      for (const Index heads : {2, 8}) {
        CAPTURE(dk, dv, heads);
        const Shape shape{
            .batch = 2, .heads = heads, .kv_heads = 2, .tq = 139, .tk = 139, .dk = dk, .dv = dv};
        Problem p(shape, seed);
        p.options.causal = true;
        p.options.softcap = seed % 2 == 0 ? 3.0F : 0.0F;
        p.options.window_left = seed % 3 == 0 ? 70 : -1;
        ++seed;
        KvCache half = cache_for(shape, CacheFormat::kBf16);
        const std::vector<float> halves = through(p, half, {1, 62, 1, 1, 66, 8});
        round_all(p.k);
        round_all(p.v);
        KvCache full = cache_for(shape, CacheFormat::kF32);
        REQUIRE(first_difference(halves, through(p, full, {1, 62, 1, 1, 66, 8})) == "");
        REQUIRE(first_difference(held(half), held(full)) == "");
      }
    }
  }
}

TEST_CASE("cache: of bfloat16, NaN and infinity in excluded values are not met",
          "[attention][cache]") {
  for (const float bad : {NAN, INFINITY}) {
    const Shape shape{.heads = 2, .kv_heads = 1, .tq = 70, .tk = 70, .dk = 5, .dv = 11};
    Problem p(shape, 3);
    p.options.causal = true;
    p.v_row(0, 0, 66)[10] = bad;
    KvCache half = cache_for(shape, CacheFormat::kBf16);
    const std::vector<float> halves = through(p, half, {70});
    round_all(p.k);
    round_all(p.v);
    KvCache full = cache_for(shape, CacheFormat::kF32);
    CHECK(first_difference(halves, through(p, full, {70})) == "");
    // Rows before the key are finite, and those from it on have met its value.
    for (std::size_t row = 0; row < 140; ++row) {
      CHECK(std::isfinite(halves[row * 11 + 10]) == (row % 70 < 66));
      CHECK(std::isfinite(halves[row * 11]));
    }
  }
}

TEST_CASE("cache: of bfloat16 in any portions, cut back and read out", "[cache]") {
  const Shape shape{.batch = 2, .heads = 3, .kv_heads = 3, .tq = 1, .tk = 150, .dk = 7, .dv = 19};
  Problem p(shape, 4);
  const AttentionArgs all = p.args();
  std::vector<float> keys = p.k;
  std::vector<float> values = p.v;
  round_all(keys);
  round_all(values);
  const std::vector<float> expected = joined({&keys, &values});
  KvCache cache = cache_for(shape, CacheFormat::kBf16);
  const auto add = [&](Index first, Index count) {
    auto k = all.k;
    auto v = all.v;
    for (auto* view : {&k, &v}) {
      view->data += first * view->stride(2);
      view->shape[2] = count;
    }
    require_ok(cache.append(k, v));
  };
  for (const auto& [first, count] : {std::pair{0, 1}, {1, 63}, {64, 5}, {69, 81}}) {
    add(first, count);
  }
  CHECK(first_difference(held(cache), expected) == "");
  require_ok(cache.truncate(37));
  CHECK(cache.length() == 37);
  add(37, 113);
  CHECK(first_difference(held(cache), expected) == "");
  const KvCache moved = std::move(cache);
  CHECK(first_difference(held(moved), expected) == "");
}

TEST_CASE("cache: of bfloat16 takes half the memory", "[cache]") {
  const auto bytes = [](CacheFormat format) {
    const std::size_t before = allocated_bytes();
    KvCache cache;
    require_ok(KvCache::create(
        {.num_kv_heads = 3, .capacity = 64, .d_k = 64, .d_v = 32, .format = format}, cache));
    CHECK(cache.max_bytes() == cache.bytes());
    return allocated_bytes() - before;
  };
  CHECK(bytes(CacheFormat::kF32) == std::size_t{4} * 3 * 64 * 96);
  CHECK(bytes(CacheFormat::kBf16) == std::size_t{2} * 3 * 64 * 96);
}

/// Numbers for keys or values [batch, heads, tokens, width], none like another.
struct Given {
  Given(Index b, Index h, Index tokens, Index d) : shape{b, h, tokens, d} {
    numbers.resize(static_cast<std::size_t>(b * h * tokens * d));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(i) + 0.5F;
    }
  }
  /// Tokens [first, first + count).
  [[nodiscard]] TensorView<const float> part(Index first, Index count) const {
    TensorView<const float> view(numbers.data(), {shape[0], shape[1], shape[2], shape[3]});
    view.data += first * view.stride(2);
    view.shape[2] = count;
    return view;
  }
  Index shape[4];
  std::vector<float> numbers;
};

TEST_CASE("cache: memory grows with the tokens that are held, up to the capacity", "[cache]") {
  for (const CacheFormat format : {CacheFormat::kF32, CacheFormat::kBf16}) {
    const std::size_t of_token = std::size_t{format == CacheFormat::kF32 ? 4U : 2U} * 3 * 96;
    const Given k(1, 3, 1, 64);
    const Given v(1, 3, 1, 32);
    const std::size_t before = allocated_bytes();
    KvCache cache;
    require_ok(KvCache::create({.num_kv_heads = 3,
                                .capacity = 1'000'000,  // which would be 1 GB
                                .d_k = 64,
                                .d_v = 32,
                                .format = format},
                               cache));
    CHECK(cache.max_bytes() == std::uint64_t{1'000'000} * of_token);
    CHECK(cache.bytes() == 64 * of_token);
    const std::size_t requests = allocation_count();
    for (Index t = 0; t < 1000; ++t) {
      require_ok(cache.append(k.part(0, 1), v.part(0, 1)));
    }
    // 128, 256, 512 and 1024 tokens, keys and values each.
    CHECK(allocation_count() == requests + 8);
    CHECK(cache.bytes() == 1024 * of_token);
    CHECK(allocated_bytes() - before == cache.bytes());
  }
}

TEST_CASE("cache: one that grew holds the tokens that it was given, bit for bit", "[cache]") {
  // Blocks have 64 tokens; 131 is whole neither in them nor in panels.
  for (const Index capacity : {1, 64, 65, 131, 192, 1000}) {
    const Given k(2, 3, capacity, 5);
    const Given v(2, 3, capacity, 9);
    for (const Index step : {1, 7, 63, 64, 65, 500}) {
      CAPTURE(capacity, step);
      KvCache cache;
      require_ok(KvCache::create(
          {.batch = 2, .num_kv_heads = 3, .capacity = capacity, .d_k = 5, .d_v = 9}, cache));
      for (Index first = 0; first < capacity; first += step) {
        const Index count = std::min(step, capacity - first);
        require_ok(cache.append(k.part(first, count), v.part(first, count)));
      }
      CHECK(first_difference(held(cache), joined({&k.numbers, &v.numbers})) == "");
      CHECK(cache.bytes() <= cache.max_bytes() + 128);  // of two blocks, rounded up
    }
  }
}

}  // namespace
}  // namespace qkv::test::cache_format_test
