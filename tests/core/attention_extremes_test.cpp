// Inputs that break softmax written carelessly: huge logits, equal logits, rows without keys, NaN
// and infinity in the wrong and in the right places.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <numeric>

#include "problem.hpp"

namespace qkv::test::attention_extremes_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Width-1 heads with q = 1 and scale 1: the logits are k.
Problem with_logits(const std::vector<float>& logits, Index tq = 1, Index dv = 4) {
  const auto tk = static_cast<Index>(logits.size());
  Problem p({.tq = tq, .tk = tk, .dk = 1, .dv = dv}, 42);
  std::fill(p.q.begin(), p.q.end(), 1.0F);
  p.k = logits;
  p.options.scale = 1.0F;
  return p;
}

bool all_nan(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isnan(x); });
}

double sum_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST_CASE("extremes: logits of +-1e4 give the exact softmax limit", "[attention][extremes]") {
  for (Index n : {2, 9, 64, 65, 200}) {
    for (Index winner : {Index{0}, n / 2, n - 1}) {
      CAPTURE(n, winner);
      std::vector<float> logits(static_cast<std::size_t>(n), -1e4F);
      logits[static_cast<std::size_t>(winner)] = 1e4F;
      Problem p = with_logits(logits, 3);
      const Result& r = p.run();
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < n; ++j) {
          REQUIRE(r.weights[static_cast<std::size_t>(i * n + j)] == (j == winner ? 1.0F : 0.0F));
        }
        for (Index d = 0; d < 4; ++d) {
          REQUIRE(r.out[static_cast<std::size_t>(i * 4 + d)] ==
                  p.v[static_cast<std::size_t>(winner * 4 + d)]);
        }
        REQUIRE(r.lse[static_cast<std::size_t>(i)] == 1e4F);
        REQUIRE(r.entropy[static_cast<std::size_t>(i)] == 0.0F);
      }
    }
  }
}

TEST_CASE("extremes: random logits of size 1e4 stay within the bounds", "[attention][extremes]") {
  Problem p({.heads = 2, .kv_heads = 2, .tq = 40, .tk = 70, .dk = 8, .dv = 8}, 1);
  p.options.scale = 4000.0F;
  p.check(Bounds::kAny);  // 1e4 in float32 has four digits left behind the point
  for (float w : p.result.weights) {
    REQUIRE(std::isfinite(w));
  }
}

TEST_CASE(
    "extremes: equal logits weigh 1/n each, sum to 1 and have an entropy of ln n, rounded once",
    "[attention][extremes]") {
  for (Index n = 1; n < 1200; n += n < 70 ? 1 : 37) {
    for (const float logit : {0.0F, -1e4F, 1e4F, 1e30F}) {
      CAPTURE(n, logit);
      Problem p = with_logits(std::vector<float>(static_cast<std::size_t>(n), logit));
      const Result& r = p.run();
      const double share = 1.0 / static_cast<double>(n);
      const bounds::AttentionBound bound{1, static_cast<double>(n), 0, 1};
      REQUIRE(std::all_of(r.weights.begin(), r.weights.end(),
                          [&](float w) { return std::abs(w - share) <= bound.weight(share); }));
      REQUIRE(std::abs(sum_of(r.weights) - 1.0) <= static_cast<double>(n) * 0x1p-23);
      const double exact = std::log(static_cast<double>(n));
      const double half_ulp = exact * 0x1p-24 * 1.001;
      REQUIRE(std::abs(r.entropy[0] - exact) <= half_ulp);
      REQUIRE((logit != 0.0F || std::abs(r.lse[0] - exact) <= half_ulp));
    }
  }
}

