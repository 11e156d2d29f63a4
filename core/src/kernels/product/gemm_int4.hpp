// Matrix product with weights of 4 bits in blocks of 32 inputs, which have a scale d and an offset o:
//
//     y_j = bias_j + sum_b ((d_bj s_b) I_bj + (S_b s_b) o_bj),   I_bj = sum_{k in b} q_k c_kj,   S_b = sum_{k in b} q_k
//
// One row reads the codes as they lie in the panel; for several rows a slice of the panel is made into bytes, which stay in a
// first-level cache. One product after another is added, in the order of the blocks, so that bits are the same everywhere as
// gemm_int8.hpp says.
#pragma once

#include "kernels/product/byte_tile.hpp"

namespace qkv::kernels {

/// What formats with codes have in common.
template <class Isa>
struct CodeFormat {
  static constexpr bool kCodes = true;
  static constexpr int kVectors = Isa::kTileVectors;
  /// Bytes of a block's codes, in a panel and as bytes.
  static constexpr Index kPacked = kInt8Block * kPanel<Isa> / 2;
  static constexpr Index kUnpacked = kInt8Block * kPanel<Isa>;
  static constexpr Index kReadyBytes = kSliceBlocks<Isa> * kUnpacked;
};

/// See byte_tile.hpp.
template <class Isa>
struct Int4Format : CodeFormat<Isa> {
  using V = Vec<Isa>;
  using Base = CodeFormat<Isa>;
  using Block = RowBlock<Isa>;
  static constexpr int kVectors = Isa::kTileVectors;
  static constexpr Index kBlocks = 1;
  static constexpr Index kBytes = int4_block_bytes(kPanel<Isa>);
  static constexpr Index kReady = Base::kUnpacked;

  static void prepare(const ByteTile& t, std::byte* ready) noexcept {
    for (Index block = 0; block < t.blocks; ++block) {
      unpack_codes<Isa>(t.panel + block * kBytes + int4_weights(kPanel<Isa>),
                        ready + block * kReady);
    }
  }

  static void row(const ByteTile& t) noexcept {
    V acc[kVectors];
    load_sums<Isa>(t.init, 0, acc);
    const std::byte* panel = t.panel;
    const std::byte* row = t.rows;
    for (Index block = 0; block < t.blocks; ++block) {
      Ints<Isa> sums[kVectors];
      multiply_packed_codes<Isa>(panel + int4_weights(kPanel<Isa>), row, sums);
      add(panel, row, sums, acc);
      panel += kBytes;
      row += Block::kBytesOfBlock;
    }
    store_sums<Isa>(acc, t.c);
  }

  template <int kRows>
  [[gnu::always_inline]] static void tile(const std::byte* panel, const std::byte* ready,
                                          Index /*one*/, const std::byte* const* rows,
                                          V (*acc)[kVectors]) noexcept {
    Ints<Isa> sums[kRows][kVectors];
    multiply_codes<Isa, kRows>(ready, rows, sums);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      add(panel, rows[r], sums[r], acc[r]);
    }
  }

 private:
  [[gnu::always_inline]] static void add(const std::byte* panel, const std::byte* row,
                                         const Ints<Isa>* sums, V* acc) noexcept {
    V scales[kVectors];
    V offsets[kVectors];
    load_halves<Isa>(panel, scales);
    load_halves<Isa>(panel + int4_offsets(kPanel<Isa>), offsets);
    const V scale(Block::head(row).scale);
    const V total(Block::head(row).total);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      acc[v] = madd<Isa>(xsimd::to_float(sums[v]), scales[v] * scale, acc[v]);
      acc[v] = madd<Isa>(total, offsets[v], acc[v]);
    }
  }
};

template <class Isa>
void gemm_int4(const GemmArgs& args) noexcept {
  gemm_bytes<Isa, Int4Format<Isa>>(args);
}

}  // namespace qkv::kernels
