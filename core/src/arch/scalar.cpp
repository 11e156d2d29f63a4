// Built without vector instructions and with the auto-vectoriser off, so that scalar means scalar.
#define XSIMD_WITH_EMULATED 1
#include "kernels/make_table.hpp"

namespace qkv::kernels {

/// Plain C++: xsimd's emulated vectors of four floats.
struct Scalar {
  using Arch = xsimd::emulated<128>;
  static constexpr const char* kName = "scalar";
  static constexpr Madd kMadd = Madd::kTwoRoundings;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
};

const KernelTable* scalar_kernels() noexcept { return &kTable<Scalar>; }

}  // namespace qkv::kernels
