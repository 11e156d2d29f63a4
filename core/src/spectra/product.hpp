// The one product of matrices, so that there is one of it in a module.
#pragma once

#include "spectra/eigen_inside.hpp"

namespace qkv {

using Block = qkv_eigen::Ref<Matrix>;
using ConstBlock = qkv_eigen::Ref<const Matrix>;

/// to += x^T y.
void add_product(const ConstBlock& x, const ConstBlock& y, Block to) noexcept;

/// to := reflection * to, for the reflection 1 - tau v v^T with v = (1, essential).
void reflect(const qkv_eigen::Ref<const Vector>& essential, double tau, Block to) noexcept;

}  // namespace qkv
