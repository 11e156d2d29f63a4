// byte_dot.hpp for WebAssembly.
#pragma once

#include <wasm_simd128.h>

#include "kernels/product/dot_defaults.hpp"

namespace qkv::kernels {

/// Eight bytes without a sign, as two vectors.
template <class Isa>
[[gnu::always_inline]] inline void widen_eight(const std::byte* at, Ints<Isa>* to) noexcept {
  const v128_t all = wasm_u16x8_load8x8(at);
  to[0] = Ints<Isa>(wasm_u32x4_extend_low_u16x8(all));
  to[1] = Ints<Isa>(wasm_u32x4_extend_high_u16x8(all));
}

/// Two inputs of all eight columns in one load, widened to 16 bits.
template <class Isa>
struct Dot<Isa, ByteDot::kWidePairs> : DotDefaults<Isa> {
  static constexpr Index kGroup = 2;
  using RowNumber = std::int16_t;
  using CodeNumber = std::int16_t;
  using Weights = v128_t;
  using Factor = v128_t;

  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = wasm_i16x8_load8x8(at);
    w[1] = wasm_i16x8_load8x8(at + 8);
  }
  [[gnu::always_inline]] static Weights load_codes(const std::byte* at) noexcept {
    return wasm_u16x8_load8x8(at);
  }
  [[gnu::always_inline]] static Weights low(Weights both) noexcept {
    return wasm_v128_and(both, wasm_i16x8_splat(15));
  }
  [[gnu::always_inline]] static void unpack(const std::byte* codes, bool /*is_signed*/,
                                            std::byte* to) noexcept {
    const v128_t both = wasm_v128_load64_zero(codes);
    const v128_t mask = wasm_i8x16_splat(15);
    const v128_t high = wasm_v128_and(wasm_u16x8_shr(both, 4), mask);
    wasm_v128_store(to, wasm_i64x2_shuffle(wasm_v128_and(both, mask), high, 0, 2));
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    return wasm_v128_load32_splat(at);
  }
  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(w, x)));
  }
  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return add(sum, w, x);
  }
  [[gnu::always_inline]] static void widen(const std::byte* at, Ints<Isa>* to) noexcept {
    widen_eight<Isa>(at, to);
  }
};

#if defined(__wasm_relaxed_simd__)

/// What i32x4.relaxed_dot_i8x16_i7x16_add_s makes of bytes of which the second has its eighth bit. WebAssembly leaves it to the
/// engine, which has to answer the same each time.
enum class RelaxedDot : std::uint8_t {
  kPairs,     ///< pmaddubsw, which saturates in 16 bits
  kUnsigned,  ///< vpdpbusd: a byte without a sign, and nothing saturates
  kSigned,    ///< sdot, or what computes the same: a byte with a sign
};

/// Asks the engine: 4 * 127 * 255 = 129,540 without a sign, 4 * 127 * -1 = -508 with one.
template <class Isa>
inline RelaxedDot relaxed_dot() noexcept {
  static const RelaxedDot kind = [] {
    volatile std::int32_t bytes[2] = {0x7f7f7f7f, -1};  // so that no compiler answers
    const std::int32_t sum = wasm_i32x4_extract_lane(
        wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_i32x4_splat(bytes[0]),
                                               wasm_i32x4_splat(bytes[1]), wasm_i32x4_splat(0)),
        0);
    return sum == 129540 ? RelaxedDot::kUnsigned
           : sum == -508 ? RelaxedDot::kSigned
                         : RelaxedDot::kPairs;
  }();
  return kind;
}

/// What both relaxed kinds share.
template <class Isa>
struct RelaxedDefaults : DotDefaults<Isa> {
  using Weights = v128_t;
  using Factor = v128_t;

  [[gnu::always_inline]] static Weights high(Weights both) noexcept {
    return low(wasm_u16x8_shr(both, 4));
  }
  [[gnu::always_inline]] static void unpack(const std::byte* codes, bool is_signed,
                                            std::byte* to) noexcept {
    const v128_t both = load_codes(codes);
    const v128_t flip = wasm_i8x16_splat(is_signed ? 8 : 0);
    wasm_v128_store(to, low(both));
    wasm_v128_store(to + 16, wasm_v128_xor(high(both), flip));
  }
  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = wasm_v128_load(at);
    w[1] = wasm_v128_load(at + 16);
  }
  [[gnu::always_inline]] static Weights load_codes(const std::byte* at) noexcept {
    return wasm_v128_load(at);
  }
  [[gnu::always_inline]] static Weights low(Weights both) noexcept {
    return wasm_v128_and(both, wasm_i8x16_splat(15));
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    return wasm_v128_load32_splat(at);
  }
  [[gnu::always_inline]] static void widen(const std::byte* at, Ints<Isa>* to) noexcept {
    widen_eight<Isa>(at, to);
  }
};

/// Pairs in 16 bits, of which the second factor has 7 bits: a number of the row beside a weight of 8, and a code beside a number of
/// the row.
template <class Isa>
struct Dot<Isa, ByteDot::kRelaxedPairs> : RelaxedDefaults<Isa> {
  using Weights = v128_t;
  using Factor = v128_t;
  static constexpr int kRowMost = 63;
  static constexpr int kRowOffset = 64;
  static constexpr bool kWholeBytes = false;
  using RowNumber = std::uint8_t;

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

  /// At most 8 * 2 * 15 * 127 = 30,480 in a block.
  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(wasm_i16x8_add(sum, wasm_i16x8_relaxed_dot_i8x16_i7x16(x, w)));
  }
  [[gnu::always_inline]] static Ints<Isa> finish(Ints<Isa> sum) noexcept {
    return Ints<Isa>(wasm_i32x4_extadd_pairwise_i16x8(sum));
  }

 private:
  [[gnu::always_inline]] static v128_t without_offset(v128_t w, v128_t x) noexcept {
    return wasm_i16x8_sub(wasm_i16x8_relaxed_dot_i8x16_i7x16(w, x),
                          wasm_i16x8_relaxed_dot_i8x16_i7x16(w, offset()));
  }
};

/// One instruction, whose second factor has whole bytes: weights and codes. relaxed_dot() says what their eighth bit is.
template <class Isa>
struct Dot<Isa, ByteDot::kRelaxedDot> : RelaxedDefaults<Isa> {
  using Weights = v128_t;
  using Factor = v128_t;
  static bool unsigned_weights() noexcept { return relaxed_dot<Isa>() == RelaxedDot::kUnsigned; }
  static bool signed_codes() noexcept { return relaxed_dot<Isa>() == RelaxedDot::kSigned; }

  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return Ints<Isa>(wasm_i32x4_relaxed_dot_i8x16_i7x16_add(x, w, sum));
  }
  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, Weights w, Factor x) noexcept {
    return add(sum, w, x);
  }
};

#endif

}  // namespace qkv::kernels
