// Blocks of quantised numbers: each number of every type by the formula of the type, for one number at a time.
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/number_conversion.hpp"
#include "random.hpp"
#include "weights/number_blocks.hpp"
#include "weights/weight_rows.hpp"

namespace qkv::test::number_blocks_test {
namespace {

/// A block, and what formulas ask of it.
struct Block {
  const std::byte* bytes;

  /// `count` bits of byte i from bit `low` on.
  [[nodiscard]] int bits(Index i, Index low, int count) const {
    return std::to_integer<int>(bytes[i]) >> low & ((1 << count) - 1);
  }
  [[nodiscard]] float half(Index i) const { return from_f16(read_half(bytes + i)); }
  [[nodiscard]] float whole(Index i) const {
    return static_cast<float>(std::to_integer<std::int8_t>(bytes[i]));
  }
  /// Number i of 32 of four bits: byte i has it in its low half, and number i + 16 in its high one.
  [[nodiscard]] int nibble(Index from, Index i) const {
    return bits(from + i % 16, i < 16 ? 0 : 4, 4);
  }
  [[nodiscard]] int fifth(Index from, Index i) const { return 16 * bits(from + i / 8, i % 8, 1); }
  /// Of 256 numbers, 32 to a run: two bits of number i, of which four runs share 32 bytes.
  [[nodiscard]] int pair(Index from, Index i) const {
    return bits(from + i / 128 * 32 + i % 32, i / 32 % 4 * 2, 2);
  }
  /// Four bits, of which two runs share 32 bytes.
  [[nodiscard]] int of_run(Index from, Index i) const {
    return bits(from + i / 64 * 32 + i % 32, i / 32 % 2 * 4, 4);
  }
};

/// q d s - dmin m of Q4_K and Q5_K, s and m of six bits.
float scaled_k(const Block& b, Index run, int q) {
  const bool low = run < 4;
  const int s = low ? b.bits(4 + run, 0, 6) : b.bits(8 + run, 0, 4) + 16 * b.bits(run, 6, 2);
  const int m = low ? b.bits(8 + run, 0, 6) : b.bits(8 + run, 4, 4) + 16 * b.bits(4 + run, 6, 2);
  const float scale = b.half(0) * static_cast<float>(s);
  const float least = b.half(2) * static_cast<float>(m);
  return scale * static_cast<float>(q) - least;
}

float from_table(int q) {
  constexpr int kTable[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                            1,    13,   25,  38,  53,  69,  89,  113};
  return static_cast<float>(kTable[q]);
}

float of_32(NumberType type, const Block& b, Index i) {
  const auto number = [](int q) { return static_cast<float>(q); };
  switch (type) {
    case NumberType::kQ8_0:
      return b.half(0) * b.whole(2 + i);
    case NumberType::kQ4_0:
      return b.half(0) * number(b.nibble(2, i) - 8);
    case NumberType::kQ4_1:
      return b.half(0) * number(b.nibble(4, i)) + b.half(2);
    case NumberType::kQ5_0:
      return b.half(0) * number(b.nibble(6, i) + b.fifth(2, i) - 16);
    case NumberType::kQ5_1:
      return b.half(0) * number(b.nibble(8, i) + b.fifth(4, i)) + b.half(2);
    default:
      return b.half(0) * from_table(b.nibble(2, i));
  }
}

float of_256(NumberType type, const Block& b, Index i) {
  const auto number = [](int q) { return static_cast<float>(q); };
  const Index run = i / 32;
  const Index group = i / 16;
  if (type == NumberType::kQ2K) {
    const float scale = b.half(80) * number(b.bits(group, 0, 4));
    return scale * number(b.pair(16, i)) - b.half(82) * number(b.bits(group, 4, 4));
  }
  if (type == NumberType::kQ3K) {
    const int low = b.bits(96 + group % 8, group < 8 ? 0 : 4, 4);
    const int high = b.bits(104 + group % 4, group / 4 * 2, 2);
    const float scale = b.half(108) * number(low + 16 * high - 32);
    return scale * number(b.pair(32, i) + 4 * b.bits(i % 32, run, 1) - 4);
  }
  if (type == NumberType::kQ4K) {
    return scaled_k(b, run, b.of_run(16, i));
  }
  if (type == NumberType::kQ5K) {
    return scaled_k(b, run, b.of_run(48, i) + 16 * b.bits(16 + i % 32, run, 1));
  }
  if (type == NumberType::kQ6K) {
    const int low = b.bits(i / 128 * 64 + i % 64, i / 64 % 2 * 4, 4);
    const int high = b.bits(128 + i / 128 * 32 + i % 32, run % 4 * 2, 2);
    return b.half(208) * b.whole(192 + group) * number(low + 16 * high - 32);
  }
  const int low = b.bits(4 + run / 2, run % 2 * 4, 4);
  const int scale = low + 16 * b.bits(2 + run / 4, run % 4 * 2, 2) - 32;
  return b.half(0) * number(scale) * from_table(b.nibble(8 + 16 * run, i % 32));
}

float number_of(NumberType type, const Block& block, Index i) {
  return block_type(type)->inputs == 32 ? of_32(type, block, i) : of_256(type, block, i);
}

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.next() & 0xffU);
  }
  return bytes;
}

