// Matrix product with weights of 4 bits in blocks of 32 inputs, which have a scale d and an offset o:
//
//     y_j = bias_j + sum_b ((d_bj s_b) I_bj + (S_b s_b) o_bj),   I_bj = sum_{k in b} q_k w_kj,   S_b = sum_{k in b} q_k
//
// A slice of a panel is made into bytes, which stay in a first-level cache, and then multiplied as weights of 8 bits are: one
// product after another is added, in the order of the blocks, so that bits are the same everywhere as gemm_int8.hpp says.
#pragma once

#include "kernels/product/gemm_int8.hpp"

namespace qkv::kernels {

/// Weights as bytes, one block after another, by themselves.
template <class Isa>
struct NibblePanel {
  static constexpr bool kHasOffsets = true;
  static constexpr Index kScaleStride = int4_block_bytes(kPanel<Isa>);
  static constexpr Index kWeightStride = kInt8Block * kPanel<Isa>;
};

/// Weights of `blocks` blocks of a panel as the bytes that a panel of 8 bits would have.
template <class Isa>
inline void unpack_int4(const std::byte* panel, Index blocks, std::byte* to) noexcept {
  constexpr Index kHalf = NibblePanel<Isa>::kWeightStride / 2;
  constexpr std::uint8_t kFlip = DotOf<Isa>::kWeightXor;
  auto* __restrict bytes = reinterpret_cast<std::uint8_t*>(to);
  for (Index block = 0; block < blocks; ++block) {
    const auto* __restrict from =
        reinterpret_cast<const std::uint8_t*>(panel + int4_weights(kPanel<Isa>));
    for (Index i = 0; i < kHalf; ++i) {
      bytes[i] = static_cast<std::uint8_t>((from[i] & 15U) ^ kFlip);
      bytes[i + kHalf] = static_cast<std::uint8_t>((from[i] >> 4U) ^ kFlip);
    }
    panel += int4_block_bytes(kPanel<Isa>);
    bytes += NibblePanel<Isa>::kWeightStride;
  }
}

template <class Isa>
void gemm_int4(const GemmArgs& args) noexcept {
  alignas(64) std::byte bytes[kSliceBlocks<Isa> * NibblePanel<Isa>::kWeightStride];
  gemm_in_slices<Isa, NibblePanel<Isa>>(args, int4_block_bytes(kPanel<Isa>),
                                        [&](const std::byte* panel, Int8Tile& t) noexcept {
                                          unpack_int4<Isa>(panel, t.blocks, bytes);
                                          t.scales = panel;
                                          t.weights = bytes;
                                        });
}

}  // namespace qkv::kernels
