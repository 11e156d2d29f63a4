#include "isa/arch/wasm_relaxed.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* wasm_relaxed_kernels() noexcept { return &kTable<WasmRelaxed>; }
}  // namespace qkv::kernels
