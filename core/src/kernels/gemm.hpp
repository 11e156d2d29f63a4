// Matrix product: one register tile that everything in the library multiplies with.
//
// The right-hand matrix is packed into panels of kPanel<Isa> columns, zero-padded, each panel
// stored row after row, so the tile reads it front to back. The left-hand matrix is read in place,
// one element at a time, so its inner size needs no padding and has no tail.
#pragma once

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// c[r, 0:kPanel] = init[r, 0:kPanel] + sum_kk a[r, kk] * b[kk, 0:kPanel] for Rows rows. Null init
/// is zero; init may be c. Every element is summed in the order of kk whatever Rows is, which is
/// why splitting rows differently never changes a bit.
template <class Isa, int Rows>
inline void tile(Index k, const float* a, Index a_stride, const float* b, const float* init,
                 Index init_stride, float* c, Index c_stride) noexcept {
  using V = Vec<Isa>;
  constexpr int kVectors = Isa::kTileVectors;
  V acc[Rows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = init ? V::load_unaligned(init + r * init_stride + v * kWidth<Isa>) : V(0.0F);
    }
  }
  for (Index kk = 0; kk < k; ++kk) {
    V row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      row[v] = V::load_aligned(b + kk * kPanel<Isa> + v * kWidth<Isa>);
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const V factor(a[r * a_stride + kk]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = madd<Isa>(factor, row[v], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v].store_unaligned(c + r * c_stride + v * kWidth<Isa>);
    }
  }
}

/// tile() for a number of rows known at run time, 1 to Rows.
template <class Isa, int Rows = Isa::kTileRows>
inline void tile_rows(int rows, Index k, const float* a, Index a_stride, const float* b,
                      const float* init, Index init_stride, float* c, Index c_stride) noexcept {
  if constexpr (Rows > 1) {
    if (rows < Rows) {
      tile_rows<Isa, Rows - 1>(rows, k, a, a_stride, b, init, init_stride, c, c_stride);
      return;
    }
  }
  tile<Isa, Rows>(k, a, a_stride, b, init, init_stride, c, c_stride);
}

/// Packs b (k x n, any strides) into ceil(n / kPanel) panels of k x kPanel, zero where n ends.
template <class Isa>
void pack(const PackArgs& args) noexcept {
  float* to = args.panels;
  for (Index column = 0; column < args.n; column += kPanel<Isa>) {
    const Index width = args.n - column < kPanel<Isa> ? args.n - column : kPanel<Isa>;
    for (Index kk = 0; kk < args.k; ++kk) {
      const float* from = args.b + kk * args.row_stride + column * args.column_stride;
      for (Index j = 0; j < width; ++j) {
        to[j] = from[j * args.column_stride];
      }
      for (Index j = width; j < kPanel<Isa>; ++j) {
        to[j] = 0.0F;
      }
      to += kPanel<Isa>;
    }
  }
}

/// c = a * b + bias with packed b. The last panel, when it is not full, goes through the same tile
/// into a block on the stack, of which the columns that exist are copied out.
template <class Isa>
void gemm(const GemmArgs& args) noexcept {
  constexpr Index kRows = Isa::kTileRows;
  alignas(64) float edge[kRows * kPanel<Isa>];
  for (Index column = 0; column < args.n; column += kPanel<Isa>) {
    const float* panel = args.b_panels + column * args.k;
    const float* bias = args.bias ? args.bias + column : nullptr;
    const Index width = args.n - column < kPanel<Isa> ? args.n - column : kPanel<Isa>;
    const bool whole = width == kPanel<Isa>;
    for (Index row = 0; row < args.m; row += kRows) {
      const int rows = static_cast<int>(args.m - row < kRows ? args.m - row : kRows);
      float* c = args.c + row * args.c_stride + column;
      tile_rows<Isa>(rows, args.k, args.a + row * args.a_stride, args.a_stride, panel, bias, 0,
                     whole ? c : edge, whole ? args.c_stride : kPanel<Isa>);
      for (Index r = 0; !whole && r < rows; ++r) {
        for (Index j = 0; j < width; ++j) {
          c[r * args.c_stride + j] = edge[r * kPanel<Isa> + j];
        }
      }
    }
  }
}

}  // namespace qkv::kernels
