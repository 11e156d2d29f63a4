// A weight matrix as products read it: its checks, its memory, and how it is packed.
#pragma once

#include "base/message.hpp"
#include "kernels/kernel_table.hpp"
#include "qkv/linear.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// One matrix as a create() sees it, [in, out] or [out, in] as its layout says, and its bias, which
/// may be absent.
struct WeightMatrix {
  const char* name;
  const char* bias_name;
  TensorView<const float> weight;
  TensorView<const float> bias;
  Index in, out;
  WeightLayout layout;
};

/// Checks both arrays in the name of `caller`.
Status check_linear(const Caller& caller, const WeightMatrix& l) noexcept;

/// Rejects values outside the enum.
Status check_layout(const Caller& caller, const char* name, WeightLayout layout) noexcept;

/// Packs checked arrays; kOutOfMemory is all that can go wrong.
Status pack_linear(const kernels::KernelTable& table, const WeightMatrix& l,
                   PackedLinear& packed) noexcept;

/// The sizes of a matrix, all at least 1, and how it keeps its weights.
struct LinearSize {
  Index in, out;
  WeightFormat format = WeightFormat::kF32;
  bool bias = false;
};

/// Memory for a matrix, which fill_matrix() has to fill, and for its bias. The bias, and the columns that the last panel has more than
/// the matrix, are 0, and with codes of 4 bits everything is. kOutOfMemory is all that can go wrong, and leaves `packed` as it was.
Status reserve_linear(const kernels::KernelTable& table, const LinearSize& size,
                      PackedLinear& packed) noexcept;

}  // namespace qkv
