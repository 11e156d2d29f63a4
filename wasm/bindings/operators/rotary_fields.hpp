// Rotary options, which operators, layers and models have.
#pragma once

#include "abi.hpp"

namespace qkv::wasm {

/// The rotary options of a call or a layer.
[[nodiscard]] RotaryOptions rotary_options(const RotaryFields& given) noexcept;

}  // namespace qkv::wasm
