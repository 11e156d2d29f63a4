#include "isa/arch/avx2.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* avx2_kernels() noexcept { return &kTable<Avx2>; }
}  // namespace qkv::kernels
