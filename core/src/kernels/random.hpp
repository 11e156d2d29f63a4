// Random bits as a pure function of a key and a number, so that neither tiles nor threads nor the machine can change them.
//
// These functions are no templates over an Isa, so they are static: every unit compiles its own.
#pragma once

#include <cstdint>

namespace qkv::kernels {

/// 64 bits for z: the finaliser of SplitMix64 (Steele, Lea & Flood 2014).
static inline std::uint64_t mix_bits(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// 24 bits for number j of a row, whose key is made of other numbers by mix_bits().
static inline std::uint32_t random_bits(std::uint64_t row_key, std::int64_t j) noexcept {
  return static_cast<std::uint32_t>(mix_bits(row_key + static_cast<std::uint64_t>(j)) >> 40);
}

}  // namespace qkv::kernels
