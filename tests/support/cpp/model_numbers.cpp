#include "model_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace qkv::test {
namespace {

/// The number nearest to x of those with `digits` binary digits and exponents from `least` on.
double rounded(double x, int digits, int least) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - digits, least - digits + 1));
  return std::nearbyint(x / unit) * unit;
}

}  // namespace

double number_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10U & 31;
  const int fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15U ? -size : size;
}

std::uint16_t nearest_half(double x) {
  const double size = rounded(std::abs(x), 11, -14);
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  if (size == 0) {
    return sign;
  }
  if (!(size < 65520)) {
    return static_cast<std::uint16_t>(sign | 0x7C00);
  }
  int exponent = 0;
  std::frexp(size, &exponent);
  const int field = std::max(exponent + 14, 1);  // of a number with a leading 1
  const auto digits = static_cast<int>(std::ldexp(size, 25 - field));
  return static_cast<std::uint16_t>(sign | ((field << 10) + digits - 1024));
}

double number_of_bfloat(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16U));
}

std::uint16_t nearest_bfloat(double x) {
  const auto near = static_cast<float>(rounded(x, 8, -126));
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(near) >> 16U);
}

Int8Block int8_block(const std::vector<double>& w) {
  double most = 0.0;
  for (const double x : w) {
    most = std::max(most, std::abs(x));
  }
  Int8Block block;
  block.scale = nearest_half(most / 127);
  if (number_of_half(block.scale) < 0x1p-14 && number_of_half(block.scale) * 127 < most) {
    ++block.scale;
  }
  const double d = number_of_half(block.scale);
  for (const double x : w) {
    block.numbers.push_back(
        static_cast<std::int8_t>(d == 0 ? 0 : std::nearbyint(std::clamp(x / d, -127.0, 127.0))));
  }
  return block;
}

void round_to_nibbles(std::vector<double>& w) {
  const auto [least, most] = std::minmax_element(w.begin(), w.end());
  const double o = number_of_half(nearest_half(*least));
  const double span = std::max(*most - o, 0.0);
  double d = number_of_half(nearest_half(span / 15));
  if (d < 0x1p-14 && d * 15 < span) {
    d += 0x1p-24;
  }
  for (double& x : w) {
    x = o + d * (d == 0 ? 0 : std::nearbyint(std::clamp((x - o) / d, 0.0, 15.0)));
  }
}

std::vector<double> kept(const Matrix& m, WeightFormat format, bool by_rows) {
  std::vector<double> all(m.values.begin(), m.values.end());
  for (double& x : all) {
    x = format == WeightFormat::kBf16  ? number_of_bfloat(nearest_bfloat(x))
        : format == WeightFormat::kF16 ? number_of_half(nearest_half(x))
                                       : x;
  }
  const bool in_blocks = format == WeightFormat::kInt8 || format == WeightFormat::kInt4;
  const Index inputs = by_rows ? m.columns : m.rows;
  const Index outputs = by_rows ? m.rows : m.columns;
  for (Index o = 0; o < outputs && in_blocks; ++o) {
    const auto place = [&](Index i) { return to_size(by_rows ? o * inputs + i : i * outputs + o); };
    for (Index first = 0; first < inputs; first += 32) {
      std::vector<double> numbers;
      for (Index i = first; i < std::min(inputs, first + 32); ++i) {
        numbers.push_back(all[place(i)]);
      }
      if (format == WeightFormat::kInt4) {
        round_to_nibbles(numbers);
      } else {
        const Int8Block block = int8_block(numbers);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          numbers[i] = block.number(i);
        }
      }
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        all[place(first + static_cast<Index>(i))] = numbers[i];
      }
    }
  }
  return all;
}

}  // namespace qkv::test
