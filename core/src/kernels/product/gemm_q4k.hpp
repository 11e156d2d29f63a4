// Matrix product with weights as GGUF's Q4_K has them: large blocks of 256 inputs with a scale D and an offset M, and in them eight
// blocks of 32 whose whole numbers f and g from 0 to 63 multiply the two:
//
//     y_j = bias_j + sum_B (D_Bj sum_{b in B} s_b (f_bj I_bj) + M_Bj sum_{b in B} (S_b s_b) g_bj),
//
// with I_bj and S_b as in gemm_int4.hpp. f I is a whole number below 2^22, which is exact; all else is one madd after another.
#pragma once

#include "kernels/product/gemm_int4.hpp"

namespace qkv::kernels {

/// See byte_tile.hpp.
template <class Isa>
struct Q4kFormat : CodeFormat<Isa> {
  using V = Vec<Isa>;
  using Base = CodeFormat<Isa>;
  using Block = RowBlock<Isa>;
  static constexpr int kVectors = Isa::kTileVectors;
  static constexpr Index kBlocks = kQ4kBlocks;
  static constexpr Index kBytes = q4k_block_bytes(kPanel<Isa>);
  static constexpr Index kReady = kBlocks * Base::kUnpacked;

  static void prepare(const ByteTile& t, std::byte* ready) noexcept {
    for (Index block = 0; block < t.blocks; ++block) {
      unpack_codes<Isa>(t.panel + block / kBlocks * kBytes +
                            q4k_small(block % kBlocks, kPanel<Isa>) + q4k_codes(kPanel<Isa>),
                        ready + block * Base::kUnpacked);
    }
  }

  static void row(const ByteTile& t) noexcept {
    V acc[1][kVectors];
    load_sums<Isa>(t.init, 0, acc[0]);
    const std::byte* panel = t.panel;
    const std::byte* row = t.rows;
    for (Index left = t.blocks; left > 0; left -= kBlocks) {
      const Index count = left < kBlocks ? left : kBlocks;
      V scaled[kVectors] = {V(0.0F), V(0.0F)};
      V shifted[kVectors] = {V(0.0F), V(0.0F)};
      const std::byte* small = panel + q4k_small(0, kPanel<Isa>);
      for (Index block = 0; block < count; ++block) {
        Ints<Isa> sums[kVectors];
        multiply_packed_codes<Isa>(small + q4k_codes(kPanel<Isa>), row, sums);
        scale(small, row, sums, scaled);
        shift(small, row, shifted);
        small += q4k_small_bytes(kPanel<Isa>);
        row += Block::kBytesOfBlock;
      }
      add<1>(panel, &scaled, &shifted, acc);
      panel += kBytes;
    }
    store_sums<Isa>(acc[0], t.c);
  }

  template <int kRows>
  [[gnu::always_inline]] static void tile(const std::byte* panel, const std::byte* ready,
                                          Index count, const std::byte* const* rows,
                                          V (*acc)[kVectors]) noexcept {
    V scaled[kRows][kVectors];
    V shifted[kRows][kVectors];
    const std::byte* at[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      at[r] = rows[r];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        scaled[r][v] = shifted[r][v] = V(0.0F);
      }
    }
    for (Index block = 0; block < count; ++block) {
      const std::byte* small = panel + q4k_small(block, kPanel<Isa>);
      Ints<Isa> sums[kRows][kVectors];
      multiply_codes<Isa, kRows>(ready + block * Base::kUnpacked, at, sums);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        scale(small, at[r], sums[r], scaled[r]);
        shift(small, at[r], shifted[r]);
        at[r] += Block::kBytesOfBlock;
      }
    }
    add<kRows>(panel, scaled, shifted, acc);
  }

 private:
  /// Adds s (f I), of a product of whole numbers that is exact.
  [[gnu::always_inline]] static void scale(const std::byte* small, const std::byte* row,
                                           const Ints<Isa>* sums, V* scaled) noexcept {
    Ints<Isa> factors[kVectors];
    DotOf<Isa>::widen(small, factors);
    const V s(Block::head(row).scale);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      scaled[v] = madd<Isa>(xsimd::to_float(sums[v] * factors[v]), s, scaled[v]);
    }
  }
  /// Adds (S s) g.
  [[gnu::always_inline]] static void shift(const std::byte* small, const std::byte* row,
                                           V* shifted) noexcept {
    Ints<Isa> factors[kVectors];
    DotOf<Isa>::widen(small + kPanel<Isa>, factors);
    const V total(Block::head(row).total);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      shifted[v] = madd<Isa>(xsimd::to_float(factors[v]), total, shifted[v]);
    }
  }
  template <int kRows>
  [[gnu::always_inline]] static void add(const std::byte* panel, const V (*scaled)[kVectors],
                                         const V (*shifted)[kVectors],
                                         V (*acc)[kVectors]) noexcept {
    V scales[kVectors];
    V offsets[kVectors];
    load_halves<Isa>(panel, scales);
    load_halves<Isa>(panel + int4_offsets(kPanel<Isa>), offsets);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = madd<Isa>(scales[v], scaled[r][v], acc[r][v]);
        acc[r][v] = madd<Isa>(offsets[v], shifted[r][v], acc[r][v]);
      }
    }
  }
};

template <class Isa>
void gemm_q4k(const GemmArgs& args) noexcept {
  gemm_bytes<Isa, Q4kFormat<Isa>>(args);
}

}  // namespace qkv::kernels
