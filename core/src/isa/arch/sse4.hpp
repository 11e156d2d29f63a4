// The instruction set of sse4.cpp and train/sse4.cpp.
#pragma once

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// 16 registers: 6 x 2 accumulators, 2 for a row of the panel, 1 factor.
struct Sse4 {
  using Arch = xsimd::sse4_2;
  static constexpr const char* kName = "sse4";
  static constexpr Madd kMadd = Madd::kTwoRoundings;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
  static constexpr ByteDot kByteDot = ByteDot::kMaddubsSigned;
};

}  // namespace qkv::kernels
