// Matrix product with weights of binary16.
//
// One row converts weights as it reads them. Several rows would convert each as often as there are tiles, which takes longer than to
// multiply in WebAssembly, where no instruction does it: a slice of a panel is converted once for all of them, and stays in a
// first-level cache. Sums have the order of gemm(), so bits are the same.
#pragma once

#include "kernels/product/gemm.hpp"

namespace qkv::kernels {

/// Floats of a slice of a panel.
inline constexpr Index kWidenedFloats = 4096;

/// Some inputs of one panel times the rows of a group; c has the sums of earlier ones.
template <class Isa>
struct WidenedSlice {
  Panels panel;
  const float* a;  ///< the group's first row, at the first of these inputs
  Index a_stride;
  Rows init;
  float* c;
  Index c_stride;
  Index rows, columns;

  void multiply_whole() const noexcept {
    for (Index row = 0; row < rows; row += Isa::kTileRows) {
      const auto count =
          static_cast<int>(rows - row < Isa::kTileRows ? rows - row : Isa::kTileRows);
      multiply<Isa>(count, 1, Rows{a + row * a_stride, a_stride}, panel, init_of(row),
                    c + row * c_stride, c_stride);
    }
  }

  /// Where the panel has columns that do not exist: into a block on the stack and out of it.
  void multiply_edge() const noexcept {
    alignas(64) float edge[Isa::kTileRows * kPanel<Isa>];
    for (Index row = 0; row < rows; row += Isa::kTileRows) {
      const auto count =
          static_cast<int>(rows - row < Isa::kTileRows ? rows - row : Isa::kTileRows);
      const Rows from = init_of(row);
      for (int r = 0; r < count; ++r) {
        for (Index j = 0; j < kPanel<Isa>; ++j) {
          edge[r * kPanel<Isa> + j] = from.at && j < columns ? from.at[r * from.stride + j] : 0.0F;
        }
      }
      multiply<Isa>(count, 1, Rows{a + row * a_stride, a_stride}, panel, {edge, kPanel<Isa>}, edge,
                    kPanel<Isa>);
      for (int r = 0; r < count; ++r) {
        for (Index j = 0; j < columns; ++j) {
          c[(row + r) * c_stride + j] = edge[r * kPanel<Isa> + j];
        }
      }
    }
  }

 private:
  [[nodiscard]] Rows init_of(Index row) const noexcept {
    return {init.at ? init.at + row * init.stride : nullptr, init.stride};
  }
};

/// `count` rows of a panel as float32.
template <class Isa>
inline void widen_rows(const float* panel, Index count, float* to) noexcept {
  const Binary16Panels from{panel, 0, count};
  for (Index kk = 0; kk < count; ++kk) {
    Vec<Isa> row[Isa::kTileVectors];
    load_row<Isa>(from, 0, kk, row);
    for (int v = 0; v < Isa::kTileVectors; ++v) {
      row[v].store_aligned(to + float_place(kk, v * kWidth<Isa>, kPanel<Isa>));
    }
  }
}

/// c = a * b + bias with b in binary16; groups of rows and panels as in gemm().
template <class Isa>
void gemm_f16(const GemmArgs& args) noexcept {
  if (args.m == 1) {
    gemm<Isa, Rows, Binary16Panels>(args);
    return;
  }
  constexpr Index kGroup = 384;
  constexpr Index kSlice = kWidenedFloats / kPanel<Isa>;
  constexpr Index kRow = floats_of_row<Isa>(Binary16Panels{});
  alignas(64) float widened[kWidenedFloats];
  for (Index top = 0; top < args.m; top += kGroup) {
    const Index rows = args.m - top < kGroup ? args.m - top : kGroup;
    for (Index column = 0; column < args.n; column += kPanel<Isa>) {
      const float* panel = args.b_panels + column / kPanel<Isa> * args.k * kRow;
      const Rows bias{args.bias ? args.bias + column : nullptr, 0};
      float* c = args.c + top * args.c_stride + column;
      for (Index first = 0; first < args.k; first += kSlice) {
        const Index count = args.k - first < kSlice ? args.k - first : kSlice;
        widen_rows<Isa>(panel + first * kRow, count, widened);
        const WidenedSlice<Isa> slice{.panel = {widened, 0, count},
                                      .a = args.a + top * args.a_stride + first,
                                      .a_stride = args.a_stride,
                                      .init = first == 0 ? bias : Rows{c, args.c_stride},
                                      .c = c,
                                      .c_stride = args.c_stride,
                                      .rows = rows,
                                      .columns = args.n - column};
        slice.columns < kPanel<Isa> ? slice.multiply_edge() : slice.multiply_whole();
      }
    }
  }
}

}  // namespace qkv::kernels
