// Numbers as weights and files have them, from the definitions of the formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qkv/linear.hpp"
#include "qkv/number_format.hpp"

namespace qkv::test {

/// A count or a place as the standard library wants it.
inline std::size_t to_size(Index n) { return static_cast<std::size_t>(n); }

/// Two bytes as numbers.
double number_of_half(std::uint16_t bits);
double number_of_bfloat(std::uint16_t bits);
/// The nearest of the format, the even one of two.
std::uint16_t nearest_half(double x);
std::uint16_t nearest_bfloat(double x);

/// A block of at most 32 numbers as 8-bit ones: d round(w / d), ties to even, with d = float16(max |w| / 127),
/// rounded up below 2^-14.
struct Int8Block {
  std::uint16_t scale = 0;
  std::vector<std::int8_t> numbers;
  [[nodiscard]] double number(std::size_t i) const { return number_of_half(scale) * numbers[i]; }
};
Int8Block int8_block(const std::vector<double>& w);

/// A block of at most 32 numbers as 4-bit ones: o + d round((w - o) / d), ties to even, with o = float16(min w) and
/// d = float16((max w - o) / 15), rounded up below 2^-14.
void round_to_nibbles(std::vector<double>& w);

/// What an array keeps of `values`: a matrix [in, out], or with `by_rows` a table whose rows are inputs.
struct Matrix {
  std::vector<float> values;
  Index rows, columns;
};
std::vector<double> kept(const Matrix& m, WeightFormat format, bool by_rows);

}  // namespace qkv::test
