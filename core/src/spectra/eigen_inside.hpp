// Eigen as this library alone has it: in a namespace of its own, so that a program that links the library and has Eigen with other
// settings gets no function of this one in place of its own, or the other way round; with memory from EigenArena; without vectors and
// with fixed blocks, so that every machine adds in the same order. No other file includes Eigen in this library.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spectra/arena.hpp"

#define EIGEN_MPL2_ONLY
#define EIGEN_NO_IO
#define EIGEN_DONT_VECTORIZE
#define EIGEN_DONT_PARALLELIZE
// Of those that Eigen knows, the one of x86-64: blocks of products are made for it.
#define EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS 16
// Stacks of the package's modules have 64 kB.
#define EIGEN_STACK_ALLOCATION_LIMIT 4096

// NOLINTBEGIN: Eigen asks the C library by these names, and in no other way.
#define Eigen qkv_eigen
#define malloc(bytes) ::qkv::EigenArena::take(bytes)
#define free(block) ::qkv::EigenArena::give(block)
#include <Eigen/Core>
#if !EIGEN_VERSION_AT_LEAST(3, 4, 0)
#error "qkv_spectra needs Eigen >= 3.4"
#endif
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#undef malloc
#undef free
// NOLINTEND

namespace qkv {

using Matrix = qkv_eigen::MatrixXd;
using Vector = qkv_eigen::VectorXd;

}  // namespace qkv
