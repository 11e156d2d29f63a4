// The number formats of packed weights: one row of KernelTable::formats for each, made in kernels/make_table.hpp.
//
// A new format is a value of WeightFormat, a file of kernels (a product, and what writes and reads a panel), and a row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/number_format.hpp"

namespace qkv {

static_assert(static_cast<std::size_t>(WeightFormat::kF32) == 0 &&
              static_cast<std::size_t>(WeightFormat::kBf16) == 1 &&
              static_cast<std::size_t>(WeightFormat::kInt8) == 2 &&
              static_cast<std::size_t>(WeightFormat::kF16) == 3 &&
              static_cast<std::size_t>(WeightFormat::kInt4) == 4 &&
              static_cast<std::size_t>(WeightFormat::kQ4K) == 5 && kernels::kFormats == 6);

/// The type in which a file keeps weights of each format as they are, along the inputs.
inline constexpr NumberType kStoredTypes[kernels::kFormats] = {NumberType::kF32,  NumberType::kBf16,
                                                               NumberType::kQ8_0, NumberType::kF16,
                                                               NumberType::kQ4_1, NumberType::kQ4K};

/// That of one format.
[[nodiscard]] inline constexpr NumberType stored_type(WeightFormat format) noexcept {
  return kStoredTypes[static_cast<std::size_t>(format)];
}

/// The row of a format.
[[nodiscard]] inline const kernels::PanelFormat& format_of(const kernels::KernelTable& table,
                                                           WeightFormat format) noexcept {
  return table.formats[static_cast<std::size_t>(format)];
}

/// Floats of memory that one panel takes.
[[nodiscard]] inline std::uint64_t panel_floats(const kernels::PanelFormat& format,
                                                Index in) noexcept {
  const auto inputs = static_cast<std::uint64_t>(in);
  const auto of_block = static_cast<std::uint64_t>(format.block_inputs);
  const auto bytes = static_cast<std::uint64_t>(format.block_bytes);
  return (inputs + of_block - 1) / of_block * (bytes / sizeof(float));
}

/// Bytes of memory that one weight takes, its part of a scale included.
[[nodiscard]] inline double bytes_of_weight(const kernels::KernelTable& table,
                                            const kernels::PanelFormat& format) noexcept {
  return static_cast<double>(format.block_bytes) /
         static_cast<double>(format.block_inputs * table.panel);
}

}  // namespace qkv
