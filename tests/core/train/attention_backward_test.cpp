// attention_backward() against the formulas in double precision.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "refusal.hpp"
#include "train_problem.hpp"

namespace qkv::test::attention_backward_test {
namespace {

constexpr Index kLengths[] = {1, 2, 7, 23, 24, 25, 63, 64, 65, 130};
constexpr Index kWidths[] = {1, 3, 8, 16, 33, 64};

TEST_CASE("attention_backward: every length and width of a head is within the bounds", "[train]") {
  std::uint64_t seed = 1;
  for (const Index t : kLengths) {
    for (const Index d : kWidths) {
      CAPTURE(t, d);
      BackwardProblem(square(t, d), seed++).check();
    }
  }
}

/// Each option by itself, then crossed at random.
TEST_CASE("attention_backward: a scale, a softcap and a temperature", "[train]") {
  for (const float softcap : {0.0F, 0.5F, 3.0F}) {
    for (const float temperature : {0.5F, 1.0F, 4.0F}) {
      CAPTURE(softcap, temperature);
      BackwardProblem p({.heads = 2, .kv_heads = 1, .tq = 30, .tk = 70, .dk = 9, .dv = 7}, 300);
      p.forward_call.options.softcap = softcap;
      p.forward_call.options.temperature = temperature;
      p.forward_call.options.scale = 0.4F;
      p.check();
    }
  }
}

TEST_CASE("attention_backward: windows, offsets and key lengths", "[train]") {
  const std::vector<std::int32_t> lengths = {0, 17};
  for (const Index left : {-1, 0, 5}) {
    for (const Index offset : {-4, 0, 9}) {
      CAPTURE(left, offset);
      BackwardProblem p(
          {.batch = 2, .heads = 2, .kv_heads = 1, .tq = 20, .tk = 29, .dk = 6, .dv = 6}, 400);
      p.forward_call.causal(offset);
      p.forward_call.options.window_left = left;
      p.forward_call.options.key_lengths = {lengths.data(), {2}};
      p.check();
    }
  }
}

TEST_CASE("attention_backward: the gradient of a bias has the bias's own shape", "[train]") {
  std::uint64_t seed = 500;
  for (const auto& extents : {std::vector<Index>{2, 4, 26, 67},
                              {1, 4, 26, 67},
                              {2, 1, 26, 67},
                              {4, 1, 67},
                              {26, 1},
                              {67},
                              {1}}) {
    CAPTURE(extents);
    BackwardProblem p({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 26, .tk = 67, .dk = 8, .dv = 8},
                      seed++);
    p.forward_call.add_bias(extents, extents.size() > 1 ? 0.2 : 0.0);
    p.check();
  }
}

/// What masked_fill(-1e9) on every key of a row, or a bias that only grows, does to scores.
constexpr float kShifts[] = {-63.9F,         64.1F, -1e4F, -1e6F,        -1e9F,
                             -3.4028235e38F, 1e4F,  1e9F,  3.4028235e38F};

TEST_CASE("attention_backward: gradients are those of the weights, whatever is added to all keys",
          "[train]") {
  std::uint64_t seed = 500;
  for (const float shift : kShifts) {
    for (const float temperature : {1.0F, 0.5F, 3.0F}) {
      for (const Index tk : {7, 70}) {
        CAPTURE(shift, temperature, tk);
        BackwardProblem p(
            {.batch = 2, .heads = 4, .kv_heads = 2, .tq = 30, .tk = tk, .dk = 8, .dv = 5}, seed++);
        p.forward_call.options.temperature = temperature;
        p.forward_call.bias_shape = {1};
        p.forward_call.bias = {shift};
        if (tk == 70) {
          p.forward_call.causal(20);
          p.forward_call.add_mask({30, 70}, 0.7);
        }
        p.check_against_weights();
      }
    }
  }
}

TEST_CASE("attention_backward: rows of large and of small scores in one block do not meet",
          "[train]") {
  BackwardProblem p({.heads = 2, .kv_heads = 1, .tq = 30, .tk = 70, .dk = 8, .dv = 5}, 600);
  p.forward_call.bias_shape = {30, 1};
  p.forward_call.bias.assign(30, 0.0F);
  p.run();
  const std::vector<float> alone = p.gradients.dq;
  for (std::size_t i = 0; i < 30; i += 2) {
    p.forward_call.bias[i] = -1e9F;
  }
  p.check_against_weights();
  for (std::size_t row = 0; row < 60; ++row) {
    for (std::size_t d = 0; row % 2 == 1 && d < 8; ++d) {
      REQUIRE(p.gradients.dq[row * 8 + d] == alone[row * 8 + d]);
    }
  }
}

TEST_CASE("attention_backward: gradients are those of the weights of large logits", "[train]") {
  std::uint64_t seed = 700;
  for (const float size : {30.0F, 1000.0F, 1e5F}) {
    for (const bool positive : {true, false}) {
      CAPTURE(size, positive);
      BackwardProblem p({.heads = 2, .kv_heads = 1, .tq = 40, .tk = 90, .dk = 4, .dv = 3}, seed++);
      for (auto* values : {&p.forward_call.q, &p.forward_call.k}) {
        for (float& x : *values) {
          x = size + x / size;  // products that are equal but for their last digits
        }
      }
      p.forward_call.options.scale = positive ? 1.0F : -1.0F;
      p.forward_call.causal(50);
      p.check_against_weights();
      p.forward_call.options.dropout = {.rate = 0.3F, .seed = seed};
      p.check_against_weights();
    }
  }
}

TEST_CASE("attention_backward: two equal logits of 1.7e7 share the gradient of their values",
          "[train]") {
  BackwardProblem p({.tq = 1, .tk = 2, .dk = 1, .dv = 1}, 1);
  p.forward_call.q = {4097.0F};
  p.forward_call.k = {4097.0F, 4097.0F};
  p.forward_call.options.scale = 1.0F;
  p.d_out = {1.0F};
  CHECK(p.run().dv == std::vector<float>{0.5F, 0.5F});
}

TEST_CASE("attention_backward: slopes, a softcap and sinks with large scores", "[train]") {
  BackwardProblem steep({.heads = 2, .kv_heads = 2, .tq = 20, .tk = 30, .dk = 8, .dv = 5}, 800);
  const float slopes[] = {1e6F, -3e38F};
  steep.forward_call.options.alibi_slopes = {slopes, {2}};
  steep.forward_call.options.causal_offset = 200;
  steep.check_against_weights();

  BackwardProblem capped({.heads = 2, .kv_heads = 2, .tq = 20, .tk = 30, .dk = 8, .dv = 5}, 801);
  capped.forward_call.options.softcap = 2.0F;
  capped.forward_call.bias_shape = {1};
  capped.forward_call.bias = {-1e5F};
  capped.check_against_weights();

  BackwardProblem sunk({.heads = 2, .kv_heads = 1, .tq = 20, .tk = 30, .dk = 8, .dv = 5}, 802);
  sunk.sinks = {1e5F + 3.0F, 1e5F - 2.0F};
  sunk.forward_call.options.sinks = {sunk.sinks.data(), {2}};
  sunk.forward_call.bias_shape = {1};
  sunk.forward_call.bias = {1e5F};
  sunk.check_against_weights();
}

TEST_CASE("attention_backward: finite masks and biases give finite gradients, whatever they sum to",
          "[train]") {
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const float bias : {-kMost, kMost}) {
    for (const float mask : {-kMost, kMost, -1.0F}) {
      for (const float temperature : {1.0F, 0.25F, 1e-30F, 1e30F}) {
        CAPTURE(bias, mask, temperature);
        BackwardProblem p({.heads = 2, .kv_heads = 1, .tq = 25, .tk = 70, .dk = 8, .dv = 5}, 900);
        p.forward_call.options.temperature = temperature;
        p.forward_call.bias_shape = {1};
        p.forward_call.bias = {bias};
        const float added[] = {mask};
        p.forward_call.options.additive_mask = {added, {1}};
        p.run();
        for (const auto* values :
             {&p.gradients.dq, &p.gradients.dk, &p.gradients.dv, &p.gradients.d_bias}) {
          REQUIRE(std::all_of(values->begin(), values->end(),
                              [](float x) { return std::isfinite(x); }));
        }
        if (temperature == 1.0F) {
          p.check_against_weights();
        }
      }
    }
  }
}

TEST_CASE("attention_backward: random sizes and options, crossed", "[train][random]") {
  constexpr Index kSizes[] = {1, 2, 5, 15, 24, 25, 47, 63, 64, 65, 100};
  constexpr Index kRatios[] = {1, 2, 3};
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Random random(seed * 7919);
    const Shape s = random_shape(random, kSizes, kRatios, 24);
    BackwardProblem p(s, seed);
    p.forward_call.exclude_at_random(random);
    if (random.chance(0.3)) {
      p.add_sinks(seed);
    }
    if (random.chance(0.3)) {
      p.forward_call.options.softcap = 2.0F;
    }
    if (random.chance(0.3)) {
      p.forward_call.options.dropout = {.rate = 0.3F, .seed = seed};
    }
    p.check();
  }
}