TEST_CASE("extremes: the exponential is within 2 ulp, seen through the weights of two keys",
          "[attention][extremes]") {
  // Logits 0 and x < 0 are exact, and so is e^0. That leaves the argument x log2(e), whose constant and
  // product have 1.23 u between them, which the exponential multiplies by |x|; 2 to that (2 ulp = 4 u),
  // the sum and the division (u each). The bound allows 16 |x| u for the first and 40 u for the rest.
  Quantity weight("weights of two keys / (6 + 1.23 |x|) u");
  for (int step = 1; step < 20000; ++step) {
    const float x = -0.004321F * static_cast<float>(step);
    Problem p = with_logits({0.0F, x}, 1, 1);
    const double e = std::exp(static_cast<double>(x));
    const double argument = 1.23 * std::abs(static_cast<double>(x));
    weight.add(p.run().weights[1], e / (1.0 + e), (6 + argument) * bounds::kU * e / (1.0 + e));
  }
  require_within(weight);
}

/// out of a row whose key `at` has the weight 1, and all others a weight of exp(-below) and the value 1e30.
std::vector<float> out_beside(float below, Index at, bool masked) {
  constexpr Index kKeys = 200;
  Problem p = with_logits(std::vector<float>(kKeys, -below));
  p.k[static_cast<std::size_t>(at)] = 0.0F;
  std::fill(p.v.begin(), p.v.end(), 1e30F);
  std::fill_n(p.v_row(0, 0, at), p.shape.dv, 0.0F);
  if (masked) {
    p.mask_shape = {kKeys};
    p.mask.assign(kKeys, 1);
    p.mask[static_cast<std::size_t>(at == 3 ? 5 : 3)] = 0;
  }
  return p.run().out;
}

TEST_CASE("extremes: a weight below 2^-64 of the largest enters no product",
          "[attention][extremes]") {
  // 1e30 times any weight that a float holds is seen. 44.4 nats are 64.06 bits.
  for (const bool masked : {false, true}) {
    for (Index at : {0, 63, 64, 199}) {  // first: others are small; last: what was summed shrinks
      CAPTURE(masked, at);
      for (float below : {44.4F, 50.0F, 60.0F, 75.0F, 80.0F, 84.0F, 87.0F, 88.0F, 1000.0F}) {
        CAPTURE(below);
        CHECK(out_beside(below, at, masked) == std::vector<float>(4, 0.0F));
      }
      const double exact = (masked ? 198 : 199) * 1e30 * std::exp(-43.0);
      for (float out : out_beside(43.0F, at, masked)) {
        CHECK(std::abs(out - exact) < 1e-5 * exact);
      }
    }
  }
}

TEST_CASE("extremes: a running maximum that rises with every key", "[attention][extremes]") {
  // The worst order for a tiled softmax: each tile must rescale all before it.
  for (float step : {0.01F, 0.3F, 1.0F, 20.0F}) {
    CAPTURE(step);
    std::vector<float> rising(300);
    for (std::size_t j = 0; j < rising.size(); ++j) {
      rising[j] = step * static_cast<float>(j);
    }
    // The largest step ends at 6000, where the bound of the entropy is a tenth.
    const Bounds bounds = step < 20.0F ? Bounds::kMeaningful : Bounds::kAny;
    with_logits(rising, 2).check(bounds);
    std::reverse(rising.begin(), rising.end());
    with_logits(rising, 2).check(bounds);
  }
}

TEST_CASE("extremes: every query has another largest key", "[attention][extremes]") {
  Problem p(square(130, 16), 2);
  p.options.scale = 20.0F;
  p.check();
}

TEST_CASE("extremes: one logit far above and one far below the rest", "[attention][extremes]") {
  for (Index at : {0, 5, 63, 64, 99}) {
    CAPTURE(at);
    std::vector<float> logits(100, 0.25F);
    logits[static_cast<std::size_t>(at)] = 50.0F;
    logits[static_cast<std::size_t>((at + 50) % 100)] = -3e38F;
    Problem p = with_logits(logits);
    p.check(Bounds::kAny);  // the bound follows the largest logit, 3e38
    CHECK(p.result.weights[static_cast<std::size_t>(at)] == 1.0F);
    CHECK(p.result.weights[static_cast<std::size_t>((at + 50) % 100)] == 0.0F);
  }
}

