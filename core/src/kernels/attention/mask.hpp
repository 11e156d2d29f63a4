// Which keys a query may read. Decided here and nowhere else, on positions and masks, never on values.
//
// These functions are no templates over an Isa, so they are static: every unit compiles its own.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/attention/args.hpp"

namespace qkv::kernels {

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
inline constexpr float kMostFinite = std::numeric_limits<float>::max();

/// Keys [begin, end).
struct KeyRange {
  Index begin, end;
};

/// `n` brought into [least, most].
static constexpr Index clamp(std::int64_t n, Index least, Index most) noexcept {
  return n < least ? least : (n > most ? most : static_cast<Index>(n));
}

/// Row r of a group.
static inline Row row_at(const GroupArgs& args, Index r) noexcept {
  return args.heads == 1 ? Row{0, r} : Row{r % args.heads, r / args.heads};
}

/// Where the piece of `row` begins, in a RowArray or a ScoreArray.
template <class Array>
static inline auto piece_of(const Array& array, Row row) noexcept {
  return array.data + row.head * array.head_stride + row.query * array.query_stride;
}

/// The element of a head, 0 without an array.
static inline float element_of(const float* array, Index head) noexcept {
  return array ? array[head] : 0.0F;
}

/// Keys that causality and the window leave to a query. Both ends grow with the query.
static inline KeyRange key_range(const GroupArgs& args, Index query) noexcept {
  const ReachArgs& reach = args.reach;
  // In 64 bits: offsets and windows are not bounded by lengths.
  const std::int64_t p = query + reach.offset;
  KeyRange range{0, args.keys.count};
  if (reach.causal) {
    range.end = clamp(p + 1, 0, args.keys.count);
  }
  if (reach.window_right >= 0) {
    range.end = clamp(p + reach.window_right + 1, 0, range.end);
  }
  if (reach.window_left >= 0) {
    range.begin = clamp(p - reach.window_left, 0, range.end);
  }
  return range;
}

/// `range` within the block of `keys` keys at k0, counted from k0.
static inline KeyRange within_block(KeyRange range, Index k0, Index keys) noexcept {
  return {clamp(range.begin - k0, 0, keys), clamp(range.end - k0, 0, keys)};
}

static inline bool has_masks(const GroupArgs& args) noexcept {
  return args.score.mask.data || args.score.bias[0].data || args.score.bias[1].data;
}

/// Whether something is added to products.
static inline bool has_sums(const GroupArgs& args) noexcept {
  return args.score.slopes || args.score.bias[0].data || args.score.bias[1].data;
}

/// Whether the temperature is so high that even the lowest float beside a small score has a weight.
static inline bool is_flat(const GroupArgs& args) noexcept {
  return args.score.inverse_temperature < 0x1p-100F;
}

/// The mask and the biases of one row, which each have an element for every key; null for none.
struct RowMasks {
  const std::uint8_t* mask;
  Index mask_stride;
  const float* bias[2];
  Index bias_stride[2];
};

static inline RowMasks masks_of(const GroupArgs& args, Row row) noexcept {
  const auto& mask = args.score.mask;
  const auto& [first, second] = args.score.bias;
  return {.mask = mask.data ? piece_of(mask, row) : nullptr,
          .mask_stride = mask.key_stride,
          .bias = {first.data ? piece_of(first, row) : nullptr,
                   second.data ? piece_of(second, row) : nullptr},
          .bias_stride = {first.key_stride, second.key_stride}};
}

/// Whether x is neither NaN nor infinite.
static inline bool is_finite_number(float x) noexcept {
  return x >= -kMostFinite && x <= kMostFinite;
}

/// a + b, brought into the range of float where both are finite: only what a mask or a bias says is -inf excludes a key,
/// not a sum that became it.
static inline float bounded_sum(float a, float b) noexcept {
  const float sum = a + b;
  if (is_finite_number(sum) || !is_finite_number(a) || !is_finite_number(b)) {
    return sum;
  }
  return sum > 0.0F ? kMostFinite : -kMostFinite;
}

/// What is added to the score of key j: the sum of the biases, -inf when one of them or the mask
/// excludes the key. An infinite bias of the other sign cannot undo that.
static inline float bias_of(const RowMasks& row, Index j) noexcept {
  if (row.mask && row.mask[j * row.mask_stride] == 0) {
    return kMinusInfinity;
  }
  float sum = 0.0F;
  for (int n = 0; n < 2; ++n) {
    if (row.bias[n]) {
      const float bias = row.bias[n][j * row.bias_stride[n]];
      if (bias == kMinusInfinity) {
        return kMinusInfinity;
      }
      sum = bounded_sum(sum, bias);
    }
  }
  return sum;
}

/// Whether masks let a row read key j, which lies in its key_range().
static inline bool unmasked(const RowMasks& row, Index j) noexcept {
  return bias_of(row, j) != kMinusInfinity;
}

/// How many of some keys may be read.
enum class Readable : std::uint8_t { kNone, kSome, kAll };

/// Of `count` elements of a mask, `stride` apart. Contiguous ones are looked at eight at a time, so that
/// finding out that a block of keys is excluded takes a hundredth of computing it.
static inline Readable readable_by_mask(const std::uint8_t* mask, Index stride,
                                        Index count) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kTops = 0x8080808080808080U;
  std::uint64_t any = 0;
  std::uint64_t zeros = 0;
  Index j = 0;
  for (; stride == 1 && j + 8 <= count; j += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, mask + j, 8);
    any |= word;
    zeros |= (word - kOnes) & ~word & kTops;  // not 0 exactly if one of the bytes is 0
  }
  for (; j < count; ++j) {
    const std::uint8_t one = mask[j * stride];
    any |= one;
    zeros |= one == 0 ? kTops : 0;
  }
  return any == 0 ? Readable::kNone : (zeros == 0 ? Readable::kAll : Readable::kSome);
}

