// Matrix product with weights of 8 bits in blocks of 32 inputs.
//
//     y_j = bias_j + sum_b (d_bj s_b) I_bj,   I_bj = sum_{k in b} q_k w_kj
//
// I is a whole number below 2^24, exact however it is summed; the sum over blocks is one madd after another, in the order
// of the blocks. So a row has the same bits by itself and among others, and on all instruction sets whose madd
// rounds twice.
#pragma once

#include "kernels/product/byte_tile.hpp"

namespace qkv::kernels {

/// See byte_tile.hpp. Where the numbers of a row have an offset, prepare() finds for each block and column what it adds.
template <class Isa>
struct Int8Format {
  using D = DotOf<Isa>;
  using V = Vec<Isa>;
  static constexpr bool kOffsetRows = D::kRowOffset != 0;
  static constexpr int kVectors = Isa::kTileVectors;
  static constexpr bool kCodes = false;
  static constexpr Index kBlocks = 1;
  static constexpr Index kBytes = int8_block_bytes(kPanel<Isa>);
  static constexpr Index kReady = kOffsetRows ? 4 * kPanel<Isa> : 0;
  static constexpr Index kReadyBytes = kOffsetRows ? kSliceBlocks<Isa> * kReady : 1;

  static void prepare(const ByteTile& t, std::byte* ready) noexcept {
    if constexpr (kOffsetRows) {
      auto* starts = reinterpret_cast<std::int32_t*>(ready);
      for (Index block = 0; block < t.blocks; ++block) {
        const std::byte* weights = t.panel + block * kBytes + int8_weights(kPanel<Isa>);
        Ints<Isa> sums[2] = {Ints<Isa>(0), Ints<Isa>(0)};
        for (Index i = 0; i < kInt8Block; i += D::kGroup) {
          typename D::Weights w[2];
          D::load(weights + i * kPanel<Isa>, w);
          sums[0] = D::add(sums[0], w[0], D::offset());
          sums[1] = D::add(sums[1], w[1], D::offset());
        }
        (-sums[0]).store_aligned(starts + block * kPanel<Isa>);
        (-sums[1]).store_aligned(starts + block * kPanel<Isa> + kWidth<Isa>);
      }
    }
  }

  static void row(const ByteTile& t) noexcept { byte_tile<Isa, Int8Format, 1>(t); }

  template <int kRows>
  static void rows(const ByteTile& t) noexcept {
    byte_tile<Isa, Int8Format, kRows>(t);
  }

  template <int kRows>
  [[gnu::always_inline]] static void tile(const std::byte* panel, const std::byte* ready,
                                          const std::byte* const* rows,
                                          V (*acc)[kVectors]) noexcept {
    Ints<Isa> sums[kRows][kVectors];
    const std::byte* weights = panel + int8_weights(kPanel<Isa>);
    if constexpr (kOffsetRows && kRows == 1) {
      multiply_single(weights, rows[0], sums[0]);
    } else {
      start<kRows>(ready, rows, sums);
      multiply_block<Isa, RowKind::kBytes, kRows>(weights, rows, sums);
    }
    V scales[kVectors];
    load_halves<Isa>(panel, scales);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const V scale = splat_float<Isa>(rows[r]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = madd<Isa>(xsimd::to_float(sums[r][v]), scales[v] * scale, acc[r][v]);
      }
    }
  }

 private:
  template <int kRows>
  [[gnu::always_inline]] static void start(const std::byte* ready, const std::byte* const* rows,
                                           Ints<Isa> (*sums)[kVectors]) noexcept {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        if constexpr (kOffsetRows) {
          const auto* starts = reinterpret_cast<const std::int32_t*>(ready);
          sums[r][v] = Ints<Isa>::load_aligned(starts + v * kWidth<Isa>);
        } else {
          sums[r][v] = Ints<Isa>(RowBlock<Isa, RowKind::kBytes>::head(rows[r]).start);
        }
      }
    }
  }

  /// The sums of one row where the numbers of a row have an offset, without prepare().
  [[gnu::always_inline]] static void multiply_single(const std::byte* weights, const std::byte* row,
                                                     Ints<Isa>* sums) noexcept {
    using Block = RowBlock<Isa, RowKind::kBytes>;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = Ints<Isa>(0);
    }
    row += Block::kNumbers;
#pragma GCC unroll 1
    for (Index i = 0; i < kInt8Block; i += 2 * D::kGroup) {
      typename D::Weights first[kVectors];
      typename D::Weights second[kVectors];
      D::load(weights, first);
      D::load(weights + D::kGroup * kPanel<Isa>, second);
      weights += 2 * D::kGroup * kPanel<Isa>;
      const typename D::Factor x[2] = {D::factor(row), D::factor(row + Block::kStep)};
      row += 2 * Block::kStep;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const typename D::Weights w[2] = {first[v], second[v]};
        sums[v] = D::add_two(sums[v], w, x);
      }
    }
  }
};

template <class Isa>
void gemm_int8(const GemmArgs& args) noexcept {
  gemm_bytes<Isa, Int8Format<Isa>>(args);
}

}  // namespace qkv::kernels
