#include "isa/arch/wasm_relaxed.hpp"
#include "kernels/train/make_train_table.hpp"

namespace qkv::kernels {
const TrainTable* wasm_relaxed_train_kernels() noexcept { return &kTrainTable<WasmRelaxed>; }
}  // namespace qkv::kernels
