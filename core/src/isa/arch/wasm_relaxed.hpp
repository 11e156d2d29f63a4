// The instruction set of wasm_relaxed.cpp and train/wasm_relaxed.cpp.
#pragma once

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// WebAssembly SIMD128 with relaxed_madd.
struct WasmRelaxed {
  using Arch = xsimd::wasm;
  static constexpr const char* kName = "wasm-relaxed-simd";
  static constexpr Madd kMadd = Madd::kRelaxed;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
  static constexpr ByteDot kByteDot = ByteDot::kRelaxedPairs;
};

/// The same where processors have a dot product of bytes.
struct WasmRelaxedDot : WasmRelaxed {
  static constexpr ByteDot kByteDot = ByteDot::kRelaxedDot;
};

}  // namespace qkv::kernels
