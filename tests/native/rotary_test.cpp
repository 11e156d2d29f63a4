// Rotary embeddings: against the oracle, as rotations, and through tables.
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <limits>

#include "compare.hpp"
#include "position_oracle.hpp"
#include "problem.hpp"
#include "qkv/rotary.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

using Type = RotaryScaling::Type;

constexpr RotaryScaling kYarn{.type = Type::kYarn, .factor = 4.0, .original_length = 2048};

struct Size {
  Index batch = 1;
  Index heads = 1;
  Index tokens = 1;
  Index d = 8;
};

/// A call that owns its arrays.
class Rotary {
 public:
  Rotary(const Size& s, std::uint64_t seed) : size(s) {
    Random random(seed);
    x = random_floats(random, s.batch * s.heads * s.tokens * s.d);
    out.assign(x.size(), kUntouched);
  }

  [[nodiscard]] TensorView<const float> x_view() const {
    return {x.data(), {size.batch, size.heads, size.tokens, size.d}};
  }
  [[nodiscard]] TensorView<float> out_view() {
    return {out.data(), {size.batch, size.heads, size.tokens, size.d}};
  }
  const std::vector<float>& run() & {
    require_ok(rotary_embedding(x_view(), out_view(), options, workspace));
    return out;
  }
  /// Positions, one for each token of all rows or of each row.
  void set_positions(std::vector<std::int32_t> values, bool by_row) {
    positions = std::move(values);
    options.positions =
        by_row ? TensorView<const std::int32_t>(positions.data(), {size.batch, size.tokens})
               : TensorView<const std::int32_t>(positions.data(), {size.tokens});
  }
  /// Compares all of out with the oracle, dimensions that are copied exactly.
  void compare(Quantity& error) {
    run();
    const double a = oracle::rotary_attention_factor(options);
    const TensorView<const float> from = x_view();
    const TensorView<float> to = out_view();
    const bool given = !options.cos.absent();
    for (Index b = 0; b < size.batch; ++b) {
      for (Index h = 0; h < size.heads; ++h) {
        for (Index t = 0; t < size.tokens; ++t) {
          for (Index c = 0; c < size.d; ++c) {
            const auto exact = oracle::rotary(from, options, b, h, t, c);
            const double computed = *to.at(b, h, t, c);
            exact.norm == 0.0 ? error.add_exact(computed, exact.value)
            : given
                ? error.add(computed, exact.value, bounds::rotary_given(exact.size), exact.size)
                : error.add(computed, exact.value, bounds::rotary(a, exact.norm), a * exact.norm);
          }
        }
      }
    }
  }

  Size size;
  RotaryOptions options;
  std::vector<float> x, out;
  std::vector<std::int32_t> positions;
  Workspace workspace;
};

void require_within(const Quantity& error) {
  note_ratio(error.name(), error.ratio());
  require_within(Comparison{{error}});
}

/// Where 70 tokens start: the origin from both sides, anchors of the tables, and both ends.
constexpr Index kOffsets[] = {0,
                              1,
                              63,
                              64,
                              -1,
                              -65,
                              -70,
                              4000,
                              131071,
                              (Index{1} << 19) - 7,
                              kMaxPosition - 69,
                              -kMaxPosition};

TEST_CASE("rotary: every position, width and pairing is within its bound", "[rotary]") {
  Quantity error("rotary_embedding");
  std::uint64_t seed = 1;
  for (bool interleaved : {false, true}) {
    for (Index d : {2, 4, 6, 10, 64, 66, 128}) {
      for (Index offset : kOffsets) {
        Rotary p({.tokens = 70, .d = d}, seed++);
        p.options.interleaved = interleaved;
        p.options.offset = offset;
        p.compare(error);
      }
    }
  }
  require_within(error);
}

TEST_CASE("rotary: bases and scalings are within their bound", "[rotary]") {
  Quantity error("rotary_embedding scaled");
  std::uint64_t seed = 100;
  for (const RotaryScaling& scaling : {
           RotaryScaling{},
           RotaryScaling{.type = Type::kLinear, .factor = 1.0},
           RotaryScaling{.type = Type::kLinear, .factor = 3.7},
           RotaryScaling{.type = Type::kNtk, .factor = 1.0},
           RotaryScaling{.type = Type::kNtk, .factor = 8.0},
           kYarn,
           RotaryScaling{.type = Type::kYarn, .factor = 1.0, .original_length = 4096},
           RotaryScaling{.type = Type::kYarn,
                         .factor = 16.0,
                         .original_length = 4096,
                         .beta_fast = 64.0,
                         .beta_slow = 2.0,
                         .attention_factor = 0.7},
           // Ramps that begin above the last pair, end below the first, or have no width.
           RotaryScaling{.type = Type::kYarn,
                         .factor = 2.0,
                         .original_length = std::numeric_limits<Index>::max()},
           RotaryScaling{.type = Type::kYarn, .factor = 2.0, .original_length = 1},
           RotaryScaling{.type = Type::kYarn,
                         .factor = 2.0,
                         .original_length = 2048,
                         .beta_fast = 1.0 + 1e-9,
                         .beta_slow = 1.0},
       }) {
    for (double base : {10000.0, 500000.0, 2.0, 1.0}) {
      for (Index d : {2, 4, 8, 64}) {
        if (scaling.type == Type::kYarn && base == 1.0) {
          continue;
        }
        for (Index offset : {Index{0}, Index{-3}, Index{30000}, kMaxPosition - 8}) {
          Rotary p({.tokens = 9, .d = d}, seed++);
          p.options.scaling = scaling;
          p.options.base = base;
          p.options.offset = offset;
          p.compare(error);
        }
      }
    }
  }
  require_within(error);
}

