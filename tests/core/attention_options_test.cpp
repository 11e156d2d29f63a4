// The options around the softmax, one by one and crossed, against the oracle; and what no oracle of a
// single call can say: dropout, logits and the cache.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compare.hpp"
#include "problem.hpp"
#include "qkv/relative_bias.hpp"

namespace qkv::test::attention_options_test {
namespace {

/// A call with every option that takes an array of its own.
class Extended {
 public:
  Extended(const Shape& s, std::uint64_t seed) : problem(s, seed), random_(seed * 31 + 1) {}

  void softcap(float c) { problem.options.softcap = c; }
  void window(Index left, Index right) {
    problem.options.window_left = left;
    problem.options.window_right = right;
    if (left >= 0 || right >= 0) {
      offset_if_none();
    }
  }
  void sinks() {
    sinks_ = random_floats(random_, problem.shape.heads, 3.0F);
    problem.options.sinks = {sinks_.data(), {problem.shape.heads}};
  }
  void alibi() {
    slopes_.resize(static_cast<std::size_t>(problem.shape.heads));
    require_ok(alibi_slopes({slopes_.data(), {problem.shape.heads}}));
    problem.options.alibi_slopes = {slopes_.data(), {problem.shape.heads}};
    offset_if_none();
  }
  void key_lengths() {
    for (Index b = 0; b < problem.shape.batch; ++b) {
      lengths_.push_back(static_cast<std::int32_t>(random_.below(problem.shape.tk + 1)));
    }
    problem.options.key_lengths = {lengths_.data(), {problem.shape.batch}};
  }
  void offsets() {
    for (Index b = 0; b < problem.shape.batch; ++b) {
      const Index tk = problem.shape.tk;
      offsets_.push_back(static_cast<std::int32_t>(random_.below(2 * tk + 1) - tk / 2));
    }
    problem.options.causal_offset.reset();
    problem.options.causal_offsets = {offsets_.data(), {problem.shape.batch}};
  }
  void additive_mask() {
    const Shape& s = problem.shape;
    mask_ = random_floats(random_, s.tq * s.tk, 2.0F);
    for (float& m : mask_) {
      m = random_.chance(0.2) ? -INFINITY : m;
    }
    problem.options.additive_mask = {mask_.data(), {s.tq, s.tk}};
  }

  Problem problem;