TEST_CASE("attention_backward: what may not be read changes nothing, NaN least of all",
          "[train][nan]") {
  const Shape s{.batch = 2, .heads = 2, .kv_heads = 1, .tq = 70, .tk = 70, .dk = 8, .dv = 8};
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), INFINITY, 7.0F}) {
    CAPTURE(poison);
    BackwardProblem clean(s, 1000);
    BackwardProblem poisoned(s, 1000);
    for (BackwardProblem* p : {&clean, &poisoned}) {
      p->forward_call.causal(0);
      p->forward_call.add_mask({70, 70}, 0.8);
      for (Index j = 0; j < 70; ++j) {  // nobody reads keys 3 and 66, and row 40 reads nothing
        p->forward_call.mask[static_cast<std::size_t>(j * 70 + 3)] = 0;
        p->forward_call.mask[static_cast<std::size_t>(j * 70 + 66)] = 0;
        p->forward_call.mask[static_cast<std::size_t>(40 * 70 + j)] = 0;
      }
    }
    for (const Index b : {0, 1}) {
      for (const Index key : {3, 66}) {
        std::fill_n(poisoned.forward_call.k_row(b, 0, key), s.dk, poison);
        std::fill_n(poisoned.forward_call.v_row(b, 0, key), s.dv, poison);
      }
      for (const Index h : {0, 1}) {
        const Index row = (b * s.heads + h) * s.tq + 40;
        std::fill_n(poisoned.forward_call.q.begin() + row * s.dk, s.dk, poison);
        std::fill_n(poisoned.d_out.begin() + row * s.dv, s.dv, poison);
      }
    }
    const Gradients expected = clean.run();
    const Gradients& got = poisoned.run();
    CHECK(first_difference(expected.dq, got.dq) == "");
    CHECK(first_difference(expected.dk, got.dk) == "");
    CHECK(first_difference(expected.dv, got.dv) == "");
    CHECK(std::all_of(got.dq.begin() + 40 * s.dk, got.dq.begin() + 41 * s.dk,
                      [](float x) { return x == 0.0F; }));
    CHECK(std::all_of(got.dk.begin() + 3 * s.dk, got.dk.begin() + 4 * s.dk,
                      [](float x) { return x == 0.0F; }));
  }
}

