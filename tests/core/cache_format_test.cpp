// Caches of bfloat16 and of 8 bits: the same bits as caches of float32 that hold the rounded numbers.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>

#include "compare.hpp"
#include "kernels/number_conversion.hpp"
#include "problem.hpp"

namespace qkv::test::cache_format_test {
namespace {

constexpr CacheFormat kShort[] = {CacheFormat::kBf16, CacheFormat::kInt8};

/// A group of at most 32 numbers as CacheFormat::kInt8 says, in double precision but for the scale and its inverse; no zero is negative.
void round_to_bytes(float* x, Index count) {
  double most = 0;
  bool finite = true;
  for (Index i = 0; i < count; ++i) {
    most = std::max(most, std::abs(double{x[i]}));
    finite = finite && std::isfinite(x[i]);
  }
  const float scale = from_bf16(to_bf16(static_cast<float>(most) / 127.0F));
  for (Index i = 0; i < count; ++i) {
    const float ratio = x[i] * (1.0F / scale);
    const double number = std::nearbyint(double{ratio});
    x[i] = !finite ? NAN
                   : (scale < 0x1p-96F ? 0.0F : static_cast<float>(number * double{scale} + 0.0));
  }
}

/// Rows of `width` numbers.
void round_all(std::vector<float>& numbers, CacheFormat format, Index width) {
  if (format == CacheFormat::kBf16) {
    for (float& number : numbers) {
      number = from_bf16(to_bf16(number));
    }
    return;
  }
  for (std::size_t row = 0; row < numbers.size(); row += static_cast<std::size_t>(width)) {
    for (Index first = 0; first < width; first += 32) {
      round_to_bytes(numbers.data() + row + first, std::min(Index{32}, width - first));
    }
  }
}
void round_all(Problem& p, CacheFormat format) {
  round_all(p.k, format, p.shape.dk);
  round_all(p.v, format, p.shape.dv);
}

/// A cache of any kind with room for more than the tokens of a problem.
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

TEST_CASE("cache: of fewer bits attention has the bits of float32 that holds the rounded numbers",
          "[attention][cache]") {
  std::uint64_t seed = 1;
  for (const CacheFormat format : kShort) {
    for (const Index dk : {1, 17, 64}) {
      for (const Index dv : {9, 33, 64}) {
        for (const Index heads : {2, 8, 14}) {
          CAPTURE(static_cast<int>(format), dk, dv, heads);
          const Shape shape{
              .batch = 2, .heads = heads, .kv_heads = 2, .tq = 139, .tk = 139, .dk = dk, .dv = dv};
          Problem p(shape, seed);
          p.options.causal = true;
          p.options.softcap = seed % 2 == 0 ? 3.0F : 0.0F;
          p.options.window_left = seed % 3 == 0 ? 70 : -1;
          ++seed;
          KvCache half = cache_for(shape, format);
          const std::vector<float> halves = through(p, half, {1, 62, 1, 1, 66, 8});
          round_all(p, format);
          KvCache full = cache_for(shape, CacheFormat::kF32);
          REQUIRE(first_difference(halves, through(p, full, {1, 62, 1, 1, 66, 8})) == "");
          REQUIRE(first_difference(held(half), held(full)) == "");
        }
      }
    }
  }
}

TEST_CASE("cache: of fewer bits, biases and scores beyond the range of float, and many keys",
          "[attention][cache]") {
  for (const CacheFormat format : kShort) {
    for (const float scale : {1.0F, 1e37F}) {
      CAPTURE(static_cast<int>(format), scale);
      const Shape shape{.heads = 4, .kv_heads = 1, .tq = 3, .tk = 2100, .dk = 40, .dv = 24};
      Problem p(shape, 17);
      p.add_bias({1, 1, 1, 2100});
      p.options.scale = scale;
      const std::vector<float> bias = p.bias;
      const auto run = [&](CacheFormat of) {
        KvCache cache = cache_for(shape, of);
        AttentionArgs args = p.args();
        args.cache = &cache;
        require_ok(attention(args, p.workspace));
        return joined({&p.result.out, &p.result.weights, &p.result.lse, &p.result.entropy});
      };
      const std::vector<float> shorter = run(format);
      round_all(p, format);
      CHECK(first_difference(shorter, run(CacheFormat::kF32)) == "");
    }
  }
}

TEST_CASE("cache: of fewer bits, NaN and infinity in excluded values are not met",
          "[attention][cache]") {
  for (const CacheFormat format : kShort) {
    for (const float bad : {NAN, INFINITY}) {
      const Shape shape{.heads = 2, .kv_heads = 1, .tq = 70, .tk = 70, .dk = 5, .dv = 43};
      Problem p(shape, 3);
      p.options.causal = true;
      p.v_row(0, 0, 66)[40] = bad;
      KvCache half = cache_for(shape, format);
      const std::vector<float> halves = through(p, half, {70});
      round_all(p, format);
      KvCache full = cache_for(shape, CacheFormat::kF32);
      CHECK(first_difference(halves, through(p, full, {70})) == "");
      // Rows before the key are finite, and those from it on have met its value; of 8 bits those that share its scale, too.
      for (std::size_t row = 0; row < 140; ++row) {
        CHECK(std::isfinite(halves[row * 43 + 40]) == (row % 70 < 66));
        CHECK(std::isfinite(halves[row * 43 + 33]) ==
              (row % 70 < 66 || format == CacheFormat::kBf16));
        CHECK(std::isfinite(halves[row * 43]));
      }
    }
  }
}

TEST_CASE("cache: of 8 bits a number is at most 1/252 of the largest beside it off", "[cache]") {
  Random random(5);
  for (const Index width : {1, 3, 31, 32, 33, 80}) {
    for (const float size : {1e-25F, 1e-3F, 1.0F, 3e38F}) {
      CAPTURE(width, size);
      const Shape shape{.tk = 40, .dk = width, .dv = width};
      Problem p(shape, 6);
      p.k = random_floats(random, 40 * width);
      float most = 0;
      for (const float number : p.k) {
        most = std::max(most, std::abs(number));
      }
      for (float& number : p.k) {
        number *= size / most;
      }
      p.v = p.k;
      KvCache cache = cache_for(shape, CacheFormat::kInt8);
      require_ok(cache.append(p.args().k, p.args().v));
      const std::vector<float> read = held(cache);
      for (std::size_t i = 0; i < read.size(); ++i) {
        const std::size_t at = i % p.k.size();
        const std::size_t of_row = at % static_cast<std::size_t>(width);
        const std::size_t first = at - of_row % 32;
        const std::size_t count =
            std::min<std::size_t>(32, static_cast<std::size_t>(width) - (of_row - of_row % 32));
        double largest = 0;
        for (std::size_t n = first; n < first + count; ++n) {
          largest = std::max(largest, std::abs(double{p.k[n]}));
        }
        REQUIRE(std::abs(double{read[i]} - double{p.k[at]}) <= largest / 252);
      }
      // What was read out is kept as it is.
      std::copy_n(read.begin(), p.k.size(), p.k.begin());
      p.v = p.k;
      KvCache again = cache_for(shape, CacheFormat::kInt8);
      require_ok(again.append(p.args().k, p.args().v));
      CHECK(first_difference(held(again), read) == "");
    }
  }
}

TEST_CASE(
    "cache: of 8 bits, NaN and infinity make their group NaN, and the smallest numbers are zeros",
    "[cache]") {
  const Shape shape{.tk = 4, .dk = 40, .dv = 40};
  Problem p(shape, 7);
  p.k_row(0, 0, 0)[3] = NAN;
  p.k_row(0, 0, 1)[35] = -INFINITY;
  for (Index d = 0; d < 40; ++d) {
    p.k_row(0, 0, 2)[d] = d == 1 ? 0x1p-80F : 0x1p-95F;
    p.k_row(0, 0, 3)[d] = 0.0F;
  }
  p.v = p.k;
  KvCache cache = cache_for(shape, CacheFormat::kInt8);
  require_ok(cache.append(p.args().k, p.args().v));
  const std::vector<float> read = held(cache);
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::size_t token = i / 40 % 4;
    const std::size_t d = i % 40;
    CAPTURE(token, d);
    CHECK(std::isnan(read[i]) == ((token == 0 && d < 32) || (token == 1 && d >= 32)));
    CHECK((token < 2 ||
           read[i] == (token == 2 && d == 1 ? 127 * from_bf16(to_bf16(0x1p-80F / 127)) : 0.0F)));
  }
}

TEST_CASE("cache: of fewer bits in any portions, cut back and read out", "[cache]") {
  const CacheFormat format = GENERATE(CacheFormat::kBf16, CacheFormat::kInt8);
  const Shape shape{.batch = 2, .heads = 3, .kv_heads = 3, .tq = 1, .tk = 150, .dk = 7, .dv = 19};
  Problem p(shape, 4);
  const AttentionArgs all = p.args();
  std::vector<float> keys = p.k;
  std::vector<float> values = p.v;
  round_all(keys, format, shape.dk);
  round_all(values, format, shape.dv);
  const std::vector<float> expected = joined({&keys, &values});
  KvCache cache = cache_for(shape, format);
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

TEST_CASE("cache: of bfloat16 takes half the memory, of 8 bits 0.27 of it", "[cache]") {
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
  CHECK(bytes(CacheFormat::kInt8) == std::size_t{3} * 64 * (96 + 3 * 2));  // and three scales
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
  for (const auto& [format, of_head] : {std::pair{CacheFormat::kF32, std::size_t{4 * 96}},
                                        {CacheFormat::kBf16, std::size_t{2 * 96}},
                                        {CacheFormat::kInt8, std::size_t{96 + 6}}}) {
    const std::size_t of_token = 3 * of_head;
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
  const CacheFormat format = GENERATE(CacheFormat::kF32, CacheFormat::kInt8);
  // Blocks have 64 tokens; 131 is whole neither in them nor in panels.
  for (const Index capacity : {1, 64, 65, 131, 192, 1000}) {
    const Given k(2, 3, capacity, 5);
    const Given v(2, 3, capacity, 9);
    for (const Index step : {1, 7, 63, 64, 65, 500}) {
      CAPTURE(capacity, step, static_cast<int>(format));
      KvCache cache;
      require_ok(KvCache::create({.batch = 2,
                                  .num_kv_heads = 3,
                                  .capacity = capacity,
                                  .d_k = 5,
                                  .d_v = 9,
                                  .format = format},
                                 cache));
      std::vector<float> keys = k.numbers;
      std::vector<float> values = v.numbers;
      if (format == CacheFormat::kInt8) {
        round_all(keys, format, 5);
        round_all(values, format, 9);
      }
      for (Index first = 0; first < capacity; first += step) {
        const Index count = std::min(step, capacity - first);
        require_ok(cache.append(k.part(first, count), v.part(first, count)));
      }
      CHECK(first_difference(held(cache), joined({&keys, &values})) == "");
      CHECK(cache.bytes() <= cache.max_bytes() + 128);  // of two blocks, rounded up
    }
  }
}

}  // namespace
}  // namespace qkv::test::cache_format_test
