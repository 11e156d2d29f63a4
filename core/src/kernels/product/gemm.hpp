// Matrix product: one register tile that everything in the library multiplies with.
//
// The right-hand matrix is packed into panels of kPanel<Isa> columns, zero-padded, each panel
// stored row after row, so the tile reads it front to back. The left-hand matrix is read in place,
// one element at a time, so its inner size needs no padding and has no tail.
#pragma once

#include <cstddef>

#include "kernels/kernel_table.hpp"
#include "kernels/product/half_vectors.hpp"
#include "kernels/product/panels.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// The left-hand side of a product: `rows` rows, read one element at a time.
struct Rows {
  static constexpr bool kTransposed = false;
  const float* at;
  Index stride;
};

/// A left-hand side that lies in memory transposed: element (r, kk) is at[r * stride + kk * step].
struct Columns {
  static constexpr bool kTransposed = true;
  const float* at;
  Index stride, step;
};

/// Floats from one element of a row to the next.
static constexpr Index step_of(const Rows& /*a*/) noexcept { return 1; }
static constexpr Index step_of(const Columns& a) noexcept { return a.step; }

/// Panels of a packed matrix, `stride` floats from one to the next, and how many rows of them count.
struct Panels {
  static constexpr bool kHalves = false;
  const float* at;
  Index stride;
  Index k;
};

/// The same with weights of bfloat16, two in the place of one float.
struct HalfPanels {
  static constexpr bool kHalves = true;
  const float* at;
  Index stride;
  Index k;
};

/// The same with binary16, finite ones.
struct Binary16Panels {
  static constexpr bool kHalves = true;
  const float* at;
  Index stride;
  Index k;
};

/// The same with raised binary16. The elements of rows are multiplied by kRaisedUnit in the place of the weights, of which there are
/// more: products have the same bits for elements below 2^26 in size, which takes_unit() sees to.
struct RaisedPanels {
  static constexpr bool kHalves = true;
  const float* at;
  Index stride;
  Index k;
};

/// Floats of memory that a row of a panel takes.
template <class Isa, class Right>
static constexpr Index floats_of_row(const Right& /*b*/) noexcept {
  return Right::kHalves ? kPanel<Isa> / 2 : kPanel<Isa>;
}

/// Row kk of panel `panel`, as kTileVectors vectors.
template <class Isa>
[[gnu::always_inline]] inline void load_row(const Panels& b, Index panel, Index kk,
                                            Vec<Isa>* row) noexcept {
#pragma GCC unroll 8
  for (int v = 0; v < Isa::kTileVectors; ++v) {
    row[v] = Vec<Isa>::load_aligned(b.at + panel * b.stride +
                                    float_place(kk, v * kWidth<Isa>, kPanel<Isa>));
  }
}
template <class Isa>
[[gnu::always_inline]] inline void load_row(const HalfPanels& b, Index panel, Index kk,
                                            Vec<Isa>* row) noexcept {
  static_assert(Isa::kTileVectors == 2);
  const auto both = xsimd::bitwise_cast<std::uint32_t>(
      Vec<Isa>::load_aligned(b.at + panel * b.stride + half_place(kk, 0, kPanel<Isa>) / 2));
  row[0] = xsimd::bitwise_cast<float>(both << 16);
  row[1] = xsimd::bitwise_cast<float>(both & decltype(both)(0xffff0000U));
}
template <class Isa>
[[gnu::always_inline]] inline void load_row(const Binary16Panels& b, Index panel, Index kk,
                                            Vec<Isa>* row) noexcept {
  load_halves<Isa>(reinterpret_cast<const std::byte*>(b.at + panel * b.stride +
                                                      half_place(kk, 0, kPanel<Isa>) / 2),
                   row);
}
template <class Isa>
[[gnu::always_inline]] inline void load_row(const RaisedPanels& b, Index panel, Index kk,
                                            Vec<Isa>* row) noexcept {
  load_raised<Isa>(reinterpret_cast<const std::byte*>(b.at + panel * b.stride +
                                                      half_place(kk, 0, kPanel<Isa>) / 2),
                   row);
}

/// An element of a row as it meets the weights.
template <class Isa, class Right>
[[gnu::always_inline]] inline Vec<Isa> factor_of(float element, const Right& /*b*/) noexcept {
  return Vec<Isa>(element);
}
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> factor_of(float element,
                                                 const RaisedPanels& /*b*/) noexcept {
  return Vec<Isa>(element) * Vec<Isa>(kRaisedUnit);
}

/// Makes the compiler forget where a pointer came from, so that it keeps it in a register of its own.
static inline void hide(const float*& pointer) noexcept { asm("" : "+r"(pointer)); }

