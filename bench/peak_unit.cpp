// peak_madd() for one instruction set, compiled with its flags: QKV_BENCH_ISA is its name,
// QKV_BENCH_ARCH its xsimd architecture, QKV_BENCH_MADD how it multiplies and adds.
#include "peak.hpp"
#include "peak_table.hpp"

#define QKV_BENCH_TEXT_(name) #name
#define QKV_BENCH_TEXT(name) QKV_BENCH_TEXT_(name)
#define QKV_BENCH_JOIN_(a, b) a##b
#define QKV_BENCH_JOIN(a, b) QKV_BENCH_JOIN_(a, b)

namespace qkv::bench {

namespace {

// In no header and in no other object: nothing of it can be mistaken for another unit's.
struct Isa {
  using Arch = QKV_BENCH_ARCH;
  static constexpr kernels::Madd kMadd = kernels::Madd::QKV_BENCH_MADD;
};

float run(std::ptrdiff_t steps) { return peak_madd<Isa>(steps); }

}  // namespace

PeakFunction QKV_BENCH_JOIN(peak_of_, QKV_BENCH_ISA)() {
  return {QKV_BENCH_TEXT(QKV_BENCH_ISA), run, 2 * kChains * kernels::kWidth<Isa>};
}

}  // namespace qkv::bench
