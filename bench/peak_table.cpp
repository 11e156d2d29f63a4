#include "peak_table.hpp"

namespace qkv::bench {

// QKV_BENCH_ISAS is X(avx512) X(avx2) ..., from CMake.
#define X(isa) PeakFunction peak_of_##isa();
QKV_BENCH_ISAS
#undef X

const std::vector<PeakFunction>& peak_functions() {
#define X(isa) peak_of_##isa(),
  static const std::vector<PeakFunction> functions{QKV_BENCH_ISAS};
#undef X
  return functions;
}

}  // namespace qkv::bench
