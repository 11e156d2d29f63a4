// The keys of a row are read in pieces of 1024, whose results are joined: within the bounds of one softmax over all of them,
// and with the same bits whatever rows stand beside a row.
#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "problem.hpp"

namespace qkv::test::attention_pieces_test {
namespace {

/// Options by number, each with something that a join could lose.
void choose(Problem& p, int options, std::vector<float>& per_head) {
  const Shape& s = p.shape;
  p.causal(s.tk - s.tq);
  per_head.assign(static_cast<std::size_t>(s.heads), 0.02F);
  switch (options) {
    case 0:
      break;
    case 1:
      p.options.softcap = 3.0F;
      p.options.temperature = 0.5F;
      break;
    case 2:
      p.options.alibi_slopes = {per_head.data(), {s.heads}};
      p.options.window_left = 1500;  // rows of a block differ in where their first piece begins
      break;
    case 3:
      p.options.scale = 8.0F;  // a wide range of weights
      p.options.sinks = {per_head.data(), {s.heads}};
      p.add_mask({1, s.heads, s.tq, s.tk}, 0.5);
      break;
    case 4:
      p.add_bias({s.tq, s.tk}, 0.3);
      p.options.causal = false;
      p.options.causal_offset.reset();
      break;
    default:
      p.add_mask({s.tq, s.tk});
      for (Index i = 0; i < s.tq * s.tk;
           ++i) {  // the first piece has no key at all, for odd rows the second
        const Index key = i % s.tk;
        if (key / 1024 == i / s.tk % 2) {
          p.mask[static_cast<std::size_t>(i)] = 0;
        }
      }
  }
}

TEST_CASE("pieces: more keys than one has are within the bounds", "[attention][pieces]") {
  std::uint64_t seed = 1;
  std::vector<float> per_head;
  for (const Index tk : {1024, 1025, 2049, 3100}) {
    for (int options = 0; options < 6; ++options) {
      CAPTURE(tk, options);
      Problem p({.heads = 2, .kv_heads = 1, .tq = 3, .tk = tk, .dk = 9, .dv = 11}, seed++);
      choose(p, options, per_head);
      p.check();
    }
  }
}

TEST_CASE("pieces: the largest scores in any of them", "[attention][pieces]") {
  for (const Index largest : {0, 1500, 2999}) {
    CAPTURE(largest);
    Problem p({.tq = 2, .tk = 3000, .dk = 8, .dv = 8}, 20);
    for (Index d = 0; d < 8; ++d) {
      p.k_row(0, 0, largest)[d] = 40.0F * p.q[static_cast<std::size_t>(d)];
    }
    p.check();
  }
}

TEST_CASE("pieces: a row has the same bits alone and among others", "[attention][pieces]") {
  constexpr Index kQueries = 40;
  constexpr Index kKeys = 2600;
  std::vector<float> per_head;
  for (int options = 0; options < 3; ++options) {  // those without arrays of queries and keys
    Problem all({.heads = 2, .kv_heads = 1, .tq = kQueries, .tk = kKeys, .dk = 16, .dv = 9}, 30);
    choose(all, options, per_head);
    if (options == 2) {
      // Only the last query may read the last key, and only early ones the first in their windows.
      all.v_row(0, 0, kKeys - 1)[3] = NAN;
      all.v_row(0, 0, kKeys - 1500 - 5)[2] = INFINITY;
    }
    all.run();
    for (const Index query : {0, 17, 38, 39}) {
      CAPTURE(options, query);
      Problem one({.heads = 2, .kv_heads = 1, .tq = 1, .tk = kKeys, .dk = 16, .dv = 9}, 31);
      choose(one, options, per_head);
      one.options.causal_offset = kKeys - kQueries + query;
      one.k = all.k;
      one.v = all.v;
      for (const Index head : {0, 1}) {
        std::copy_n(all.q.data() + (head * kQueries + query) * 16, 16, one.q.data() + head * 16);
      }
      one.run();
      for (const Index head : {0, 1}) {
        const auto row = static_cast<std::size_t>(head * kQueries + query);
        const auto at = static_cast<std::size_t>(head);
        const auto part = [](const std::vector<float>& array, std::size_t n, std::size_t width) {
          return std::vector<float>(array.begin() + static_cast<std::ptrdiff_t>(n * width),
                                    array.begin() + static_cast<std::ptrdiff_t>((n + 1) * width));
        };
        CHECK(first_difference(part(all.result.out, row, 9), part(one.result.out, at, 9)) == "");
        CHECK(first_difference(part(all.result.lse, row, 1), part(one.result.lse, at, 1)) == "");
        CHECK(first_difference(part(all.result.entropy, row, 1), part(one.result.entropy, at, 1)) ==
              "");
        CHECK(first_difference(part(all.result.weights, row, kKeys),
                               part(one.result.weights, at, kKeys)) == "");
      }
    }
  }
}

TEST_CASE("pieces: NaN in an allowed key or value of one reaches the row", "[attention][pieces]") {
  for (const Index at : {3, 1500, 2999}) {
    for (const bool in_key : {false, true}) {
      CAPTURE(at, in_key);
      Problem p({.tq = 2, .tk = 3000, .dk = 4, .dv = 4}, 40);
      (in_key ? p.k_row(0, 0, at) : p.v_row(0, 0, at))[1] = NAN;
      p.run();
      for (std::size_t i = 0; i < 8; ++i) {
        CHECK(std::isnan(p.result.out[i]) == (in_key || i % 4 == 1));
      }
      CHECK(std::isnan(p.result.lse[0]) == in_key);
    }
  }
}

}  // namespace
}  // namespace qkv::test::attention_pieces_test
