// Copies of the lists of a config, whose caller's may go.
#pragma once

#include <cstdint>

#include "base/list.hpp"
#include "qkv/language_model_config.hpp"
#include "qkv/status.hpp"
#include "qkv/workspace.hpp"

namespace qkv {

class KeptLists {
 public:
  /// Copies windows, rotations and factors of rotations, and points the config to the copies; only once.
  Status keep(LanguageModelConfig& config) noexcept;

 private:
  Status keep_factors(LanguageModelConfig& config) noexcept;

  List<std::int32_t> per_layer_;  ///< windows, rotations
  AlignedBuffer rotary_factors_;
};

}  // namespace qkv
