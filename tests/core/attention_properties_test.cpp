// What must hold between calls: independence, causality and symmetries, bit for bit where
// arithmetic allows it.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <numeric>

#include "problem.hpp"

namespace qkv::test::attention_properties_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void require_same(const Result& a, const Result& b) {
  REQUIRE(first_difference(a.out, b.out) == "");
  REQUIRE(first_difference(a.weights, b.weights) == "");
  REQUIRE(first_difference(a.lse, b.lse) == "");
  REQUIRE(first_difference(a.entropy, b.entropy) == "");
}

TEST_CASE("rows of weights sum to 1 within n eps and are never negative", "[attention][property]") {
  Quantity total("sum of weights");
  for (Index tk : {1, 2, 7, 63, 64, 65, 200, 1000}) {
    CAPTURE(tk);
    Problem p({.heads = 2, .kv_heads = 2, .tq = 30, .tk = tk, .dk = 16, .dv = 4}, 1);
    const Result& r = p.run();
    for (std::size_t row = 0; row < 60; ++row) {
      double sum = 0.0;
      for (std::size_t j = 0; j < static_cast<std::size_t>(tk); ++j) {
        const float w = r.weights[row * static_cast<std::size_t>(tk) + j];
        REQUIRE(w >= 0.0F);
        sum += w;
      }
      total.add(sum, 1.0, static_cast<double>(tk) * 0x1p-23, 1.0);
    }
  }
  require_within(total);
}

TEST_CASE("lse and entropy are those of the weights", "[attention][property]") {
  Problem p({.tq = 40, .tk = 100, .dk = 16, .dv = 4}, 2);
  p.add_mask({40, 100});
  const Result& r = p.run();
  Quantity of_weights("entropy of the weights");
  for (std::size_t i = 0; i < 40; ++i) {
    double entropy = 0.0;
    for (std::size_t j = 0; j < 100; ++j) {
      const double w = r.weights[i * 100 + j];
      entropy -= w > 0.0 ? w * std::log(w) : 0.0;
    }
    of_weights.add(r.entropy[i], entropy, 1e-4, 1.0);
    REQUIRE(r.entropy[i] >= 0.0F);
    REQUIRE(r.entropy[i] <= std::log(100.0F));
  }
  require_within(of_weights);
}

TEST_CASE("entropy of a sharp row is not negative", "[attention][property]") {
  Problem p(square(200, 8), 3);
  p.options.scale = 100.0F;
  for (float h : p.run().entropy) {
    REQUIRE(h >= 0.0F);
    REQUIRE(!std::signbit(h));
  }
}

TEST_CASE("causal: no key of the future moves a bit, at every split of 130 tokens",
          "[attention][property][causal]") {
  constexpr Index kT = 130;
  Problem p(square(kT, 8, 2), 4);
  p.options.causal = true;
  const Result before = p.run();
  const std::vector<float> k = p.k;
  const std::vector<float> v = p.v;
  for (Index split = 0; split < kT; ++split) {
    CAPTURE(split);
    for (float future : {7.5F, kNan}) {
      p.k = k;
      p.v = v;
      for (Index h = 0; h < 2; ++h) {
        std::fill(p.k_row(0, h, split), p.k_row(0, h, split) + (kT - split) * 8, future);
        std::fill(p.v_row(0, h, split), p.v_row(0, h, split) + (kT - split) * 8, -future);
      }
      const Result& after = p.run();
      for (Index h = 0; h < 2; ++h) {
        for (Index i = 0; i < split; ++i) {
          const std::string difference =
              first_difference(p.row(before, {0, h, i}), p.row(after, {0, h, i}));
          if (!difference.empty()) {
            FAIL("row " << i << " of head " << h << " changed: " << difference);
          }
        }
      }
    }
  }
}

TEST_CASE("causal gives the bits of the same exclusion as a mask",
          "[attention][property][causal]") {
  for (Index t : {1, 7, 64, 65, 130}) {
    for (Index offset : {-3, 0, 5}) {
      CAPTURE(t, offset);
      const Shape s{.heads = 2, .kv_heads = 1, .tq = t, .tk = t + 3, .dk = 8, .dv = 8};
      Problem causal(s, 5);
      causal.causal(offset);
      Problem masked(s, 5);
      masked.mask_shape = {t, t + 3};
      for (Index i = 0; i < t; ++i) {
        for (Index j = 0; j < t + 3; ++j) {
          masked.mask.push_back(j <= i + offset ? 1 : 0);
        }
      }
      require_same(causal.run(), masked.run());
    }
  }
}

