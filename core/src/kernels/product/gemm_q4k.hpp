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
  /// Two float32 for each column, and the blocks.
  static constexpr Index kReady = 2 * Base::kColumns + kBlocks * Base::kReadyBlock;
  static constexpr Index kReadyBytes = kSliceBlocks<Isa> / kBlocks * kReady;

  static void prepare(const ByteTile& t, std::byte* ready) noexcept {
    const std::byte* panel = t.panel;
    for (Index left = t.blocks; left > 0; left -= kBlocks) {
      V columns[2][kVectors];
      load(panel, columns[0], columns[1]);
      ready = store(columns, ready);
      for (Index block = 0; block < kBlocks; ++block) {
        const std::byte* small = panel + q4k_small(block, kPanel<Isa>);
        widen(small, columns[0]);
        widen(small + kPanel<Isa>, columns[1]);
        ready = store(columns, ready);
        unpack_codes<Isa>(small + q4k_codes(kPanel<Isa>), ready);
        ready += kInt8Block * kPanel<Isa>;
      }
      panel += kBytes;
    }
  }

  static void row(const ByteTile& t) noexcept {
    V acc[kVectors];
    load_sums<Isa>(t.init, 0, acc);
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
        V factors[kVectors];
        widen(small, factors);
        scale(row, sums, factors, scaled);
        widen(small + kPanel<Isa>, factors);
        shift(row, factors, shifted);
        small += q4k_small_bytes(kPanel<Isa>);
        row += Block::kBytesOfBlock;
      }
      V scales[kVectors];
      V offsets[kVectors];
      load(panel, scales, offsets);
      add(scales, scaled, acc);
      add(offsets, shifted, acc);
      panel += kBytes;
    }
    store_sums<Isa>(acc, t.c);
  }

  /// For each large block the sums of scaled blocks and then those of the shifts. They are added to c in memory: with the sums of all
  /// rows and of the inner products besides there are more than registers, and products of many rows took 1.4 times as long.
  template <int kRows>
  static void rows(const ByteTile& t) noexcept {
    const std::byte* ready = t.ready;
    Rows from = t.init;
    for (Index block = 0; block < t.blocks; block += kBlocks) {
      const Index count = t.blocks - block < kBlocks ? t.blocks - block : kBlocks;
      const std::byte* rows[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        rows[r] = t.rows + r * t.row_bytes + block * Block::kBytesOfBlock;
      }
      add_scaled<kRows>(t, ready, count, rows, from);
      from = {t.c, t.c_stride};
      add_shifts<kRows>(t, ready, count, rows);
      ready += kReady;
    }
  }

 private:
  [[gnu::always_inline]] static void load(const std::byte* panel, V* scales, V* offsets) noexcept {
    load_halves<Isa>(panel, scales);
    load_halves<Isa>(panel + int4_offsets(kPanel<Isa>), offsets);
  }
  [[gnu::always_inline]] static std::byte* store(const V (*columns)[kVectors],
                                                 std::byte* to) noexcept {
    store_columns<Isa>(columns[0], to);
    store_columns<Isa>(columns[1], to + Base::kColumns);
    return to + 2 * Base::kColumns;
  }
  /// Whole numbers of a byte.
  [[gnu::always_inline]] static void widen(const std::byte* at, V* to) noexcept {
    Ints<Isa> whole[kVectors];
    DotOf<Isa>::widen(at, whole);
    to[0] = xsimd::to_float(whole[0]);
    to[1] = xsimd::to_float(whole[1]);
  }
  template <int kRows>
  [[gnu::always_inline]] static void clear(V (*part)[kVectors]) noexcept {
#pragma GCC unroll 16
    for (int i = 0; i < kRows * kVectors; ++i) {
      part[i / kVectors][i % kVectors] = V(0.0F);
    }
  }
  template <int kRows>
  [[gnu::always_inline]] static void add_scaled(const ByteTile& t, const std::byte* ready,
                                                Index count, const std::byte* const* rows,
                                                const Rows& from) noexcept {
    V part[kRows][kVectors];
    clear<kRows>(part);
    const std::byte* block = ready + 2 * Base::kColumns;
    for (Index offset = 0; offset < count * Block::kBytesOfBlock; offset += Block::kBytesOfBlock) {
      const std::byte* at[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        at[r] = rows[r] + offset;
      }
      Ints<Isa> sums[kRows][kVectors];
      multiply_codes<Isa, kRows>(block + 2 * Base::kColumns, at, sums);
      V factors[kVectors];
      load_columns<Isa>(block, factors);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        scale(at[r], sums[r], factors, part[r]);
      }
      block += Base::kReadyBlock;
    }
    finish<kRows>(t, ready, from, part);
  }
  template <int kRows>
  [[gnu::always_inline]] static void add_shifts(const ByteTile& t, const std::byte* ready,
                                                Index count,
                                                const std::byte* const* rows) noexcept {
    V part[kRows][kVectors];
    clear<kRows>(part);
    const std::byte* block = ready + 2 * Base::kColumns;
    for (Index offset = 0; offset < count * Block::kBytesOfBlock; offset += Block::kBytesOfBlock) {
      V factors[kVectors];
      load_columns<Isa>(block + Base::kColumns, factors);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        shift(rows[r] + offset, factors, part[r]);
      }
      block += Base::kReadyBlock;
    }
    finish<kRows>(t, ready + Base::kColumns, {t.c, t.c_stride}, part);
  }
  /// Adds s (f I); f I is exact.
  [[gnu::always_inline]] static void scale(const std::byte* row, const Ints<Isa>* sums,
                                           const V* factors, V* scaled) noexcept {
    const V s(Block::head(row).scale);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      scaled[v] = madd<Isa>(xsimd::to_float(sums[v]) * factors[v], s, scaled[v]);
    }
  }
  /// Adds (S s) g.
  [[gnu::always_inline]] static void shift(const std::byte* row, const V* factors,
                                           V* shifted) noexcept {
    const V total(Block::head(row).total);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      shifted[v] = madd<Isa>(factors[v], total, shifted[v]);
    }
  }
  /// Adds what the blocks of a large block make, times its own numbers.
  [[gnu::always_inline]] static void add(const V* own, const V* part, V* acc) noexcept {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      acc[v] = madd<Isa>(own[v], part[v], acc[v]);
    }
  }
  template <int kRows>
  [[gnu::always_inline]] static void finish(const ByteTile& t, const std::byte* columns,
                                            const Rows& from, const V (*part)[kVectors]) noexcept {
    V own[kVectors];
    load_columns<Isa>(columns, own);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      V acc[kVectors];
      load_sums<Isa>(from, r, acc);
      add(own, part[r], acc);
      store_sums<Isa>(acc, t.c + r * t.c_stride);
    }
  }
};

template <class Isa>
void gemm_q4k(const GemmArgs& args) noexcept {
  gemm_bytes<Isa, Q4kFormat<Isa>>(args);
}

}  // namespace qkv::kernels
