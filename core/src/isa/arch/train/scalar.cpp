#include "isa/arch/scalar.hpp"
#include "kernels/train/make_train_table.hpp"

namespace qkv::kernels {
const TrainTable* scalar_train_kernels() noexcept { return &kTrainTable<Scalar>; }
}  // namespace qkv::kernels
