// The instruction set of scalar.cpp and train/scalar.cpp.
#pragma once

// The ISA unit for machines without any of the others, and the reference for those that have them: xsimd
// emulates its vectors with arrays of four floats. The auto-vectoriser is off here; what packed SSE2
// arithmetic remains in the object is the compiler joining the four lanes by itself.
#define XSIMD_WITH_EMULATED 1
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// Plain C++, four floats at a time like SSE and WebAssembly, and the same bits.
struct Scalar {
  using Arch = xsimd::emulated<128>;
  static constexpr const char* kName = "scalar";
  static constexpr Madd kMadd = Madd::kTwoRoundings;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
  static constexpr ByteDot kByteDot = ByteDot::kPlain;
};

}  // namespace qkv::kernels
