// Sums of products of bytes: what instruction sets have for it, under one interface.
//
// Weights are whole numbers from -128 to 127, numbers of a row from -63 to 63. Seven bits, because x86 adds two products
// with saturation in 16 bits, and WebAssembly's relaxed dot product promises nothing about an eighth. Every sum
// is exact, so all of these give the same whole number.
//
// A step is a load of weights for all columns of a panel, times four bytes of the row that every column meets. Where a
// factor must not be negative something is added to it, and what that adds to the sum is subtracted before:
//
// - kUnsignedWeights: weights are stored plus 128; a sum starts at -128 times the sum of the row's numbers, which
//   quantize() knows;
// - kOffsetRows: numbers of a row are stored plus 64; a sum starts at -64 times the sum of the column's weights, which
//   gemm_int8() finds once for all rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace qkv::kernels {

template <class Isa>
using Ints = xsimd::batch<std::int32_t, typename Isa::Arch>;

/// The largest magnitude of a number of a row.
inline constexpr int kRowMost = 63;

/// Four bytes from anywhere.
static inline std::int32_t four_bytes(const std::byte* at) noexcept {
  std::int32_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/// kGroup: inputs whose weights lie side by side. kWeightXor: the bits that differ between a weight and its byte in a panel.
template <class Isa, ByteDot kKind>
struct Dot;

/// Loops, for a machine that has nothing else and as the plainest description of the others.
template <class Isa>
struct Dot<Isa, ByteDot::kPlain> {
  static constexpr Index kGroup = 4;
  static constexpr Index kSteps = kInt8Block / kGroup;
  static constexpr std::uint8_t kWeightXor = 0;
  static constexpr int kRowOffset = 0;
  using RowNumber = std::int8_t;
  using Weights = const std::byte*;
  using Factor = std::int32_t;

  static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = at;
    w[1] = at + 4 * kWidth<Isa>;
  }
  static Factor factor(const std::byte* at) noexcept { return four_bytes(at); }
  static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    std::int32_t sums[kWidth<Isa>];
    std::int8_t row[4];
    sum.store_unaligned(sums);
    std::memcpy(row, &x, sizeof x);
    for (Index column = 0; column < kWidth<Isa>; ++column) {
      for (Index i = 0; i < 4; ++i) {
        sums[column] += std::to_integer<std::int8_t>(w[4 * column + i]) * row[i];
      }
    }
    return Ints<Isa>::load_unaligned(sums);
  }
};

#if defined(__SSE4_1__)
/// pmaddubsw and pmaddwd: at most 2 * 255 * 63 = 32,130 in 16 bits.
template <class Isa>
struct Dot<Isa, ByteDot::kUnsignedWeights> {
  static constexpr Index kGroup = 4;
  static constexpr Index kSteps = kInt8Block / kGroup;
  static constexpr std::uint8_t kWeightXor = 0x80;
  static constexpr int kRowOffset = 0;
  using RowNumber = std::int8_t;
  using Weights = Ints<Isa>;
  using Factor = Ints<Isa>;

  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = Weights::load_aligned(reinterpret_cast<const std::int32_t*>(at));
    w[1] = Weights::load_aligned(reinterpret_cast<const std::int32_t*>(at) + kWidth<Isa>);
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    return Factor(four_bytes(at));
  }
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return sum + Ints<Isa>(multiply(w, x));
  }

 private:
  [[gnu::always_inline]] static __m128i multiply(__m128i w, __m128i x) noexcept {
    return _mm_madd_epi16(_mm_maddubs_epi16(w, x), _mm_set1_epi16(1));
  }
#if defined(__AVX2__)
  [[gnu::always_inline]] static __m256i multiply(__m256i w, __m256i x) noexcept {
    return _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1));
  }
#endif
#if defined(__AVX512BW__)
  [[gnu::always_inline]] static __m512i multiply(__m512i w, __m512i x) noexcept {
    return _mm512_madd_epi16(_mm512_maddubs_epi16(w, x), _mm512_set1_epi16(1));
  }
#endif
};
#endif

