// Matrices as files of models have them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model_numbers.hpp"
#include "qkv/language_model.hpp"

namespace qkv::test {

/// A matrix as a file has it: rows of one type, with gaps between them, at an odd address.
class InFile {
 public:
  /// `rows` of `columns` numbers; quantised ones in blocks along the row, or with `across` along the columns.
  InFile(const Matrix& m, NumberType type, bool across = false)
      : type_(type), rows_(m.rows), columns_(m.columns), exact(m.values.size()) {
    if (type == NumberType::kInt8 || type == NumberType::kQ8_0) {
      quantize(m, across);
    } else {
      for (std::size_t i = 0; i < m.values.size(); ++i) {
        exact[i] = encode(static_cast<double>(m.values[i]));
      }
    }
    row_bytes_ = static_cast<Index>(numbers_.size()) / rows_;
    for (Index r = 0; r < rows_; ++r) {
      bytes_.insert(bytes_.end(), numbers_.begin() + r * row_bytes_,
                    numbers_.begin() + (r + 1) * row_bytes_);
      bytes_.insert(bytes_.end(), kGap, std::uint8_t{0xAB});
    }
    bytes_.insert(bytes_.begin(), std::uint8_t{0xCD});
  }

  /// Rows [first, first + count).
  [[nodiscard]] ModelRows rows(Index first, Index count, WeightLayout layout) const {
    ModelRows made{.type = type_,
                   .data = bytes_.data() + 1 + first * (row_bytes_ + kGap),
                   .count = count,
                   .row_bytes = row_bytes_ + kGap,
                   .layout = layout};
    if (!scales_.empty()) {
      made.scales = scales_.data() + (across_ ? first / 32 : first) * scale_stride_;
      made.scale_stride = scale_stride_;
    }
    return made;
  }

 private:
  static constexpr Index kGap = 3;

  template <class T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    numbers_.insert(numbers_.end(), bytes, bytes + sizeof(T));
  }
  double encode(double x) {
    if (type_ == NumberType::kF32) {
      put(static_cast<float>(x));
      return x;
    }
    const std::uint16_t bits = type_ == NumberType::kF16 ? nearest_half(x) : nearest_bfloat(x);
    put(bits);
    return type_ == NumberType::kF16 ? number_of_half(bits) : number_of_bfloat(bits);
  }
  void quantize(const Matrix& m, bool across) {
    across_ = across;
    const Index inputs = across ? rows_ : columns_;
    const Index outputs = across ? columns_ : rows_;
    const Index blocks = (inputs + 31) / 32;
    scale_stride_ = (across ? outputs : blocks) + 1;
    std::vector<std::int8_t> numbers(m.values.size());
    scales_.assign(static_cast<std::size_t>(scale_stride_ * (across ? blocks : outputs)), 0x7E00);
    for (Index o = 0; o < outputs; ++o) {
      for (Index block = 0; block < blocks; ++block) {
        const auto at = [&](Index i) {
          return static_cast<std::size_t>(across ? (block * 32 + i) * columns_ + o
                                                 : o * columns_ + block * 32 + i);
        };
        const Index width = std::min<Index>(32, inputs - block * 32);
        std::vector<double> of;
        for (Index i = 0; i < width; ++i) {
          of.push_back(static_cast<double>(m.values[at(i)]));
        }
        Int8Block made = int8_block(of);
        made.numbers[0] = -128;  // which no rounding makes, and files may have
        scales_[static_cast<std::size_t>(across ? block * scale_stride_ + o
                                                : o * scale_stride_ + block)] = made.scale;
        for (Index i = 0; i < width; ++i) {
          numbers[at(i)] = made.numbers[static_cast<std::size_t>(i)];
          exact[at(i)] = made.number(static_cast<std::size_t>(i));
        }
        if (type_ == NumberType::kQ8_0) {
          put(made.scale);
          numbers_.insert(numbers_.end(), made.numbers.begin(), made.numbers.end());
        }
      }
    }
    if (type_ == NumberType::kInt8) {
      numbers_.assign(numbers.begin(), numbers.end());
    } else {
      scales_.clear();
    }
  }

  NumberType type_;
  Index rows_, columns_;
  bool across_ = false;
  Index row_bytes_ = 0;
  Index scale_stride_ = 0;
  std::vector<std::uint8_t> numbers_, bytes_;
  std::vector<std::uint16_t> scales_;

 public:
  std::vector<double> exact;  ///< the numbers that the bytes stand for
};

}  // namespace qkv::test
