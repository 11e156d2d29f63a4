// Matrix product with weights of binary16.
//
// One row converts weights as it reads them, without a multiplication where they are raised. Several rows would convert each weight
// once for every tile, which takes longer than the products in WebAssembly, where no instruction converts: for them a slice of
// a panel is converted once and stays in a first-level cache. Sums have the order of gemm(), so bits are the same.
#pragma once

#include <algorithm>
#include <type_traits>

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

/// The rows of a panel as float32.
template <class Isa>
inline void widen_rows(const Binary16Panels& from, bool raised, float* to) noexcept {
  for (Index kk = 0; kk < from.k; ++kk) {
    Vec<Isa> row[Isa::kTileVectors];
    if (raised) {
      load_row<Isa>(RaisedPanels{from.at, 0, 0}, 0, kk, row);
    } else {
      load_row<Isa>(from, 0, kk, row);
    }
    for (int v = 0; v < Isa::kTileVectors; ++v) {
      const Vec<Isa> number = raised ? row[v] * Vec<Isa>(kRaisedUnit) : row[v];
      number.store_aligned(to + float_place(kk, v * kWidth<Isa>, kPanel<Isa>));
    }
  }
}

/// Whether all elements of a row times kRaisedUnit are finite.
static inline bool takes_unit(const float* x, Index k) noexcept {
  bool takes = true;
  for (Index i = 0; i < k; ++i) {
    takes &= x[i] < 0x1p25F && x[i] > -0x1p25F;  // false of NaN
  }
  return takes;
}

/// One row, which converts weights as it reads them.
template <class Isa, class Right>
void gemm_f16_row(const GemmArgs& args) noexcept {
  constexpr Index kRow = floats_of_row<Isa>(Right{});
  const Index stride = args.k * kRow;
  const Index panels = args.n / kPanel<Isa>;
  const Product<Rows, Right> whole{.a = {args.a, 0},
                                   .b = {args.b_panels, stride, args.k},
                                   .init = {args.bias, 0},
                                   .c = args.c,
                                   .c_stride = 0};
  multiply_ladder<Isa, 1, panels_at_once<Isa, 1>()>(whole, 0, panels);
  const Index column = panels * kPanel<Isa>;
  if (column < args.n) {
    alignas(64) float edge[kPanel<Isa>];
    tile<Isa, 1, 1>(whole.a, Right{args.b_panels + panels * stride, stride, args.k},
                    Rows{args.bias ? args.bias + column : nullptr, 0}, edge, 0);
    std::copy_n(edge, args.n - column, args.c + column);
  }
}

/// c = a * b + bias with b in binary16; groups of rows and panels as in gemm().
template <class Isa>
void gemm_f16(const GemmArgs& args) noexcept {
  using One = std::conditional_t<kConvertsHalves<Isa>, Binary16Panels, RaisedPanels>;
  if (args.m == 1 && (kConvertsHalves<Isa> || (args.raised && takes_unit(args.a, args.k)))) {
    gemm_f16_row<Isa, One>(args);
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
        widen_rows<Isa>({panel + first * kRow, 0, count}, args.raised, widened);
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
