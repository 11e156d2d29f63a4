#include "isa/arch/avx2.hpp"
#include "kernels/train/make_train_table.hpp"

namespace qkv::kernels {
const TrainTable* avx2_train_kernels() noexcept { return &kTrainTable<Avx2>; }
}  // namespace qkv::kernels
