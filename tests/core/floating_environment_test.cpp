// A host may have changed the rounding mode, or have small numbers flushed to zero (audio libraries do). Bounds and equal bits are then
// not promised, but results are close, and the host's environment stays as it was: core/docs/using.md.
#include <catch2/catch_test_macros.hpp>

#include <cfenv>

#include "problem.hpp"
#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace qkv::test::floating_environment_test {
namespace {

Result computed() {
  Problem p({.heads = 2, .kv_heads = 2, .tq = 30, .tk = 40, .dk = 16, .dv = 8}, 7);
  return p.run();
}

void require_close(const Result& a, const Result& b) {
  const auto require = [](const auto& x, const auto& y, float bound) {
    REQUIRE(!x.empty());
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(std::abs(x[i] - y[i]) <= bound);
    }
  };
  require(a.out, b.out, 1e-5F);
  require(a.weights, b.weights, 1e-6F);
  require(a.lse, b.lse, 1e-5F);
}

#ifdef FE_UPWARD  // WebAssembly has one mode
TEST_CASE(
    "floating-point environment: results in another rounding mode are close, and the mode stays",
    "[environment]") {
  const Result expected = computed();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    REQUIRE(std::fesetround(mode) == 0);
    const Result found = computed();
    const int after = std::fegetround();
    REQUIRE(std::fesetround(FE_TONEAREST) == 0);
    CHECK(after == mode);
    require_close(found, expected);
  }
}
#endif

#if defined(__SSE__)
TEST_CASE(
    "floating-point environment: with small numbers flushed to zero results are close, and the "
    "flags stay",
    "[environment]") {
  constexpr unsigned kFlush = 0x8040;  // FTZ and DAZ
  const Result expected = computed();
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlush);
  const Result found = computed();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after & kFlush) == kFlush);
  require_close(found, expected);
}
#endif

}  // namespace
}  // namespace qkv::test::floating_environment_test
