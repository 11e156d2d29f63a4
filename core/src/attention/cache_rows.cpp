#include "attention/cache_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/number_conversion.hpp"

namespace qkv {
namespace {

using kernels::kCacheGroup;
using kernels::KeyFormat;
using kernels::kKeyBlock;
using kernels::kWordNumbers;

/// Numbers of 8 bits that share a scale.
struct CacheGroup {
  std::uint16_t scale;  ///< bfloat16
  std::int8_t numbers[kernels::kCacheGroup];
};

/// The smallest scale: times 2^-24, by which kernels multiply it, it is not subnormal.
constexpr float kSmallestScale = 0x1p-96F;

/// As CacheFormat::kInt8 says. The largest magnitude, 127 scales within 2^-8, becomes 127 or -127, so none is cut off, and what
/// was read out is rounded to itself.
CacheGroup round_group(const float* x, Index count) noexcept {
  CacheGroup group{};
  std::uint32_t most =
      0;  // magnitudes are in the order of their bits, NaN above infinity above all numbers
  for (Index i = 0; i < count; ++i) {
    const std::uint32_t size = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffU;
    most = size > most ? size : most;
  }
  if (most >= 0x7f800000U) {
    group.scale = 0x7fc0U;
    return group;
  }
  const std::uint16_t scale = to_bf16(std::bit_cast<float>(most) / 127.0F);
  if (from_bf16(scale) < kSmallestScale) {
    return group;
  }
  group.scale = scale;
  const float inverse = 1.0F / from_bf16(scale);
  constexpr float kShifter =
      12582912.0F;  // a sum with it is rounded to a whole number, in the low bits
  for (Index i = 0; i < count; ++i) {
    group.numbers[i] =
        static_cast<std::int8_t>(std::bit_cast<std::uint32_t>(x[i] * inverse + kShifter));
  }
  return group;
}

void write_half(float* memory, Index place, std::uint16_t half) noexcept {
  std::memcpy(reinterpret_cast<std::byte*>(memory) + 2 * place, &half, sizeof half);
}
std::uint16_t half_in(const float* memory, Index place) noexcept {
  return read_half(reinterpret_cast<const std::byte*>(memory) + 2 * place);
}

/// The two numbers of a lane.
std::uint32_t both(float first, float second) noexcept {
  return std::uint32_t{to_bf16(first)} | std::uint32_t{to_bf16(second)} << 16U;
}

/// Where a value of 8 bits is: its scales, and the words of a panel's columns.
struct ByteRow {
  ByteRow(const CacheRows& rows, Index at) noexcept
      : block(at / kKeyBlock * kernels::int8_value_block(rows.d_v, rows.blocks().width())),
        row(at % kKeyBlock),
        words(block + kernels::int8_value_words(rows.d_v) + row / kWordNumbers * rows.panel),
        panel(rows.panel) {}
  /// In halves from the start of the head.
  [[nodiscard]] Index scale(Index group) const noexcept {
    return 2 * block + group * kKeyBlock + row;
  }
  /// In bytes, of the panel's first column; the next one's is a word further.
  [[nodiscard]] Index number(Index column) const noexcept {
    return 4 * (words + column / panel * kernels::int8_value_panel(panel)) + row % kWordNumbers;
  }
  Index block, row, words, panel;
};

}  // namespace

Index saved_row_bytes(KeyFormat format, Index width) noexcept {
  switch (format) {
    case KeyFormat::kBf16:
      return 2 * width;
    case KeyFormat::kInt8:
      return width + 2 * ((width + kCacheGroup - 1) / kCacheGroup);
    case KeyFormat::kF32:
      break;
  }
  return 4 * width;
}

void save_row(KeyFormat format, Index width, const float* row, std::byte* to) noexcept {
  if (format == KeyFormat::kF32) {
    std::memcpy(to, row, static_cast<std::size_t>(width) * sizeof(float));
    return;
  }
  for (Index first = 0; format == KeyFormat::kInt8 && first < width; first += kCacheGroup) {
    const Index count = std::min(kCacheGroup, width - first);
    const CacheGroup group = round_group(row + first, count);
    std::memcpy(to, &group.scale, sizeof group.scale);
    std::memcpy(to + 2, group.numbers, static_cast<std::size_t>(count));
    to += 2 + count;
  }
  for (Index i = 0; format == KeyFormat::kBf16 && i < width; ++i) {
    const std::uint16_t half = to_bf16(row[i]);
    std::memcpy(to + 2 * i, &half, sizeof half);
  }
}

void read_saved_row(KeyFormat format, Index width, const std::byte* from, float* row) noexcept {
  if (format == KeyFormat::kF32) {
    std::memcpy(row, from, static_cast<std::size_t>(width) * sizeof(float));
    return;
  }
  for (Index i = 0; i < width; ++i) {
    if (format == KeyFormat::kBf16) {
      row[i] = from_bf16(read_half(from + 2 * i));
    } else {
      const std::byte* group = from + i / kCacheGroup * (2 + kCacheGroup);
      const auto number = static_cast<std::int8_t>(group[2 + i % kCacheGroup]);
      row[i] = from_bf16(read_half(group)) * static_cast<float>(number);
    }
  }
}

void CacheRows::write_key(float* head, Index at, const float* key) const noexcept {
  const Index column = at % panel;
  if (format == KeyFormat::kInt8) {
    float* words = head + at / panel * kernels::int8_key_panel(d_k, panel);
    for (Index first = 0; first < d_k; first += kCacheGroup) {
      const CacheGroup group = round_group(key + first, std::min(kCacheGroup, d_k - first));
      write_half(words, kernels::half_column(column, panel), group.scale);
      words += kernels::int8_key_words(panel);
      for (Index d = 0; d < kCacheGroup && first + d < d_k; d += kWordNumbers, words += panel) {
        std::memcpy(words + column, group.numbers + d, kWordNumbers);
      }
    }
    return;
  }
  float* from = head + (at - column) * d_k / (format == KeyFormat::kBf16 ? 2 : 1);
  const Index place = kernels::half_column(column, panel);
  for (Index d = 0; d < d_k; ++d) {
    if (format == KeyFormat::kBf16) {
      write_half(from, place + d * panel, to_bf16(key[d]));
    } else {
      from[column + d * panel] = key[d];
    }
  }
}

void CacheRows::read_key(const float* head, Index at, float* key) const noexcept {
  const Index column = at % panel;
  const Index place = kernels::half_column(column, panel);
  const float* from = head + at / panel * key_floats(panel);
  for (Index d = 0; d < d_k; ++d) {
    switch (format) {
      case KeyFormat::kF32:
        key[d] = from[column + d * panel];
        break;
      case KeyFormat::kBf16:
        key[d] = from_bf16(half_in(from, place + d * panel));
        break;
      case KeyFormat::kInt8: {
        const float* group = from + kernels::int8_key_group(d / kCacheGroup, panel);
        const Index word = d % kCacheGroup / kWordNumbers * panel + column;
        std::int8_t numbers[kWordNumbers];
        std::memcpy(numbers, group + kernels::int8_key_words(panel) + word, sizeof numbers);
        key[d] = from_bf16(half_in(group, place)) * static_cast<float>(numbers[d % kWordNumbers]);
        break;
      }
    }
  }
}

void CacheRows::write_value(float* head, Index at, const float* value) const noexcept {
  if (format == KeyFormat::kInt8) {
    const ByteRow row(*this, at);
    for (Index first = 0; first < d_v; first += kCacheGroup) {
      const CacheGroup group = round_group(value + first, std::min(kCacheGroup, d_v - first));
      write_half(head, row.scale(first / kCacheGroup), group.scale);
      for (Index d = 0; d < kCacheGroup && first + d < d_v; d += panel) {
        auto* to = reinterpret_cast<std::byte*>(head) + row.number(first + d);
        for (Index i = 0; i < panel; ++i) {
          to[4 * i] = static_cast<std::byte>(group.numbers[d + i]);
        }
      }
    }
    return;
  }
  const Index width = panel / 2;
  for (Index column = 0; column < d_v; column += panel) {
    const float* from = value + column;
    float last[64] = {};  // the columns of the last panel, and zeros
    if (d_v - column < panel) {
      std::copy_n(from, d_v - column, last);
      from = last;
    }
    float* to = head + blocks().row_at(at, column) / 2;
    for (Index i = 0; i < width; ++i) {
      to[i] = std::bit_cast<float>(both(from[i], from[i + width]));
    }
  }
}

void CacheRows::read_value(const float* head, Index at, float* value) const noexcept {
  const ByteRow row(*this, at);
  for (Index d = 0; d < d_v; ++d) {
    const Index of_panel = d % panel;
    switch (format) {
      case KeyFormat::kF32:
        value[d] = head[blocks().row_at(at, d) + of_panel];
        break;
      case KeyFormat::kBf16:
        value[d] = from_bf16(
            half_in(head, blocks().row_at(at, d) + kernels::half_column(of_panel, panel)));
        break;
      case KeyFormat::kInt8: {
        const auto number = static_cast<std::int8_t>(
            reinterpret_cast<const std::byte*>(head)[row.number(d) + 4 * of_panel]);
        value[d] =
            from_bf16(half_in(head, row.scale(d / kCacheGroup))) * static_cast<float>(number);
        break;
      }
    }
  }
}

}  // namespace qkv
