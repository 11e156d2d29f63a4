#include "isa/arch/neon64.hpp"
#include "kernels/train/make_train_table.hpp"

namespace qkv::kernels {
const TrainTable* neon64_train_kernels() noexcept { return &kTrainTable<Neon64>; }
}  // namespace qkv::kernels
