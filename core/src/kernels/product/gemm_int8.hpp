// Matrix product with weights of 8 bits in blocks of 32 inputs.
//
//     y_j = bias_j + sum_b (d_bj s_b) I_bj,   I_bj = sum_{k in b} q_k w_kj
//
// I is a whole number below 2^24, exact however it is summed; the sum over blocks is one madd after another, in the order
// of the blocks. So a row has the same bits by itself and among others, and on all instruction sets whose madd
// rounds twice.
#pragma once

#include "kernels/product/byte_dot.hpp"
#include "kernels/product/gemm.hpp"

namespace qkv::kernels {

/// The scales, or offsets, of a panel's columns.
template <class Isa>
[[gnu::always_inline]] inline void load_scales(const std::byte* at, Vec<Isa>* scales) noexcept {
  static_assert(Isa::kTileVectors == 2);
  const auto both = xsimd::bitwise_cast<std::uint32_t>(
      Vec<Isa>::load_aligned(reinterpret_cast<const float*>(at)));
  scales[0] = from_halves<Isa>(both << 16);
  scales[1] = from_halves<Isa>(both);
}

struct RowRange {
  Index begin, end;
};

/// Where what a panel has of its blocks is: of 8 bits the weights follow the scales.
template <class Isa>
struct BytePanel {
  static constexpr bool kHasOffsets = false;
  static constexpr Index kScaleStride = int8_block_bytes(kPanel<Isa>);  ///< from block to block
  static constexpr Index kWeightStride = int8_block_bytes(kPanel<Isa>);
};

/// Some blocks of some rows and of one panel.
struct Int8Tile {
  const std::byte* rows;
  Index row_bytes;
  const std::byte* scales;   ///< of the first block, and after them its offsets where it has some
  const std::byte* weights;  ///< of the first block, as bytes
  Index blocks;
  const std::int32_t* starts;  ///< of the panel's columns, block by block, where Dot has start()
  Rows init;
  float* c;
  Index c_stride;
};

/// Whether what sums start at depends on the weights.
template <class Isa>
inline constexpr bool kOffsetRows = Isa::kByteDot == ByteDot::kOffsetRows;

/// What the sums of a block start at.
template <class Isa>
[[gnu::always_inline]] inline Ints<Isa> start_of(const Int8Tile& t, const std::byte* row_block,
                                                 Index block, int v) noexcept {
  if constexpr (kOffsetRows<Isa>) {
    return Ints<Isa>::load_aligned(t.starts + block * kPanel<Isa> + v * kWidth<Isa>);
  } else if constexpr (Isa::kByteDot == ByteDot::kUnsignedWeights) {
    return Ints<Isa>(four_bytes(row_block + 4));
  } else {
    return Ints<Isa>(0);
  }
}

/// sums[r][v] = what a block of the rows' numbers makes with the weights. A loop in fact: of eight steps in a row clang
/// makes one expression for each sum in WebAssembly, whose operands go through memory, and products of many rows took 1.25
/// times as long.
template <class Isa, int kRows>
[[gnu::always_inline]] inline void multiply_block(const std::byte* weights,
                                                  const std::byte* const* rows,
                                                  Ints<Isa> (*sums)[Isa::kTileVectors]) noexcept {
  using D = DotOf<Isa>;
  const std::byte* numbers[kRows];
  for (int r = 0; r < kRows; ++r) {
    numbers[r] = rows[r] + RowBlock<Isa>::kNumbers;
  }
#pragma GCC unroll 1
  for (Index step = 0; step < D::kSteps; ++step) {
    typename D::Weights w[Isa::kTileVectors];
    D::load(weights, w);
    weights += D::kGroup * kPanel<Isa>;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const typename D::Factor x = D::factor(numbers[r]);
      numbers[r] += RowBlock<Isa>::kStep;
#pragma GCC unroll 4
      for (int v = 0; v < Isa::kTileVectors; ++v) {
        sums[r][v] = D::add(sums[r][v], w[v], x);
      }
    }
  }
}

/// The same for one row of instruction sets with kOffsetRows, which needs no starts.
template <class Isa>
[[gnu::always_inline]] inline void multiply_single(const std::byte* weights, const std::byte* row,
                                                   Ints<Isa>* sums) noexcept {
  using D = DotOf<Isa>;
  constexpr int kVectors = Isa::kTileVectors;
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    sums[v] = Ints<Isa>(0);
  }
  row += RowBlock<Isa>::kNumbers;
