// The instruction set of neon64.cpp and train/neon64.cpp.
#pragma once

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// AArch64 Advanced SIMD. 32 registers: 8 x 2 accumulators.
struct Neon64 {
  using Arch = xsimd::neon64;
  static constexpr const char* kName = "neon64";
  static constexpr Madd kMadd = Madd::kFused;
  static constexpr int kTileRows = 8;
  static constexpr int kTileVectors = 2;
  static constexpr ByteDot kByteDot = ByteDot::kWidePairs;
};

}  // namespace qkv::kernels