TEST_CASE("extremes: a temperature of 1e-30 gives the argmax", "[attention][extremes]") {
  Problem p({.heads = 2, .kv_heads = 2, .tq = 20, .tk = 70, .dk = 8, .dv = 5}, 3);
  p.options.temperature = 1e-30F;
  const Result r = p.run();
  Problem usual({.heads = 2, .kv_heads = 2, .tq = 20, .tk = 70, .dk = 8, .dv = 5}, 3);
  const Result& softmax = usual.run();
  for (std::size_t row = 0; row < 40; ++row) {
    CAPTURE(row);
    const auto first = softmax.weights.begin() + static_cast<Index>(row) * 70;
    const Index best = std::max_element(first, first + 70) - first;
    for (Index j = 0; j < 70; ++j) {
      REQUIRE(r.weights[row * 70 + static_cast<std::size_t>(j)] == (j == best ? 1.0F : 0.0F));
    }
    for (Index d = 0; d < 5; ++d) {
      const Index head = static_cast<Index>(row) / 20;
      REQUIRE(r.out[row * 5 + static_cast<std::size_t>(d)] == p.v_row(0, head, best)[d]);
    }
    REQUIRE(r.entropy[row] == 0.0F);
  }
}

TEST_CASE("extremes: a temperature of 1e30 gives the mean over the allowed keys",
          "[attention][extremes]") {
  Problem p({.tq = 10, .tk = 70, .dk = 8, .dv = 5}, 4);
  p.add_mask({10, 70}, 0.5);
  p.options.temperature = 1e30F;
  p.check();
  const Result& r = p.result;
  for (Index i = 0; i < 10; ++i) {
    const auto mask = p.mask.begin() + i * 70;
    const auto allowed = 70 - std::count(mask, mask + 70, 0);
    REQUIRE(allowed > 0);
    for (Index j = 0; j < 70; ++j) {
      const double mean = mask[j] == 0 ? 0.0 : 1.0 / static_cast<double>(allowed);
      REQUIRE(std::abs(r.weights[static_cast<std::size_t>(i * 70 + j)] - mean) <= 1e-6 * mean);
    }
  }
}

TEST_CASE("extremes: the smallest and the largest temperature are accepted",
          "[attention][extremes]") {
  for (float temperature : {std::numeric_limits<float>::min(), std::numeric_limits<float>::max()}) {
    CAPTURE(temperature);
    Problem p = with_logits({0.5F, 0.25F, 0.5F});
    p.options.temperature = temperature;
    const Result& r = p.run();
    const bool cold = temperature < 1.0F;
    CHECK(std::abs(r.weights[0] - (cold ? 0.5F : 1.0F / 3)) < 1e-6F);
    CHECK(std::abs(r.weights[1] - (cold ? 0.0F : 1.0F / 3)) < 1e-6F);
  }
}

/// Zeros in out and weights, lse = -inf, entropy 0, for row i.
void require_empty_row(const Problem& p, const Result& r, oracle::RowId id) {
  std::vector<float> row = p.row(r, id);
  const float entropy = row.back();
  row.pop_back();
  const float lse = row.back();
  row.pop_back();
  REQUIRE(std::all_of(row.begin(), row.end(), [](float x) { return x == 0.0F; }));
  REQUIRE(lse == -kInf);
  REQUIRE(entropy == 0.0F);
}

