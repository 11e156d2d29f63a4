/// @file
/// What the layers are made of: weight matrices, packed once.
#pragma once

#include <cstdint>

#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// How weight matrices are stored: y = x W has W as [in, out]; PyTorch's Linear keeps [out, in].
enum class WeightLayout : std::uint8_t {
  kInOut,  ///< [in, out]
  kOutIn,  ///< [out, in]
};

/// One matrix, packed for the kernels once, with its bias. Layers make and hold these.
struct PackedLinear {
  AlignedBuffer panels;  ///< the matrix in the order in which kernels read it
  AlignedBuffer bias;    ///< [out], or empty
  Index in = 0;          ///< width of x
  Index out = 0;         ///< width of x W
};

}  // namespace qkv
