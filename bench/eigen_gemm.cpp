#include "eigen_gemm.hpp"

#include <Eigen/Core>

namespace qkv::bench {

void eigen_gemm(const GemmSize& size, const float* a, const float* b, float* c) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix>(c, size.m, size.n).noalias() =
      Eigen::Map<const Matrix>(a, size.m, size.k) * Eigen::Map<const Matrix>(b, size.k, size.n);
}

}  // namespace qkv::bench
