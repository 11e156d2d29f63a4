// Products whose weights are bytes: what gemm_int8.hpp, gemm_int4.hpp and gemm_q4k.hpp share.
//
// A Format says how panels of it are read:
//
//     kCodes            whether weights are codes of 4 bits; then they meet rows of RowKind::kCodes
//     kBlocks           blocks of kInt8Block inputs that a large block has; 1 where there are none
//     kBytes            of a large block of a panel
//     kWeights          bytes from one block's weights, as bytes, to the next
//     prepare()         makes ready what several rows need: the codes of some blocks as bytes, or what sums start at
//     row()             some blocks times one row
//     rows<kRows>()     some blocks, made ready, times kRows rows: byte_tile(), where tile<kRows>() adds a block to their sums
//
// Blocks are added one after another, so that a row has the same bits by itself and among others.
#pragma once

#include "kernels/product/gemm.hpp"
#include "kernels/product/row_block.hpp"

namespace qkv::kernels {

/// Some blocks of one panel times some rows.
struct ByteTile {
  const std::byte* panel;  ///< where the first block is
  const std::byte* ready;  ///< what prepare() made of it
  Index blocks;            ///< of kInt8Block inputs
  const std::byte* rows;   ///< where their first block is
  Index row_bytes;         ///< from one row to the next
  Rows init;
  float* c;
  Index c_stride;
};

/// Rows of a tile: eight sums in registers, and as many for what is multiplied.
inline constexpr Index kByteRows = 4;

/// Blocks of a panel that a first-level cache keeps while the rows pass them: whole large blocks.
template <class Isa>
inline constexpr Index kSliceBlocks = (Index{16} << 10) / int8_block_bytes(kPanel<Isa>) / 8 * 8;

/// The rows of a product of this format.
template <class Format>
inline constexpr RowKind kRowsOf = Format::kCodes ? RowKind::kCodes : RowKind::kBytes;

/// Numbers of a panel's columns, as float32, to where tiles read them and from there.
template <class Isa>
[[gnu::always_inline]] inline void store_columns(const Vec<Isa>* from, std::byte* to) noexcept {
  for (int v = 0; v < Isa::kTileVectors; ++v) {
    from[v].store_aligned(reinterpret_cast<float*>(to) + v * kWidth<Isa>);
  }
}
template <class Isa>
[[gnu::always_inline]] inline void load_columns(const std::byte* from, Vec<Isa>* to) noexcept {
  for (int v = 0; v < Isa::kTileVectors; ++v) {
    to[v] = Vec<Isa>::load_aligned(reinterpret_cast<const float*>(from) + v * kWidth<Isa>);
  }
}

/// A number of a row's block for each lane.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> splat_float(const std::byte* at) noexcept {
  float number = 0.0F;
  std::memcpy(&number, at, sizeof number);
  return Vec<Isa>(number);
}

/// A row of sums, from and to memory.
template <class Isa>
[[gnu::always_inline]] inline void load_sums(const Rows& from, int r, Vec<Isa>* to) noexcept {
  for (int v = 0; v < Isa::kTileVectors; ++v) {
    to[v] = from.at ? Vec<Isa>::load_unaligned(from.at + r * from.stride + v * kWidth<Isa>)
                    : Vec<Isa>(0.0F);
  }
}
template <class Isa>
[[gnu::always_inline]] inline void store_sums(const Vec<Isa>* from, float* to) noexcept {
  for (int v = 0; v < Isa::kTileVectors; ++v) {
    from[v].store_unaligned(to + v * kWidth<Isa>);
  }
}

/// multiply_block() of an even number of rows, two at a time. Sums start at 0.
template <class Isa, RowKind kKind, int kRows>
[[gnu::always_inline]] inline void multiply_pairs(const std::byte* weights,
                                                  const std::byte* const* rows,
                                                  Ints<Isa> (*sums)[Isa::kTileVectors]) noexcept {
  using D = DotOf<Isa>;
  using Block = RowBlock<Isa, kKind>;
#pragma GCC unroll 4
  for (Index i = 0; i < kInt8Block; i += D::kGroup) {
    typename D::Weights w[Isa::kTileVectors];
    D::load(weights, w);
    weights += D::kGroup * kPanel<Isa>;
    const Index numbers = Block::kNumbers + i / D::kGroup * Block::kStep;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; r += 2) {
      D::add_pair(w, D::pair(rows[r] + numbers, rows[r + 1] + numbers), sums + r);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; r += 2) {
    D::split_pair(sums + r);
  }
}

