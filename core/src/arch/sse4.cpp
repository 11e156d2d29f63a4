#include "kernels/make_table.hpp"

namespace qkv::kernels {

/// 16 registers: 6 x 2 accumulators, 2 for a row of the panel, 1 factor.
struct Sse4 {
  using Arch = xsimd::sse4_2;
  static constexpr const char* kName = "sse4";
  static constexpr Madd kMadd = Madd::kTwoRoundings;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
};

const KernelTable* sse4_kernels() noexcept { return &kTable<Sse4>; }

}  // namespace qkv::kernels
