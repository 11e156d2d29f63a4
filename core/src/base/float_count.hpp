// Counts of floats that may be more than memory holds: they stop at a number that no buffer has room for,
// so that a sum or product which would overflow is refused and not too small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace qkv {

/// More floats than memory can hold.
inline constexpr std::uint64_t kMostFloats =
    std::numeric_limits<std::size_t>::max() / sizeof(float);

/// Of numbers that are not negative, as what follows.
template <class N>
[[nodiscard]] constexpr std::size_t capped(N floats) noexcept {
  const auto n = static_cast<std::uint64_t>(floats);
  return static_cast<std::size_t>(n < kMostFloats ? n : kMostFloats);
}
template <class A, class B>
[[nodiscard]] constexpr std::size_t capped_product(A a, B b) noexcept {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  return y != 0 && x > kMostFloats / y ? capped(kMostFloats) : capped(x * y);
}

/// n columns rounded up to whole panels; in 64 bits, because one key that stands for all of them, with a
/// stride of 0, may be any number of keys.
[[nodiscard]] inline constexpr std::uint64_t whole_panels(std::ptrdiff_t n,
                                                          std::ptrdiff_t panel) noexcept {
  const auto width = static_cast<std::uint64_t>(panel);
  return (static_cast<std::uint64_t>(n) + width - 1) / width * width;
}

/// Of numbers that are capped already.
[[nodiscard]] inline constexpr std::size_t capped_sum(
    std::initializer_list<std::uint64_t> counts) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) {
    sum = capped(sum + count);
  }
  return capped(sum);
}

}  // namespace qkv
