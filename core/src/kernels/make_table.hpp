// Instantiates every kernel for one instruction set.
#pragma once

#include "kernels/attention/flash_attention.hpp"
#include "kernels/attention/weights.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/gemm_int8.hpp"
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
    .gemm_bf16 = gemm<Isa, Rows, HalfPanels>,
    .gemm_int8 = gemm_int8<Isa>,
    .quantize = quantize<Isa>,
    .int8 = int8_layout<Isa>(),
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