TEST_CASE("no key allowed: a mask, a bias or a causal offset that leaves none gives zeros",
          "[attention][extremes][empty-row]") {
  struct Case {
    const char* name;
    Index tk, from, rows;  ///< the rows that are empty
    void (*exclude)(Problem&);
  };
  const auto row_2 = [](Problem& p) {
    p.mask_shape = {5, p.shape.tk};
    p.mask.assign(static_cast<std::size_t>(5 * p.shape.tk), 1);
    std::fill_n(p.mask.begin() + 2 * p.shape.tk, p.shape.tk, std::uint8_t{0});
  };
  const auto bias = [](Problem& p) {
    p.bias_shape = {1};
    p.bias = {-kInf};
  };
  const auto only_together = [](Problem& p) {
    p.mask_shape = p.bias_shape = {3};
    p.mask = {0, 1, 1};
    p.bias = {1.0F, -kInf, 1.0F};
    p.causal(1);
  };
  const auto all_nan = [](Problem& p) {
    for (auto* values : {&p.q, &p.k, &p.v}) {
      std::fill(values->begin(), values->end(), kNan);
    }
    p.mask_shape = {1};
    p.mask = {0};
  };
  const Case cases[] = {{"mask of one key", 1, 2, 1, row_2},
                        {"mask of five", 5, 2, 1, row_2},
                        {"mask of 64", 64, 2, 1, row_2},
                        {"mask of 65", 65, 2, 1, row_2},
                        {"mask of 130", 130, 2, 1, row_2},
                        {"bias", 70, 0, 5, bias},
                        {"causal", 70, 0, 3, [](Problem& p) { p.causal(-3); }},
                        {"all three, and only together", 3, 0, 1, only_together},
                        {"mask over NaN everywhere", 20, 0, 5, all_nan}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Problem p({.heads = 2, .kv_heads = 1, .tq = 5, .tk = c.tk, .dk = 8, .dv = 9}, 5);
    c.exclude(p);
    const Result r = p.run();
    for (Index i = 0; i < 5; ++i) {
      CAPTURE(i);
      if (i >= c.from && i < c.from + c.rows) {
        require_empty_row(p, r, {0, 0, i});
        require_empty_row(p, r, {0, 1, i});
      } else {
        REQUIRE(r.lse[static_cast<std::size_t>(i)] > -kInf);
      }
    }
  }
}

constexpr float kMost = std::numeric_limits<float>::max();

/// A softmax of every row: finite numbers, weights that sum to 1 over what the row may read, an entropy from 0 to ln n.
void require_softmax(const Problem& p, const Result& r, Index keys) {
  for (std::size_t row = 0; row < r.lse.size(); ++row) {
    CAPTURE(row);
    const auto first = r.weights.begin() + static_cast<Index>(row) * p.shape.tk;
    REQUIRE(std::abs(std::accumulate(first, first + p.shape.tk, 0.0) - 1.0) < 1e-5);
    REQUIRE(std::isfinite(r.lse[row]));
    REQUIRE(r.entropy[row] >= 0.0F);
    REQUIRE(r.entropy[row] <= std::log(static_cast<float>(keys)) * 1.00001F);
  }
  REQUIRE(std::all_of(r.out.begin(), r.out.end(), [](float x) { return std::isfinite(x); }));
}

TEST_CASE("extremes: finite masks and biases exclude no key, whatever they sum to",
          "[attention][extremes][empty-row]") {
  for (const float bias : {-kMost, kMost, -2e38F}) {
    for (const float mask : {-kMost, kMost, -1e38F, 0.0F}) {
      for (const Index tk : {1, 7, 64, 130}) {
        CAPTURE(bias, mask, tk);
        Problem p({.heads = 4, .kv_heads = 2, .tq = 5, .tk = tk, .dk = 8, .dv = 9}, 20);
        p.bias_shape = {1};
        p.bias = {bias};
        const std::vector<float> added(static_cast<std::size_t>(tk), mask);
        p.options.additive_mask = {added.data(), {tk}};
        const Result& r = p.run();
        require_softmax(p, r, tk);
        // No float is near enough to such a sum to tell keys apart.
        for (const float weight : r.weights) {
          REQUIRE(
              (bias + mask == 0.0F || std::abs(weight * static_cast<float>(tk) - 1.0F) < 1e-5F));
        }
      }
    }
  }
}

