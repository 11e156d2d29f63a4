// Instantiates every kernel for one instruction set.
#pragma once

#include "kernels/flash_attention.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernel_table.hpp"

namespace qkv::kernels {

template <class Isa>
inline constexpr KernelTable kTable{
    .isa = Isa::kName,
    .panel = kPanel<Isa>,
    .head_scratch = head_scratch<Isa>,
    .pack = pack<Isa>,
    .gemm = gemm<Isa>,
    .attend = attend<Isa>,
    .weigh = weigh<Isa>,
};

}  // namespace qkv::kernels