TEST_CASE("weights: blocks of every type have the numbers of its formula, bit for bit",
          "[weights][any-isa]") {
  Random random(7);
  int types = 0;
  for (int code = 0; code < 16; ++code) {
    const auto type = static_cast<NumberType>(code);
    const BlockType* blocks = block_type(type);
    if (!blocks) {
      continue;
    }
    ++types;
    CAPTURE(code);
    for (int times = 0; times < 40; ++times) {
      const auto bytes = random_bytes(random, static_cast<std::size_t>(blocks->bytes));
      const Block block{bytes.data()};
      for (Index i = 0; i < blocks->inputs; ++i) {
        NumberRun run{};
        blocks->read(bytes.data(), i / 32, run);
        const Index at = i % 32;
        const float found =
            run.scale[at / 16] * static_cast<float>(run.codes[at]) + run.offset[at / 16];
        const float exact = number_of(type, block, i);
        REQUIRE((std::isnan(exact)
                     ? std::isnan(found)
                     : std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(exact)));
      }
    }
    CHECK(row_bytes(type, 1) == static_cast<std::size_t>(blocks->bytes));
    CHECK(row_bytes(type, 257) % static_cast<std::size_t>(blocks->bytes) == 0);
  }
  CHECK(types == 12);
}

TEST_CASE("weights: rows of blocks become float32 by the formula of their type, bit for bit",
          "[weights][any-isa]") {
  Random random(8);
  for (int code = 0; code < 16; ++code) {
    const auto type = static_cast<NumberType>(code);
    const BlockType* blocks = block_type(type);
    if (!blocks) {
      continue;
    }
    CAPTURE(code);
    const Index width = 2 * blocks->inputs;
    int rows = 0;
    for (int times = 0; times < 40; ++times) {
      const auto bytes = random_bytes(random, row_bytes(type, width));
      std::vector<float> found(static_cast<std::size_t>(width));
      // Random bytes may be a scale that is not finite, which is refused.
      if (!read_rows(
              {.type = type, .data = bytes.data(), .layout = WeightLayout::kInOut, .rows = 1},
              width, found.data())) {
        continue;
      }
      ++rows;
      for (Index i = 0; i < width; ++i) {
        const Block block{bytes.data() + i / blocks->inputs * blocks->bytes};
        const float exact = number_of(type, block, i % blocks->inputs);
        REQUIRE(std::bit_cast<std::uint32_t>(found[static_cast<std::size_t>(i)]) ==
                std::bit_cast<std::uint32_t>(exact));
      }
    }
    CHECK(rows > 10);
  }
}

}  // namespace
}  // namespace qkv::test::number_blocks_test