TEST_CASE("extremes: of finite scores only the excluded ones weigh nothing beside the lowest sum",
          "[attention][extremes][empty-row]") {
  Problem p({.tq = 3, .tk = 70, .dk = 8, .dv = 9}, 21);
  p.bias_shape = {70};
  p.bias.assign(70, -kMost);
  p.mask_shape = {70};
  p.mask.assign(70, 1);
  std::vector<float> added(70, -kMost);
  for (std::size_t j = 0; j < 70; j += 3) {
    (j % 2 == 0 ? p.bias[j] : added[j]) = -kInf;
    p.mask[69 - j] = 0;
  }
  p.options.additive_mask = {added.data(), {70}};
  const Result& r = p.run();
  std::size_t allowed = 0;
  const auto reads = [&](std::size_t j) { return j % 3 != 0 && (69 - j) % 3 != 0; };
  for (std::size_t j = 0; j < 70; ++j) {
    allowed += reads(j) ? 1 : 0;
  }
  REQUIRE(allowed > 0);
  for (std::size_t i = 0; i < r.weights.size(); ++i) {
    const float weight = r.weights[i] * static_cast<float>(allowed);
    REQUIRE(std::abs(weight - (reads(i % 70) ? 1.0F : 0.0F)) < 1e-5F);
  }
}

TEST_CASE("extremes: slopes, scales, softcaps and temperatures of any size give no NaN",
          "[attention][extremes]") {
  for (const float slope : {kMost, -kMost, 1e37F, -1e37F}) {
    for (const float temperature : {1.0F, 0.25F, std::numeric_limits<float>::min(), kMost}) {
      for (const float softcap : {0.0F, std::numeric_limits<float>::denorm_min(), kMost}) {
        CAPTURE(slope, temperature, softcap);
        Problem p({.heads = 2, .kv_heads = 2, .tq = 5, .tk = 70, .dk = 8, .dv = 9}, 22);
        const float slopes[] = {slope, -slope};
        p.options.alibi_slopes = {slopes, {2}};
        p.options.causal_offset = -200;
        p.options.window_left = -1;
        p.options.temperature = temperature;
        p.options.softcap = softcap;
        p.options.scale = 1e30F;
        p.bias_shape = {1};
        p.bias = {-kMost};
        require_softmax(p, p.run(), 70);
      }
    }
  }
}

TEST_CASE(
    "extremes: lse of a row with keys is finite where a temperature makes its scores infinite",
    "[attention][extremes]") {
  for (const float score : {-3e38F, 3e38F}) {
    Problem p = with_logits({score, score});
    p.options.temperature = 0.25F;
    const Result& r = p.run();
    CHECK(r.lse[0] == std::copysign(kMost, score));
    CHECK(r.weights == std::vector<float>{0.5F, 0.5F});
    CHECK(std::abs(r.entropy[0] - std::log(2.0F)) < 1e-6F);
  }
}

TEST_CASE("extremes: the lowest sum decides nothing in a cache either", "[attention][extremes]") {
  for (const CacheFormat format : {CacheFormat::kF32, CacheFormat::kBf16, CacheFormat::kInt8}) {
    Problem p({.heads = 2, .kv_heads = 1, .tq = 3, .tk = 67, .dk = 8, .dv = 9}, 23);
    KvCache cache;
    require_ok(KvCache::create(
        {.batch = 1, .num_kv_heads = 1, .capacity = 67, .d_k = 8, .d_v = 9, .format = format},
        cache));
    p.bias_shape = {1};
    p.bias = {-kMost};
    const float lowest[] = {-kMost};
    p.options.additive_mask = {lowest, {1}};
    p.options.causal = true;
    AttentionArgs args = p.args();
    args.options.causal_offset = 64;
    args.cache = &cache;
    require_ok(attention(args, p.workspace));
    require_softmax(p, p.result, 67);
  }
}

/// Runs `p` as it is and with `poison` in the keys and values that no query may read.
void require_excluded_is_inert(Problem& p, const std::vector<Index>& excluded, float poison) {
  const Result before = p.run();
  for (Index j : excluded) {
    for (Index b = 0; b < p.shape.batch; ++b) {
      for (Index h = 0; h < p.shape.kv_heads; ++h) {
        std::fill_n(p.k_row(b, h, j), p.shape.dk, poison);
        std::fill_n(p.v_row(b, h, j), p.shape.dv, poison);
      }
    }
  }
  const Result& after = p.run();
  REQUIRE(first_difference(before, after) == "");
}

