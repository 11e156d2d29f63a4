#include "peak_table.hpp"

namespace qkv::bench {

// QKV_BENCH_PAGES is X(avx512) X(avx2) ..., from CMake.
#define X(page) PeakFunction peak_of_##page();
QKV_BENCH_PAGES
#undef X

const std::vector<PeakFunction>& peak_functions() {
#define X(page) peak_of_##page(),
  static const std::vector<PeakFunction> functions{QKV_BENCH_PAGES};
#undef X
  return functions;
}

}  // namespace qkv::bench
