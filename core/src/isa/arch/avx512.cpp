#include "isa/arch/avx512.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* avx512_kernels() noexcept { return &kTable<Avx512>; }
}  // namespace qkv::kernels