 private:
  void offset_if_none() {
    if (!problem.options.causal_offset && problem.options.causal_offsets.absent()) {
      problem.options.causal_offset = problem.shape.tk - problem.shape.tq;
    }
  }
  Random random_;
  std::vector<float> sinks_, slopes_, mask_;
  std::vector<std::int32_t> lengths_, offsets_;
};

constexpr Shape kShape{
    .batch = 2, .heads = 6, .kv_heads = 3, .tq = 67, .tk = 130, .dk = 9, .dv = 7};

TEST_CASE("options: windows include both ends and move with the offset", "[attention][options]") {
  for (const auto& [left, right] :
       {std::array<Index, 2>{0, 0}, {3, -1}, {-1, 2}, {64, 1}, {500, 500}}) {
    for (Index offset : {-40, 0, 63, 200}) {
      Extended p(kShape, 2);
      p.problem.options.causal_offset = offset;
      p.window(left, right);
      p.problem.check();
    }
  }
}

TEST_CASE("options: sinks far above and far below the scores", "[attention][options]") {
  for (float sink : {-1e4F, -50.0F, 50.0F, 80.0F, 1e4F}) {
    CAPTURE(sink);
    Problem p(square(5, 4), 5);
    const std::vector<float> sinks{sink};
    p.options.sinks = {sinks.data(), {1}};
    // Beside scores of 1e4 the bounds in float32 are as large as the entropy may be.
    p.check(std::abs(sink) < 1e4F ? Bounds::kMeaningful : Bounds::kAny);
  }
}

TEST_CASE("options: keys past their length are never read", "[attention][options]") {
  Extended p(kShape, 6);
  p.key_lengths();
  const Result expected = p.problem.run();
  p.problem.check();
  const auto& lengths = p.problem.options.key_lengths;
  for (Index b = 0; b < kShape.batch; ++b) {
    for (Index kv = 0; kv < kShape.kv_heads; ++kv) {
      for (Index t = *lengths.at(b); t < kShape.tk; ++t) {
        std::fill_n(p.problem.k_row(b, kv, t), kShape.dk, NAN);
        std::fill_n(p.problem.v_row(b, kv, t), kShape.dv, NAN);
      }
    }
  }
  CHECK(p.problem.run().out == expected.out);
  CHECK(p.problem.result.weights == expected.weights);
}

TEST_CASE("options: all of them at once, crossed at random", "[attention][options][random]") {
  constexpr Index kSizes[] = {1, 2, 5, 8, 23, 24, 25, 63, 64, 65, 129};
  constexpr Index kRatios[] = {1, 2, 8};
  for (std::uint64_t seed = 1; seed <= 350; ++seed) {
    CAPTURE(seed);
    Random random(seed * 104729);
    const Shape s = random_shape(random, kSizes, kRatios, 20);
    Extended p(s, seed);
    const auto maybe = [&] { return random.chance(0.35); };
    if (maybe()) {
      p.problem.causal(random.below(2 * s.tk + 1) - s.tk / 2);
    }
    if (p.problem.options.causal && maybe()) {
      p.offsets();
    }
    if (maybe()) {
      p.window(random.below(s.tk + 2) - 1, random.below(s.tk + 2) - 1);
    }
    if (maybe()) {
      p.softcap(0.5F + static_cast<float>(random.below(30)));
    }
    if (maybe()) {
      p.sinks();
    }
    if (maybe()) {
      p.alibi();
    }
    if (maybe()) {
      p.key_lengths();
    }
    if (maybe()) {
      p.additive_mask();
    }
    if (maybe()) {
      p.problem.add_mask({1, s.heads, 1, s.tk});
    }
    if (maybe()) {
      p.problem.add_bias({s.batch, 1, s.tq, 1});
    }
    p.problem.options.temperature = maybe() ? 2.5F : 1.0F;
    p.problem.check();
  }
}

TEST_CASE("options: ALiBi and windows measure from as far as an offset may be",
          "[attention][options][extremes]") {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  for (const Index offset : {kMost, std::numeric_limits<Index>::min(), kMost / 2, -kMost / 4,
                             kMost / 2048 + 1, -kMost / 2048, kMost / 8}) {
    for (const Index left : {Index{-1}, Index{2}, kMost / 8, kMost}) {
      CAPTURE(offset, left);
      Extended p(square(20, 4, 2), 8);
      p.problem.options.causal_offset = offset;
      p.alibi();
      p.window(left, -1);
      // Biases are as large as the distances, up to 2^63, and leave no digits to the scores.
      p.problem.check(Bounds::kAny);
    }
  }
}

TEST_CASE("options: weights, and out = weights times v, under dropout", "[attention][options]") {
  Problem p(square(200, 8, 2), 7);
  const Result plain = p.run();
  p.options.dropout = {.rate = 0.25F, .seed = 42};
  const Result dropped = p.run();
  std::size_t kept = 0;
  Quantity weights("attention weights, dropout");
  for (std::size_t n = 0; n < plain.weights.size(); ++n) {
    if (dropped.weights[n] != 0.0F) {
      const double exact = static_cast<double>(plain.weights[n]) / 0.75;
      weights.add(dropped.weights[n], exact, 4e-7 * exact, exact);
      ++kept;
    }
  }
  // 80,000 coins that show heads three times in four: five standard deviations are 0.0077.
  const double rate = static_cast<double>(kept) / static_cast<double>(plain.weights.size());
  CHECK(std::abs(rate - 0.75) < 0.0077);
  CHECK(p.run().out == dropped.out);
  // What the weights say is dropped is what the output leaves out.
  const Shape& shape = p.shape;
  const AttentionArgs args = p.args();
  Quantity out("attention out, dropout");
  for (Index n = 0; n < static_cast<Index>(dropped.out.size()); ++n) {
    const Index row = n / shape.dv;
    double exact = 0.0;
    double size = 0.0;
    for (Index j = 0; j < shape.tk; ++j) {
      const double w = dropped.weights[static_cast<std::size_t>(row * shape.tk + j)];
      const Index head = row / shape.tq;
      const double v = *args.v.at(head / shape.heads, head % shape.heads, j, n % shape.dv);
      exact += w * v;
      size += std::abs(w * v);
    }
    // Each weight and each sum of the output has its own roundings: twice 40 + Tk of them.
    const double bound = 2.0 * static_cast<double>(40 + shape.tk) * 0x1p-24 * size;
    out.add(dropped.out[static_cast<std::size_t>(n)], exact, bound, size);
  }
  require_within(Comparison{{weights, out}});
  p.options.dropout.seed = 43;
  CHECK(p.run().out != dropped.out);
  CHECK(p.result.lse == plain.lse);
}

TEST_CASE("options: no two seeds, batch rows and heads drop the same weights",
          "[attention][options]") {
  // Consecutive seeds, as training uses them. Equal keys weigh the same, so a weight is 0 if it is dropped.
  constexpr Index kT = 32;
  constexpr std::size_t kBits = kT * kT;
  constexpr double kRate = 0.25;
  std::vector<std::vector<bool>> kept;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Problem p({.batch = 4, .heads = 3, .kv_heads = 1, .tq = kT, .tk = kT, .dk = 1, .dv = 1}, 9);
    std::fill(p.q.begin(), p.q.end(), 0.0F);
    p.options.dropout = {.rate = kRate, .seed = seed};
    const Result& r = p.run();
    for (std::size_t from = 0; from < r.weights.size(); from += kBits) {
      std::vector<bool>& mask = kept.emplace_back();
      for (std::size_t n = from; n < from + kBits; ++n) {
        mask.push_back(r.weights[n] != 0.0F);
      }
    }
  }
  // Two coins that show heads three times in four agree with this probability; 1024 of them have this
  // standard deviation, and of 4560 pairs none is six of them off.
  const double agree = (1 - kRate) * (1 - kRate) + kRate * kRate;
  const double deviation = std::sqrt(agree * (1 - agree) / kBits);
  for (std::size_t a = 0; a < kept.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      std::size_t same = 0;
      for (std::size_t n = 0; n < kBits; ++n) {
        same += kept[a][n] == kept[b][n] ? 1 : 0;
      }
      CAPTURE(a, b);
      REQUIRE(std::abs(static_cast<double>(same) / kBits - agree) < 6 * deviation);
    }
  }
}

