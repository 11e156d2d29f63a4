// The kernel of an activation function in a table that has one for each: those of activate() and of the feed-forward
// layer, and those of the gradients.
#pragma once

#include "qkv/activation.hpp"
#include "qkv/language_model_config.hpp"

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

/// Whether it has a gate: those after the four without one.
[[nodiscard]] constexpr bool is_gated(ModelActivation activation) noexcept {
  static_assert(ModelActivation::kSwiglu > ModelActivation::kSilu &&
                ModelActivation::kGeglu > ModelActivation::kSwiglu &&
                ModelActivation::kGegluTanh > ModelActivation::kSwiglu);
  return activation >= ModelActivation::kSwiglu;
}

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
