// Matrices of binary16 whose numbers are kept times 2^10.
//
// Instruction sets that convert binary16 by moving bits and one multiplication would meet subnormal numbers in every matrix, which
// take processors of Intel 150 cycles each. Times 2^10 no number of binary16 is subnormal, and all below 128 have an exponent
// of five bits, 31 being one like the others. Weights are below 128; a matrix with greater ones stays as it was.
#pragma once

#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/parallel.hpp"

namespace qkv {

/// Raises a full matrix of binary16 if its numbers allow it; nothing with other formats, and where an instruction converts. Once only,
/// after all of fill_matrix(). Shared by the threads of `pool`, if there is one.
void raise_halves(const kernels::KernelTable& table, PackedLinear& packed,
                  ThreadPool* pool) noexcept;

}  // namespace qkv