/// cos and sin of `tokens` positions from 0 on.
struct Table {
  std::vector<float> cos, sin;
};
Table table_of(Index tokens, Index pairs, const RotaryOptions& options = {}) {
  const auto size = static_cast<std::size_t>(tokens * pairs);
  Table table{std::vector<float>(size, kUntouched), std::vector<float>(size, kUntouched)};
  require_ok(rotary_table({table.cos.data(), {tokens, pairs}}, {table.sin.data(), {tokens, pairs}},
                          options));
  return table;
}

TEST_CASE("rotary: linear scaling divides positions", "[rotary]") {
  RotaryOptions stretched;
  stretched.scaling = {.type = Type::kLinear, .factor = 4.0};
  const Table wide = table_of(41, 8, stretched);
  const Table plain = table_of(11, 8);
  for (std::size_t p = 0; p < 11; ++p) {
    for (std::size_t i = 0; i < 8; ++i) {
      CAPTURE(p, i);
      REQUIRE(std::abs(wide.sin[4 * p * 8 + i] - plain.sin[p * 8 + i]) <= 2 * 0x1p-25F);
    }
  }
}

TEST_CASE("rotary: NTK keeps the first frequency and divides the last by the factor", "[rotary]") {
  RotaryOptions stretched;
  stretched.scaling = {.type = Type::kNtk, .factor = 8.0};
  const Table wide = table_of(9, 16, stretched);
  const Table plain = table_of(9, 16);
  for (std::size_t p = 0; p < 9; ++p) {
    REQUIRE(wide.sin[p * 16] == plain.sin[p * 16]);
  }
  REQUIRE(std::abs(wide.sin[8 * 16 + 15] - plain.sin[16 + 15]) <= 2 * 0x1p-25F);
}

// Qwen2.5 beyond 32768 tokens. pair(32) = 23.6 and pair(1) = 39.7, so pairs up to 23 stay and pairs
// from 40 on are stretched in full; the values between come from the formula, in another language.
TEST_CASE("rotary: YaRN as published checkpoints have it", "[rotary]") {
  RotaryOptions o;
  o.base = 1e6;
  o.scaling = {.type = Type::kYarn, .factor = 4.0, .original_length = 32768};
  RotaryOptions plain;
  plain.base = 1e6;
  const Table yarn = table_of(2, 64, o);
  const Table none = table_of(2, 64, plain);
  const double factor = 1.138629436111989;
  for (std::size_t i = 0; i < 64; ++i) {
    CAPTURE(i);
    const double angle = std::asin(static_cast<double>(yarn.sin[64 + i]) / factor);
    const double unscaled = std::asin(static_cast<double>(none.sin[64 + i]));
    const double ratio = angle / unscaled;
    CHECK((i <= 23   ? std::abs(ratio - 1) < 4e-7
           : i >= 40 ? std::abs(ratio - 0.25) < 4e-7
                     : ratio > 0.25 && ratio < 1));
  }
  const auto angle = [&](std::size_t i) {
    return std::asin(static_cast<double>(yarn.sin[64 + i]) / factor);
  };
  CHECK(std::abs(angle(25) - 0.004131738022518394) < 1e-9);
  CHECK(std::abs(angle(30) - 0.001064360981247002) < 1e-9);
  CHECK(std::abs(angle(31) - 0.0008029597275452302) < 1e-9);
  CHECK(yarn.cos[0] == static_cast<float>(factor));
}

TEST_CASE("rotary: a table's values are within their bound", "[rotary]") {
  Quantity plain("rotary_table");
  Quantity scaled("rotary_table yarn");
  for (bool yarn : {false, true}) {
    for (Index offset : kOffsets) {
      RotaryOptions o;
      o.offset = offset;
      o.scaling = yarn ? kYarn : RotaryScaling{};
      const Table table = table_of(70, 33, o);
      const double a = oracle::rotary_attention_factor(o);
      for (Index t = 0; t < 70; ++t) {
        for (Index i = 0; i < 33; ++i) {
          const auto at = static_cast<std::size_t>(t * 33 + i);
          const auto exact = oracle::rotary_turn(o, 66, 0, t, i);
          const double bound = yarn ? bounds::rotary_table_yarn(a) : bounds::kRotaryTable;
          (yarn ? scaled : plain).add(table.cos[at], exact.cosine, bound, a);
          (yarn ? scaled : plain).add(table.sin[at], exact.sine, bound, a);
        }
      }
    }
  }
  require_within(plain);
  require_within(scaled);
}

TEST_CASE("rotary: only the first dimensions turn, the others are copied", "[rotary]") {
  Quantity error("rotary_embedding partial");
  for (bool interleaved : {false, true}) {
    for (Index d : {5, 8, 17, 64}) {
      for (Index r = 2; r <= d; r += 2) {
        Rotary p({.batch = 2, .heads = 3, .tokens = 4, .d = d}, 7);
        p.options.rotary_dim = r;
        p.options.interleaved = interleaved;
        p.options.offset = 1234;
        p.compare(error);
      }
    }
  }
  require_within(error);
}

