// Which keys a query may read. Decided here and nowhere else, on positions and masks, never on values.
//
// These functions are no templates over an Isa, so they are static: every page compiles its own.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/kernel_table.hpp"

namespace qkv::kernels {

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Keys [begin, end).
struct KeyRange {
  Index begin, end;
};

/// `n` brought into [least, most].
static constexpr Index clamp(std::int64_t n, Index least, Index most) noexcept {
  return n < least ? least : (n > most ? most : static_cast<Index>(n));
}

/// Keys that causality and the window leave to query i. Both ends grow with i.
static inline KeyRange key_range(const HeadArgs& args, Index i) noexcept {
  // In 64 bits: offsets and windows are not bounded by lengths.
  const std::int64_t p = i + args.offset;
  KeyRange range{0, args.tk};
  if (args.causal) {
    range.end = clamp(p + 1, 0, args.tk);
  }
  if (args.window_right >= 0) {
    range.end = clamp(p + args.window_right + 1, 0, range.end);
  }
  if (args.window_left >= 0) {
    range.begin = clamp(p - args.window_left, 0, range.end);
  }
  return range;
}

/// `range` within the block of `keys` keys at k0, counted from k0.
static inline KeyRange within_block(KeyRange range, Index k0, Index keys) noexcept {
  return {clamp(range.begin - k0, 0, keys), clamp(range.end - k0, 0, keys)};
}

static inline bool has_masks(const HeadArgs& args) noexcept {
  return args.mask || args.bias[0] || args.bias[1];
}

/// What is added to the score of (i, j): the sum of the biases, -inf when one of them or the mask
/// excludes the key. An infinite bias of the other sign cannot undo that.
static inline float bias_of(const HeadArgs& args, Index i, Index j) noexcept {
  if (args.mask && args.mask[i * args.mask_strides[0] + j * args.mask_strides[1]] == 0) {
    return kMinusInfinity;
  }
  float sum = 0.0F;
  for (int n = 0; n < 2; ++n) {
    if (args.bias[n]) {
      const float bias = args.bias[n][i * args.bias_strides[n][0] + j * args.bias_strides[n][1]];
      if (bias == kMinusInfinity) {
        return kMinusInfinity;
      }
      sum += bias;
    }
  }
  return sum;
}

/// Whether masks let query i read key j, which lies in key_range(i).
static inline bool unmasked(const HeadArgs& args, Index i, Index j) noexcept {
  return !has_masks(args) || bias_of(args, i, j) != kMinusInfinity;
}

/// Fills add[allowed] for query i and keys from k0, and says whether any of them may be read.
static inline bool fill_add(const HeadArgs& args, Index i, Index k0, KeyRange allowed,
                            float* add) noexcept {
  bool any = false;
  for (Index j = allowed.begin; j < allowed.end; ++j) {
    add[j] = bias_of(args, i, k0 + j);
    any |= add[j] != kMinusInfinity;
  }
  return any;
}

/// 24 random bits for (i, j) of this head: a pure function of the key, so neither tiles nor threads nor
/// the machine can change which weights are dropped. The mixing is the finaliser of SplitMix64
/// (Steele, Lea & Flood 2014).
static inline std::uint64_t mix_bits(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}
static inline std::uint32_t random_bits(std::uint64_t row_key, Index j) noexcept {
  return static_cast<std::uint32_t>(mix_bits(row_key + static_cast<std::uint64_t>(j)) >> 40);
}

/// Zeroes or scales weights p[0:keys] of query i.
static inline void drop_weights(const HeadArgs& args, Index i, Index k0, Index keys,
                                float* p) noexcept {
  if (args.drop_below == 0) {
    return;
  }
  const std::uint64_t row_key = mix_bits(args.dropout_key ^ static_cast<std::uint64_t>(i));
  for (Index j = 0; j < keys; ++j) {
    p[j] = random_bits(row_key, k0 + j) < args.drop_below ? 0.0F : p[j] * args.keep_factor;
  }
}

}  // namespace qkv::kernels
