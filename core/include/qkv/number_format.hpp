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
};

}  // namespace qkv