TEST_CASE("rotary: the pairings are one rotation in two orders", "[rotary]") {
  Rotary halves({.tokens = 9, .d = 12}, 8);
  Rotary neighbours({.tokens = 9, .d = 12}, 8);
  neighbours.options.interleaved = true;
  const auto half_of = [](std::size_t c) { return c % 2 == 0 ? c / 2 : 6 + c / 2; };
  for (std::size_t t = 0; t < 9; ++t) {
    for (std::size_t c = 0; c < 12; ++c) {
      halves.x[t * 12 + half_of(c)] = neighbours.x[t * 12 + c];
    }
  }
  halves.run();
  neighbours.run();
  for (std::size_t t = 0; t < 9; ++t) {
    for (std::size_t c = 0; c < 12; ++c) {
      REQUIRE(halves.out[t * 12 + half_of(c)] == neighbours.out[t * 12 + c]);
    }
  }
}

TEST_CASE("rotary: positions by token and by row are within their bound", "[rotary]") {
  Quantity error("rotary_embedding positions");
  Random random(9);
  for (bool by_row : {false, true}) {
    for (int round = 0; round < 20; ++round) {
      Rotary p({.batch = 3, .heads = 2, .tokens = 13, .d = 10}, 10);
      std::vector<std::int32_t> positions;
      for (int i = 0; i < (by_row ? 39 : 13); ++i) {
        positions.push_back(
            static_cast<std::int32_t>(random.below(2 * kMaxPosition + 1) - kMaxPosition));
      }
      p.set_positions(positions, by_row);
      p.compare(error);
    }
  }
  require_within(error);
}

TEST_CASE("rotary: consecutive positions are an offset, to the bit", "[rotary]") {
  for (Index offset : kOffsets) {
    CAPTURE(offset);
    Rotary by_offset({.batch = 2, .heads = 2, .tokens = 70, .d = 6}, 11);
    by_offset.options.offset = offset;
    Rotary by_token({.batch = 2, .heads = 2, .tokens = 70, .d = 6}, 11);
    std::vector<std::int32_t> positions;
    for (Index i = 0; i < 140; ++i) {
      positions.push_back(static_cast<std::int32_t>(offset + i % 70));
    }
    by_token.set_positions(positions, true);
    REQUIRE(first_difference(by_offset.run(), by_token.run()) == "");
    by_token.set_positions({positions.begin(), positions.begin() + 70}, false);
    REQUIRE(first_difference(by_offset.run(), by_token.run()) == "");
  }
}

TEST_CASE("rotary: a token's row is the same to the bit whatever stands beside it", "[rotary]") {
  for (const RotaryScaling& scaling : {RotaryScaling{}, kYarn}) {
    Rotary all({.tokens = 200, .d = 16}, 12);
    all.options.offset = -90;
    all.options.scaling = scaling;
    all.run();
    for (Index t : {0, 1, 25, 26, 63, 64, 90, 153, 154, 199}) {
      CAPTURE(t);
      Rotary one({.d = 16}, 13);
      one.x.assign(all.x.begin() + t * 16, all.x.begin() + (t + 1) * 16);
      one.options = all.options;
      one.options.offset += t;
      const std::vector<float> row(all.out.begin() + t * 16, all.out.begin() + (t + 1) * 16);
      REQUIRE(first_difference(row, one.run()) == "");
    }
  }
}

TEST_CASE("rotary: position 0 changes nothing, to the bit", "[rotary]") {
  for (bool interleaved : {false, true}) {
    Rotary p({.batch = 2, .heads = 2, .tokens = 1, .d = 14}, 14);
    p.options.interleaved = interleaved;
    CHECK(first_difference(p.x, p.run()) == "");
  }
}

/// Pairs of one vector, as their norms, in double precision.
std::vector<double> pair_norms(const float* row, Index d) {
  std::vector<double> norms;
  for (Index i = 0; i < d / 2; ++i) {
    norms.push_back(std::hypot(row[i], row[i + d / 2]));
  }
  return norms;
}

// A rotation keeps the norm n of a pair; both elements are off by the bound at most.
TEST_CASE("rotary: norms of pairs are kept", "[rotary]") {
  Quantity error("rotary norm");
  for (Index offset : kOffsets) {
    Rotary p({.tokens = 70, .d = 32}, 15);
    p.options.offset = offset;
    p.run();
    for (Index t = 0; t < 70; ++t) {
      const auto before = pair_norms(p.x.data() + t * 32, 32);
      const auto after = pair_norms(p.out.data() + t * 32, 32);
      for (std::size_t i = 0; i < before.size(); ++i) {
        error.add(after[i], before[i], std::numbers::sqrt2 * bounds::rotary(1.0, before[i]),
                  before[i]);
      }
    }
  }
  require_within(error);
}

// The second rotation carries the error of the first, sqrt2 times the bound as a vector, and adds
// its own.
TEST_CASE("rotary: position -p undoes position p", "[rotary]") {
  Quantity error("rotary inverse");
  for (Index offset : {0, 1, 77, 5000, 1000000}) {
    Rotary there({.tokens = 50, .d = 32}, 16);
    Rotary back({.tokens = 50, .d = 32}, 17);
    std::vector<std::int32_t> negative;
    for (Index t = 0; t < 50; ++t) {
      negative.push_back(static_cast<std::int32_t>(-offset - t));
    }
    there.options.offset = offset;
    back.x = there.run();
    back.set_positions(negative, false);
    back.run();
    for (Index t = 0; t < 50; ++t) {
      const auto norms = pair_norms(there.x.data() + t * 32, 32);
      for (Index c = 0; c < 32; ++c) {
        const auto at = static_cast<std::size_t>(t * 32 + c);
        const double norm = norms[static_cast<std::size_t>(c % 16)];
        error.add(back.out[at], there.x[at],
                  (1.0 + std::numbers::sqrt2) * 1.001 * bounds::rotary(1.0, norm), norm);
      }
    }
  }
  require_within(error);
}

