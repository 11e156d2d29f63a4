#include "isa/arch/scalar.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* scalar_kernels() noexcept { return &kTable<Scalar>; }
}  // namespace qkv::kernels
