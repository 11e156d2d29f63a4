#include "isa/arch/sse4.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* sse4_kernels() noexcept { return &kTable<Sse4>; }
}  // namespace qkv::kernels
