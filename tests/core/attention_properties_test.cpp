// What must hold between calls: independence, causality and symmetries, bit for bit where
// arithmetic allows it.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <numeric>

#include "problem.hpp"

namespace qkv::test::attention_properties_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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
      REQUIRE(first_difference(causal.run(), masked.run()) == "");
    }
  }
}

TEST_CASE("batch rows and heads do not see each other", "[attention][property]") {
  for (const bool of_batch : {true, false}) {
    Shape s{.tq = 17, .tk = 33, .dk = 8, .dv = 6};
    Shape one = s;
    (of_batch ? s.batch : s.heads) = 3;
    s.kv_heads = s.heads;
    Problem all(s, 7);
    all.add_mask({s.batch, s.heads, 17, 33});
    all.add_bias({s.batch, s.heads, 17, 33});
    const Result& together = all.run();
    for (Index part = 0; part < 3; ++part) {
      CAPTURE(of_batch, part);
      Problem alone(one, 7);
      const auto take = [&](const auto& from, auto& to) {
        const auto n = static_cast<Index>(from.size()) / 3;
        to.assign(from.begin() + part * n, from.begin() + (part + 1) * n);
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
      REQUIRE(first_difference(expected, alone.run()) == "");
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
    REQUIRE(first_difference(expected, p.result) == "");
  }
}

TEST_CASE("a workspace used for larger and smaller calls gives the same bits",
          "[attention][property]") {
  Problem small(square(9, 8), 15);
  const Result fresh = small.run();
  Problem large(square(150, 33), 16);
  large.run();
  require_ok(attention(small.args(), large.workspace));
  REQUIRE(first_difference(fresh, small.result) == "");
}

TEST_CASE("a workspace full of NaN gives the same bits", "[attention][property]") {
  Problem p({.heads = 2, .kv_heads = 1, .tq = 19, .tk = 37, .dk = 11, .dv = 7}, 17);
  p.add_mask({19, 37});
  const Result fresh = p.run();
  const std::size_t floats = p.workspace.capacity_bytes() / sizeof(float);
  require_ok(p.workspace.begin(floats));
  std::fill_n(p.workspace.take(floats), floats, kNan);
  REQUIRE(first_difference(fresh, p.run()) == "");
}

TEST_CASE("the same call twice gives the same bits", "[attention][property]") {
  Problem p({.batch = 2, .heads = 2, .kv_heads = 1, .tq = 33, .tk = 65, .dk = 8, .dv = 6}, 18);
  const Result first = p.run();
  REQUIRE(first_difference(first, p.run()) == "");
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
  REQUIRE(first_difference(separate, apart.result) == "");
}

}  // namespace
}  // namespace qkv::test::attention_properties_test