#pragma GCC unroll 1
  for (Index step = 0; step < D::kSteps; step += 2) {
    typename D::Weights first[kVectors];
    typename D::Weights second[kVectors];
    D::load(weights, first);
    D::load(weights + D::kGroup * kPanel<Isa>, second);
    weights += 2 * D::kGroup * kPanel<Isa>;
    const typename D::Factor x[2] = {D::factor(row), D::factor(row + RowBlock<Isa>::kStep)};
    row += 2 * RowBlock<Isa>::kStep;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const typename D::Weights w[2] = {first[v], second[v]};
      sums[v] = D::add_two(sums[v], w, x);
    }
  }
}

template <class Isa, class Panel, int kRows>
[[gnu::always_inline]] inline void int8_tile(const Int8Tile& t) noexcept {
  using V = Vec<Isa>;
  constexpr int kVectors = Isa::kTileVectors;
  V acc[kRows][kVectors];
  const std::byte* rows[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    rows[r] = t.rows + r * t.row_bytes;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v] =
          t.init.at ? V::load_unaligned(t.init.at + r * t.init.stride + v * kWidth<Isa>) : V(0.0F);
    }
  }
  const std::byte* scales_at = t.scales;
  const std::byte* weights = t.weights;
  for (Index block = 0; block < t.blocks; ++block) {
    Ints<Isa> sums[kRows][kVectors];
    if constexpr (kOffsetRows<Isa> && kRows == 1) {
      multiply_single<Isa>(weights, rows[0], sums[0]);
    } else {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = start_of<Isa>(t, rows[r], block, v);
        }
      }
      multiply_block<Isa, kRows>(weights, rows, sums);
    }
    V scales[kVectors];
    load_scales<Isa>(scales_at, scales);
    [[maybe_unused]] V offsets[kVectors];
    if constexpr (Panel::kHasOffsets) {
      load_scales<Isa>(scales_at + int4_offsets(kPanel<Isa>), offsets);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      float scale = 0.0F;
      std::memcpy(&scale, rows[r], sizeof scale);
      // What the row's numbers of this block make together.
      [[maybe_unused]] V total(0.0F);
      if constexpr (Panel::kHasOffsets) {
        total = V(static_cast<float>(four_bytes(rows[r] + 4)) * (-1.0F / 128.0F) * scale);
      }
      rows[r] += RowBlock<Isa>::kBytes;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = madd<Isa>(xsimd::to_float(sums[r][v]), scales[v] * V(scale), acc[r][v]);
        if constexpr (Panel::kHasOffsets) {
          acc[r][v] = madd<Isa>(total, offsets[v], acc[r][v]);
        }
      }
    }
    scales_at += Panel::kScaleStride;
    weights += Panel::kWeightStride;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v].store_unaligned(t.c + r * t.c_stride + v * kWidth<Isa>);
    }
  }
}

/// Rows of a tile: eight sums in registers, and as many for what is multiplied.
inline constexpr Index kInt8Rows = 4;

template <class Isa, class Panel>
[[gnu::noinline]] void int8_rows(Index rows, const Int8Tile& t) noexcept {
  switch (rows) {
    case 1:
      return int8_tile<Isa, Panel, 1>(t);
    case 2:
      return int8_tile<Isa, Panel, 2>(t);
    case 3:
      return int8_tile<Isa, Panel, 3>(t);
    default:
      return int8_tile<Isa, Panel, 4>(t);
  }
}

/// The same where the panel has columns that do not exist: into a block on the stack and out of it.
template <class Isa, class Panel>
inline void int8_edge(Index rows, Index columns, Int8Tile t) noexcept {
  alignas(64) float edge[kInt8Rows * kPanel<Isa>];
  const Rows init = t.init;
  float* const c = t.c;
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < kPanel<Isa>; ++j) {
      edge[r * kPanel<Isa> + j] = init.at && j < columns ? init.at[r * init.stride + j] : 0.0F;
    }
  }
  t.init = {edge, kPanel<Isa>};
  t.c = edge;
  const Index stride = t.c_stride;
  t.c_stride = kPanel<Isa>;
  int8_rows<Isa, Panel>(rows, t);
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; ++j) {
      c[r * stride + j] = edge[r * kPanel<Isa> + j];
    }
  }
}

/// Blocks of a panel that a first-level cache keeps while the rows pass them.
template <class Isa>
inline constexpr Index kSliceBlocks = (Index{16} << 10) / int8_block_bytes(kPanel<Isa>);

