// Matrices for spectra, and what Eigen finds of the whole products in double precision.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "model_numbers.hpp"
#include "problem.hpp"
#include "qkv/eigen.hpp"
#include "qkv/spectra.hpp"
#include "random.hpp"
#include "spectra/arena.hpp"

namespace qkv::test {

/// Random float32 numbers as a matrix.
struct FloatMatrix {
  FloatMatrix(Index rows, Index columns, std::uint64_t seed) : shape{rows, columns} {
    Random random(seed);
    values = random_floats(random, rows * columns);
  }
  explicit FloatMatrix(const Eigen::MatrixXd& from) : shape{from.rows(), from.cols()} {
    values.resize(static_cast<std::size_t>(from.size()));
    as_matrix(TensorView<float>(values.data(), {shape[0], shape[1]})) = from.cast<float>();
  }
  [[nodiscard]] TensorView<const float> view() const {
    return {values.data(), {shape[0], shape[1]}};
  }
  std::array<Index, 2> shape;
  std::vector<float> values;
};

inline Eigen::MatrixXd exact(const TensorView<const float>& matrix) {
  return as_matrix(matrix).cast<double>();
}

/// A stack of the one matrix.
template <class T>
TensorView<T> alone(const TensorView<T>& matrix) {
  TensorView<T> stack(matrix.data, {1, matrix.extent(0), matrix.extent(1)});
  stack.strides = {0, matrix.stride(0), matrix.stride(1)};
  return stack;
}

/// A matrix with orthogonal columns of length 1, by a seed.
inline Eigen::MatrixXd orthogonal(Index rows, Index columns, std::uint64_t seed) {
  const FloatMatrix random(rows, columns, seed);
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(exact(random.view()));
  return qr.householderQ() * Eigen::MatrixXd::Identity(rows, columns);
}

/// Eigen took nothing beyond the workspace since this was made.
class WithinArena {
 public:
  WithinArena() : before_(EigenArena::overflows()) {}
  [[nodiscard]] bool holds() const { return EigenArena::overflows() == before_; }

 private:
  std::size_t before_;
};

}  // namespace qkv::test
