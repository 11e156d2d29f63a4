// One number for many floats.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace qkv::test {

/// FNV-1a over the bits of floats.
class Hash {
 public:
  void add(const std::vector<float>& values) {
    for (float value : values) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      for (unsigned shift = 0; shift < 32; shift += 8) {
        hash_ = (hash_ ^ ((bits >> shift) & 0xFFU)) * 0x100000001B3U;
      }
    }
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

}  // namespace qkv::test
