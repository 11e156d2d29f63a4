// The instruction set of wasm_simd128.cpp and train/wasm_simd128.cpp.
#pragma once

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// WebAssembly SIMD128. Engines map its values to 16 registers on x86-64.
struct WasmSimd128 {
  using Arch = xsimd::wasm;
  static constexpr const char* kName = "wasm-simd128";
  static constexpr Madd kMadd = Madd::kTwoRoundings;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
  static constexpr ByteDot kByteDot = ByteDot::kWidePairs;
};

}  // namespace qkv::kernels
