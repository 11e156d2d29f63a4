// What models are made of, as they and trainers read it.
#pragma once

#include <cstddef>
#include <cstring>

#include "abi.hpp"

namespace qkv::wasm {

[[nodiscard]] LanguageModelConfig model_config(const ModelConfigFields& given) noexcept;

/// Numbers of float64 for JavaScript, each in two words of the result.
template <std::size_t kCount>
void tell(const Array<float>& found, const double (&numbers)[kCount]) noexcept {
  std::memcpy(found.view().data, numbers, sizeof(numbers));
}

}  // namespace qkv::wasm