constexpr Shape kPoisoned{
    .batch = 2, .heads = 2, .kv_heads = 2, .tq = 20, .tk = 90, .dk = 8, .dv = 9};
constexpr float kPoisons[] = {1e30F, kNan, kInf, -kInf};

TEST_CASE("excluded by a mask, a bias or causal: NaN and infinity contribute exactly nothing",
          "[attention][extremes][excluded]") {
  const std::vector<Index> some{0, 3, 17, 63, 64, 89};
  for (const float poison : kPoisons) {
    CAPTURE(poison);
    Problem masked(kPoisoned, 10);
    Problem biased(kPoisoned, 11);
    masked.mask_shape = biased.bias_shape = {kPoisoned.tk};
    masked.mask.assign(static_cast<std::size_t>(kPoisoned.tk), 1);
    biased.bias.assign(static_cast<std::size_t>(kPoisoned.tk), 0.5F);
    for (const Index j : some) {
      masked.mask[static_cast<std::size_t>(j)] = 0;
      biased.bias[static_cast<std::size_t>(j)] = -kInf;
    }
    require_excluded_is_inert(masked, some, poison);
    require_excluded_is_inert(biased, some, poison);
    for (const Index offset : {0, 3, 50}) {
      CAPTURE(offset);
      Problem causal(kPoisoned, 12);
      causal.causal(offset);
      std::vector<Index> later(static_cast<std::size_t>(kPoisoned.tk - kPoisoned.tq - offset));
      std::iota(later.begin(), later.end(),
                kPoisoned.tq + offset);  // past what the last query reads
      require_excluded_is_inert(causal, later, poison);
    }
  }
}

TEST_CASE("excluded by a mask: NaN in a single column of the values contributes exactly nothing",
          "[attention][extremes][excluded]") {
  // Values lie in panels of columns, 8 to 64 wide by the instruction set, and keys in blocks.
  constexpr Index kWide = 150;
  for (Index column : {0, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 149}) {
    for (Index key : {2, 70}) {
      CAPTURE(column, key);
      Problem p({.tq = 9, .tk = 90, .dk = 4, .dv = kWide}, 22);
      p.mask_shape = {90};
      p.mask.assign(90, 1);
      p.mask[static_cast<std::size_t>(key)] = 0;
      const Result before = p.run();
      p.v_row(0, 0, key)[column] = kNan;
      REQUIRE(first_difference(before.out, p.run().out) == "");
    }
  }
}

TEST_CASE("excluded by a mask: a NaN or infinite bias there contributes exactly nothing",
          "[attention][extremes][excluded]") {
  for (float poison : {kNan, kInf}) {
    CAPTURE(poison);
    Problem p(kPoisoned, 13);
    p.add_mask({kPoisoned.tq, kPoisoned.tk});
    p.add_bias({kPoisoned.tq, kPoisoned.tk}, 0.0);
    const Result before = p.run();
    for (std::size_t i = 0; i < p.mask.size(); ++i) {
      p.bias[i] = p.mask[i] == 0 ? poison : p.bias[i];
    }
    const Result& after = p.run();
    CHECK(first_difference(before.out, after.out) == "");
    CHECK(first_difference(before.weights, after.weights) == "");
  }
}

TEST_CASE("excluded by one bias: a NaN or infinity of the other there contributes exactly nothing",
          "[attention][extremes][excluded]") {
  for (const bool by_bias : {false, true}) {
    for (float poison : kPoisons) {
      CAPTURE(by_bias, poison);
      Problem p(kPoisoned, 14);
      p.add_bias({kPoisoned.tq, kPoisoned.tk});
      std::vector<float> additive_mask(p.bias.size(), 0.25F);
      if (!by_bias) {
        p.bias.swap(additive_mask);
      }
      p.options.additive_mask = {additive_mask.data(), {kPoisoned.tq, kPoisoned.tk}};
      const Result before = p.run();
      std::vector<float>& excluding = by_bias ? p.bias : additive_mask;
      std::vector<float>& other = by_bias ? additive_mask : p.bias;
      for (std::size_t i = 0; i < excluding.size(); ++i) {
        other[i] = excluding[i] == -kInf ? poison : other[i];
      }
      const Result& after = p.run();
      CHECK(first_difference(before.out, after.out) == "");
      CHECK(first_difference(before.weights, after.weights) == "");
      CHECK(first_difference(before.lse, after.lse) == "");
    }
  }
}

