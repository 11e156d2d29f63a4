// What byte_dot.hpp and the files of single instruction sets behind it stand on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

template <class Isa>
using Ints = xsimd::batch<std::int32_t, typename Isa::Arch>;

/// Four bytes from anywhere.
static inline std::int32_t four_bytes(const std::byte* at) noexcept {
  std::int32_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/// kGroup: inputs of a column whose weights lie side by side, and that a step takes. load(): weights of the panel's two vectors.
/// load_codes(): the codes of both, of which low() keeps those of the first and high(), where there is no kWholeBytes, those of the
/// second. unpack(): the codes of both as the bytes that load() takes. add() and add_codes() add a step's products. pair(): the numbers of two rows. add_pair(): their products, added to the
/// four vectors of sums of both in an order of its own, of which split_pair() makes that of rows and columns. finish() makes of the latter sums of 32 bits. widen(): a byte without a sign
/// for each column.
template <class Isa, ByteDot kKind>
struct Dot;

template <class Isa>
using DotOf = Dot<Isa, Isa::kByteDot>;

/// What kinds have in common unless they say something else.
template <class Isa>
struct DotDefaults {
  static constexpr Index kGroup = 4;
  static constexpr int kRowMost = 127;
  static constexpr int kRowOffset = 0;
  static constexpr bool kWholeBytes = true;
  /// Whether two rows are multiplied at once, by pair(), add_pair() and split_pair().
  static constexpr bool kRowPairs = false;
  /// Both are functions because one of the kinds knows them only where it runs.
  static bool unsigned_weights() noexcept { return false; }
  static bool signed_codes() noexcept { return false; }
  using RowNumber = std::int8_t;   ///< what meets weights of 8 bits
  using CodeNumber = std::int8_t;  ///< what meets codes
  [[gnu::always_inline]] static Ints<Isa> finish(Ints<Isa> sum) noexcept { return sum; }
};

}  // namespace qkv::kernels
