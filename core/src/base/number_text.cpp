#include "base/number_text.hpp"

#include <cmath>
#include <cstdlib>

namespace qkv {
namespace {

/// A positive finite number as digits / 100000 * 10^exponent, with six digits.
struct SixDigits {
  std::uint64_t digits;
  int exponent;
};

/// Scaling costs 2e-15 of the value, 2e-9 of the last digit: what is so close to halfway between two numbers of
/// six digits may become either.
SixDigits six_digits(double value) noexcept {
  constexpr struct {
    int power;
    double scale;
  } kSteps[] = {{256, 1e256}, {128, 1e128}, {64, 1e64}, {32, 1e32}, {16, 1e16},
                {8, 1e8},     {4, 1e4},     {2, 1e2},   {1, 1e1}};
  int exponent = 5;
  for (const auto& [power, scale] : kSteps) {
    if (value >= 1e6 && value / scale >= 1e5) {
      value /= scale;
      exponent += power;
    } else if (value < 1e5 && value * scale < 1e6) {
      value *= scale;
      exponent -= power;
    }
  }
  auto digits = static_cast<std::uint64_t>(value);
  const double rest = value - static_cast<double>(digits);
  digits += rest > 0.5 || (rest == 0.5 && digits % 2 != 0) ? 1U : 0U;
  return digits < 1000000U ? SixDigits{digits, exponent} : SixDigits{100000U, exponent + 1};
}

}  // namespace

NumberText::NumberText(double value) noexcept {
  if (std::isnan(value)) {
    put("NaN");
    return;
  }
  put(std::signbit(value) ? "-" : "");
  value = std::fabs(value);
  if (std::isinf(value) || value == 0.0) {
    put(value == 0.0 ? "0" : "Infinity");
    return;
  }
  SixDigits six = six_digits(value);
  int count = 6;
  for (; six.digits % 10 == 0; six.digits /= 10) {
    --count;
  }
  if (six.exponent < -4 || six.exponent > 5) {
    put_point(six.digits, count, 1);
    put(six.exponent < 0 ? "e-" : "e+");
    put_whole(static_cast<std::uint64_t>(std::abs(six.exponent)), 2);
    return;
  }
  put_point(six.digits, count, six.exponent + 1);
}

void NumberText::put_whole(std::uint64_t value, int least_digits) noexcept {
  char digits[20];
  int count = 0;
  for (; value > 0 || count < least_digits; value /= 10) {
    digits[count++] = static_cast<char>('0' + value % 10);
  }
  while (count > 0) {
    text_[length_++] = digits[--count];
  }
}

/// `count` digits with the point after the first `whole` of them.
void NumberText::put_point(std::uint64_t digits, int count, int whole) noexcept {
  for (; count < whole; ++count) {
    digits *= 10;
  }
  if (whole <= 0) {
    put("0.");
    put_whole(digits, count - whole);
    return;
  }
  std::uint64_t unit = 1;
  for (int i = whole; i < count; ++i) {
    unit *= 10;
  }
  put_whole(digits / unit, 1);
  if (count > whole) {
    put(".");
    put_whole(digits % unit, count - whole);
  }
}

}  // namespace qkv
