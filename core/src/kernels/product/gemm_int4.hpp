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
  /// What prepare() makes of a block: two float32 for each column, then the codes as bytes.
  static constexpr Index kColumns = kPanel<Isa> * static_cast<Index>(sizeof(float));
  static constexpr Index kReadyBlock = 2 * kColumns + kInt8Block * kPanel<Isa>;
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
  static constexpr Index kReady = Base::kReadyBlock;
  static constexpr Index kReadyBytes = kSliceBlocks<Isa> * kReady;

  static void prepare(const ByteTile& t, std::byte* ready) noexcept {
    const std::byte* panel = t.panel;
    for (Index block = 0; block < t.blocks; ++block) {
      V scales[kVectors];
      V offsets[kVectors];
      load(panel, scales, offsets);
      store_columns<Isa>(scales, ready);
      store_columns<Isa>(offsets, ready + Base::kColumns);
      unpack_codes<Isa>(panel + int4_weights(kPanel<Isa>), ready + 2 * Base::kColumns);
      panel += kBytes;
      ready += kReady;
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
      V scales[kVectors];
      V offsets[kVectors];
      load(panel, scales, offsets);
      add(row, sums, scales, offsets, acc);
      panel += kBytes;
      row += Block::kBytesOfBlock;
    }
    store_sums<Isa>(acc, t.c);
  }

  template <int kRows>
  static void rows(const ByteTile& t) noexcept {
    byte_tile<Isa, Int4Format, kRows>(t);
  }

  template <int kRows>
  [[gnu::always_inline]] static void tile(const std::byte* /*panel*/, const std::byte* ready,
                                          const std::byte* const* rows,
                                          V (*acc)[kVectors]) noexcept {
    Ints<Isa> sums[kRows][kVectors];
    multiply_codes<Isa, kRows>(ready + 2 * Base::kColumns, rows, sums);
    V scales[kVectors];
    V offsets[kVectors];
    load_columns<Isa>(ready, scales);
    load_columns<Isa>(ready + Base::kColumns, offsets);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      add(rows[r], sums[r], scales, offsets, acc[r]);
    }
  }

 private:
  [[gnu::always_inline]] static void load(const std::byte* panel, V* scales, V* offsets) noexcept {
    load_halves<Isa>(panel, scales);
    load_halves<Isa>(panel + int4_offsets(kPanel<Isa>), offsets);
  }
  [[gnu::always_inline]] static void add(const std::byte* row, const Ints<Isa>* sums,
                                         const V* scales, const V* offsets, V* acc) noexcept {
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