TEST_CASE("a causal row is the bits of attention over its keys alone",
          "[attention][property][causal]") {
  constexpr Index kT = 70;
  Problem p(square(kT, 8), 6);
  p.options.causal = true;
  const Result& full = p.run();
  for (Index i = 0; i < kT; ++i) {
    CAPTURE(i);
    Problem prefix({.tq = 1, .tk = i + 1, .dk = 8, .dv = 8}, 6);
    std::copy_n(p.q.begin() + i * 8, 8, prefix.q.begin());
    std::copy_n(p.k.begin(), (i + 1) * 8, prefix.k.begin());
    std::copy_n(p.v.begin(), (i + 1) * 8, prefix.v.begin());
    const std::vector<float> row(full.out.begin() + i * 8, full.out.begin() + i * 8 + 8);
    REQUIRE(first_difference(row, prefix.run().out) == "");
  }
}

TEST_CASE("batch rows do not see each other", "[attention][property]") {
  const Shape s{.batch = 3, .heads = 2, .kv_heads = 1, .tq = 17, .tk = 33, .dk = 8, .dv = 6};
  Problem all(s, 7);
  all.add_mask({3, 1, 17, 33});
  all.add_bias({3, 1, 17, 33});
  const Result& together = all.run();
  for (Index b = 0; b < s.batch; ++b) {
    CAPTURE(b);
    Shape one = s;
    one.batch = 1;
    Problem alone(one, 7);
    const auto take = [&](const auto& from, auto& to) {
      const auto n = static_cast<Index>(from.size()) / s.batch;
      to.assign(from.begin() + b * n, from.begin() + (b + 1) * n);
    };
    take(all.q, alone.q);
    take(all.k, alone.k);
    take(all.v, alone.v);
    take(all.mask, alone.mask);
    take(all.bias, alone.bias);
    alone.mask_shape = alone.bias_shape = {17, 33};
    Result expected;
    take(together.out, expected.out);
    take(together.weights, expected.weights);
    take(together.lse, expected.lse);
    take(together.entropy, expected.entropy);
    require_same(expected, alone.run());
  }
}

TEST_CASE("heads do not see each other", "[attention][property]") {
  const Shape s{.heads = 3, .kv_heads = 3, .tq = 17, .tk = 33, .dk = 8, .dv = 6};
  Problem all(s, 8);
  const Result& together = all.run();
  for (Index h = 0; h < s.heads; ++h) {
    CAPTURE(h);
    Shape one = s;
    one.heads = one.kv_heads = 1;
    Problem alone(one, 8);
    const auto take = [&](const std::vector<float>& from, std::vector<float>& to) {
      const auto n = static_cast<Index>(from.size()) / s.heads;
      to.assign(from.begin() + h * n, from.begin() + (h + 1) * n);
    };
    take(all.q, alone.q);
    take(all.k, alone.k);
    take(all.v, alone.v);
    Result expected;
    take(together.out, expected.out);
    take(together.weights, expected.weights);
    take(together.lse, expected.lse);
    take(together.entropy, expected.entropy);
    require_same(expected, alone.run());
  }
}

TEST_CASE("shared key/value heads give the bits of repeated ones", "[attention][property][gqa]") {
  for (Index kv_heads : {1, 2, 3}) {
    for (Index ratio : {2, 3, 8}) {
      CAPTURE(kv_heads, ratio);
      const Shape s{.batch = 2,
                    .heads = kv_heads * ratio,
                    .kv_heads = kv_heads,
                    .tq = 9,
                    .tk = 20,
                    .dk = 8,
                    .dv = 6};
      Problem shared(s, 9);
      Shape wide = s;
      wide.kv_heads = s.heads;
      Problem repeated(wide, 9);
      repeated.q = shared.q;
      for (Index b = 0; b < s.batch; ++b) {
        for (Index h = 0; h < s.heads; ++h) {  // 0 0 0 1 1 1, not 0 1 0 1 0 1
          std::copy_n(shared.k_row(b, h / ratio, 0), s.tk * s.dk, repeated.k_row(b, h, 0));
          std::copy_n(shared.v_row(b, h / ratio, 0), s.tk * s.dv, repeated.v_row(b, h, 0));
        }
      }
      require_same(shared.run(), repeated.run());
    }
  }
}

TEST_CASE("permuting the queries permutes the rows", "[attention][property]") {
  constexpr Index kT = 70;
  Problem p(square(kT, 8), 10);
  const Result before = p.run();
  const std::vector<float> q = p.q;
  const auto place = [](Index i) { return i * 27 % kT; };  // 27 and 70 share no factor
  for (Index i = 0; i < kT; ++i) {
    std::copy_n(q.begin() + i * 8, 8, p.q.begin() + place(i) * 8);
  }
  const Result& after = p.run();
  for (Index i = 0; i < kT; ++i) {
    REQUIRE(first_difference(p.row(before, {0, 0, i}), p.row(after, {0, 0, place(i)})) == "");
  }
}

