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

/// How an instruction set multiplies bytes. A step takes kGroup inputs of each column, whose weights lie side by side.
///
///     Weights, Factor          a step's weights of one of the panel's two vectors; its numbers of a row
///     load()                   the weights of both vectors
///     load_codes()             the codes of both in one, of which low() keeps those of the first vector and high(), where
///                              kWholeBytes is false, those of the second
///     unpack()                 the codes of both as the bytes that load() reads
///     factor()                 the numbers of a row
///     add(), add_codes()       add a step's products to sums
///     finish()                 makes sums of 32 bits of those that add_codes() has added to
///     pair()                   the numbers of two rows, where kRowPairs is true
///     add_pair(), split_pair() add their products to the four vectors of sums of both rows, in an order of its own; bring the
///                              sums into that of rows and columns
///     widen()                  a byte without a sign for each column, as 32 bits
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
