// Rows of heads from where they were computed to where a caller wants them.
#pragma once

#include <cstring>

#include "qkv/tensor_view.hpp"

namespace qkv {

/// [B, H, T, d] to a view of the same shape, unless that is absent; both have a contiguous last axis.
inline void copy_heads(const TensorView<const float>& from, const TensorView<float>& to) noexcept {
  for (Index b = 0; !to.absent() && b < to.extent(0); ++b) {
    for (Index h = 0; h < to.extent(1); ++h) {
      for (Index t = 0; t < to.extent(2); ++t) {
        std::memcpy(to.at(b, h, t), from.at(b, h, t),
                    static_cast<std::size_t>(to.extent(3)) * sizeof(float));
      }
    }
  }
}

}  // namespace qkv
