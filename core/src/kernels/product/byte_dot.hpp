// Sums of products of bytes: what instruction sets have for it, under one interface.
//
// A step is a load of weights for all columns of a panel, times the few bytes of the row that every column meets. Every sum is
// exact, so all kinds give the same whole number. There are two kinds of weights:
//
// - weights of 8 bits, -128 to 127;
// - codes of 4 bits, 0 to 15, two of them in a byte: in the low half that of a column of the panel's first vector, in the high
//   half that of the same lane of its second vector. Both meet the same bytes of the row.
//
// Numbers of a row are whole numbers up to 127, or up to 63 (kRowMost) for weights of 8 bits where an instruction would saturate or
// promises nothing about an eighth bit. Where an instruction wants a factor without a sign, something is added to it, and what that
// adds to the sum is subtracted again:
//
// - from weights (unsigned_weights()): they are stored plus 128, and a sum starts at -128 times the sum of the row's numbers,
//   which quantize() knows;
// - from numbers of the row (kRowOffset): a sum starts at -64 times the sum of the column's weights, which gemm_int8() finds once for
//   all rows.
//
// An instruction that takes whole bytes (kWholeBytes) multiplies codes with one mask for two columns: with c and c' in a byte and x
// beside it, sum x c' = (sum x (c + 16 c') - sum x c) / 16. Where it reads a byte with a sign (signed_codes()), c' is stored less 8,
// and the first of these sums starts at 128 times the sum of the row's numbers.
#pragma once

#include "kernels/product/dot_defaults.hpp"

#if defined(__SSE4_1__)
#include "kernels/product/byte_dot_x86.hpp"
#elif defined(__aarch64__)
#include "kernels/product/byte_dot_neon.hpp"
#elif defined(__wasm_simd128__)
#include "kernels/product/byte_dot_wasm.hpp"
#endif

namespace qkv::kernels {

/// Loops, for a machine that has nothing else and as the plainest description of the others.
template <class Isa>
struct Dot<Isa, ByteDot::kPlain> : DotDefaults<Isa> {
  struct Weights {
    std::uint8_t bytes[4 * kWidth<Isa>];
  };
  using Factor = std::int32_t;

  static void load(const std::byte* at, Weights* w) noexcept { std::memcpy(w, at, 2 * sizeof *w); }
  static Weights load_codes(const std::byte* at) noexcept {
    Weights both;
    std::memcpy(&both, at, sizeof both);
    return both;
  }
  static Weights low(Weights both) noexcept {
    for (std::uint8_t& byte : both.bytes) {
      byte &= 15U;
    }
    return both;
  }
  static void unpack(const std::byte* codes, bool /*is_signed*/, std::byte* to) noexcept {
    for (Index i = 0; i < 4 * kWidth<Isa>; ++i) {
      to[i] = codes[i] & std::byte{15};
      to[i + 4 * kWidth<Isa>] = codes[i] >> 4;
    }
  }
  static Factor factor(const std::byte* at) noexcept { return four_bytes(at); }
  static Ints<Isa> add(Ints<Isa> sum, const Weights& w, Factor x) noexcept {
    return add_as<std::int8_t>(sum, w, x);
  }
  static Ints<Isa> add_codes(Ints<Isa> sum, const Weights& w, Factor x) noexcept {
    return add_as<std::uint8_t>(sum, w, x);
  }
  static void widen(const std::byte* at, Ints<Isa>* to) noexcept {
    std::int32_t all[2 * kWidth<Isa>];
    for (Index i = 0; i < 2 * kWidth<Isa>; ++i) {
      all[i] = std::to_integer<std::int32_t>(at[i]);
    }
    to[0] = Ints<Isa>::load_unaligned(all);
    to[1] = Ints<Isa>::load_unaligned(all + kWidth<Isa>);
  }

 private:
  template <class Byte>
  static Ints<Isa> add_as(Ints<Isa> sum, const Weights& w, Factor x) noexcept {
    std::int32_t sums[kWidth<Isa>];
    std::int8_t row[4];
    sum.store_unaligned(sums);
    std::memcpy(row, &x, sizeof x);
    for (Index column = 0; column < kWidth<Isa>; ++column) {
      for (Index i = 0; i < 4; ++i) {
        sums[column] += static_cast<Byte>(w.bytes[4 * column + i]) * row[i];
      }
    }
    return Ints<Isa>::load_unaligned(sums);
  }
};

}  // namespace qkv::kernels
