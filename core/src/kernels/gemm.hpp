// Matrix product: one register tile that everything in the library multiplies with.
//
// The right-hand matrix is packed into panels of kPanel<Isa> columns, zero-padded, each panel
// stored row after row, so the tile reads it front to back. The left-hand matrix is read in place,
// one element at a time, so its inner size needs no padding and has no tail.
#pragma once

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// The left-hand side of a product: `rows` rows, read one element at a time.
struct Rows {
  const float* at;
  Index stride;
};

/// Panels of a packed matrix, `stride` floats from one to the next, and how many rows of them count.
struct Panels {
  const float* at;
  Index stride;
  Index k;
};

/// c[r, 0:n] = init[r, 0:n] + sum_kk a[r, kk] * b[kk, 0:n] for kRows rows and kPanels panels. Null
/// init.at is zero; init may be c. Every element is summed in the order of kk whatever the size of the
/// tile is, which is why splitting rows or columns differently never changes a bit.
template <class Isa, int kRows, int kPanels>
inline void tile(Rows a, Panels b, Rows init, float* c, Index c_stride) noexcept {
  using V = Vec<Isa>;
  constexpr int kVectors = Isa::kTileVectors;
  V acc[kRows][kPanels * kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
    for (int v = 0; v < kPanels * kVectors; ++v) {
      acc[r][v] = init.at ? V::load_unaligned(init.at + r * init.stride + v * kWidth<Isa>) : V(0.0F);
    }
  }
  for (Index kk = 0; kk < b.k; ++kk) {
    V row[kPanels * kVectors];
#pragma GCC unroll 32
    for (int v = 0; v < kPanels * kVectors; ++v) {
      row[v] = V::load_aligned(b.at + v / kVectors * b.stride + kk * kPanel<Isa> +
                               v % kVectors * kWidth<Isa>);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V factor(a.at[r * a.stride + kk]);
#pragma GCC unroll 32
      for (int v = 0; v < kPanels * kVectors; ++v) {
        acc[r][v] = madd<Isa>(factor, row[v], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
    for (int v = 0; v < kPanels * kVectors; ++v) {
      acc[r][v].store_unaligned(c + r * c_stride + v * kWidth<Isa>);
    }
  }
}

/// tile() for 1 to kTileRows rows and any number of panels. Few rows take several panels at a time, so
/// that there are always about as many sums under way as the latency of a madd asks for: one row
/// against a single panel would wait for every addition.
template <class Isa, int kRows = Isa::kTileRows>
inline void multiply(int rows, Index panels, Rows a, Panels b, Rows init, float* c,
                     Index c_stride) noexcept {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      multiply<Isa, kRows - 1>(rows, panels, a, b, init, c, c_stride);
      return;
    }
  }
  constexpr int kAtOnce = Isa::kTileRows / kRows;
  Index panel = 0;
  const auto from_panel = [&](const float* at) { return at ? at + panel * kPanel<Isa> : nullptr; };
  const auto tile_here = [&]<int kPanels>() {
    tile<Isa, kRows, kPanels>(a, {b.at + panel * b.stride, b.stride, b.k},
                              {from_panel(init.at), init.stride}, c + panel * kPanel<Isa>, c_stride);
    panel += kPanels;
  };
  if constexpr (kAtOnce > 1) {
    while (panel + kAtOnce <= panels) {
      tile_here.template operator()<kAtOnce>();
    }
  }
  while (panel < panels) {
    tile_here.template operator()<1>();
  }
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
  const Index whole = args.n / kPanel<Isa>;
  const Index edge_columns = args.n - whole * kPanel<Isa>;
  const auto times = [&](Index panel, Index count, Index row, float* c, Index c_stride) {
    const int rows = static_cast<int>(args.m - row < kRows ? args.m - row : kRows);
    multiply<Isa>(rows, count, {args.a + row * args.a_stride, args.a_stride},
                  {args.b_panels + panel * args.k * kPanel<Isa>, args.k * kPanel<Isa>, args.k},
                  {args.bias ? args.bias + panel * kPanel<Isa> : nullptr, 0}, c, c_stride);
    return rows;
  };
  // A panel stays in the first-level cache while all rows pass it; few rows pass all panels at once.
  const Index step = args.m < kRows ? whole : 1;
  for (Index panel = 0; panel < whole; panel += step) {
    for (Index row = 0; row < args.m; row += kRows) {
      times(panel, step, row, args.c + row * args.c_stride + panel * kPanel<Isa>, args.c_stride);
    }
  }
  if (edge_columns == 0) {
    return;
  }
  alignas(64) float edge[kRows * kPanel<Isa>];
  for (Index row = 0; row < args.m; row += kRows) {
    const int rows = times(whole, 1, row, edge, kPanel<Isa>);
    for (int r = 0; r < rows; ++r) {
      for (Index j = 0; j < edge_columns; ++j) {
        args.c[(row + r) * args.c_stride + whole * kPanel<Isa> + j] = edge[r * kPanel<Isa> + j];
      }
    }
  }
}

}  // namespace qkv::kernels