struct Score {
  double computed = 0.0, exact = 0.0, size = 0.0;
};
/// q at position at + distance against k at position `at`, by hand from the distance alone.
Score score(Index d, const RotaryScaling& scaling, Index at, Index distance) {
  Rotary q({.d = d}, 18);
  Rotary k({.d = d}, 19);
  q.options.scaling = k.options.scaling = scaling;
  q.options.offset = at + distance;
  k.options.offset = at;
  q.run();
  k.run();
  const double a = oracle::rotary_attention_factor(q.options);
  const auto q_norms = pair_norms(q.x.data(), d);
  const auto k_norms = pair_norms(k.x.data(), d);
  Score sum;
  for (Index i = 0; i < d / 2; ++i) {
    const auto first = static_cast<std::size_t>(i);
    const auto second = static_cast<std::size_t>(i + d / 2);
    const double angle = static_cast<double>(distance) * oracle::rotary_frequency(q.options, d, i);
    const auto times = [](float x, float y) {
      return static_cast<double>(x) * static_cast<double>(y);
    };
    sum.computed += times(q.out[first], k.out[first]) + times(q.out[second], k.out[second]);
    const double along = times(q.x[first], k.x[first]) + times(q.x[second], k.x[second]);
    const double across = times(q.x[first], k.x[second]) - times(q.x[second], k.x[first]);
    sum.exact += a * a * (std::cos(angle) * along + std::sin(angle) * across);
    sum.size += q_norms[first] * k_norms[first];
  }
  return sum;
}

TEST_CASE("rotary: scores depend on the distance alone", "[rotary]") {
  Quantity error("rotary score");
  RotaryOptions options;
  for (const RotaryScaling& scaling : {RotaryScaling{}, kYarn}) {
    options.scaling = scaling;
    const double a = oracle::rotary_attention_factor(options);
    for (Index d : {2, 32}) {
      for (Index distance : {0, 1, 5, 1000}) {
        for (Index at = 0; at <= 1000000; at += 9999) {
          const Score s = score(d, scaling, at, distance);
          error.add(s.computed, s.exact, bounds::rotary_score(a, s.size), a * a * s.size);
        }
      }
    }
  }
  require_within(error);
}

TEST_CASE("rotary: in place gives the same bits", "[rotary][strides]") {
  for (bool interleaved : {false, true}) {
    for (Index r : {0, 6}) {
      Rotary p({.batch = 2, .heads = 3, .tokens = 11, .d = 18}, 20);
      p.options.interleaved = interleaved;
      p.options.rotary_dim = r;
      p.options.offset = 40;
      p.run();
      std::vector<float> memory = p.x;
      const TensorView<float> view(memory.data(), {2, 3, 11, 18});
      require_ok(rotary_embedding(view, view, p.options, p.workspace));
      CHECK(first_difference(p.out, memory) == "");
    }
  }
}

TEST_CASE("rotary: heads side by side and rows with gaps give the same bits", "[rotary][strides]") {
  Rotary p({.batch = 2, .heads = 3, .tokens = 5, .d = 6}, 21);
  p.options.rotary_dim = 4;
  p.options.offset = 9;
  p.run();
  // Heads side by side, in place.
  std::vector<float> beside(p.x.size());
  const TensorView<float> heads = split_heads(beside.data(), 2, 5, 3, 6);
  // Gaps of 2 after each row and 3 after each head hold NaN, which nothing may read or write.
  std::vector<float> gaps(2 * 3 * (5 * 8 + 3), NAN);
  TensorView<float> padded(gaps.data(), {2, 3, 5, 6});
  padded.strides = {3 * 43, 43, 8, 1};
  const auto for_all = [&](const std::function<void(Index, Index, Index, Index)>& f) {
    for (Index b = 0; b < 2; ++b) {
      for (Index h = 0; h < 3; ++h) {
        for (Index t = 0; t < 5; ++t) {
          for (Index c = 0; c < 6; ++c) {
            f(b, h, t, c);
          }
        }
      }
    }
  };
  for_all([&](Index b, Index h, Index t, Index c) {
    *heads.at(b, h, t, c) = *p.x_view().at(b, h, t, c);
  });
  require_ok(rotary_embedding(heads, padded, p.options, p.workspace));
  require_ok(rotary_embedding(heads, heads, p.options, p.workspace));
  std::size_t written = 0;
  for_all([&](Index b, Index h, Index t, Index c) {
    REQUIRE(*heads.at(b, h, t, c) == *p.out_view().at(b, h, t, c));
    REQUIRE(*padded.at(b, h, t, c) == *p.out_view().at(b, h, t, c));
    ++written;
  });
  std::size_t numbers = 0;
  for (float value : gaps) {
    numbers += std::isnan(value) ? 0U : 1U;
  }
  CHECK(numbers == written);
}

