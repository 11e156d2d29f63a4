// The instruction set of avx2.cpp and train/avx2.cpp.
#pragma once

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// AVX2 with FMA. 16 registers: 6 x 2 accumulators, 2 for a row of the panel, 1 factor.
struct Avx2 {
  using Arch = xsimd::fma3<xsimd::avx2>;
  static constexpr const char* kName = "avx2";
  static constexpr Madd kMadd = Madd::kFused;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
  static constexpr ByteDot kByteDot = ByteDot::kMaddubs;
};

}  // namespace qkv::kernels