TEST_CASE("the order of the keys does not matter within the bound", "[attention][property]") {
  constexpr Index kT = 130;
  Problem p(square(kT, 8), 11);
  const Result before = p.run();
  const AttentionArgs args = p.args();
  const std::vector<float> k = p.k;
  const std::vector<float> v = p.v;
  const auto place = [](Index j) { return j * 27 % kT; };
  std::vector<oracle::Row> exact;
  for (Index i = 0; i < kT; ++i) {
    exact.push_back(
        oracle::attention_row<float>({args.q, args.k, args.v}, args.options, {0, 0, i}));
  }
  for (Index j = 0; j < kT; ++j) {
    std::copy_n(k.begin() + j * 8, 8, p.k_row(0, 0, place(j)));
    std::copy_n(v.begin() + j * 8, 8, p.v_row(0, 0, place(j)));
  }
  const Result& after = p.run();
  Quantity out("attention out, keys in another order");
  Quantity weights("attention weights, keys in another order");
  for (Index i = 0; i < kT; ++i) {
    const auto bound = bounds::attention(exact[static_cast<std::size_t>(i)], 8, kT);
    for (Index d = 0; d < 8; ++d) {
      const auto at = static_cast<std::size_t>(i * 8 + d);
      out.add(after.out[at], before.out[at], 2 * bound.out(),
              exact[static_cast<std::size_t>(i)].value_size);
    }
    for (Index j = 0; j < kT; ++j) {
      const auto from = static_cast<std::size_t>(i * kT + j);
      const auto to = static_cast<std::size_t>(i * kT + place(j));
      const double weight = before.weights[from];
      weights.add(after.weights[to], weight, 2 * bound.weight(weight), weight);
    }
  }
  require_within(Comparison{{out, weights}});
}

TEST_CASE("self-attention without positions commutes with a permutation of the tokens",
          "[attention][property]") {
  constexpr Index kT = 70;
  const auto place = [](Index i) { return i * 27 % kT; };
  Problem p(square(kT, 8), 12);
  const Result before = p.run();
  for (auto* array : {&p.q, &p.k, &p.v}) {
    const std::vector<float> old = *array;
    for (Index i = 0; i < kT; ++i) {
      std::copy_n(old.begin() + i * 8, 8, array->begin() + place(i) * 8);
    }
  }
  p.check();
  for (Index i = 0; i < kT; ++i) {
    for (Index d = 0; d < 8; ++d) {
      REQUIRE(std::abs(p.result.out[static_cast<std::size_t>(place(i) * 8 + d)] -
                       before.out[static_cast<std::size_t>(i * 8 + d)]) < 1e-5F);
    }
  }
}

TEST_CASE("a range of weight rows is those rows of the whole", "[attention][property][weights]") {
  constexpr Index kTq = 70;
  constexpr Index kTk = 45;
  Problem p({.batch = 2, .heads = 2, .kv_heads = 1, .tq = kTq, .tk = kTk, .dk = 8, .dv = 6}, 13);
  p.add_mask({kTq, kTk});
  p.causal(3);
  const Result full = p.run();
  for (Index begin : {0, 1, 7, 31, 63, 64, 69, 70}) {
    for (Index end : {0, 1, 8, 32, 64, 65, 69, 70, -1}) {
      const Index stop = end < 0 ? kTq : end;
      if (begin > stop) {
        continue;
      }
      CAPTURE(begin, end);
      std::vector<float> rows(static_cast<std::size_t>(4 * (stop - begin) * kTk), kUntouched);
      AttentionArgs args = p.args();
      args.extras.row_begin = begin;
      args.extras.row_end = end;
      args.extras.weights = {rows.data(), {2, 2, stop - begin, kTk}};
      require_ok(attention(args, p.workspace));
      std::vector<float> expected;
      for (Index head = 0; head < 4; ++head) {
        expected.insert(expected.end(), full.weights.begin() + (head * kTq + begin) * kTk,
                        full.weights.begin() + (head * kTq + stop) * kTk);
      }
      REQUIRE(first_difference(rows, expected) == "");
      REQUIRE(first_difference(full.out, p.result.out) == "");
    }
  }
}

