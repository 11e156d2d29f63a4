// y = x W with weights of any format, packed once: what a linear map of a model costs. And a loop that only reads as many
// bytes, which is what a product of one row is held against.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa_dispatch.hpp"
#include "packed_linear.hpp"

namespace qkv::bench {

class PackedProduct {
 public:
  /// w[in, out] in that format, and room for `rows` rows of x. False without memory.
  [[nodiscard]] bool prepare(Index rows, const LinearSize& size, const float* w) {
    const kernels::KernelTable& table = *active_kernels();
    const FileRows from{.data = reinterpret_cast<const std::byte*>(w),
                        .row_bytes = size.out * static_cast<Index>(sizeof(float)),
                        .layout = WeightLayout::kInOut,
                        .rows = size.in};
    return reserve_linear(table, size, packed_).ok() && fill_rows(table, from, packed_) &&
           quantized_.reserve(quantized_floats(table, rows, size.in)).ok();
  }
  void run(Index rows, const float* x, float* y) const noexcept {
    const kernels::KernelTable& table = *active_kernels();
    if (packed_.format != WeightFormat::kInt8) {
      apply(table, nullptr, packed_, {x, rows, y});
      return;
    }
    const QuantizedRows quantized =
        quantize_rows(table, nullptr, {x, rows, packed_.in}, quantized_.data());
    apply(table, nullptr, packed_, {nullptr, rows, y, &quantized});
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return packed_.panels.capacity() * sizeof(float);
  }

 private:
  PackedLinear packed_;
  AlignedBuffer quantized_;
};

/// The sum of whole numbers in memory, 32 at a time, for whatever a compiler makes of it.
inline std::uint32_t read_all(const std::uint32_t* at, std::size_t count) noexcept {
  std::uint32_t sums[32] = {};
  for (std::size_t i = 0; i + 32 <= count; i += 32) {
    for (std::size_t j = 0; j < 32; ++j) {
      sums[j] += at[i + j];
    }
  }
  std::uint32_t sum = 0;
  for (const std::uint32_t one : sums) {
    sum += one;
  }
  return sum;
}

}  // namespace qkv::bench