TEST_CASE("NaN in an allowed key reaches exactly the rows that may read it",
          "[attention][extremes][nan]") {
  for (Index at : {0, 7, 40, 63, 64, 69}) {
    for (bool in_value : {false, true}) {
      CAPTURE(at, in_value);
      Problem p(square(70, 8), 14);
      p.options.causal = true;
      const Result before = p.run();
      (in_value ? p.v_row(0, 0, at) : p.k_row(0, 0, at))[3] = kNan;
      const Result& after = p.run();
      for (Index i = 0; i < 70; ++i) {
        CAPTURE(i);
        const auto out =
            std::vector<float>(after.out.begin() + i * 8, after.out.begin() + i * 8 + 8);
        if (i < at) {
          REQUIRE(first_difference(p.row(before, {0, 0, i}), p.row(after, {0, 0, i})) == "");
        } else if (in_value) {
          REQUIRE(std::isnan(out[3]));
          REQUIRE(out[2] == before.out[static_cast<std::size_t>(i * 8 + 2)]);
        } else {
          REQUIRE(all_nan(out));
        }
      }
    }
  }
}

TEST_CASE("infinity in an allowed value reaches exactly its column of the rows that may read it",
          "[attention][extremes][nan]") {
  Problem p(square(70, 8), 15);
  p.options.causal = true;
  const Result before = p.run();
  p.v_row(0, 0, 30)[5] = kInf;
  const Result& after = p.run();
  for (std::size_t i = 0; i < 70; ++i) {
    for (std::size_t d = 0; d < 8; ++d) {
      CAPTURE(i, d);
      REQUIRE(after.out[i * 8 + d] == (i >= 30 && d == 5 ? kInf : before.out[i * 8 + d]));
    }
  }
}

TEST_CASE("NaN in a query touches its own row only", "[attention][extremes][nan]") {
  for (Index at : {0, 1, 7, 8, 63, 64, 69}) {
    CAPTURE(at);
    Problem p(square(70, 8, 2), 16);
    const Result before = p.run();
    p.q[static_cast<std::size_t>((70 + at) * 8 + 2)] = kNan;  // head 1
    const Result& after = p.run();
    for (Index h = 0; h < 2; ++h) {
      for (Index i = 0; i < 70; ++i) {
        if (h == 1 && i == at) {
          REQUIRE(all_nan(p.row(after, {0, h, i})));
        } else {
          REQUIRE(first_difference(p.row(before, {0, h, i}), p.row(after, {0, h, i})) == "");
        }
      }
    }
  }
}

TEST_CASE("NaN in the bias of an allowed key touches its own row only",
          "[attention][extremes][nan]") {
  Problem p(square(70, 8), 17);
  p.add_bias({70, 70}, 0.0);
  const Result before = p.run();
  p.bias[33 * 70 + 66] = kNan;
  const Result& after = p.run();
  for (Index i = 0; i < 70; ++i) {
    if (i == 33) {
      REQUIRE(all_nan(p.row(after, {0, 0, i})));
    } else {
      REQUIRE(first_difference(p.row(before, {0, 0, i}), p.row(after, {0, 0, i})) == "");
    }
  }
}

TEST_CASE(
    "allowed logits that are all -inf give a row of NaN, not of zeros: emptiness is decided on "
    "the mask",
    "[attention][extremes][nan]") {
  Problem p(square(70, 1), 18);
  std::fill(p.q.begin(), p.q.end(), 1.0F);
  std::fill(p.k.begin(), p.k.end(), 2.0F);
  p.q[66] = -kInf;
  const Result& r = p.run();
  for (Index i = 0; i < 70; ++i) {
    const std::vector<float> row = p.row(r, {0, 0, i});
    CAPTURE(i);
    REQUIRE(all_nan(std::vector<float>(row.begin(), row.begin() + 71)) == (i == 66));
  }
}

