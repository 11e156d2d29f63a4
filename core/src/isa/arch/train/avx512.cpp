#include "isa/arch/avx512.hpp"
#include "kernels/train/make_train_table.hpp"

namespace qkv::kernels {
const TrainTable* avx512_train_kernels() noexcept { return &kTrainTable<Avx512>; }
}  // namespace qkv::kernels
