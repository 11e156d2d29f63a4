/// @file
/// How numbers lie in the files of models.
#pragma once

#include <cstdint>

namespace qkv {

/// How the elements of a tensor lie in a file, little-endian.
enum class NumberType : std::uint8_t {
  kF32,   ///< IEEE 754 binary32
  kF16,   ///< IEEE 754 binary16
  kBf16,  ///< the upper half of a binary32
  // NOLINTNEXTLINE(readability-identifier-naming): the name that it has in GGUF
  kQ8_0,  ///< GGUF's: blocks of a binary16 scale and 32 numbers of 8 bits; a row has whole blocks
  kInt8,  ///< numbers of 8 bits; the binary16 scale of each 32 of a row is in an array of its own
  // The other blocks of GGUF that are read: of 32 numbers, and from kQ2K on of 256, but for kIq4Nl. A row has whole blocks. Each
  // number is the float32 that ggml's dequantize_row_*() makes of it, in every bit.
  // NOLINTBEGIN(readability-identifier-naming): the names that they have in GGUF
  kQ4_0,  ///< d (q - 8)
  kQ4_1,  ///< d q + m
  kQ5_0,  ///< d (q - 16)
  kQ5_1,  ///< d q + m
  // NOLINTEND(readability-identifier-naming)
  kQ2K,    ///< d s q - dmin m, with s and m of 4 bits for each 16 numbers
  kQ3K,    ///< d s (q - 4), with s of 6 bits for each 16
  kQ4K,    ///< d s q - dmin m, with s and m of 6 bits for each 32
  kQ5K,    ///< the same with q of 5 bits
  kQ6K,    ///< d s (q - 32), with s of 8 bits for each 16
  kIq4Nl,  ///< d t[q], with a table of 16 numbers of 8 bits
  kIq4Xs,  ///< d s t[q], with s of 6 bits for each 32
};

}  // namespace qkv
