// A token's key or value on its way into the memory of a cache and back, in each format. Where a number lies is worked out once
// for a row, or for a panel's part of it.
#pragma once

#include <cstddef>

#include "attention/value_blocks.hpp"
#include "kernels/attention/int8_places.hpp"

namespace qkv {

/// Bytes of a row of so many numbers outside of a cache, in its format: numbers one after another, of 8 bits a scale (bfloat16)
/// before each group.
[[nodiscard]] Index saved_row_bytes(kernels::KeyFormat format, Index width) noexcept;
/// A row as float32 to such bytes and back. Numbers that a cache of the format gave keep their bits.
void save_row(kernels::KeyFormat format, Index width, const float* row, std::byte* to) noexcept;
void read_saved_row(kernels::KeyFormat format, Index width, const std::byte* from,
                    float* row) noexcept;

/// The rows of one key/value head of a cache.
struct CacheRows {
  kernels::KeyFormat format;
  Index panel, d_k, d_v;
  Index room;  ///< tokens that the blocks have room for

  /// Floats of so many keys and values.
  [[nodiscard]] Index key_floats(Index tokens) const noexcept {
    const Index panels = (tokens + panel - 1) / panel;
    switch (format) {
      case kernels::KeyFormat::kBf16:
        return panels * panel * d_k / 2;
      case kernels::KeyFormat::kInt8:
        return panels * kernels::int8_key_panel(d_k, panel);
      case kernels::KeyFormat::kF32:
        break;
    }
    return panels * panel * d_k;
  }
  [[nodiscard]] Index value_floats(Index tokens) const noexcept {
    switch (format) {
      case kernels::KeyFormat::kBf16:
        return blocks().width() * tokens / 2;
      case kernels::KeyFormat::kInt8:
        return (tokens + kernels::kKeyBlock - 1) / kernels::kKeyBlock * value_block();
      case kernels::KeyFormat::kF32:
        break;
    }
    return blocks().width() * tokens;
  }
  [[nodiscard]] ValueBlocks blocks() const noexcept { return {room, d_v, panel}; }

  /// Keys in `head`, token `at`.
  void write_key(float* head, Index at, const float* key) const noexcept;
  void read_key(const float* head, Index at, float* key) const noexcept;
  /// Values in `head`, likewise; what fills up the last panel becomes zeros. Those of float32 are written by pack_values().
  void write_value(float* head, Index at, const float* value) const noexcept;
  void read_value(const float* head, Index at, float* value) const noexcept;

 private:
  [[nodiscard]] Index value_block() const noexcept {
    return kernels::int8_value_block(d_v, blocks().width());
  }
};

}  // namespace qkv