TEST_CASE("asking for extras does not change the output by a bit, nor one extra another",
          "[attention][property]") {
  Problem p({.batch = 2, .heads = 2, .kv_heads = 1, .tq = 33, .tk = 65, .dk = 8, .dv = 6}, 14);
  p.add_mask({33, 65});
  p.add_bias({33, 65});
  const Result all = p.run();
  for (int asked = 0; asked < 8; ++asked) {
    CAPTURE(asked);
    AttentionArgs args = p.args();
    for (auto* values : {&p.result.out, &p.result.weights, &p.result.lse, &p.result.entropy}) {
      std::fill(values->begin(), values->end(), kUntouched);
    }
    Result expected = all;
    const auto leave_out = [](auto& view, std::vector<float>& values) {
      view = {};
      std::fill(values.begin(), values.end(), kUntouched);
    };
    if ((asked & 1) == 0) {
      leave_out(args.extras.weights, expected.weights);
    }
    if ((asked & 2) == 0) {
      leave_out(args.extras.lse, expected.lse);
    }
    if ((asked & 4) == 0) {
      leave_out(args.extras.entropy, expected.entropy);
    }
    require_ok(attention(args, p.workspace));
    require_same(expected, p.result);
  }
}

TEST_CASE("a workspace used for larger and smaller calls gives the same bits",
          "[attention][property]") {
  Problem small(square(9, 8), 15);
  const Result fresh = small.run();
  Problem large(square(150, 33), 16);
  large.run();
  require_ok(attention(small.args(), large.workspace));
  require_same(fresh, small.result);
}

TEST_CASE("a workspace full of NaN gives the same bits", "[attention][property]") {
  Problem p({.heads = 2, .kv_heads = 1, .tq = 19, .tk = 37, .dk = 11, .dv = 7}, 17);
  p.add_mask({19, 37});
  const Result fresh = p.run();
  const std::size_t floats = p.workspace.capacity_bytes() / sizeof(float);
  require_ok(p.workspace.begin(floats));
  std::fill_n(p.workspace.take(floats), floats, kNan);
  require_same(fresh, p.run());
}

TEST_CASE("the same call twice gives the same bits", "[attention][property]") {
  Problem p({.batch = 2, .heads = 2, .kv_heads = 1, .tq = 33, .tk = 65, .dk = 8, .dv = 6}, 18);
  const Result first = p.run();
  require_same(first, p.run());
}

TEST_CASE("q, k and v may be one array", "[attention][property]") {
  Problem apart(square(33, 8), 19);
  apart.k = apart.q;
  apart.v = apart.q;
  const Result separate = apart.run();
  AttentionArgs args = apart.args();
  args.k = args.q;
  args.v = args.q;
  require_ok(attention(args, apart.workspace));
  require_same(separate, apart.result);
}

TEST_CASE("adding a constant to all logits changes no weight beyond rounding",
          "[attention][property]") {
  Problem p(square(40, 8), 20);
  const Result before = p.run();
  p.bias_shape = {1};
  p.bias = {3.0F};
  p.check();
  for (std::size_t i = 0; i < before.out.size(); ++i) {
    REQUIRE(std::abs(before.out[i] - p.result.out[i]) < 1e-5F);
  }
  for (std::size_t i = 0; i < before.lse.size(); ++i) {
    REQUIRE(std::abs(before.lse[i] + 3.0F - p.result.lse[i]) < 1e-5F);
  }
}

TEST_CASE("multiplying q and dividing the scale by a power of two changes no bit",
          "[attention][property]") {
  Problem p(square(40, 16), 21);
  const Result before = p.run();
  for (float& x : p.q) {
    x *= 8.0F;
  }
  p.options.scale = 0.25F / 8;
  require_same(before, p.run());
}

TEST_CASE("doubling v doubles the output", "[attention][property]") {
  Problem p(square(40, 16), 22);
  Result doubled = p.run();
  for (float& x : p.v) {
    x *= 2.0F;
  }
  for (float& x : doubled.out) {
    x *= 2.0F;
  }
  require_same(doubled, p.run());
}

TEST_CASE("the output stays within the values of the allowed keys", "[attention][property]") {
  Problem p({.tq = 30, .tk = 50, .dk = 8, .dv = 4}, 23);
  const Result& r = p.run();
  for (Index d = 0; d < 4; ++d) {
    float low = INFINITY;
    float high = -INFINITY;
    for (Index j = 0; j < 50; ++j) {
      low = std::min(low, p.v_row(0, 0, j)[d]);
      high = std::max(high, p.v_row(0, 0, j)[d]);
    }
    for (Index i = 0; i < 30; ++i) {
      REQUIRE(r.out[static_cast<std::size_t>(i * 4 + d)] >= low - 1e-5F);
      REQUIRE(r.out[static_cast<std::size_t>(i * 4 + d)] <= high + 1e-5F);
    }
  }
}

}  // namespace
}  // namespace qkv::test::attention_properties_test
