// The kernel of an activation function in a table that has one for each: those of activate() and of the feed-forward
// layer, and those of the gradients.
#pragma once

#include "qkv/activation.hpp"

namespace qkv {

/// Null for a value from outside the enumeration.
template <class Table>
[[nodiscard]] auto activation_kernel(const Table& table, Activation activation) noexcept {
  switch (activation) {
    case Activation::kRelu:
      return table.relu;
    case Activation::kGelu:
      return table.gelu;
    case Activation::kGeluTanh:
      return table.gelu_tanh;
    case Activation::kSilu:
      return table.silu;
  }
  return decltype(table.relu){};
}

}  // namespace qkv
