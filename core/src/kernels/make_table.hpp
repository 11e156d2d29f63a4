// Instantiates every kernel for one instruction set.
#pragma once

#include "kernels/attention/flash_attention.hpp"
#include "kernels/attention/weights.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/gemm_int8.hpp"
#include "kernels/product/panel_weights.hpp"
#include "kernels/product/quantize.hpp"
#include "kernels/rows/activation.hpp"
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
    .panel = kPanel<Isa>,
    .group_scratch = group_scratch<Isa>,
    .pack = pack<Isa>,
    .gemm = gemm<Isa>,
    .formats = {{.name = "f32",
                 .block_inputs = 1,
                 .block_bytes = 4 * kPanel<Isa>,
                 .quantized_rows = false,
                 .product = gemm<Isa>,
                 .write = write_f32<Isa>,
                 .read = read_f32<Isa>,
                 .keep = nullptr},
                {.name = "bf16",
                 .block_inputs = 1,
                 .block_bytes = 2 * kPanel<Isa>,
                 .quantized_rows = false,
                 .product = gemm<Isa, Rows, HalfPanels>,
                 .write = write_bf16<Isa>,
                 .read = read_bf16<Isa>,
                 .keep = nullptr},
                {.name = "int8",
                 .block_inputs = kInt8Block,
                 .block_bytes = int8_block_bytes(kPanel<Isa>),
                 .quantized_rows = true,
                 .product = gemm_int8<Isa>,
                 .write = write_int8<Isa>,
                 .read = read_int8<Isa>,
                 .keep = keep_int8<Isa>}},
    .quantize = quantize<Isa>,
    .row_block_floats = RowBlock<Isa>::kBytes / 4,
    .attend = attend<Isa>,
    .weigh = weigh<Isa>,
    .logits = logits<Isa>,
    .normalize = normalize<Isa>,
    .softmax = softmax<Isa>,
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