/// sums[r][v] += what a block of the rows' numbers makes with weights that are bytes. A loop in fact: of eight steps in a row clang
/// makes one expression for each sum in WebAssembly, whose operands go through memory, and products of many rows took 1.25
/// times as long.
template <class Isa, RowKind kKind, int kRows>
[[gnu::always_inline]] inline void multiply_block(const std::byte* weights,
                                                  const std::byte* const* rows,
                                                  Ints<Isa> (*sums)[Isa::kTileVectors]) noexcept {
  using D = DotOf<Isa>;
  using Block = RowBlock<Isa, kKind>;
  if constexpr (D::kRowPairs && kRows % 2 == 0) {
    return multiply_pairs<Isa, kKind, kRows>(weights, rows, sums);
  }
  const std::byte* numbers[kRows];
  for (int r = 0; r < kRows; ++r) {
    numbers[r] = rows[r] + Block::kNumbers;
  }
#pragma GCC unroll 1
  for (Index i = 0; i < kInt8Block; i += D::kGroup) {
    typename D::Weights w[Isa::kTileVectors];
    D::load(weights, w);
    weights += D::kGroup * kPanel<Isa>;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const typename D::Factor x = D::factor(numbers[r]);
      numbers[r] += Block::kStep;
#pragma GCC unroll 4
      for (int v = 0; v < Isa::kTileVectors; ++v) {
        if constexpr (kKind == RowKind::kCodes) {
          sums[r][v] = D::add_codes(sums[r][v], w[v], x);
        } else {
          sums[r][v] = D::add(sums[r][v], w[v], x);
        }
      }
    }
  }
}

/// The sums of a block of codes, as bytes, with kRows rows.
template <class Isa, int kRows>
[[gnu::always_inline]] inline void multiply_codes(const std::byte* weights,
                                                  const std::byte* const* rows,
                                                  Ints<Isa> (*sums)[Isa::kTileVectors]) noexcept {
  constexpr int kVectors = Isa::kTileVectors;
#pragma GCC unroll 16
  for (int i = 0; i < kRows * kVectors; ++i) {
    sums[i / kVectors][i % kVectors] = Ints<Isa>(0);
  }
  multiply_block<Isa, RowKind::kCodes, kRows>(weights, rows, sums);
#pragma GCC unroll 16
  for (int i = 0; i < kRows * kVectors; ++i) {
    Ints<Isa>& sum = sums[i / kVectors][i % kVectors];
    sum = DotOf<Isa>::finish(sum);
  }
}

/// The sums of a block of codes, as they lie in a panel, with one row.
template <class Isa>
[[gnu::always_inline]] inline void multiply_packed_codes(const std::byte* codes,
                                                         const std::byte* row,
                                                         Ints<Isa>* sums) noexcept {
  using D = DotOf<Isa>;
  using Block = RowBlock<Isa>;
  // Of even and of odd steps, because one sum would wait for itself.
  Ints<Isa> low[2] = {Ints<Isa>(0), Ints<Isa>(0)};
  Ints<Isa> other[2] = {Ints<Isa>(0), Ints<Isa>(0)};  // of the second vector, or of both
  const std::byte* numbers = row + Block::kNumbers;
#pragma GCC unroll 16
  for (Index step = 0; step < kInt8Block / D::kGroup; ++step) {
    const typename D::Weights both = D::load_codes(codes + step * D::kGroup * (kPanel<Isa> / 2));
    const typename D::Factor x = D::factor(numbers + step * Block::kStep);
    low[step % 2] = D::add_codes(low[step % 2], D::low(both), x);
    if constexpr (D::kWholeBytes) {
      other[step % 2] = D::add_codes(other[step % 2], both, x);
    } else {
      other[step % 2] = D::add_codes(other[step % 2], D::high(both), x);
    }
  }
  sums[0] = D::finish(low[0]) + D::finish(low[1]);
  sums[1] = D::finish(other[0]) + D::finish(other[1]);
  if constexpr (D::kWholeBytes) {
    sums[1] = (sums[1] - sums[0] + Ints<Isa>(Block::head(row).whole_start)) >> 4;
  }
}

/// The codes of a block as the bytes that a block of 8 bits would have.
template <class Isa>
inline void unpack_codes(const std::byte* codes, std::byte* to) noexcept {
  using D = DotOf<Isa>;
  constexpr Index kHalf = D::kGroup * kPanel<Isa> / 2;
  const bool is_signed = D::signed_codes();
  for (Index i = 0; i < kInt8Block; i += D::kGroup) {
    D::unpack(codes, is_signed, to);
    codes += kHalf;
    to += 2 * kHalf;
  }
}