TEST_CASE("rotary: tables made once give the same bits", "[rotary][table]") {
  for (bool interleaved : {false, true}) {
    for (const RotaryScaling& scaling : {RotaryScaling{}, kYarn}) {
      Rotary p({.batch = 2, .heads = 2, .tokens = 7, .d = 12}, 22);
      p.options.scaling = scaling;
      p.options.rotary_dim = 10;
      p.options.interleaved = interleaved;
      p.set_positions({3, 0, 5, 5, 1, 9, 2, 8, 8, 0, 1, 4, 6, 7}, true);
      p.run();
      // By position.
      RotaryOptions whole = p.options;
      whole.positions = {};
      const Table table = table_of(10, 5, whole);
      Rotary by_position({.batch = 2, .heads = 2, .tokens = 7, .d = 12}, 22);
      by_position.options = p.options;
      by_position.options.scaling = {};
      by_position.options.cos = {table.cos.data(), {10, 5}};
      by_position.options.sin = {table.sin.data(), {10, 5}};
      CHECK(first_difference(p.out, by_position.run()) == "");
      // By token.
      std::vector<float> cos(70);
      std::vector<float> sin(70);
      require_ok(rotary_table({cos.data(), {2, 7, 5}}, {sin.data(), {2, 7, 5}}, p.options));
      Rotary by_token({.batch = 2, .heads = 2, .tokens = 7, .d = 12}, 22);
      by_token.options = by_position.options;
      by_token.options.positions = {};
      by_token.options.cos = {cos.data(), {2, 7, 5}};
      by_token.options.sin = {sin.data(), {2, 7, 5}};
      CHECK(first_difference(p.out, by_token.run()) == "");
    }
  }
}

TEST_CASE("rotary: any given table is within its bound, strided ones too", "[rotary][table]") {
  Quantity error("rotary_embedding given");
  Random random(23);
  for (bool interleaved : {false, true}) {
    Rotary p({.batch = 2, .heads = 2, .tokens = 7, .d = 9}, 24);
    p.options.rotary_dim = 8;
    p.options.interleaved = interleaved;
    const std::vector<float> cos = random_floats(random, 200);
    const std::vector<float> sin = random_floats(random, 200);
    p.options.cos = {cos.data(), {20, 4}};
    p.options.sin = {sin.data(), {20, 4}};
    p.options.cos.strides[0] = 9;
    p.options.sin.strides[0] = 6;
    p.options.offset = 13;
    p.compare(error);
    p.options.offset = 0;
    p.options.cos = {cos.data(), {2, 7, 4}};
    p.options.sin = {sin.data(), {2, 7, 4}};
    p.options.sin.strides = {0, 5, 1, 0};  // the same rows for both batch rows
    p.compare(error);
  }
  require_within(error);
}

TEST_CASE("rotary: NaN and infinity stay within their pair", "[rotary]") {
  for (bool interleaved : {false, true}) {
    Rotary p({.heads = 2, .tokens = 3, .d = 8}, 25);
    p.options.interleaved = interleaved;
    p.options.offset = 1;
    const std::vector<float> clean = p.run();
    p.x[8 + 1] = NAN;
    p.x[16 + 2] = INFINITY;
    p.run();
    const Index partner[] = {interleaved ? 0 : 5, interleaved ? 3 : 6};
    for (std::size_t c = 0; c < clean.size(); ++c) {
      CAPTURE(c);
      const bool hit = c == 9 || static_cast<Index>(c) == 8 + partner[0] || c == 18 ||
                       static_cast<Index>(c) == 16 + partner[1];
      REQUIRE(std::isfinite(p.out[c]) == !hit);
      REQUIRE((hit || p.out[c] == clean[c]));
    }
  }
}

TEST_CASE("rotary: tiny values keep their bound", "[rotary]") {
  Quantity error("rotary_embedding tiny");
  Rotary p({.tokens = 20, .d = 8}, 26);
  for (float& value : p.x) {
    value *= 0x1p-140F;
  }
  p.run();
  for (Index t = 0; t < 20; ++t) {
    for (Index c = 0; c < 8; ++c) {
      const auto exact = oracle::rotary(p.x_view(), p.options, 0, 0, t, c);
      error.add(p.out[static_cast<std::size_t>(t * 8 + c)], exact.value,
                bounds::rotary(1.0, exact.norm));
    }
  }
  require_within(error);
}

TEST_CASE("rotary: no tokens, heads or batch rows, nothing to do", "[rotary][empty]") {
  Workspace workspace;
  const std::initializer_list<Index> shapes[] = {{0, 2, 3, 4}, {2, 0, 3, 4}, {2, 2, 0, 4}};
  for (const auto& shape : shapes) {
    require_ok(rotary_embedding({nullptr, shape}, {nullptr, shape}, {}, workspace));
  }
  require_ok(rotary_table({nullptr, {0, 4}}, {nullptr, {0, 4}}, {}));
  require_ok(rotary_table({nullptr, {0, 3, 4}}, {nullptr, {0, 3, 4}}, {}));
  CHECK(workspace.capacity_bytes() == 0);
}

TEST_CASE("rotary: scratch is what the header says, and taken once", "[rotary][memory]") {
  Rotary p({.batch = 3, .heads = 4, .tokens = 50, .d = 20}, 27);
  p.options.rotary_dim = 12;
  std::size_t before = allocation_count();
  p.run();
  CHECK(allocation_count() == before + 1);
  CHECK(p.workspace.capacity_bytes() >= 50 * 12 * sizeof(float));
  CHECK(p.workspace.capacity_bytes() <= 50 * 12 * sizeof(float) + 2 * kAlignment);
  before = allocation_count();
  for (Index offset : {0, 1, 100}) {
    p.options.offset = offset;
    p.run();
  }
  const Table table = table_of(60, 6);
  CHECK(allocation_count() == before);
}

TEST_CASE("rotary: memory that cannot be had is refused and nothing written", "[rotary][memory]") {
  Rotary p({.d = 4}, 28);
  TensorView<const float> x = p.x_view();
  TensorView<float> out = p.out_view();
  x.shape[2] = out.shape[2] = kMaxPosition;
  x.shape[3] = out.shape[3] = std::numeric_limits<Index>::max() / kMaxPosition / 2 * 2;
  x.strides[2] = out.strides[2] = x.shape[3];
  const Status status = rotary_embedding(x, out, p.options, p.workspace);
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(p.out == std::vector<float>(4, kUntouched));
}