TEST_CASE("options: logits at each stage", "[attention][options]") {
  Extended p(kShape, 8);
  p.softcap(3.0F);
  p.problem.causal(60);
  p.problem.add_bias({kShape.tq, kShape.tk}, 0.3);
  p.key_lengths();
  AttentionArgs args = p.problem.args();
  const Index rows = 5;
  std::vector<float> logits(
      static_cast<std::size_t>(kShape.batch * kShape.heads * rows * kShape.tk));
  args.extras = {};
  args.extras.row_begin = 11;
  args.extras.row_end = 11 + rows;
  args.extras.logits = {logits.data(), {kShape.batch, kShape.heads, rows, kShape.tk}};
  const oracle::Inputs<float> in{args.q, args.k, args.v};
  Quantity error("attention logits");
  for (LogitStage stage : {LogitStage::kRaw, LogitStage::kCapped, LogitStage::kBiased}) {
    args.extras.logit_stage = stage;
    require_ok(attention(args, p.problem.workspace));
    for (Index b = 0; b < kShape.batch; ++b) {
      for (Index h = 0; h < kShape.heads; ++h) {
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < kShape.tk; ++j) {
            const oracle::RowId id{b, h, i + 11};
            const float got = *args.extras.logits.at(b, h, i, j);
            AttentionOptions upto = args.options;
            upto.bias = {};
            if (stage == LogitStage::kRaw) {
              upto.softcap = 0.0F;
            }
            const bool past = j >= *args.options.key_lengths.at(b);
            const bool excluded =
                stage == LogitStage::kBiased && !oracle::may_read(args.options, id, j);
            if (past || excluded) {
              CHECK(got == -INFINITY);
              continue;
            }
            double dot = 0.0;
            double size = 0.0;
            for (Index d = 0; d < kShape.dk; ++d) {
              const double product = static_cast<double>(*in.q.at(b, h, id.i, d)) *
                                     static_cast<double>(*in.k.at(b, h / 2, j, d)) / 3.0;
              dot += product;
              size += std::abs(product);
            }
            const auto& applied = stage == LogitStage::kBiased ? args.options : upto;
            const double exact = oracle::biased_score(applied, id, j, dot, size);
            error.add(got, exact, 0x1p-24 * (9 + 16) * size, size);
          }
        }
      }
    }
  }
  require_within(error);
}

