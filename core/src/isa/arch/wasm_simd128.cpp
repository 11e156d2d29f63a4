#include "isa/arch/wasm_simd128.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* wasm_simd128_kernels() noexcept { return &kTable<WasmSimd128>; }
}  // namespace qkv::kernels