constexpr auto kShapeError = StatusCode::kShapeMismatch;
constexpr auto kInvalid = StatusCode::kInvalidArgument;
constexpr auto kRange = StatusCode::kOutOfRange;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// What a case may spoil.
struct Call {
  TensorView<const float> x;
  TensorView<float> out;
  RotaryOptions options;
};
struct Case {
  const char* what;
  std::function<void(Call&)> spoil;
  Refusal refusal;
};

float numbers[1000];
std::int32_t places[100];

void require_all_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.what);
    Rotary p({.batch = 2, .heads = 3, .tokens = 5, .d = 8}, 29);
    Call call{p.x_view(), p.out_view(), {}};
    c.spoil(call);
    require_refused(rotary_embedding(call.x, call.out, call.options, p.workspace),
                    "rotary_embedding", c.refusal);
    CHECK(p.out == std::vector<float>(p.out.size(), kUntouched));
    CHECK(p.workspace.capacity_bytes() == 0);
  }
}

TEST_CASE("rotary: arrays that do not fit are refused", "[rotary][bad-input]") {
  require_all_refused({
      {"x absent", [](Call& c) { c.x = {}; }, {kShapeError, "x is", "[]", "[*,*,*,*]"}},
      {"x rank 3",
       [](Call& c) { c.x = {numbers, {2, 5, 24}}; },
       {kShapeError, "x is", "[2,5,24]", "[*,*,*,*]"}},
      {"x without data",
       [](Call& c) { c.x.data = nullptr; },
       {kInvalid, "x has no data", "[2,3,5,8]", "elements"}},
      {"x strided",
       [](Call& c) { c.x.strides[3] = 2; },
       {kInvalid, "the last axis of x", "stride 2", "1"}},
      {"x negative",
       [](Call& c) { c.x.shape[2] = -5; },
       {kShapeError, "x is", "[2,3,-5,8]", "[*,*,*,*]"}},
      {"out absent", [](Call& c) { c.out = {}; }, {kShapeError, "out is", "[]", "[2,3,5,8]"}},
      {"out of another shape",
       [](Call& c) { c.out.shape[2] = 4; },
       {kShapeError, "out is", "[2,3,4,8]", "[2,3,5,8]"}},
      {"out without data",
       [](Call& c) { c.out.data = nullptr; },
       {kInvalid, "out has no data", "[2,3,5,8]", "elements"}},
      {"out strided",
       [](Call& c) { c.out.strides[3] = 3; },
       {kInvalid, "the last axis of out", "stride 3", "1"}},
      {"out on x in another order",
       [](Call& c) {
         c.x = c.out;
         c.x.strides[1] = 8;
         c.x.strides[2] = 24;
       },
       {kInvalid, "axis 1 of out", "stride 40", "expected 8 as in x"}},
  });
}

TEST_CASE("rotary: options without meaning are refused", "[rotary][bad-input]") {
  const auto base = [](double value) { return [value](Call& c) { c.options.base = value; }; };
  const auto dim = [](Index r) { return [r](Call& c) { c.options.rotary_dim = r; }; };
  const auto scaling = [](const RotaryScaling& s) {
    return [s](Call& c) { c.options.scaling = s; };
  };
  const auto yarn = [&](const std::function<void(RotaryScaling&)>& spoil) {
    RotaryScaling s = kYarn;
    spoil(s);
    return scaling(s);
  };
  using S = RotaryScaling;
  require_all_refused({
      {"base below 1", base(0.5), {kInvalid, "base is", "0.5", "at least 1"}},
      {"base negative", base(-1.0), {kInvalid, "base is", "-1", "at least 1"}},
      {"base NaN", base(kNan), {kInvalid, "base is", "nan", "at least 1"}},
      {"base infinite", base(kInf), {kInvalid, "base is", "inf", "at least 1"}},
      {"r odd", dim(5), {kRange, "rotary_dim is", "5", "an even number from 2 to d = 8"}},
      {"r negative", dim(-2), {kRange, "rotary_dim is", "-2", "an even number from 2 to d = 8"}},
      {"r above d", dim(10), {kRange, "rotary_dim is", "10", "an even number from 2 to d = 8"}},
      {"d odd",
       [](Call& c) {
         c.x = {c.x.data, {2, 3, 5, 7}};
         c.out = {c.out.data, {2, 3, 5, 7}};
       },
       {kRange, "rotary_dim is", "7 (left to d)", "an even number from 2 to d = 7"}},
      {"d 0",
       [](Call& c) { c.x.shape[3] = c.out.shape[3] = 0; },
       {kRange, "rotary_dim is", "0 (left to d)", "an even number from 2 to d = 0"}},
      {"type unknown",
       scaling({.type = static_cast<Type>(9)}),
       {kInvalid, "scaling.type is", "9", "one of the four types"}},
      {"factor without type",
       scaling({.factor = 2.0}),
       {kInvalid, "scaling.factor is", "2", "1 without a scaling.type"}},
      {"factor below 1",
       scaling({.type = Type::kLinear, .factor = 0.5}),
       {kInvalid, "scaling.factor is", "0.5", "at least 1"}},
      {"factor NaN",
       scaling({.type = Type::kNtk, .factor = kNan}),
       {kInvalid, "scaling.factor is", "nan", "at least 1"}},
      {"factor infinite",
       scaling({.type = Type::kYarn, .factor = kInf, .original_length = 1}),
       {kInvalid, "scaling.factor is", "inf", "at least 1"}},
      {"original_length missing",
       yarn([](S& s) { s.original_length = 0; }),
       {kInvalid, "scaling.original_length is", "0", "at least 1"}},
      {"beta_slow 0",
       yarn([](S& s) { s.beta_slow = 0.0; }),
       {kInvalid, "scaling.beta_slow is", "0", "positive finite"}},
      {"beta_slow NaN",
       yarn([](S& s) { s.beta_slow = kNan; }),
       {kInvalid, "scaling.beta_slow is", "nan", "positive finite"}},
      {"beta_fast at beta_slow",
       yarn([](S& s) { s.beta_fast = 1.0; }),
       {kInvalid, "scaling.beta_fast is", "1", "above scaling.beta_slow"}},
      {"beta_fast infinite",
       yarn([](S& s) { s.beta_fast = kInf; }),
       {kInvalid, "scaling.beta_fast is", "inf", "above scaling.beta_slow"}},
      {"attention_factor 0",
       yarn([](S& s) { s.attention_factor = 0.0; }),
       {kInvalid, "scaling.attention_factor is", "0", "positive finite"}},
      {"attention_factor NaN",
       yarn([](S& s) { s.attention_factor = kNan; }),
       {kInvalid, "scaling.attention_factor is", "nan", "positive finite"}},
      {"base 1 with yarn",
       [](Call& c) {
         c.options.base = 1.0;
         c.options.scaling = kYarn;
       },
       {kInvalid, "base is", "1", "more than 1 with yarn"}},
  });
}

