// The vector type of an instruction set, and the one place where instruction sets differ by more
// than their width.
//
// Every kernel is a template over an `Isa`, a struct written by an ISA unit in src/isa/arch:
//
//   struct Isa {
//     using Arch = ...;                       the xsimd architecture
//     static constexpr const char* kName;     what active_isa() reports
//     static constexpr Madd kMadd;            how madd() multiplies and adds
//     static constexpr int kTileRows;         register tile of the matrix product:
//     static constexpr int kTileVectors;      rows x vectors of accumulators
//     static constexpr ByteDot kByteDot;      how bytes are multiplied, see product/byte_dot.hpp
//   };
//
// Because the Isa is a template argument of every function, each symbol carries its name and the
// linker can never hand AVX-512 code to a machine that lacks it. tools/check_isa_objects.js proves
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <xsimd/xsimd.hpp>

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace qkv::kernels {

using Index = std::ptrdiff_t;

template <class Isa>
using Vec = xsimd::batch<float, typename Isa::Arch>;

template <class Isa>
inline constexpr Index kWidth = static_cast<Index>(Vec<Isa>::size);

/// Columns of one panel of a packed matrix: the width of the register tile.
template <class Isa>
inline constexpr Index kPanel = Isa::kTileVectors * kWidth<Isa>;

enum class Madd : std::uint8_t {
  kTwoRoundings,  ///< multiply, round, add, round: the same bits on every machine
  kFused,         ///< one rounding
  kRelaxed,       ///< WebAssembly relaxed SIMD: one or two, as the machine likes
};

/// How sums of products of bytes are made: the instruction, or what takes its place. See product/byte_dot.hpp.
enum class ByteDot : std::uint8_t {
  kPlain,          ///< loops
  kMaddubs,        ///< x86: pmaddubsw, two products in 16 bits; numbers of a row have 7 bits
  kMaddubsSigned,  ///< the same with 8 bits, for one more instruction
  kDpbusd,         ///< x86 with VNNI: vpdpbusd, four products in 32 bits
  kRelaxedPairs,   ///< WebAssembly relaxed SIMD where processors have pmaddubsw
  kRelaxedDot,     ///< the same where they have a dot product of bytes
  kWidePairs,      ///< two inputs at a time, after widening (WebAssembly) or while (NEON)
  kSdot,           ///< NEON with the dot product extension: sdot
  kSmmla,          ///< NEON with i8mm: smmla, two rows times two columns of eight inputs
};

/// a * b + c. Ours because xsimd has no relaxed-SIMD architecture: its WebAssembly fma is a
/// multiply and an add, and clang contracts neither into relaxed_madd. This function is the whole
/// difference between the simd and the relaxed build.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> madd(Vec<Isa> a, Vec<Isa> b, Vec<Isa> c) noexcept {
#if defined(__wasm_relaxed_simd__)
  if constexpr (Isa::kMadd == Madd::kRelaxed) {
    return Vec<Isa>(wasm_f32x4_relaxed_madd(a, b, c));
  }
#endif
  if constexpr (Isa::kMadd == Madd::kFused) {
    return xsimd::fma(a, b, c);
  }
  return a * b + c;
}

/// a / b with one rounding. Ours because xsimd's division on NEON multiplies by an estimate of 1 / b, which is up to 2 ulp off, and 0 for
/// the largest b.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> quotient(Vec<Isa> a, Vec<Isa> b) noexcept {
#if defined(__aarch64__)
  if constexpr (std::is_same_v<typename Isa::Arch, xsimd::neon64>) {
    return Vec<Isa>(vdivq_f32(a, b));
  }
#endif
  return a / b;
}

/// The square root with one rounding: on NEON xsimd's is an estimate, too.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> root(Vec<Isa> x) noexcept {
#if defined(__aarch64__)
  if constexpr (std::is_same_v<typename Isa::Arch, xsimd::neon64>) {
    return Vec<Isa>(vsqrtq_f32(x));
  }
#endif
  return xsimd::sqrt(x);
}

/// The larger of a and b, by one instruction where there is one. A NaN in a stays; one in b may be
/// passed over.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> larger(Vec<Isa> a, Vec<Isa> b) noexcept {
#if defined(__wasm_simd128__)
  // xsimd's max is f32x4.max, of which engines on x86 make six instructions; this is maxps.
  return Vec<Isa>(wasm_f32x4_pmax(a, b));
#else
  return xsimd::select(a < b, b, a);
#endif
}

/// The smaller of a and b, likewise.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> smaller(Vec<Isa> a, Vec<Isa> b) noexcept {
#if defined(__wasm_simd128__)
  return Vec<Isa>(wasm_f32x4_pmin(a, b));
#else
  return xsimd::select(b < a, b, a);
#endif
}

/// Sum of the lanes, first to last. Not xsimd::reduce_add, whose order depends on the machine: with
/// this one, builds of equal width and two-rounding madd agree bit for bit.
template <class Isa>
[[gnu::always_inline]] inline float sum_lanes(Vec<Isa> v) noexcept {
  alignas(64) float lanes[kWidth<Isa>];
  v.store_aligned(lanes);
  float sum = lanes[0];
  for (Index i = 1; i < kWidth<Isa>; ++i) {
    sum += lanes[i];
  }
  return sum;
}

/// Lane numbers 0, 1, 2, ...
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> lane_numbers() noexcept {
  alignas(64) float lanes[kWidth<Isa>];
  for (Index i = 0; i < kWidth<Isa>; ++i) {
    lanes[i] = static_cast<float>(i);
  }
  return Vec<Isa>::load_aligned(lanes);
}

/// `n` rounded up to a multiple of `unit`.
static constexpr Index round_up(Index n, Index unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

}  // namespace qkv::kernels
