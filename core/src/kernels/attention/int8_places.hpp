// How keys and values of 8 bits lie in a cache. Each of kCacheGroup numbers of a token's head, or of what is left of them, stands for
// itself times the group's scale, a bfloat16. Four numbers are in a word, so that shifts and masks make vectors of them.
//
// - Keys: panel after panel. In one, group after group: the scales of its keys in the order of half_column(), then words of four
//   numbers of each key.
// - Values: whole blocks of kKeyBlock rows. In one, the scales, group after group, of each a row; then panel after panel of columns
//   words of four rows.
#pragma once

#include "kernels/attention/args.hpp"
#include "kernels/product/panels.hpp"

namespace qkv::kernels {

inline constexpr Index kCacheGroup = 32;
inline constexpr Index kWordNumbers = 4;

static constexpr Index cache_groups(Index d) noexcept {
  return (d + kCacheGroup - 1) / kCacheGroup;
}

/// Words that hold the numbers of a key.
static constexpr Index key_words(Index d_k) noexcept {
  return (d_k + kWordNumbers - 1) / kWordNumbers;
}

/// Floats of a panel of keys, from its start to a group, and from there to the words.
static constexpr Index int8_key_panel(Index d_k, Index panel) noexcept {
  return cache_groups(d_k) * panel / 2 + key_words(d_k) * panel;
}
static constexpr Index int8_key_group(Index group, Index panel) noexcept {
  return group * (panel / 2 + kCacheGroup / kWordNumbers * panel);
}
static constexpr Index int8_key_words(Index panel) noexcept { return panel / 2; }

/// Floats of a block of values of `width` columns, whole panels of them, from its start to the words, and from there to a panel's.
static constexpr Index int8_value_words(Index d_v) noexcept {
  return cache_groups(d_v) * kKeyBlock / 2;
}
static constexpr Index int8_value_panel(Index panel) noexcept {
  return kKeyBlock / kWordNumbers * panel;
}
static constexpr Index int8_value_block(Index d_v, Index width) noexcept {
  return int8_value_words(d_v) + kKeyBlock / kWordNumbers * width;
}

}  // namespace qkv::kernels