TEST_CASE("rotary: positions that do not fit are refused", "[rotary][bad-input]") {
  const auto offset = [](Index p) { return [p](Call& c) { c.options.offset = p; }; };
  const auto place = [](Index p, std::size_t at) {
    return [p, at](Call& c) {
      std::fill(std::begin(places), std::end(places), 0);
      places[at] = static_cast<std::int32_t>(p);
      c.options.positions = {places, {2, 5}};
    };
  };
  require_all_refused({
      {"first too high",
       offset(kMaxPosition + 1),
       {kRange, "offset is", "1048577", "-1048576 to 1048576"}},
      {"first too low",
       offset(-kMaxPosition - 1),
       {kRange, "offset is", "-1048577", "-1048576 to 1048576"}},
      {"last too high",
       offset(kMaxPosition - 3),
       {kRange, "offset + tokens - 1 is", "1048577", "-1048576 to 1048576"}},
      {"offset without end",
       offset(std::numeric_limits<Index>::max()),
       {kRange, "offset is", "", "-1048576 to 1048576"}},
      {"a position too high",
       place(kMaxPosition + 1, 9),
       {kRange, "positions[9] is", "1048577", "-1048576 to 1048576"}},
      {"a position too low",
       place(std::numeric_limits<std::int32_t>::min(), 0),
       {kRange, "positions[0] is", "-2147483648", "-1048576 to 1048576"}},
      {"positions of another length",
       [](Call& c) { c.options.positions = {places, {4}}; },
       {kShapeError, "positions is", "[4]", "[5]"}},
      {"positions of other batch rows",
       [](Call& c) { c.options.positions = {places, {3, 5}}; },
       {kShapeError, "positions is", "[3,5]", "[2,5]"}},
      {"positions of rank 3",
       [](Call& c) { c.options.positions = {places, {1, 1, 5}}; },
       {kShapeError, "positions is", "[1,1,5]", "[5]"}},
      {"positions without data",
       [](Call& c) { c.options.positions = {nullptr, {5}}; },
       {kInvalid, "positions has no data", "[5]", "elements"}},
      {"positions strided",
       [](Call& c) {
         c.options.positions = {places, {5}};
         c.options.positions.strides[0] = 2;
       },
       {kInvalid, "the last axis of positions", "stride 2", "1"}},
      {"positions and an offset",
       [](Call& c) {
         c.options.positions = {places, {5}};
         c.options.offset = 7;
       },
       {kInvalid, "offset is", "7", "one of the two"}},
  });
}

