// Query heads that share a key/value head are computed as rows of one matrix. Each row must take the mask,
// the slope, the sink, the dropout and the place of its own head and query.
#include <catch2/catch_test_macros.hpp>

#include <numeric>

#include "problem.hpp"

namespace qkv::test::attention_groups_test {
namespace {

/// A call with shared key/value heads, and the same with a copy of them for every query head.
class Pair {
 public:
  Pair(const Shape& s, std::uint64_t seed)
      : shared(s, seed), repeated(wide(s), seed), random_(seed) {
    repeated.q = shared.q;
    const Index ratio = s.heads / s.kv_heads;
    for (Index b = 0; b < s.batch; ++b) {
      for (Index h = 0; h < s.heads; ++h) {
        std::copy_n(shared.k_row(b, h / ratio, 0), s.tk * s.dk, repeated.k_row(b, h, 0));
        std::copy_n(shared.v_row(b, h / ratio, 0), s.tk * s.dv, repeated.v_row(b, h, 0));
      }
    }
  }

  /// A value of its own for every head: slopes and sinks.
  void per_head() {
    const Index heads = shared.shape.heads;
    slopes_ = random_floats(random_, heads, 0.3F);
    sinks_ = random_floats(random_, heads, 2.0F);
    options.alibi_slopes = {slopes_.data(), {heads}};
    options.sinks = {sinks_.data(), {heads}};
    options.causal_offset = shared.shape.tk - shared.shape.tq;
  }
  void key_lengths() {
    for (Index b = 0; b < shared.shape.batch; ++b) {
      lengths_.push_back(static_cast<std::int32_t>(random_.below(shared.shape.tk + 1)));
    }
    options.key_lengths = {lengths_.data(), {shared.shape.batch}};
  }
  void mask(const std::vector<Index>& extents) {
    shared.add_mask(extents);
    repeated.mask = shared.mask;
    repeated.mask_shape = extents;
  }
  void bias(const std::vector<Index>& extents) {
    shared.add_bias(extents);
    repeated.bias = shared.bias;
    repeated.bias_shape = extents;
  }

  /// All results of both have the same bits, those of some rows included.
  void require_same() {
    shared.options = repeated.options = options;
    const Result a = shared.run();
    const Result b = repeated.run();
    REQUIRE(first_difference(a, b) == "");
    for (const auto& [begin, end] :
         {std::pair<Index, Index>{0, -1}, {shared.shape.tq / 2, shared.shape.tq}}) {
      CAPTURE(begin, end);
      REQUIRE(first_difference(some_rows(shared, begin, end), some_rows(repeated, begin, end)) ==
              "");
    }
  }

  Problem shared, repeated;
  AttentionOptions options;

 private:
  static Shape wide(Shape s) {
    s.kv_heads = s.heads;
    return s;
  }
  /// Weights and logits of queries [begin, end).
  static std::vector<float> some_rows(Problem& p, Index begin, Index end) {
    const Shape& s = p.shape;
    const Index rows = (end < 0 ? s.tq : end) - begin;
    const auto count = static_cast<std::size_t>(s.batch * s.heads * rows * s.tk);
    std::vector<float> values(2 * count, kUntouched);
    AttentionArgs args = p.args();
    args.extras = {};
    args.extras.row_begin = begin;
    args.extras.row_end = end;
    args.extras.weights = {values.data(), {s.batch, s.heads, rows, s.tk}};
    args.extras.logits = {values.data() + count, {s.batch, s.heads, rows, s.tk}};
    require_ok(attention(args, p.workspace));
    return values;
  }
  Random random_;
  std::vector<float> slopes_, sinks_;
  std::vector<std::int32_t> lengths_;
};

TEST_CASE("groups: with every option the bits of repeated key/value heads", "[attention][gqa]") {
  std::uint64_t seed = 1;
  for (Index kv_heads : {1, 2}) {
    for (Index ratio : {3, 8}) {
      for (Index tq : {1, 30}) {
        CAPTURE(kv_heads, ratio, tq);
        const Index heads = kv_heads * ratio;
        const Shape s{
            .batch = 2, .heads = heads, .kv_heads = kv_heads, .tq = tq, .tk = 90, .dk = 8, .dv = 9};
        Pair plain(s, seed);
        plain.require_same();
        plain.options.causal = true;
        plain.options.causal_offset = 90 - tq;
        plain.require_same();
        plain.options.window_left = 20;
        plain.require_same();
        Pair crossed(s, ++seed);
        crossed.per_head();
        crossed.require_same();
        crossed.mask({2, heads, tq, 90});
        crossed.options.softcap = 4.0F;
        crossed.require_same();
        crossed.bias({heads, 1, 90});
        crossed.options.dropout = {.rate = 0.3F, .seed = seed};
        crossed.require_same();
        crossed.key_lengths();
        crossed.options.causal = true;
        crossed.require_same();
      }
    }
  }
}

TEST_CASE("groups: a cached token of 32 heads over 8 is within the bounds", "[attention][gqa]") {
  constexpr Index kPast = 200;
  const Shape s{
      .batch = 1, .heads = 32, .kv_heads = 8, .tq = kPast, .tk = kPast, .dk = 16, .dv = 16};
  Problem full(s, 3);
  full.options.causal = true;
  const Result& expected = full.run();
  KvCache cache;
  require_ok(KvCache::create(
      {.batch = 1, .num_kv_heads = 8, .capacity = kPast, .d_k = 16, .d_v = 16}, cache));
  std::vector<float> out(32 * 16);
  for (Index t = 0; t < kPast; ++t) {
    AttentionArgs args = full.args();
    for (auto* view : {&args.q, &args.k, &args.v}) {
      view->data += t * 16;
      view->shape[2] = 1;
    }
    args.out = {out.data(), {1, 32, 1, 16}};
    args.extras = {};
    args.cache = &cache;
    require_ok(attention(args, full.workspace));
    for (std::size_t h = 0; h < 32; ++h) {
      const auto row = expected.out.begin() + static_cast<Index>(h) * kPast * 16 + t * 16;
      CAPTURE(t, h);
      REQUIRE(first_difference({out.begin() + static_cast<Index>(h) * 16,
                                out.begin() + static_cast<Index>(h + 1) * 16},
                               {row, row + 16}) == "");
    }
  }
}

}  // namespace
}  // namespace qkv::test::attention_groups_test
