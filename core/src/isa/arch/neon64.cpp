#include "isa/arch/neon64.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* neon64_kernels() noexcept { return &kTable<Neon64>; }
}  // namespace qkv::kernels