static inline bool all_minus_infinity(const float* bias, Index stride, Index count) noexcept {
  for (Index j = 0; j < count; ++j) {
    if (bias[j * stride] != kMinusInfinity) {
      return false;
    }
  }
  return true;
}

/// Of keys [k0 + allowed), which lie in the row's key_range(). kSome may also be all or none of them: two
/// arrays that exclude every key only together are left to the scores.
static inline Readable readable_keys(const RowMasks& row, Index k0, KeyRange allowed) noexcept {
  const Index first = k0 + allowed.begin;
  const Index count = allowed.end - allowed.begin;
  Readable readable = count > 0 ? Readable::kAll : Readable::kNone;
  if (row.mask && count > 0) {
    readable = readable_by_mask(row.mask + first * row.mask_stride, row.mask_stride, count);
  }
  for (int n = 0; n < 2 && readable != Readable::kNone; ++n) {
    if (row.bias[n]) {
      const float* bias = row.bias[n] + first * row.bias_stride[n];
      readable =
          all_minus_infinity(bias, row.bias_stride[n], count) ? Readable::kNone : Readable::kSome;
    }
  }
  return readable;
}

/// Fills add[allowed] for a row and keys from k0, and says whether any of them may be read.
static inline bool fill_add(const RowMasks& row, Index k0, KeyRange allowed, float* add) noexcept {
  bool any = false;
  if (row.mask && row.mask_stride == 1 && !row.bias[0] && !row.bias[1]) {
    // By itself, because compilers make vectors of it.
    for (Index j = allowed.begin; j < allowed.end; ++j) {
      const bool readable = row.mask[k0 + j] != 0;
      add[j] = readable ? 0.0F : kMinusInfinity;
      any |= readable;
    }
    return any;
  }
  const int one = row.bias[0] ? 0 : 1;
  if (!row.mask && !row.bias[1 - one]) {
    // Likewise.
    const float* bias = row.bias[one] + k0 * row.bias_stride[one];
    for (Index j = allowed.begin; j < allowed.end; ++j) {
      add[j] = bias[j * row.bias_stride[one]];
      any |= add[j] != kMinusInfinity;
    }
    return any;
  }
  for (Index j = allowed.begin; j < allowed.end; ++j) {
    add[j] = bias_of(row, k0 + j);
    any |= add[j] != kMinusInfinity;
  }
  return any;
}

}  // namespace qkv::kernels
