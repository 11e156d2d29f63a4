/// @file
/// What the layers are made of: weight matrices, packed once.
#pragma once

#include <cstdint>

#include "qkv/tensor_view.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

/// How weight matrices are stored: y = x W has W as [in, out]; PyTorch's Linear keeps [out, in].
enum class WeightLayout : std::uint8_t { kInOut, kOutIn };

/// One matrix, packed for the kernels once, with its bias.
struct PackedLinear {
  AlignedBuffer panels;
  AlignedBuffer bias;
  Index in = 0;
  Index out = 0;
};

}  // namespace qkv
