// y = x W + b, the part that all layers share: a weight matrix's checks, packing and product.
#pragma once

#include "kernels/kernel_table.hpp"
#include "message.hpp"
#include "qkv/linear.hpp"
#include "qkv/parallel.hpp"
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

/// What a product reads and writes.
struct LinearRows {
  const float* x;  ///< [rows, in]
  Index rows;
  float* y;  ///< [rows, out]
};

/// y = x W + b, on the threads of `pool` if there is one.
void apply(const kernels::KernelTable& table, ThreadPool* pool, const PackedLinear& l,
           const LinearRows& to) noexcept;

/// Floats that apply_linear() takes of a workspace; args are those of linear(), checked.
[[nodiscard]] std::size_t linear_scratch(const kernels::KernelTable& table,
                                         const LinearArgs& args) noexcept;

/// linear() of checked arguments, in a workspace that has begun with room for linear_scratch(), which it gives back. For
/// functions of several products, which find the memory for all before anything is written.
void apply_linear(const kernels::KernelTable& table, const LinearArgs& args,
                  Workspace& workspace) noexcept;

/// Some columns of a product: `out` of them, written to rows of y that are `y_stride` apart.
struct LinearColumns {
  const float* panels;
  const float* bias;  ///< null, or padded to whole panels
  Index in, out;
  Index y_stride;
};

/// apply() to these columns; to.y is that of the first of them.
void apply_columns(const kernels::KernelTable& table, ThreadPool* pool, const LinearColumns& l,
                   const LinearRows& to) noexcept;

}  // namespace qkv
