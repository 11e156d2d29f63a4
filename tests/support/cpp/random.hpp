// Numbers for tests, the same on every platform: std distributions are not.
#pragma once

#include <cstdint>
#include <vector>

#include "qkv/tensor_view.hpp"

namespace qkv::test {

/// SplitMix64 (Steele, Lea & Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// Uniform in [-limit, limit), a multiple of limit / 2^23. The default has variance 1.
  float uniform(float limit = 1.7320508F) {
    const auto bits = static_cast<std::int32_t>(next() >> 40U);  // 0 .. 2^24 - 1
    return static_cast<float>(bits - (1 << 23)) * 0x1p-23F * limit;
  }
  /// Uniform in 0 .. n - 1.
  Index below(Index n) { return static_cast<Index>(next() % static_cast<std::uint64_t>(n)); }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11U) * 0x1p-53 < probability;
  }
  template <class T, std::size_t N>
  T pick(const T (&choices)[N]) {
    return choices[below(static_cast<Index>(N))];
  }

 private:
  std::uint64_t state_;
};

inline std::vector<float> random_floats(Random& random, Index count, float limit = 1.7320508F) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = random.uniform(limit);
  }
  return values;
}

}  // namespace qkv::test
