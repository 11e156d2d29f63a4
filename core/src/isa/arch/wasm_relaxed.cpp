#include "isa/arch/wasm_relaxed.hpp"
#include "kernels/make_table.hpp"

namespace qkv::kernels {
const KernelTable* wasm_relaxed_kernels() noexcept {
  static const KernelTable dot = with_bytes_of<WasmRelaxedDot>(kTable<WasmRelaxed>);
  return relaxed_dot<WasmRelaxed>() == RelaxedDot::kPairs ? &kTable<WasmRelaxed> : &dot;
}
}  // namespace qkv::kernels
