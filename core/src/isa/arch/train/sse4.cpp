#include "isa/arch/sse4.hpp"
#include "kernels/train/make_train_table.hpp"

namespace qkv::kernels {
const TrainTable* sse4_train_kernels() noexcept { return &kTrainTable<Sse4>; }
}  // namespace qkv::kernels
