// The instruction set of avx512.cpp and train/avx512.cpp.
#pragma once

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// AVX-512 F, CD, DQ, BW. 32 registers: 12 x 2 accumulators hide the latency of two FMA ports.
struct Avx512 {
  using Arch = xsimd::avx512bw;
  static constexpr const char* kName = "avx512";
  static constexpr Madd kMadd = Madd::kFused;
  static constexpr int kTileRows = 12;
  static constexpr int kTileVectors = 2;
  static constexpr ByteDot kByteDot = ByteDot::kMaddubs;
};

}  // namespace qkv::kernels