TEST_CASE("the weights of a row of NaN are zero where it may not read",
          "[attention][extremes][nan]") {
  Problem p(square(70, 8), 21);
  p.add_mask({70, 70}, 0.5);
  p.causal(0);
  p.mask[66 * 70] = 1;
  p.q[66 * 8] = kNan;
  const Result& r = p.run();
  for (Index j = 0; j < 70; ++j) {
    CAPTURE(j);
    const float w = r.weights[static_cast<std::size_t>(66 * 70 + j)];
    if (j <= 66 && p.mask[static_cast<std::size_t>(66 * 70 + j)] != 0) {
      REQUIRE(std::isnan(w));
    } else {
      REQUIRE(w == 0.0F);
    }
  }
}

TEST_CASE("logits of -inf weigh nothing beside finite ones, also a first tile of nothing else",
          "[attention][extremes][nan]") {
  std::vector<float> logits(300, -kInf);
  logits[299] = 2.0F;
  for (const std::size_t finite : {std::size_t{1}, std::size_t{237}}) {
    CAPTURE(finite);
    std::fill(logits.end() - static_cast<Index>(finite), logits.end(), 2.0F);
    Problem p = with_logits(logits);
    const Result& r = p.run();
    for (std::size_t j = 0; j < 300; ++j) {
      const double share = 300 - j <= finite ? 1.0 / static_cast<double>(finite) : 0.0;
      REQUIRE(std::abs(r.weights[j] - share) < 1e-8);
    }
    CHECK(std::abs(r.lse[0] - 2.0 - std::log(static_cast<double>(finite))) < 1e-6);
  }
}

TEST_CASE("subnormal inputs are no trouble", "[attention][extremes]") {
  Problem p(square(20, 8), 20);
  for (auto* values : {&p.q, &p.k}) {
    for (float& x : *values) {
      x *= 1e-40F;
    }
  }
  p.check();
}

TEST_CASE("extremes: a sink takes all of a row whose scores are all -inf",
          "[attention][extremes]") {
  // Finite inputs whose products overflow to -inf; and the same row with a NaN, which stays NaN.
  for (const float key : {3e38F, kNan}) {
    CAPTURE(key);
    Problem p({.tq = 2, .tk = 3, .dk = 1, .dv = 1}, 1);
    std::fill(p.q.begin(), p.q.end(), -3e38F);
    std::fill(p.k.begin(), p.k.end(), key);
    const float sink[] = {0.5F};
    p.options.sinks = {sink, {1}};
    const Result& r = p.run();
    const auto expect = [&](const std::vector<float>& values, float value) {
      CHECK(
          (std::isnan(key) ? all_nan(values) : values == std::vector<float>(values.size(), value)));
    };
    expect(r.out, 0.0F);
    expect(r.weights, 0.0F);
    expect(r.lse, 0.5F);
    expect(r.entropy, 0.0F);
  }
}

TEST_CASE("extremes: a value that row i may not read does not turn the sign of its zero",
          "[attention][extremes]") {
  Problem p(square(66, 1), 1);
  std::fill(p.q.begin(), p.q.end(), 1.0F);
  std::fill(p.k.begin(), p.k.end(), -1000.0F);
  std::fill(p.v.begin(), p.v.end(), 0.0F);
  p.k[0] = p.k[65] = 0.0F;
  p.k[64] = 30.0F;
  p.v[0] = -std::numeric_limits<float>::denorm_min();
  p.v[64] = -0.0F;
  p.options.causal = true;
  p.options.scale = 1.0F;
  std::vector<float> first;
  for (const float last : {5.0F, -5.0F, kNan}) {
    p.v[65] = last;
    std::vector<float> out = p.run().out;
    out.pop_back();
    first = first.empty() ? out : first;
    CHECK(std::memcmp(out.data(), first.data(), out.size() * sizeof(float)) == 0);
  }
}

}  // namespace
}  // namespace qkv::test::attention_extremes_test
