// What a fuzz target reads its call from: numbers made of the bytes that libFuzzer gives.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "qkv/tensor_view.hpp"
#include "random.hpp"

namespace qkv::fuzz {

/// How the numbers of an array are chosen.
enum class Values : std::uint8_t {
  kUsual,    ///< of variance 1
  kWide,     ///< of any size, but finite
  kSpecial,  ///< usual ones among zeros, subnormals, the greatest, infinities and NaN
  kBits,     ///< any bits
};

/// Bytes from the front to the back, and zeros after that: a short input is a simple call.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  std::uint32_t word() {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
      word = word << 8U | byte();
    }
    return word;
  }
  std::uint64_t long_word() {
    const std::uint64_t high = word();
    return high << 32U | word();
  }
  /// least .. most, `least` where the input ends. At most 256 apart.
  Index in(Index least, Index most) { return least + byte() % (most - least + 1); }
  /// In `percent` of 100 cases; never where the input ends.
  bool chance(int percent) { return byte() > 255 - percent * 255 / 100; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[byte() % choices.size()];
  }
  /// An Index to frighten: the ends of their range, powers of two and what lies beside them.
  Index extreme() {
    constexpr Index kMost = std::numeric_limits<Index>::max();
    const Index power = Index{1} << (byte() % 63);
    return pick<Index>({-1, 0, kMost, kMost - 1, std::numeric_limits<Index>::min(), power,
                        power - 1, power + 1, -power, kMost / 2, kMost / 4 + 1});
  }
  float real() {
    random_ = Random(word());
    return one(pick({Values::kUsual, Values::kWide, Values::kSpecial, Values::kBits}));
  }
  double real64() {
    return chance(30) ? std::bit_cast<double>(long_word()) : static_cast<double>(real());
  }

  /// `count` numbers, grown from a seed: the input stays short and every byte of it means something.
  std::vector<float> floats(std::size_t count) {
    const Values values = pick({Values::kUsual, Values::kUsual, Values::kUsual, Values::kWide,
                                Values::kSpecial, Values::kBits});
    const Random kept = random_;
    random_ = Random(word());
    std::vector<float> all(count);
    for (float& x : all) {
      x = one(values);
    }
    random_ = kept;
    return all;
  }

 private:
  using Random = test::Random;

  float one(Values values) {
    switch (values) {
      case Values::kUsual:
        return random_.uniform();
      case Values::kWide:
        return std::bit_cast<float>(random_word() % 0x7F800000U | (random_word() & 0x80000000U));
      case Values::kBits:
        return std::bit_cast<float>(random_word());
      case Values::kSpecial:
        break;
    }
    using Limits = std::numeric_limits<float>;
    const float special[] = {0.0F,
                             -0.0F,
                             Limits::denorm_min(),
                             -Limits::denorm_min(),
                             Limits::min(),
                             Limits::max(),
                             Limits::lowest(),
                             Limits::infinity(),
                             -Limits::infinity(),
                             std::bit_cast<float>(0x7FC12345U),
                             std::bit_cast<float>(0xFF812345U)};
    return random_.chance(0.8) ? random_.uniform() : random_.pick(special);
  }
  std::uint32_t random_word() { return static_cast<std::uint32_t>(random_.next() >> 32U); }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
  Random random_{0};
};

/// A target made of calls: the first byte says which, and the call reads what follows. One that is listed
/// twice comes twice as often.
inline int call_one_of(std::initializer_list<void (*)(Input&)> calls, const std::uint8_t* data,
                       std::size_t size) {
  Input input(data, size);
  input.pick(calls)(input);
  return 0;
}

}  // namespace qkv::fuzz
