// Rotary embeddings: against the oracle, as rotations, and through tables.
#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "rotary_problem.hpp"

namespace qkv::test::rotary_test {
namespace {

using Type = RotaryScaling::Type;

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
           RotaryScaling{.type = Type::kLlama3, .factor = 8.0, .original_length = 8192},
           RotaryScaling{.type = Type::kLlama3, .factor = 1.0, .original_length = 64},
           RotaryScaling{.type = Type::kLlama3,
                         .factor = 32.0,
                         .original_length = 40,
                         .low_frequency_factor = 0.5,
                         .high_frequency_factor = 30.0},
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

TEST_CASE("rotary: a factor for each pair is within its bound", "[rotary]") {
  // The first pair turns by 2 from one position to the next, which is the most.
  static const std::vector<float> factors = {0.5F, 1.5F, 4.0F, 0.25F};
  Quantity error("rotary_embedding scaled");
  std::uint64_t seed = 200;
  for (const std::optional<double> attention : {std::optional<double>{}, std::optional{1.25}}) {
    for (Index offset : {Index{0}, Index{30000}, kMaxPosition - 8}) {
      Rotary p({.tokens = 9, .d = 8}, seed++);
      p.options.scaling = {
          .type = Type::kFactors, .attention_factor = attention, .factors = {factors.data(), {4}}};
      p.options.offset = offset;
      p.compare(error);
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

// Llama 3.1. Wavelengths up to 8192 / 4 stay, which are those of the pairs up to 28; those above 8192 are divided by 8, from
// pair 35 on; the values between come from the formula, in another language.
TEST_CASE("rotary: Llama 3's scaling as published checkpoints have it", "[rotary]") {
  RotaryOptions o;
  o.base = 5e5;
  const Table none = table_of(2, 64, o);
  o.scaling = {.type = Type::kLlama3, .factor = 8.0, .original_length = 8192};
  const Table scaled = table_of(2, 64, o);
  const auto angle = [](const Table& of, std::size_t i) {
    return std::asin(static_cast<double>(of.sin[64 + i]));
  };
  for (std::size_t i = 0; i < 64; ++i) {
    CAPTURE(i);
    const double ratio = angle(scaled, i) / angle(none, i);
    CHECK((i <= 28   ? std::abs(ratio - 1) < 4e-7
           : i >= 35 ? std::abs(ratio - 0.125) < 4e-7
                     : ratio > 0.125 && ratio < 1));
  }
  CHECK(std::abs(angle(scaled, 29) - 0.002166570763503359) < 1e-9);
  CHECK(std::abs(angle(scaled, 32) - 0.0005248461609929547) < 1e-9);
  CHECK(std::abs(angle(scaled, 34) - 0.0001785078127679964) < 1e-9);
  CHECK(scaled.cos[0] == 1.0F);
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

}  // namespace
}  // namespace qkv::test::rotary_test