TEST_CASE("rotary: tables that do not fit are refused", "[rotary][bad-input]") {
  const auto tables = [](std::initializer_list<Index> cos, std::initializer_list<Index> sin) {
    return [cos = TensorView<const float>(numbers, cos),
            sin = TensorView<const float>(numbers, sin)](Call& c) {
      c.options.cos = cos;
      c.options.sin = sin;
    };
  };
  const auto with = [&](std::initializer_list<Index> shape,
                        const std::function<void(Call&)>& spoil) {
    return [set = tables(shape, shape), spoil](Call& c) {
      set(c);
      spoil(c);
    };
  };
  require_all_refused({
      {"no sin",
       [](Call& c) { c.options.cos = {numbers, {9, 4}}; },
       {kInvalid, "cos is given without sin", "", "both"}},
      {"no cos",
       [](Call& c) { c.options.sin = {numbers, {9, 4}}; },
       {kInvalid, "sin is given without cos", "", "both"}},
      {"cos of rank 1", tables({4}, {4}), {kShapeError, "cos is", "[4]", "[*,4]"}},
      {"cos of other pairs", tables({9, 3}, {9, 4}), {kShapeError, "cos is", "[9,3]", "[*,4]"}},
      {"sin of other pairs", tables({9, 4}, {9, 8}), {kShapeError, "sin is", "[9,8]", "[*,4]"}},
      {"sin of other positions",
       tables({9, 4}, {8, 4}),
       {kShapeError, "sin is", "[8,4]", "[9,4] to match cos"}},
      {"sin of another rank",
       tables({2, 5, 4}, {9, 4}),
       {kShapeError, "sin is", "[9,4]", "[*,*,4]"}},
      {"rows for other tokens",
       tables({2, 4, 4}, {2, 4, 4}),
       {kShapeError, "cos is", "[2,4,4]", "[2,5,4]"}},
      {"too few positions",
       tables({4, 4}, {4, 4}),
       {kRange, "offset + tokens - 1 is", "4", "0 to 3, the rows of cos"}},
      {"no positions",
       tables({0, 4}, {0, 4}),
       {kRange, "offset is", "0", "0 to -1, the rows of cos"}},
      {"a negative position",
       with({9, 4}, [](Call& c) { c.options.offset = -1; }),
       {kRange, "offset is", "-1", "0 to 8, the rows of cos"}},
      {"a position past the table",
       with({9, 4},
            [](Call& c) {
              std::fill(std::begin(places), std::end(places), 0);
              places[3] = 9;
              c.options.positions = {places, {5}};
            }),
       {kRange, "positions[3] is", "9", "0 to 8, the rows of cos"}},
      {"cos without data",
       with({9, 4}, [](Call& c) { c.options.cos.data = nullptr; }),
       {kInvalid, "cos has no data", "[9,4]", "elements"}},
      {"sin strided",
       with({9, 4}, [](Call& c) { c.options.sin.strides[1] = 2; }),
       {kInvalid, "the last axis of sin", "stride 2", "1"}},
      {"scaling too",
       with({9, 4}, [](Call& c) { c.options.scaling = kYarn; }),
       {kInvalid, "scaling is given beside cos and sin", "", "one of the two"}},
      {"rows for each token and positions",
       with({2, 5, 4}, [](Call& c) { c.options.positions = {places, {5}}; }),
       {kInvalid, "positions are given", "", "one of the two"}},
      {"rows for each token and an offset",
       with({2, 5, 4}, [](Call& c) { c.options.offset = 3; }),
       {kInvalid, "offset is given", "", "one of the two"}},
  });
}

TEST_CASE("rotary_table: bad input is refused and nothing written", "[rotary][bad-input]") {
  std::vector<float> memory(80, kUntouched);
  const auto refuse = [&](TensorView<float> cos, TensorView<float> sin,
                          const RotaryOptions& options, const Refusal& refusal) {
    require_refused(rotary_table(cos, sin, options), "rotary_table", refusal);
    CHECK(memory == std::vector<float>(80, kUntouched));
  };
  const TensorView<float> cos(memory.data(), {5, 4});
  const TensorView<float> sin(memory.data() + 40, {5, 4});
  TensorView<float> gaps = cos;
  gaps.strides[0] = 5;
  RotaryOptions given;
  given.cos = {numbers, {5, 4}};
  RotaryOptions wide;
  wide.rotary_dim = 10;
  RotaryOptions far;
  far.offset = kMaxPosition;
  RotaryOptions no_base;
  no_base.base = 0.0;
  RotaryOptions by_row;
  by_row.positions = {places, {2, 5}};
  refuse({}, sin, {}, {kShapeError, "cos is", "[]", "[*,*]"});
  refuse(cos, {}, {}, {kShapeError, "sin is", "[]", "[5,4]"});
  refuse(cos, {memory.data(), {4, 4}}, {}, {kShapeError, "sin is", "[4,4]", "[5,4]"});
  refuse({memory.data(), {5, 0}}, {memory.data(), {5, 0}}, {},
         {kRange, "rotary_dim is", "0", "from 2"});
  refuse({nullptr, {5, 4}}, sin, {}, {kInvalid, "cos has no data", "[5,4]", "elements"});
  refuse(cos, {nullptr, {5, 4}}, {}, {kInvalid, "sin has no data", "[5,4]", "elements"});
  refuse(gaps, sin, {}, {kInvalid, "axis 0 of cos", "stride 5", "expected 4"});
  refuse(cos, sin, given, {kInvalid, "options has cos", "", "none"});
  refuse(cos, sin, wide, {kShapeError, "cos is", "[5,4]", "rotary_dim / 2 = 5"});
  refuse(cos, sin, by_row, {kShapeError, "positions is", "[2,5]", "[1,5]"});
  refuse(cos, sin, far, {kRange, "offset + tokens - 1", "1048580", "1048576"});
  refuse(cos, sin, no_base, {kInvalid, "base is", "0", "at least 1"});
}

TEST_CASE("rotary: refusals read as one sentence", "[rotary][bad-input]") {
  Rotary p({.tokens = 3, .d = 5}, 30);
  const auto message = [&] {
    return std::string(
        rotary_embedding(p.x_view(), p.out_view(), p.options, p.workspace).message());
  };
  CHECK(message() ==
        "rotary_embedding: rotary_dim is 5 (left to d), expected an even number from 2 to d = 5");
  p.options.rotary_dim = 4;
  p.options.scaling = {.type = Type::kYarn, .factor = 4.0};
  CHECK(message() == "rotary_embedding: scaling.original_length is 0, expected at least 1");
  p.options.scaling = {};
  p.options.cos = p.options.sin = {numbers, {2, 2}};
  CHECK(message() ==
        "rotary_embedding: offset + tokens - 1 is 2, expected 0 to 1, the rows of cos");
}

}  // namespace
}  // namespace qkv::test