/// What sums start at for these blocks of a panel.
template <class Isa, class Panel>
inline void find_starts(const Int8Tile& t, std::int32_t* starts) noexcept {
  using D = DotOf<Isa>;
  for (Index block = 0; block < t.blocks; ++block) {
    const std::byte* weights = t.weights + block * Panel::kWeightStride;
    Ints<Isa> sums[2] = {Ints<Isa>(0), Ints<Isa>(0)};
    for (Index step = 0; step < D::kSteps; ++step) {
      typename D::Weights w[2];
      D::load(weights + step * D::kGroup * kPanel<Isa>, w);
      sums[0] = D::add(sums[0], w[0], D::offset());
      sums[1] = D::add(sums[1], w[1], D::offset());
    }
    (-sums[0]).store_aligned(starts + block * kPanel<Isa>);
    (-sums[1]).store_aligned(starts + block * kPanel<Isa> + kWidth<Isa>);
  }
}

/// Blocks [block, block + t.blocks) of one panel times rows [begin, end). c holds the sums of earlier blocks.
template <class Isa, class Panel>
inline void int8_slice(const GemmArgs& args, Int8Tile t, RowRange rows, Index column) noexcept {
  alignas(64) std::int32_t starts[kOffsetRows<Isa> ? kSliceBlocks<Isa> * kPanel<Isa> : 1];
  if constexpr (kOffsetRows<Isa>) {
    if (rows.end - rows.begin > 1) {
      find_starts<Isa, Panel>(t, starts);
    }
  }
  t.starts = starts;
  const Index columns = args.n - column;
  const std::byte* first = t.rows;
  const Rows init = t.init;
  for (Index row = rows.begin; row < rows.end; row += kInt8Rows) {
    t.rows = first + row * t.row_bytes;
    t.init.at = init.at ? init.at + row * init.stride : nullptr;
    t.c = args.c + row * args.c_stride + column;
    const Index count = rows.end - row < kInt8Rows ? rows.end - row : kInt8Rows;
    if (columns < kPanel<Isa>) {
      int8_edge<Isa, Panel>(count, columns, t);
    } else {
      int8_rows<Isa, Panel>(count, t);
    }
  }
}

/// c = a * b + bias of quantised a and b. Groups of rows and panels as in gemm(); a panel is taken in slices, where `open` finds its
/// blocks: a tile with their scales and weights, from where they are in memory.
template <class Isa, class Panel, class Open>
inline void gemm_in_slices(const GemmArgs& args, Index block_bytes, const Open& open) noexcept {
  constexpr Index kGroup = 384;
  const Index blocks = (args.k + kInt8Block - 1) / kInt8Block;
  const auto* panels = reinterpret_cast<const std::byte*>(args.b_panels);
  for (Index top = 0; top < args.m; top += kGroup) {
    const Index bottom = args.m - top < kGroup ? args.m : top + kGroup;
    for (Index column = 0; column < args.n; column += kPanel<Isa>) {
      const std::byte* panel = panels + column / kPanel<Isa> * blocks * block_bytes;
      for (Index block = 0; block < blocks; block += kSliceBlocks<Isa>) {
        const Rows bias{args.bias ? args.bias + column : nullptr, 0};
        const Rows sums{args.c + column, args.c_stride};
        Int8Tile t{
            .rows = reinterpret_cast<const std::byte*>(args.a) + block * RowBlock<Isa>::kBytes,
            .row_bytes = args.a_stride * 4,
            .scales = nullptr,
            .weights = nullptr,
            .blocks = blocks - block < kSliceBlocks<Isa> ? blocks - block : kSliceBlocks<Isa>,
            .starts = nullptr,
            .init = block == 0 ? bias : sums,
            .c = nullptr,
            .c_stride = args.c_stride};
        open(panel + block * block_bytes, t);
        int8_slice<Isa, Panel>(args, t, {top, bottom}, column);
      }
    }
  }
}

template <class Isa>
void gemm_int8(const GemmArgs& args) noexcept {
  gemm_in_slices<Isa, BytePanel<Isa>>(args, int8_block_bytes(kPanel<Isa>),
                                      [](const std::byte* panel, Int8Tile& t) noexcept {
                                        t.scales = panel;
                                        t.weights = panel + int8_weights(kPanel<Isa>);
                                      });
}

}  // namespace qkv::kernels
