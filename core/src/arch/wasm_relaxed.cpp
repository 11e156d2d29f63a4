#include "kernels/make_table.hpp"

namespace qkv::kernels {

/// WebAssembly SIMD128 with relaxed_madd.
struct WasmRelaxed {
  using Arch = xsimd::wasm;
  static constexpr const char* kName = "wasm-relaxed-simd";
  static constexpr Madd kMadd = Madd::kRelaxed;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
};

const KernelTable* wasm_relaxed_kernels() noexcept { return &kTable<WasmRelaxed>; }

}  // namespace qkv::kernels
