// What everything that is made of a LanguageModelConfig refuses of it: models and trainers alike.
#pragma once

#include <span>

#include "qkv/language_model_config.hpp"
#include "refusal.hpp"

namespace qkv::test {

struct ConfigRefusal {
  Spoil<LanguageModelConfig&> spoil;
  Refusal refusal;
};
/// Of a config with 4 heads and rotary positions that is right.
std::span<const ConfigRefusal> config_refusals();

}  // namespace qkv::test