TEST_CASE("cache: appending in any portions gives the bits of appending all at once",
          "[attention][cache]") {
  Problem p({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 70, .tk = 70, .dk = 5, .dv = 11}, 9);
  const Shape& s = p.shape;
  p.causal(0);
  const Result full = p.run();
  KvCache cache;
  require_ok(
      KvCache::create({.batch = 2, .num_kv_heads = 2, .capacity = 75, .d_k = 5, .d_v = 11}, cache));
  std::vector<float> out(full.out.size());
  Index done = 0;
  for (Index portion : {1, 1, 30, 2, 33, 3}) {
    AttentionArgs args = p.args();
    args.extras = {};
    args.cache = &cache;
    args.options.causal_offset.reset();
    args.out.data = out.data();
    const auto narrow = [&](auto& view) {
      view.data += done * view.stride(2);
      view.shape[2] = portion;
    };
    narrow(args.q);
    narrow(args.k);
    narrow(args.v);
    narrow(args.out);
    require_ok(attention(args, p.workspace));
    done += portion;
    CHECK(cache.length() == done);
  }
  CHECK(out == full.out);
  std::vector<float> keys(static_cast<std::size_t>(s.batch * s.kv_heads * s.tk * s.dk));
  require_ok(cache.read_keys({keys.data(), {s.batch, s.kv_heads, s.tk, s.dk}}));
  CHECK(keys == p.k);
  std::vector<float> values(static_cast<std::size_t>(s.batch * s.kv_heads * s.tk * s.dv));
  require_ok(cache.read_values({values.data(), {s.batch, s.kv_heads, s.tk, s.dv}}));
  CHECK(values == p.v);
}

TEST_CASE("cache: what it holds past its length is never read", "[attention][cache]") {
  constexpr Index kHeld = 60;
  const Shape shape{.heads = 4, .kv_heads = 2, .tq = 1, .tk = 1, .dk = 5, .dv = 3};
  for (Index kept : {1, 7, 24, 40}) {
    for (float poison : {NAN, INFINITY, -INFINITY}) {
      CAPTURE(kept, poison);
      Problem past({.kv_heads = 2, .tk = kHeld, .dk = 5, .dv = 3}, 10);
      const auto next_token = [&] {
        KvCache cache;
        require_ok(KvCache::create({.num_kv_heads = 2, .capacity = 64, .d_k = 5, .d_v = 3}, cache));
        const AttentionArgs tokens = past.args();
        require_ok(cache.append(tokens.k, tokens.v));
        require_ok(cache.truncate(kept));
        Problem next(shape, 11);
        std::vector<float> weights(static_cast<std::size_t>(4 * (kept + 1)));
        AttentionArgs args = next.args();
        args.cache = &cache;
        args.extras.weights = {weights.data(), {1, 4, 1, kept + 1}};
        require_ok(attention(args, next.workspace));
        weights.insert(weights.end(), next.result.out.begin(), next.result.out.end());
        return weights;
      };
      const std::vector<float> clean = next_token();
      CHECK(std::all_of(clean.begin(), clean.end(), [](float x) { return std::isfinite(x); }));
      for (Index kv : {0, 1}) {
        for (Index t = kept; t < kHeld; ++t) {
          std::fill_n(past.k_row(0, kv, t), 5, poison);
          std::fill_n(past.v_row(0, kv, t), 3, poison);
        }
      }
      CHECK(first_difference(clean, next_token()) == "");
    }
  }
}

TEST_CASE("cache: beyond its capacity is refused and changes nothing", "[attention][cache]") {
  KvCache cache;
  require_ok(KvCache::create({.num_kv_heads = 1, .capacity = 3, .d_k = 2}, cache));
  const std::vector<float> two{1, 2, 3, 4};
  const TensorView<const float> tokens(two.data(), {1, 1, 2, 2});
  require_ok(cache.append(tokens, tokens));
  const Status status = cache.append(tokens, tokens);
  CHECK(status.code() == StatusCode::kOutOfRange);
  CHECK(std::string(status.message()) ==
        "KvCache::append: the cache holds 2 of 3 tokens and 2 are to be added, expected at most 1");
  CHECK(cache.length() == 2);
  std::vector<float> held(4);
  require_ok(cache.read_keys({held.data(), {1, 1, 2, 2}}));
  CHECK(held == two);
  CHECK(cache.truncate(3).code() == StatusCode::kOutOfRange);
  require_ok(cache.truncate(1));
  CHECK(cache.length() == 1);
}

}  // namespace
}  // namespace qkv::test::attention_options_test