template <class Isa, class Format, int kRows>
inline void byte_tile(const ByteTile& t) noexcept {
  constexpr Index kRowBytes = RowBlock<Isa, kRowsOf<Format>>::kBytesOfBlock;
  Vec<Isa> acc[kRows][Isa::kTileVectors];
  const std::byte* rows[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    rows[r] = t.rows + r * t.row_bytes;
    load_sums<Isa>(t.init, r, acc[r]);
  }
  const std::byte* panel = t.panel;
  const std::byte* ready = t.ready;
  for (Index block = 0; block < t.blocks; ++block) {
    Format::template tile<kRows>(panel, ready, rows, acc);
    panel += Format::kBytes;
    ready += Format::kReady;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      rows[r] += kRowBytes;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    store_sums<Isa>(acc[r], t.c + r * t.c_stride);
  }
}

/// At most kByteRows rows: tiles of four, two and one. Three rows pass a slice twice, which a first-level cache has; a tile of
/// three for every format would be 1.5 kB of a .wasm.
template <class Isa, class Format>
[[gnu::noinline]] void byte_rows(Index rows, ByteTile t) noexcept {
  const auto next = [&t](Index done) noexcept {
    t.rows += done * t.row_bytes;
    t.init.at = t.init.at ? t.init.at + done * t.init.stride : nullptr;
    t.c += done * t.c_stride;
  };
  if (rows == kByteRows) {
    return Format::template rows<4>(t);
  }
  if (rows >= 2) {
    Format::template rows<2>(t);
    next(2);
  }
  if (rows % 2 == 1) {
    Format::row(t);
  }
}

/// The same where the panel has columns that do not exist: into a block on the stack and out of it.
template <class Isa, class Format>
inline void byte_edge(Index rows, Index columns, ByteTile t) noexcept {
  alignas(64) float edge[kByteRows * kPanel<Isa>];
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
  byte_rows<Isa, Format>(rows, t);
  for (Index r = 0; r < rows; ++r) {
    for (Index j = 0; j < columns; ++j) {
      c[r * stride + j] = edge[r * kPanel<Isa> + j];
    }
  }
}

struct RowRange {
  Index begin, end;
};

/// These blocks of one panel times these rows. c holds the sums of earlier blocks.
template <class Isa, class Format>
inline void byte_slice(const GemmArgs& args, ByteTile t, RowRange rows, Index column) noexcept {
  alignas(64) std::byte ready[Format::kReadyBytes];
  if (rows.end - rows.begin > 1) {
    Format::prepare(t, ready);
  }
  t.ready = ready;
  const Index columns = args.n - column;
  const std::byte* first = t.rows;
  const Rows init = t.init;
  for (Index row = rows.begin; row < rows.end; row += kByteRows) {
    t.rows = first + row * t.row_bytes;
    t.init.at = init.at ? init.at + row * init.stride : nullptr;
    t.c = args.c + row * args.c_stride + column;
    const Index count = rows.end - row < kByteRows ? rows.end - row : kByteRows;
    if (columns < kPanel<Isa>) {
      byte_edge<Isa, Format>(count, columns, t);
    } else {
      byte_rows<Isa, Format>(count, t);
    }
  }
}

/// c = a * b + bias of quantised a and b. Groups of rows and panels as in gemm(); several rows take a panel in slices, one row takes it
/// whole.
template <class Isa, class Format>
inline void gemm_bytes(const GemmArgs& args) noexcept {
  constexpr Index kGroup = 384;
  const Index blocks = (args.k + kInt8Block - 1) / kInt8Block;
  const Index panel_bytes = (blocks + Format::kBlocks - 1) / Format::kBlocks * Format::kBytes;
  const Index slice = args.m > 1 ? kSliceBlocks<Isa> : blocks;
  const auto* panels = reinterpret_cast<const std::byte*>(args.b_panels);
  const auto* rows = reinterpret_cast<const std::byte*>(args.a);
  for (Index top = 0; top < args.m; top += kGroup) {
    const Index bottom = args.m - top < kGroup ? args.m : top + kGroup;
    for (Index column = 0; column < args.n; column += kPanel<Isa>) {
      const std::byte* panel = panels + column / kPanel<Isa> * panel_bytes;
      for (Index block = 0; block < blocks; block += slice) {
        const Rows bias{args.bias ? args.bias + column : nullptr, 0};
        const Rows sums{args.c + column, args.c_stride};
        const ByteTile t{.panel = panel + block / Format::kBlocks * Format::kBytes,
                         .ready = nullptr,
                         .blocks = blocks - block < slice ? blocks - block : slice,
                         .rows = rows + block * RowBlock<Isa, kRowsOf<Format>>::kBytesOfBlock,
                         .row_bytes = args.a_stride * 4,
                         .init = block == 0 ? bias : sums,
                         .c = nullptr,
                         .c_stride = args.c_stride};
        byte_slice<Isa, Format>(args, t, {top, bottom}, column);
      }
    }
  }
}

}  // namespace qkv::kernels