/// c[r, 0:n] = init[r, 0:n] + sum_kk a[r, kk] * b[kk, 0:n] for kRows rows and kPanels panels. Null
/// init.at is zero; init may be c. Every element is summed in the order of kk whatever the size of the
/// tile is, which is why splitting rows or columns differently never changes a bit.
template <class Isa, int kRows, int kPanels, class Left, class Right>
inline void tile(Left a, Right b, Rows init, float* c, Index c_stride) noexcept {
  using V = Vec<Isa>;
  constexpr int kVectors = Isa::kTileVectors;
  V acc[kRows][kPanels * kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
    for (int v = 0; v < kPanels * kVectors; ++v) {
      acc[r][v] =
          init.at ? V::load_unaligned(init.at + r * init.stride + v * kWidth<Isa>) : V(0.0F);
    }
  }
  // A pointer for every three rows: the other two are one and two strides away, which is addressing and
  // not arithmetic. Left to itself clang computes eleven addresses for each summand.
  const float* rows[(kRows + 2) / 3];
  for (int r = 0; r < kRows; r += 3) {
    rows[r / 3] = a.at + r * a.stride;
    hide(rows[r / 3]);
  }
  for (Index kk = 0; kk < b.k; ++kk) {
    V row[kPanels * kVectors];
#pragma GCC unroll 16
    for (int p = 0; p < kPanels; ++p) {
      load_row<Isa>(b, p, kk, row + p * kVectors);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V factor = factor_of<Isa>(rows[r / 3][r % 3 * a.stride], b);
#pragma GCC unroll 32
      for (int v = 0; v < kPanels * kVectors; ++v) {
        acc[r][v] = madd<Isa>(factor, row[v], acc[r][v]);
      }
    }
    for (int r = 0; r < kRows; r += 3) {
      rows[r / 3] += step_of(a);
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

/// What a product of some rows with some panels reads and writes.
template <class Left, class Right>
struct Product {
  Left a;
  Right b;
  Rows init;
  float* c;
  Index c_stride;
};

/// tile() for kRows rows and panels [panel, panels): kPanels at a time while that many are left, then half
/// as many. Multiplying the leftover panels one by one instead, each with two sums that wait for every
/// addition, made decoding through a cache 1.2 to 1.35 times slower (AVX2, WebAssembly).
template <class Isa, int kRows, int kPanels, class Left, class Right>
inline void multiply_ladder(const Product<Left, Right>& p, Index panel, Index panels) noexcept {
  for (; panels - panel >= kPanels; panel += kPanels) {
    const Index column = panel * kPanel<Isa>;
    Right b = p.b;
    b.at += panel * b.stride;
    tile<Isa, kRows, kPanels>(p.a, b, {p.init.at ? p.init.at + column : nullptr, p.init.stride},
                              p.c + column, p.c_stride);
  }
  if constexpr (kPanels > 1) {
    multiply_ladder<Isa, kRows, kPanels / 2>(p, panel, panels);
  }
}

/// Whether the instruction set has vectors of four floats and 16 registers: SSE and WebAssembly.
template <class Isa>
inline constexpr bool kNarrow = kWidth<Isa> == 4 && Isa::kTileRows == 6;

/// The largest power of two that is at most n.
static constexpr int power_of_two_up_to(int n) noexcept {
  int power = 1;
  while (2 * power <= n) {
    power *= 2;
  }
  return power;
}

/// Sums that hide the latency of a madd, which is four cycles of two. More of them take more panels at a time, and a panel
/// that is read by itself comes from memory in one stream: decoding four rows on AVX-512 took 1.9 times as long with
/// two.
inline constexpr int kBusySums = 8;

/// Panels that a tile of kRows rows takes at a time.
template <class Isa, int kRows>
constexpr int panels_at_once() noexcept {
  // Sums, weights and a factor of three rows and two panels are more than 16 registers: half the speed in WebAssembly.
  constexpr int kFit = kNarrow<Isa> && kRows == 3 ? 1 : power_of_two_up_to(Isa::kTileRows / kRows);
  constexpr int kSums = kRows * Isa::kTileVectors;
  constexpr int kEnough = kSums < kBusySums ? 2 * power_of_two_up_to((kBusySums - 1) / kSums) : 1;
  return kFit < kEnough ? kFit : kEnough;
}

/// The tile for `rows` rows, 1 <= rows <= kRows.
template <class Isa, int kRows, class Left, class Right>
inline void multiply_rows(int rows, Index panels, const Product<Left, Right>& p) noexcept {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      multiply_rows<Isa, kRows - 1>(rows, panels, p);
      return;
    }
  }
  multiply_ladder<Isa, kRows, panels_at_once<Isa, kRows>()>(p, 0, panels);
}

/// How tiles of panels of halves become lower: natively there is one of every power of two; in a .wasm those of 4 rows and of one
/// are 0.3 kB (gzip), and those of two would be 0.5 kB more.
#if defined(__wasm__)
inline constexpr int kLower = 4;
#else
inline constexpr int kLower = 2;
#endif

/// `rows` rows by tiles of kRows rows, then by lower ones, down to one row.
template <class Isa, int kRows, class Left, class Right>
inline void multiply_by_heights(int rows, Index panels, Product<Left, Right>& p) noexcept {
  for (; rows >= kRows; rows -= kRows) {
    multiply_ladder<Isa, kRows, panels_at_once<Isa, kRows>()>(p, 0, panels);
    p.a.at += kRows * p.a.stride;
    p.init.at = p.init.at ? p.init.at + kRows * p.init.stride : nullptr;
    p.c += kRows * p.c_stride;
  }
  if constexpr (kRows > 1) {
    multiply_by_heights<Isa, kRows / kLower>(rows, panels, p);
  }
}

/// multiply_rows() for rows that do not fill a tile, out of line: inlined into every kernel that multiplies,
/// these tiles were 12 kB of a .wasm. Panels of halves have tiles of some heights alone.
template <class Isa, class Left, class Right>
[[gnu::noinline]] void multiply_remainder(int rows, Index panels,
                                          const Product<Left, Right>& p) noexcept {
  if constexpr (Right::kHalves) {
    Product<Left, Right> rest = p;
    multiply_by_heights<Isa, power_of_two_up_to(Isa::kTileRows - 1)>(rows, panels, rest);
  } else {
    multiply_rows<Isa, Isa::kTileRows - 1>(rows, panels, p);
  }
}

/// tile() for 1 to kTileRows rows and any number of panels. Few rows take several panels at a time,
/// because the latency of a madd has to be filled with other sums: a single row times a single panel
/// would wait for every addition.
template <class Isa, class Left = Rows, class Right = Panels>
inline void multiply(int rows, Index panels, Left a, Right b, Rows init, float* c,
                     Index c_stride) noexcept {
  const Product<Left, Right> p{a, b, init, c, c_stride};
  if (rows < Isa::kTileRows) {
    multiply_remainder<Isa>(rows, panels, p);
    return;
  }
  multiply_ladder<Isa, Isa::kTileRows, 1>(p, 0, panels);
}

/// A square of kWidth rows from b, kWidth columns wide, into `to`, rows kPanel apart.
template <class Isa>
inline void pack_square(const PackArgs& args, Index kk, Index column, float* to) noexcept {
  using V = Vec<Isa>;
  const float* from = args.b + kk * args.row_stride + column * args.column_stride;
  V square[kWidth<Isa>];
  if (args.column_stride == 1) {
    for (Index i = 0; i < kWidth<Isa>; ++i) {
      square[i] = V::load_unaligned(from + i * args.row_stride);
    }
  } else {
    for (Index i = 0; i < kWidth<Isa>; ++i) {
      square[i] = V::load_unaligned(from + i * args.column_stride);
    }
    xsimd::transpose(square, square + kWidth<Isa>);
  }
  for (Index i = 0; i < kWidth<Isa>; ++i) {
    square[i].store_aligned(to + i * kPanel<Isa>);
  }
}

/// Columns [column, column + width) from row `first` on, one by one, and zeros up to the panel's end.
template <class Isa>
inline void pack_singly(const PackArgs& args, Index column, Index width, Index first,
                        float* to) noexcept {
  for (Index kk = first; kk < args.k; ++kk) {
    const float* from = args.b + kk * args.row_stride + column * args.column_stride;
    for (Index j = 0; j < width; ++j) {
      to[float_place(kk, j, kPanel<Isa>)] = from[j * args.column_stride];
    }
    for (Index j = width; j < kPanel<Isa>; ++j) {
      to[float_place(kk, j, kPanel<Isa>)] = 0.0F;
    }
  }
}

/// Packs b (k x n, any strides) into ceil(n / kPanel) panels of k x kPanel, zero where n ends. Where
/// rows or columns of b are contiguous, whole panels are loaded and turned by vectors.
template <class Isa>
void pack(const PackArgs& args) noexcept {
  const bool by_vectors = args.row_stride == 1 || args.column_stride == 1;
  const Index squares = by_vectors ? args.k / kWidth<Isa> * kWidth<Isa> : 0;
  float* to = args.panels;
  for (Index column = 0; column < args.n; column += kPanel<Isa>) {
    const Index width = args.n - column < kPanel<Isa> ? args.n - column : kPanel<Isa>;
    const Index turned = width == kPanel<Isa> ? squares : 0;
    for (Index kk = 0; kk < turned; kk += kWidth<Isa>) {
      for (Index j = 0; j < kPanel<Isa>; j += kWidth<Isa>) {
        pack_square<Isa>(args, kk, column + j, to + float_place(kk, j, kPanel<Isa>));
      }
    }
    pack_singly<Isa>(args, column, width, turned, to);
    to += args.k * kPanel<Isa>;
  }
}

/// Rows from `row` times `panels` panels from `panel`, into c, whose first column is that of the first
/// panel. Returns the number of rows: a tile's, or what is left.
template <class Isa, class Left, class Right>
inline int multiply_panels(const GemmArgs& args, Index row, Index panel, Index panels, float* c,
                           Index c_stride, Index most_rows = Isa::kTileRows) noexcept {
  Left a;
  if constexpr (Left::kTransposed) {
    a = {args.a + row, 1, args.a_stride};
  } else {
    a = {args.a + row * args.a_stride, args.a_stride};
  }
  const int rows = static_cast<int>(args.m - row < most_rows ? args.m - row : most_rows);
  const float* bias = args.bias ? args.bias + panel * kPanel<Isa> : nullptr;
  const Index stride = args.k * floats_of_row<Isa>(Right{});
  multiply<Isa>(rows, panels, a, Right{args.b_panels + panel * stride, stride, args.k}, {bias, 0},
                c, c_stride);
  return rows;
}

/// The columns past the last whole panel: through the same tile into a block on the stack, of which
/// the columns that exist are copied out.
template <class Isa, class Left, class Right>
inline void gemm_edge(const GemmArgs& args) noexcept {
  const Index panel = args.n / kPanel<Isa>;
  const Index column = panel * kPanel<Isa>;
  alignas(64) float edge[Isa::kTileRows * kPanel<Isa>];
  for (Index row = 0; column < args.n && row < args.m; row += Isa::kTileRows) {
    const int rows = multiply_panels<Isa, Left, Right>(args, row, panel, 1, edge, kPanel<Isa>);
    for (int r = 0; r < rows; ++r) {
      for (Index j = column; j < args.n; ++j) {
        args.c[(row + r) * args.c_stride + j] = edge[r * kPanel<Isa> + j - column];
      }
    }
  }
}

/// Rows of the tile that reads a panel first. Where panels come from memory and few rows follow, a low tile waits less: more of
/// its loads are on their way at once. Eight rows of 768 times 768 x 3072 took 0.8 of the time in WebAssembly.
template <class Isa, class Right>
inline Index first_height(const GemmArgs& args) noexcept {
  constexpr Index kLow = 4;
  constexpr Index kFew = 48;
  constexpr Index kCached = Index{1} << 18;  // floats that a second-level cache holds
  const bool streams = args.n * args.k / kPanel<Isa> * floats_of_row<Isa>(Right{}) > kCached;
  const bool few = args.m > Isa::kTileRows && args.m <= kFew;
  return kNarrow<Isa> && streams && few ? kLow : Isa::kTileRows;
}

/// c = a * b + bias with packed b. Rows go in groups that stay in a second-level cache while all panels
/// pass them, and a panel stays in the first-level cache while the rows of a group pass it; a few rows
/// go once through everything. (Slicing k as well, so that c is read and written again for each slice,
/// was measured at 0.81 instead of 0.95 of the peak in WebAssembly and gained nothing natively.)
/// With Columns a is stored as [k, m], rows a_stride apart.
template <class Isa, class Left = Rows, class Right = Panels>
void gemm(const GemmArgs& args) noexcept {
  constexpr Index kRows = Isa::kTileRows;
  constexpr Index kGroup = 384;
  static_assert(kGroup % kRows == 0);
  const Index panels = args.n / kPanel<Isa>;
  // Tiles of several heights pass the same panels, which stay in a first-level cache if they are few.
  constexpr Index kLowPanels = 4;
  const Index low = Right::kHalves && args.m > 1 ? kLowPanels : panels;
  const Index step = args.m < kRows ? low : 1;
  const Index first = first_height<Isa, Right>(args);
  for (Index top = 0; top < args.m; top += kGroup) {
    const Index bottom = args.m - top < kGroup ? args.m : top + kGroup;
    for (Index panel = 0; panel < panels; panel += step) {
      const Index some = panels - panel < step ? panels - panel : step;
      Index height = first;
      for (Index row = top; row < bottom; row += height, height = kRows) {
        multiply_panels<Isa, Left, Right>(args, row, panel, some,
                                          args.c + row * args.c_stride + panel * kPanel<Isa>,
                                          args.c_stride, height);
      }
    }
  }
  gemm_edge<Isa, Left, Right>(args);
}

}  // namespace qkv::kernels
