// The roof of every instruction set this program was compiled for.
#pragma once

#include <cstddef>
#include <vector>

namespace qkv::bench {

struct PeakFunction {
  const char* isa;
  /// peak_madd() of that instruction set.
  float (*run)(std::ptrdiff_t steps);
  /// Floating-point operations of one step.
  std::ptrdiff_t flops;
};

/// One for each ISA unit of core/CMakeLists.txt.
const std::vector<PeakFunction>& peak_functions();

}  // namespace qkv::bench
