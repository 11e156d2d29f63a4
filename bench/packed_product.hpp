// y = x W with weights of any format, packed once: what a linear map of a model costs. And a loop that only reads as many
// bytes, which is what a product of one row is held against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>
#include <xsimd/xsimd.hpp>

#include "isa/isa_dispatch.hpp"
#include "weights/linear_product.hpp"
#include "weights/packed_linear.hpp"
#include "weights/raised_halves.hpp"
#include "weights/weight_rows.hpp"

namespace qkv::bench {

class PackedProduct {
 public:
  /// w[in, out] in that format, and room for `rows` rows of x. False without memory. For kQ4K, which takes blocks alone, the codes
  /// are what w has as bits.
  [[nodiscard]] bool prepare(Index rows, const LinearSize& size, const float* w) {
    const kernels::KernelTable& table = *active_kernels();
    const FileRows from{.data = reinterpret_cast<const std::byte*>(w),
                        .row_bytes = size.out * static_cast<Index>(sizeof(float)),
                        .layout = WeightLayout::kInOut,
                        .rows = size.in};
    if (!reserve_linear(table, size, packed_).ok() ||
        !(size.format == WeightFormat::kQ4K ? fill_blocks(w) : fill_matrix(table, from, packed_))) {
      return false;
    }
    raise_halves(table, packed_, nullptr);
    return quantized_.reserve(quantized_floats(table, rows, size.in)).ok();
  }
  void run(Index rows, const float* x, float* y) const noexcept {
    const kernels::KernelTable& table = *active_kernels();
    RowKinds kinds;
    kinds.add(table, packed_);
    if (!kinds.any()) {
      apply(table, nullptr, packed_, {x, rows, y});
      return;
    }
    const QuantizedRows quantized =
        quantize_rows(table, nullptr, {x, rows, packed_.in}, kinds, quantized_.data());
    apply(table, nullptr, packed_, {nullptr, rows, y, &quantized});
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return packed_.panels.capacity() * sizeof(float);
  }

 private:
  bool fill_blocks(const float* w) noexcept {
    const Index blocks = (packed_.in + kernels::kQ4kInputs - 1) / kernels::kQ4kInputs;
    std::vector<std::byte> row(static_cast<std::size_t>(blocks) * 144);
    bool finite = true;
    for (Index j = 0; j < packed_.out; ++j) {
      for (Index b = 0; b < blocks; ++b) {
        std::byte* block = row.data() + b * 144;
        constexpr std::uint16_t kScales[2] = {0x1400, 0x2000};  // 2^-10 and 2^-7
        std::memcpy(block, kScales, sizeof kScales);
        std::memcpy(block + 4, w + j * packed_.in % 64, 140);
      }
      finite &= fill_matrix(*active_kernels(),
                            {.type = NumberType::kQ4K,
                             .data = row.data(),
                             .row_bytes = static_cast<Index>(row.size()),
                             .first = j,
                             .rows = 1},
                            packed_);
    }
    return finite;
  }

  PackedLinear packed_;
  AlignedBuffer quantized_;
};

/// The sum of whole numbers in memory, by eight vectors at a time.
inline std::uint32_t read_all(const std::uint32_t* at, std::size_t count) noexcept {
  using Numbers = xsimd::batch<std::uint32_t>;
  constexpr std::size_t kStep = 8 * Numbers::size;
  Numbers sums[8];
  for (Numbers& sum : sums) {
    sum = Numbers(0U);
  }
  for (std::size_t i = 0; i + kStep <= count; i += kStep) {
    for (std::size_t j = 0; j < 8; ++j) {
      sums[j] = sums[j] + Numbers::load_unaligned(at + i + j * Numbers::size);
    }
  }
  for (std::size_t j = 1; j < 8; ++j) {
    sums[0] = sums[0] + sums[j];
  }
  return xsimd::reduce_add(sums[0]);
}

}  // namespace qkv::bench
