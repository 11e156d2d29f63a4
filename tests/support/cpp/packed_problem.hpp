// Weights in a file of any type and layout, packed in any format, and what the packed matrix must then hold.
#pragma once

#include <cstring>
#include <vector>

#include "isa/isa_dispatch.hpp"
#include "kernels/number_conversion.hpp"
#include "random.hpp"
#include "weights/weight_rows.hpp"

namespace qkv::test {

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& to, T value) {
  std::byte bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

/// Rows of a file that owns its bytes, and the numbers in them. Rows begin at odd addresses.
struct FileMatrix {
  FileMatrix(NumberType of, WeightLayout stored, Index rows_of_file, Index columns,
             std::uint64_t seed)
      : type(of), layout(stored), rows(rows_of_file), width(columns) {
    Random random(seed);
    blocks = (width + 31) / 32;
    scale_stride = by_inputs() ? width : blocks;
    bytes.push_back(std::byte{0});
    for (Index i = 0; by_inputs() && i < (rows + 31) / 32 * width; ++i) {
      append(scales, random_scale(random));
    }
    for (Index r = 0; r < rows; ++r) {
      const std::size_t before = bytes.size();
      for (Index b = 0; b < blocks; ++b) {
        if (type != NumberType::kQ4K) {
          add_block(random, r, 32 * b);
        } else if (b % 8 == 0) {
          add_large_block(random, std::min(Index{256}, width - 32 * b));
        }
      }
      row_bytes = static_cast<Index>(bytes.size() - before);
    }
    scales.insert(scales.begin(), std::byte{0});
  }

  [[nodiscard]] FileRows all() const {
    return {.type = type,
            .data = bytes.data() + 1,
            .row_bytes = row_bytes,
            .scales = scales.data() + 1,
            .scale_stride = scale_stride,
            .layout = layout,
            .first = 0,
            .rows = rows};
  }
  /// Rows [first, first + count), at the same place of the matrix.
  [[nodiscard]] FileRows some(Index first, Index count) const {
    FileRows part = all();
    part.data += first * row_bytes;
    part.scales += 2 * (by_inputs() ? first / 32 : first) * scale_stride;
    part.first = first;
    part.rows = count;
    return part;
  }
  [[nodiscard]] Index in() const { return layout == WeightLayout::kInOut ? rows : width; }
  [[nodiscard]] Index out() const { return layout == WeightLayout::kInOut ? width : rows; }
  /// The weight of input i and output j.
  [[nodiscard]] float at(Index i, Index j) const {
    const Index index = layout == WeightLayout::kInOut ? i * width + j : j * width + i;
    return numbers[static_cast<std::size_t>(index)];
  }

  NumberType type;
  WeightLayout layout;
  Index rows, width, blocks = 0, scale_stride = 0, row_bytes = 0;
  Bytes bytes, scales;
  std::vector<float> numbers;  ///< [rows, width], exact

 private:
  /// A scale belongs to 32 rows of a column, not to 32 numbers of a row.
  [[nodiscard]] bool by_inputs() const {
    return type == NumberType::kInt8 && layout == WeightLayout::kInOut;
  }
  /// Subnormal scales, and those of either sign.
  static std::uint16_t random_scale(Random& random) {
    return static_cast<std::uint16_t>(random.next() % 0x3000U | (random.next() & 0x8000U));
  }
  /// A block of 4 bits: d (q - 8), or d q + m. Byte i has number i in its low half and number i + 16 in its high one.
  void add_nibbles(Random& random, Index count) {
    const float d = append_half(random);
    const bool has_least = type == NumberType::kQ4_1;
    const float m = has_least ? append_half(random) : -0.0F;
    std::uint8_t both[16];
    for (std::uint8_t& byte : both) {
      byte = static_cast<std::uint8_t>(random.next());
      append(bytes, byte);
    }
    for (Index i = 0; i < count; ++i) {
      const int q = both[i % 16] >> (i < 16 ? 0 : 4) & 15;
      numbers.push_back(d * static_cast<float>(has_least ? q : q - 8) + m);
    }
  }
  /// A block of Q4_K, by ggml's description: d f q - dmin g, where f and g have six bits for each 32 numbers.
  void add_large_block(Random& random, Index count) {
    const float d = append_half(random);
    const float least = append_half(random);
    std::uint8_t factors[12];
    std::uint8_t both[128];
    for (std::uint8_t& byte : factors) {
      byte = static_cast<std::uint8_t>(random.next());
      append(bytes, byte);
    }
    for (std::uint8_t& byte : both) {
      byte = static_cast<std::uint8_t>(random.next());
      append(bytes, byte);
    }
    for (Index i = 0; i < count; ++i) {
      const Index run = i / 32;
      const int f =
          run < 4 ? factors[run] & 63 : (factors[run + 4] & 15) + 16 * (factors[run - 4] >> 6);
      const int g =
          run < 4 ? factors[run + 4] & 63 : (factors[run + 4] >> 4) + 16 * (factors[run] >> 6);
      const int q = both[run / 2 * 32 + i % 32] >> (run % 2 == 0 ? 0 : 4) & 15;
      numbers.push_back(d * static_cast<float>(f) * static_cast<float>(q) -
                        least * static_cast<float>(g));
    }
  }
  float append_half(Random& random) {
    const std::uint16_t half = random_scale(random);
    append(bytes, half);
    return from_f16(half);
  }
  /// Numbers [first, first + 32) of row r, as far as they exist.
  void add_block(Random& random, Index r, Index first) {
    const Index count = std::min(Index{32}, width - first);
    if (type == NumberType::kQ4_0 || type == NumberType::kQ4_1) {
      add_nibbles(random, count);
      return;
    }
    if (type == NumberType::kQ8_0 || type == NumberType::kInt8) {
      std::uint16_t scale = random_scale(random);
      if (!by_inputs()) {
        append(type == NumberType::kQ8_0 ? bytes : scales, scale);
      }
      for (Index i = 0; i < (type == NumberType::kQ8_0 ? 32 : count); ++i) {
        if (by_inputs()) {
          scale = read_half(scales.data() + 2 * (r / 32 * width + first + i));
        }
        const auto q = static_cast<std::int8_t>(random.next());
        append(bytes, q);
        if (i < count) {
          numbers.push_back(from_f16(scale) * static_cast<float>(q));
        }
      }
      return;
    }
    for (Index i = 0; i < count; ++i) {
      const float number = random.uniform();
      if (type == NumberType::kF32) {
        append(bytes, number);
        numbers.push_back(number);
      } else if (type == NumberType::kF16) {
        append(bytes, to_f16(number));
        numbers.push_back(from_f16(to_f16(number)));
      } else {
        append(bytes, to_bf16(number));
        numbers.push_back(from_bf16(to_bf16(number)));
      }
    }
  }
};

inline constexpr NumberType kNumberTypes[] = {
    NumberType::kF32,  NumberType::kF16,  NumberType::kBf16, NumberType::kQ8_0,
    NumberType::kInt8, NumberType::kQ4_0, NumberType::kQ4_1};
inline constexpr WeightFormat kWeightFormats[] = {WeightFormat::kF32,  WeightFormat::kBf16,
                                                  WeightFormat::kInt8, WeightFormat::kF16,
                                                  WeightFormat::kInt4, WeightFormat::kQ4K};
/// Whether products with weights of this format round the rows.
inline bool rounds_rows(WeightFormat format) {
  return format == WeightFormat::kInt8 || format == WeightFormat::kInt4 ||
         format == WeightFormat::kQ4K;
}
/// Whether a format takes rows of that type and layout.
inline bool takes(WeightFormat format, NumberType type, WeightLayout layout) {
  return format != WeightFormat::kQ4K ||
         (type == NumberType::kQ4K && layout == WeightLayout::kOutIn);
}
/// The largest whole number of a quantised row: what meets weights of 8 bits has 7 on some instruction sets.
int row_most(WeightFormat format);

/// That file packed; fails the test when it cannot be.
PackedLinear packed_from(const FileMatrix& file, WeightFormat format, bool bias = false);

/// The weights that a packed matrix has by its own account, [out, in].
std::vector<float> weights_of(const PackedLinear& packed);

/// x W + b on the threads of `pool`, [rows, out].
std::vector<float> product(const PackedLinear& packed, const std::vector<float>& x,
                           ThreadPool* pool = nullptr);

}  // namespace qkv::test
