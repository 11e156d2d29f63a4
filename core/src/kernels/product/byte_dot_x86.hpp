// byte_dot.hpp for x86.
#pragma once

#include <immintrin.h>

#include "kernels/product/dot_defaults.hpp"

namespace qkv::kernels {

/// What all kinds of x86 share.
template <class Isa>
struct X86Dot : DotDefaults<Isa> {
  using Weights = Ints<Isa>;
  using Factor = Ints<Isa>;

  [[gnu::always_inline]] static Weights load_codes(const std::byte* at) noexcept {
    return Weights::load_aligned(reinterpret_cast<const std::int32_t*>(at));
  }
  [[gnu::always_inline]] static void load(const std::byte* at, Weights* w) noexcept {
    w[0] = load_codes(at);
    w[1] = load_codes(at + sizeof(Weights));
  }
  [[gnu::always_inline]] static Weights low(Weights both) noexcept {
    return both & Weights(0x0f0f0f0f);
  }
  [[gnu::always_inline]] static Weights high(Weights both) noexcept { return low(both >> 4); }
  [[gnu::always_inline]] static void unpack(const std::byte* codes, bool /*is_signed*/,
                                            std::byte* to) noexcept {
    const Weights both = load_codes(codes);
    auto* bytes = reinterpret_cast<std::int32_t*>(to);
    low(both).store_aligned(bytes);
    high(both).store_aligned(bytes + kWidth<Isa>);
  }
  [[gnu::always_inline]] static Factor factor(const std::byte* at) noexcept {
    return Factor(four_bytes(at));
  }
  [[gnu::always_inline]] static void widen(const std::byte* at, Ints<Isa>* to) noexcept {
    to[0] = widened(at);
    to[1] = widened(at + kWidth<Isa>);
  }

 protected:
  /// pmaddubsw: bytes without a sign times bytes with one, pairs added in 16 bits.
  [[gnu::always_inline]] static __m128i maddubs(__m128i u, __m128i s) noexcept {
    return _mm_maddubs_epi16(u, s);
  }
  [[gnu::always_inline]] static __m128i add16(__m128i a, __m128i b) noexcept {
    return _mm_add_epi16(a, b);
  }
  /// Pairs of 16 bits added in 32.
  [[gnu::always_inline]] static __m128i pairs(__m128i a) noexcept {
    return _mm_madd_epi16(a, _mm_set1_epi16(1));
  }
#if defined(__AVX2__)
  [[gnu::always_inline]] static __m256i maddubs(__m256i u, __m256i s) noexcept {
    return _mm256_maddubs_epi16(u, s);
  }
  [[gnu::always_inline]] static __m256i add16(__m256i a, __m256i b) noexcept {
    return _mm256_add_epi16(a, b);
  }
  [[gnu::always_inline]] static __m256i pairs(__m256i a) noexcept {
    return _mm256_madd_epi16(a, _mm256_set1_epi16(1));
  }
#endif
#if defined(__AVX512BW__)
  [[gnu::always_inline]] static __m512i maddubs(__m512i u, __m512i s) noexcept {
    return _mm512_maddubs_epi16(u, s);
  }
  [[gnu::always_inline]] static __m512i add16(__m512i a, __m512i b) noexcept {
    return _mm512_add_epi16(a, b);
  }
  [[gnu::always_inline]] static __m512i pairs(__m512i a) noexcept {
    return _mm512_madd_epi16(a, _mm512_set1_epi16(1));
  }
#endif

 private:
  [[gnu::always_inline]] static Ints<Isa> widened(const std::byte* at) noexcept {
    if constexpr (kWidth<Isa> == 4) {
      return Ints<Isa>(_mm_cvtepu8_epi32(_mm_loadu_si32(at)));
    }
#if defined(__AVX2__)
    if constexpr (kWidth<Isa> == 8) {
      return Ints<Isa>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
    }
#endif
#if defined(__AVX512BW__)
    if constexpr (kWidth<Isa> == 16) {
      return Ints<Isa>(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
    }
#endif
  }
};

/// Sums of codes in 16 bits: at most 8 * 2 * 15 * 127 = 30,480 in a block.
template <class Isa>
struct X86PairsDot : X86Dot<Isa> {
  using Base = X86Dot<Isa>;
  static constexpr bool kWholeBytes = false;

  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, Ints<Isa> w,
                                                    Ints<Isa> x) noexcept {
    return Ints<Isa>(Base::add16(sum, Base::maddubs(w, x)));
  }
  [[gnu::always_inline]] static Ints<Isa> finish(Ints<Isa> sum) noexcept {
    return Ints<Isa>(Base::pairs(sum));
  }
};

/// Weights of 8 bits plus 128 times numbers of 7: at most 2 * 255 * 63 = 32,130 in 16 bits.
template <class Isa>
struct Dot<Isa, ByteDot::kMaddubs> : X86PairsDot<Isa> {
  using Base = X86Dot<Isa>;
  static constexpr int kRowMost = 63;
  static bool unsigned_weights() noexcept { return true; }

  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Ints<Isa> w, Ints<Isa> x) noexcept {
    return sum + Ints<Isa>(Base::pairs(Base::maddubs(w, x)));
  }
};

/// |w| times x with the sign of w: at most 2 * 128 * 127 = 32,512 in 16 bits.
template <class Isa>
struct Dot<Isa, ByteDot::kMaddubsSigned> : X86PairsDot<Isa> {
  using Base = X86Dot<Isa>;

  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Ints<Isa> w, Ints<Isa> x) noexcept {
    const __m128i products = Base::maddubs(_mm_abs_epi8(w), _mm_sign_epi8(x, w));
    return sum + Ints<Isa>(Base::pairs(products));
  }
};

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
/// vpdpbusd: nothing saturates.
template <class Isa>
struct Dot<Isa, ByteDot::kDpbusd> : X86Dot<Isa> {
  static bool unsigned_weights() noexcept { return true; }

  [[gnu::always_inline]] static Ints<Isa> add(Ints<Isa> sum, Ints<Isa> w, Ints<Isa> x) noexcept {
#if defined(__AVX512VNNI__)
    return Ints<Isa>(_mm512_dpbusd_epi32(sum, w, x));
#else
    return Ints<Isa>(_mm256_dpbusd_avx_epi32(sum, w, x));
#endif
  }
  [[gnu::always_inline]] static Ints<Isa> add_codes(Ints<Isa> sum, Ints<Isa> w,
                                                    Ints<Isa> x) noexcept {
    return add(sum, w, x);
  }
};
#endif

}  // namespace qkv::kernels
