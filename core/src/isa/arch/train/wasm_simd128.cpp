#include "isa/arch/wasm_simd128.hpp"
#include "kernels/train/make_train_table.hpp"

namespace qkv::kernels {
const TrainTable* wasm_simd128_train_kernels() noexcept { return &kTrainTable<WasmSimd128>; }
}  // namespace qkv::kernels
