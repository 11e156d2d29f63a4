// What feed-forward layers share: how many tokens they take at a time, and the kernel of an activation function in a table
// that has one for each, that of activate() or that of the gradients.
#pragma once

#include "qkv/activation.hpp"
#include "qkv/tensor_view.hpp"

namespace qkv {

/// The Activation of an enumeration of layers whose first values are these, in this order; of those that follow, which have a gate,
/// none.
template <class Of>
[[nodiscard]] constexpr Activation activation_of(Of activation) noexcept {
  constexpr auto kSame = [](Of a, Activation b) {
    return static_cast<int>(a) == static_cast<int>(b);
  };
  static_assert(kSame(Of::kRelu, Activation::kRelu) && kSame(Of::kGelu, Activation::kGelu) &&
                kSame(Of::kGeluTanh, Activation::kGeluTanh) && kSame(Of::kSilu, Activation::kSilu));
  return static_cast<Activation>(activation);
}

/// Tokens whose hidden layer a feed-forward layer holds at a time: whole register tiles for every instruction set, and few
/// enough for it to stay in the cache between the two products.
inline constexpr Index kHiddenTokens = 192;

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
