// Products whose left-hand side is stored transposed: dW = X^T dY without a transposed copy of X.
#pragma once

#include "kernels/gemm.hpp"
#include "kernels/train/train_table.hpp"

namespace qkv::kernels {

/// Rows of c that stay in the cache while all panels pass: a column of a is read in strides, and 384 rows are 24 cache
/// lines of each of its rows.
inline constexpr Index kTransposedGroup = 384;

/// Rows [row, row + tile) of c against one panel of b, the last columns through a block on the stack.
template <class Isa>
inline void transposed_tile(const GemmArgs& args, Index row, Index panel) noexcept {
  const Index left = args.m - row;
  const int rows = static_cast<int>(left < Isa::kTileRows ? left : Isa::kTileRows);
  const Index column = panel * kPanel<Isa>;
  const Columns a{args.a + row, 1, args.a_stride};
  const Panels b{args.b_panels + column * args.k, args.k * kPanel<Isa>, args.k};
  const Rows init{args.bias ? args.bias + column : nullptr, 0};
  if (args.n - column >= kPanel<Isa>) {
    multiply<Isa>(rows, 1, a, b, init, args.c + row * args.c_stride + column, args.c_stride);
    return;
  }
  alignas(64) float edge[Isa::kTileRows * kPanel<Isa>];
  multiply<Isa>(rows, 1, a, b, init, edge, kPanel<Isa>);
  for (int r = 0; r < rows; ++r) {
    for (Index j = column; j < args.n; ++j) {
      args.c[(row + r) * args.c_stride + j] = edge[r * kPanel<Isa> + j - column];
    }
  }
}

template <class Isa>
void gemm_transposed(const GemmArgs& args) noexcept {
  static_assert(kTransposedGroup % Isa::kTileRows == 0);
  for (Index top = 0; top < args.m; top += kTransposedGroup) {
    const Index bottom = args.m - top < kTransposedGroup ? args.m : top + kTransposedGroup;
    for (Index panel = 0; panel * kPanel<Isa> < args.n; ++panel) {
      for (Index row = top; row < bottom; row += Isa::kTileRows) {
        transposed_tile<Isa>(args, row, panel);
      }
    }
  }
}

}  // namespace qkv::kernels
