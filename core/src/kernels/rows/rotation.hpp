// Plain loops over pairs that are turned in their planes. Compiled in an ISA unit, so that the compiler
// makes vectors of that width of them; nothing in them depends on the width.
#pragma once

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace qkv::kernels {

/// Rows of sines and cosines: the anchor's rotation turned by each row's step.
template <class Isa>
void sinusoid_rows(const SinusoidArgs& args) noexcept {
  constexpr Index kPairs = SinusoidArgs::kPairs;
  const bool whole = args.sines == kPairs && args.cosines == kPairs;
  const double* const anchor_sine = args.anchor.sine;
  const double* const anchor_cosine = args.anchor.cosine;
  for (Index r = 0; r < args.rows; ++r) {
    const double* const step_sine = args.steps[r].sine;
    const double* const step_cosine = args.steps[r].cosine;
    float sine[kPairs];
    float cosine[kPairs];
    for (Index i = 0; i < kPairs; ++i) {
      const double a = anchor_sine[i] * step_cosine[i] + anchor_cosine[i] * step_sine[i];
      const double b = anchor_cosine[i] * step_cosine[i] - anchor_sine[i] * step_sine[i];
      sine[i] = static_cast<float>(a);
      cosine[i] = static_cast<float>(b);
    }
    float* const to_sine = args.sine + r * args.stride;
    float* const to_cosine = args.cosine + r * args.stride;
    if (whole && args.spread == 2) {
      for (Index i = 0; i < kPairs; ++i) {
        to_sine[2 * i] = sine[i];
        to_sine[2 * i + 1] = cosine[i];
      }
      continue;
    }
    for (Index i = 0; i < args.sines; ++i) {
      to_sine[i * args.spread] = sine[i];
    }
    for (Index i = 0; i < args.cosines; ++i) {
      to_cosine[i * args.spread] = cosine[i];
    }
  }
}

/// Pairs (x1[i], x2[i]) where they stand. The four arrays are apart.
template <class Isa>
inline void rotate_halves(float* __restrict x1, float* __restrict x2, const float* __restrict c,
                          const float* __restrict s, Index pairs) noexcept {
  for (Index i = 0; i < pairs; ++i) {
    const float a = x1[i];
    const float b = x2[i];
    x1[i] = c[i] * a - s[i] * b;
    x2[i] = s[i] * a + c[i] * b;
  }
}

template <class Isa>
inline void rotate_neighbours(float* __restrict x, const float* __restrict c,
                              const float* __restrict s, Index pairs) noexcept {
  for (Index i = 0; i < pairs; ++i) {
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    x[2 * i] = c[i] * a - s[i] * b;
    x[2 * i + 1] = s[i] * a + c[i] * b;
  }
}

/// Every token's row of a head, turned in place.
template <class Isa>
void rotate(const RotateArgs& args) noexcept {
  for (Index t = 0; t < args.tokens; ++t) {
    float* x = args.x + t * args.stride;
    const float* c = args.cos + t * args.pairs;
    const float* s = args.sin + t * args.pairs;
    args.interleaved ? rotate_neighbours<Isa>(x, c, s, args.pairs)
                     : rotate_halves<Isa>(x, x + args.pairs, c, s, args.pairs);
  }
}

}  // namespace qkv::kernels