#if defined(__wasm_relaxed_simd__)
template <class Isa>
struct Dot<Isa, ByteDot::kOffsetRows> {
  static constexpr Index kGroup = 4;
  static constexpr Index kSteps = kInt8Block / kGroup;
  static constexpr std::uint8_t kWeightXor = 0;
  static constexpr int kRowOffset = 64;
  using RowNumber = std::uint8_t;
  using Weights = v128_t;
  using Factor = v128_t;

  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = wasm_v128_load(at);
    w[1] = wasm_v128_load(at + 16);
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    return wasm_v128_load32_splat(at);
  }
  /// Not wasm_i32x4_relaxed_dot_i8x16_i7x16_add: of that Chromium makes the same three instructions for x86, and two more
  /// for a constant each time, which made products of many rows take 1.13 times as long.
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(wasm_i32x4_add(
        sum, wasm_i32x4_dot_i16x8(wasm_i16x8_relaxed_dot_i8x16_i7x16(w, x), wasm_i16x8_splat(1))));
  }

  /// The same for two steps, without the offset. What two products of a weight and a number make is at most 2 * 128 * 63,
  /// which fits into 16 bits twice. Faster than to add with the offset and to find the sum of the weights beside it: products
  /// of one row with 117 MB of weights took 0.85 times as long.
  [[gnu::always_inline]] static Ints<Isa> add_two(Ints<Isa> sum, const Weights* w,
                                                  const Factor* x) noexcept {
    const v128_t pairs = wasm_i16x8_add(without_offset(w[0], x[0]), without_offset(w[1], x[1]));
    return Ints<Isa>(wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(pairs, wasm_i16x8_splat(1))));
  }
  /// The factor that makes of weights what the offset adds.
  [[gnu::always_inline]] static Factor offset() noexcept { return wasm_i8x16_splat(kRowOffset); }

 private:
  [[gnu::always_inline]] static v128_t without_offset(v128_t w, v128_t x) noexcept {
    return wasm_i16x8_sub(wasm_i16x8_relaxed_dot_i8x16_i7x16(w, x),
                          wasm_i16x8_relaxed_dot_i8x16_i7x16(w, offset()));
  }
};
#endif

#if defined(__wasm_simd128__)
/// Two inputs of all eight columns in one load, widened to 16 bits.
template <class Isa>
struct Dot<Isa, ByteDot::kWidePairs> {
  static constexpr Index kGroup = 2;
  static constexpr Index kSteps = kInt8Block / kGroup;
  static constexpr std::uint8_t kWeightXor = 0;
  static constexpr int kRowOffset = 0;
  using RowNumber = std::int16_t;
  using Weights = v128_t;
  using Factor = v128_t;

  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = wasm_i16x8_load8x8(at);
    w[1] = wasm_i16x8_load8x8(at + 8);
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    return wasm_v128_load32_splat(at);
  }
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(w, x)));
  }
};
#endif

#if defined(__aarch64__)
/// Two inputs of all eight columns in one load; smull and sadalp.
template <class Isa>
struct Dot<Isa, ByteDot::kWidePairs> {
  static constexpr Index kGroup = 2;
  static constexpr Index kSteps = kInt8Block / kGroup;
  static constexpr std::uint8_t kWeightXor = 0;
  static constexpr int kRowOffset = 0;
  using RowNumber = std::int8_t;
  using Weights = int8x8_t;
  using Factor = int8x8_t;

  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = vld1_s8(reinterpret_cast<const std::int8_t*>(at));
    w[1] = vld1_s8(reinterpret_cast<const std::int8_t*>(at) + 8);
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    std::int16_t two = 0;
    std::memcpy(&two, at, sizeof two);
    return vreinterpret_s8_s16(vdup_n_s16(two));
  }
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(vpadalq_s16(sum, vmull_s8(w, x)));
  }
};
#endif

template <class Isa>
using DotOf = Dot<Isa, Isa::kByteDot>;

/// A block of a row: its scale, what every sum starts at, and its numbers.
template <class Isa>
struct RowBlock {
  using Number = typename DotOf<Isa>::RowNumber;
  static constexpr Index kNumbers = 8;  ///< where they begin
  static constexpr Index kBytes = kNumbers + kInt8Block * static_cast<Index>(sizeof(Number));
  /// Bytes of a row that a step multiplies with.
  static constexpr Index kStep = DotOf<Isa>::kGroup * static_cast<Index>(sizeof(Number));
};

}  // namespace qkv::kernels
