// The rows of KernelTable::formats whose weights are bytes, and what quantises rows for them.
#pragma once

#include "kernels/product/gemm_int4.hpp"
#include "kernels/product/gemm_int8.hpp"
#include "kernels/product/gemm_q4k.hpp"
#include "kernels/product/panel_weights.hpp"
#include "kernels/product/quantize.hpp"

namespace qkv::kernels {

struct ByteFormats {
  PanelFormat int8, int4, q4k;
  RowQuantizer quantizers[kQuantizedKinds];
};

// Clang writes an enumerator that stands for a template's parameter as a cast of a number.
// NOLINTBEGIN(google-readability-casting)
template <class Isa, RowKind kKind>
inline constexpr RowQuantizer kQuantizer{
    .quantize = quantize<Isa, kKind>,
    .block_floats = RowBlock<Isa, kKind>::kBytesOfBlock / static_cast<Index>(sizeof(float))};
// NOLINTEND(google-readability-casting)

template <class Isa>
inline constexpr ByteFormats kByteFormats{
    .int8 = {.name = "int8",
             .most = "8.3e6",
             .block_inputs = kInt8Block,
             .block_bytes = int8_block_bytes(kPanel<Isa>),
             .rows = kOneRowKind<Isa> ? RowKind::kCodes : RowKind::kBytes,
             .product = gemm_int8<Isa>,
             .write = write_int8<Isa>,
             .read = nullptr,
             .bits = 8,
             .keep = keep_int8<Isa>,
             .take = take_int8<Isa>,
             .keep_large = nullptr,
             .take_large = nullptr,
             .copy = nullptr},
    .int4 = {.name = "int4",
             .most = "65,520",
             .block_inputs = kInt8Block,
             .block_bytes = int4_block_bytes(kPanel<Isa>),
             .rows = RowKind::kCodes,
             .product = gemm_int4<Isa>,
             .write = write_int4<Isa>,
             .read = nullptr,
             .bits = 4,
             .keep = keep_int4<Isa>,
             .take = take_int4<Isa>,
             .keep_large = nullptr,
             .take_large = nullptr,
             .copy = nullptr},
    .q4k = {.name = "q4_k",
            .most = nullptr,
            .block_inputs = kQ4kInputs,
            .block_bytes = q4k_block_bytes(kPanel<Isa>),
            .rows = RowKind::kCodes,
            .product = gemm_q4k<Isa>,
            .write = nullptr,
            .read = nullptr,
            .bits = 0,
            .keep = nullptr,
            .take = nullptr,
            .keep_large = keep_q4k<Isa>,
            .take_large = take_q4k<Isa>,
            .copy = nullptr},
    .quantizers = {kQuantizer < Isa, kOneRowKind<Isa> ? RowKind::kCodes : RowKind::kBytes >,
                   kQuantizer<Isa, RowKind::kCodes>}};

/// The kernels of `base`, with those for bytes of Isa, whose panels are as wide.
template <class Isa>
KernelTable with_bytes_of(const KernelTable& base) noexcept {
  KernelTable table = base;
  const ByteFormats& bytes = kByteFormats<Isa>;
  table.isa = Isa::kName;
  for (PanelFormat& format : table.formats) {
    format = format.block_inputs == 1 ? format
             : format.keep_large      ? bytes.q4k
             : format.bits == 8       ? bytes.int8
                                      : bytes.int4;
  }
  table.quantizers[0] = bytes.quantizers[0];
  table.quantizers[1] = bytes.quantizers[1];
  return table;
}

}  // namespace qkv::kernels
