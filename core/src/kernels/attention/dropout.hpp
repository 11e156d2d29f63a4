// Which weights of attention are dropped: a function of the seed, the head, the query and the key alone.
//
// These functions are no templates over an Isa, so they are static: every unit compiles its own.
#pragma once

#include <cstdint>

#include "kernels/attention/args.hpp"
#include "kernels/random.hpp"

namespace qkv::kernels {

/// Zeroes or scales weights p[0:keys] of a row.
static inline void drop_weights(const DropoutArgs& dropout, Row row, Index k0, Index keys,
                                float* p) noexcept {
  if (dropout.below == 0) {
    return;
  }
  const auto head = static_cast<std::uint64_t>(dropout.first_head + row.head);
  const std::uint64_t head_key = mix_bits(dropout.key + head);
  const std::uint64_t row_key = mix_bits(head_key ^ static_cast<std::uint64_t>(row.query));
  for (Index j = 0; j < keys; ++j) {
    p[j] = random_bits(row_key, k0 + j) < dropout.below ? 0.0F : p[j] * dropout.keep_factor;
  }
}

}  // namespace qkv::kernels
