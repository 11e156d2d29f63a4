// A number as text: whole numbers in full, others with at most six digits.
#pragma once

#include <cstdint>

namespace qkv {

/// "0", "-0.5", "1.5e-07", "NaN", "-Infinity".
class NumberText {
 public:
  explicit NumberText(std::uint64_t value) noexcept { put_whole(value, 1); }
  explicit NumberText(double value) noexcept;
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  void put(const char* text) noexcept {
    while (*text != '\0') {
      text_[length_++] = *text++;
    }
  }
  void put_whole(std::uint64_t value, int least_digits) noexcept;
  void put_point(std::uint64_t digits, int count, int whole) noexcept;

  char text_[24] = {};  ///< 20 digits of 64 bits, and a zero
  int length_ = 0;
};

}  // namespace qkv
