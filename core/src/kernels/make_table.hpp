// Instantiates every kernel for one instruction set.
#pragma once

#include "kernels/attention/flash_attention.hpp"
#include "kernels/attention/weights.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/product/byte_formats.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/gemm_f16.hpp"
#include "kernels/product/panel_fill.hpp"
#include "kernels/product/panel_weights.hpp"
#include "kernels/rows/activation.hpp"
#include "kernels/rows/exponentials.hpp"
#include "kernels/rows/norm.hpp"
#include "kernels/rows/rotation.hpp"
#include "kernels/rows/softmax.hpp"

namespace qkv::kernels {

template <class Isa>
constexpr const char* checked_name() noexcept {
  static_assert(kPieceTokens % Isa::kTileRows == 0);
  return Isa::kName;
}

template <class Isa>
inline constexpr KernelTable kTable{
    .isa = checked_name<Isa>(),
    .base = Isa::kName,
    .panel = kPanel<Isa>,
    .group_scratch = group_scratch<Isa>,
    .state_floats = state_floats<Isa>,
    .pack = pack<Isa>,
    .gemm = gemm<Isa>,
    .formats = {{.name = "f32",
                 .most = nullptr,
                 .block_inputs = 1,
                 .block_bytes = 4 * kPanel<Isa>,
                 .rows = RowKind::kFloats,
                 .product = gemm<Isa>,
                 .write = write_f32<Isa>,
                 .read = read_f32<Isa>,
                 .bits = 0,
                 .keep = nullptr,
                 .take = nullptr,
                 .keep_large = nullptr,
                 .take_large = nullptr,
                 .copy = nullptr},
                {.name = "bf16",
                 .most = nullptr,
                 .block_inputs = 1,
                 .block_bytes = 2 * kPanel<Isa>,
                 .rows = RowKind::kFloats,
                 .product = gemm<Isa, Rows, HalfPanels>,
                 .write = write_bf16<Isa>,
                 .read = read_bf16<Isa>,
                 .bits = 0,
                 .keep = nullptr,
                 .take = nullptr,
                 .keep_large = nullptr,
                 .take_large = nullptr,
                 .copy = copy_bf16<Isa>},
                kByteFormats<Isa>.int8,
                {.name = "f16",
                 .most = "65,520",
                 .block_inputs = 1,
                 .block_bytes = 2 * kPanel<Isa>,
                 .rows = RowKind::kFloats,
                 .product = gemm_f16<Isa>,
                 .write = write_f16<Isa>,
                 .read = read_f16<Isa>,
                 .bits = 0,
                 .keep = nullptr,
                 .take = nullptr,
                 .keep_large = nullptr,
                 .take_large = nullptr,
                 .copy = copy_f16<Isa>,
                 .raises = !kConvertsHalves<Isa>},
                kByteFormats<Isa>.int4,
                kByteFormats<Isa>.q4k},
    .quantizers = {kByteFormats<Isa>.quantizers[0], kByteFormats<Isa>.quantizers[1]},
    .attend = attend<Isa>,
    .weigh = weigh<Isa>,
    .logits = logits<Isa>,
    .normalize = normalize<Isa>,
    .softmax = softmax<Isa>,
    .largest = largest_of<Isa>,
    .exponentials = exponentials<Isa>,
    .sinusoid_rows = sinusoid_rows<Isa>,
    .rotate = rotate<Isa>,
    .relu = relu<Isa>,
    .gelu = gelu<Isa>,
    .gelu_tanh = gelu_tanh<Isa>,
    .silu = silu<Isa>,
    .silu_times = silu_times<Isa>,
    .add = add<Isa>,
    .multiply = multiply_each<Isa>,
};

}  // namespace qkv::kernels
