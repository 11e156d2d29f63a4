// Rows of doubles, and where they are in a workspace, which counts floats.
#pragma once

#include <cstddef>

#include "base/float_count.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// A call that needs a * b doubles, and nothing else, begins.
[[nodiscard]] inline Status begin_doubles(Workspace& workspace, Index a, Index b,
                                          double*& made) noexcept {
  const std::size_t count = capped_product(a, b);
  QKV_RETURN_IF_ERROR(workspace.begin(Workspace::padded_as<double>(count)));
  made = workspace.take_as<double>(count);
  return {};
}

/// y += factor x.
inline void add_times(double factor, const double* x, Index n, double* y) noexcept {
  for (Index i = 0; i < n; ++i) {
    y[i] += factor * x[i];
  }
}

}  // namespace qkv