TEST_CASE("attention_backward: a later token changes no gradient of an earlier row", "[train]") {
  BackwardProblem first(square(100, 16, 2), 1100);
  BackwardProblem second(square(100, 16, 2), 1100);
  first.forward_call.causal(0);
  second.forward_call.causal(0);
  for (const Index h : {0, 1}) {
    for (Index t = 60; t < 100; ++t) {
      std::fill_n(second.forward_call.k_row(0, h, t), 16, 0.5F);
      std::fill_n(second.forward_call.v_row(0, h, t), 16, -0.5F);
    }
  }
  const Gradients& a = first.run();
  const Gradients& b = second.run();
  for (const Index h : {0, 1}) {
    const auto rows = [&](const std::vector<float>& dq) {
      return std::vector<float>(dq.begin() + h * 1600, dq.begin() + h * 1600 + 60 * 16);
    };
    CHECK(first_difference(rows(a.dq), rows(b.dq)) == "");
  }
}

TEST_CASE("attention_backward: a row of NaN reaches the keys that it may read, and no other",
          "[train][nan]") {
  constexpr Index kTokens =
      128;  // of two blocks of keys; the NaN is in the first, read by rows of both
  BackwardProblem p(square(kTokens, 8), 1210);
  p.forward_call.causal(0);
  p.forward_call.options.window_left = 1;
  p.forward_call.add_bias({kTokens, kTokens});
  std::replace(p.forward_call.bias.begin(), p.forward_call.bias.end(), -INFINITY, 0.5F);
  std::fill_n(p.forward_call.k_row(0, 0, 62), 8, std::numeric_limits<float>::quiet_NaN());
  const Gradients& got = p.run();
  for (Index i = 0; i < kTokens; ++i) {
    CAPTURE(i);
    const auto first = static_cast<std::size_t>(i * 8);
    CHECK(std::isnan(got.dq[first]) == (i == 62 || i == 63));
    CHECK(std::isnan(got.dk[first]) == (i >= 61 && i <= 63));
    CHECK(std::isnan(got.dv[first]) == (i >= 61 && i <= 63));
    for (Index j = 0; j < kTokens; ++j) {
      const bool reads = j == i || j == i - 1;
      const float d_bias = got.d_bias[static_cast<std::size_t>(i * kTokens + j)];
      if (std::isnan(d_bias) != (reads && (i == 62 || i == 63)) || (!reads && d_bias != 0.0F)) {
        FAIL_CHECK("d_bias[" << i << "][" << j << "] is " << d_bias);
      }
    }
  }
}

TEST_CASE("attention_backward: a NaN that may be read reaches the gradients", "[train][nan]") {
  BackwardProblem p(square(20, 8), 1200);
  p.forward_call.causal(0);
  *p.forward_call.v_row(0, 0, 5) = std::numeric_limits<float>::quiet_NaN();
  const Gradients& got = p.run();
  CHECK_FALSE(std::isnan(got.dq[4 * 8]));
  CHECK(std::isnan(got.dq[5 * 8]));
  CHECK(std::isnan(got.dk[5 * 8]));
}

}  // namespace
}  // namespace qkv::test::attention_backward_test
