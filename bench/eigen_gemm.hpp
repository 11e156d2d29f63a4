// Eigen's matrix product, the baseline of the one in src/kernels.
#pragma once

#include <cstddef>

namespace qkv::bench {

struct GemmSize {
  std::ptrdiff_t m, n, k;
};

/// c[m, n] = a[m, k] b[k, n], row-major. Compiled for the best instruction set of this build alone.
void eigen_gemm(const GemmSize& size, const float* a, const float* b, float* c);

}  // namespace qkv::bench
