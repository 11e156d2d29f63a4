// Passes over contiguous elements by vectors, and the one way in which the last ones, which fill no vector, are done: in
// a block on the stack that goes through the same function.
#pragma once

#include "kernels/simd.hpp"

namespace qkv::kernels {

/// The elements of a vector, the first `count` of them from `x` and the rest `fill`.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> load_part(const float* x, Index count, float fill) noexcept {
  alignas(64) float block[kWidth<Isa>];
  for (Index i = 0; i < kWidth<Isa>; ++i) {
    block[i] = i < count ? x[i] : fill;
  }
  return Vec<Isa>::load_aligned(block);
}

/// The elements of a row of n from `first` on, at most a vector of them; the lanes after the last are 0.
template <class Isa>
[[gnu::always_inline]] inline Vec<Isa> load_within(const float* row, Index first,
                                                   Index n) noexcept {
  return first + kWidth<Isa> <= n ? Vec<Isa>::load_unaligned(row + first)
                                  : load_part<Isa>(row + first, n - first, 0.0F);
}

/// f(i, x[i...]) for every vector; the last is filled up with `fill`.
template <class Isa, class F>
[[gnu::always_inline]] inline void visit(const float* x, Index n, float fill, F f) noexcept {
  Index i = 0;
  for (; i + kWidth<Isa> <= n; i += kWidth<Isa>) {
    f(i, Vec<Isa>::load_unaligned(x + i));
  }
  if (i < n) {
    f(i, load_part<Isa>(x + i, n - i, fill));
  }
}

/// The same, and out[i...] becomes what f gives. out may be x.
template <class Isa, class F>
[[gnu::always_inline]] inline void transform(const float* x, float* out, Index n, float fill,
                                             F f) noexcept {
  using V = Vec<Isa>;
  Index i = 0;
  for (; i + kWidth<Isa> <= n; i += kWidth<Isa>) {
    const V y = f(i, V::load_unaligned(x + i));
    y.store_unaligned(out + i);
  }
  if (i < n) {
    alignas(64) float block[kWidth<Isa>];
    const V y = f(i, load_part<Isa>(x + i, n - i, fill));
    y.store_aligned(block);
    for (Index j = 0; i + j < n; ++j) {
      out[i + j] = block[j];
    }
  }
}

/// f(from, to) for every vector of the arrays: `from` is read from `in`, `to` is written to `out`, which may be arrays
/// of `in`. The last vector goes through blocks on the stack, filled up with zeros.
template <class Isa, int kIn, int kOut, class F>
[[gnu::always_inline]] inline void zip(const float* const (&in)[kIn], float* const (&out)[kOut],
                                       Index n, F f) noexcept {
  using V = Vec<Isa>;
  V from[kIn];
  V to[kOut];
  Index i = 0;
  for (; i + kWidth<Isa> <= n; i += kWidth<Isa>) {
    for (int a = 0; a < kIn; ++a) {
      from[a] = V::load_unaligned(in[a] + i);
    }
    f(from, to);
    for (int a = 0; a < kOut; ++a) {
      to[a].store_unaligned(out[a] + i);
    }
  }
  if (i == n) {
    return;
  }
  alignas(64) float block[kWidth<Isa>] = {};
  for (int a = 0; a < kIn; ++a) {
    for (Index j = 0; i + j < n; ++j) {
      block[j] = in[a][i + j];
    }
    from[a] = V::load_aligned(block);
  }
  f(from, to);
  for (int a = 0; a < kOut; ++a) {
    to[a].store_aligned(block);
    for (Index j = 0; i + j < n; ++j) {
      out[a][i + j] = block[j];
    }
  }
}

}  // namespace qkv::kernels
