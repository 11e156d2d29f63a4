#include "models/kept_lists.hpp"

#include <cstring>

namespace qkv {

Status KeptLists::keep(LanguageModelConfig& config) noexcept {
  TensorView<const std::int32_t>* const lists[] = {&config.windows, &config.rotations};
  for (const TensorView<const std::int32_t>* list : lists) {
    for (Index n = 0; !list->absent() && n < config.num_layers; ++n) {
      QKV_RETURN_IF_ERROR(per_layer_.push(list->data[n]));
    }
  }
  const std::int32_t* kept = per_layer_.begin();  // once it moves no more
  for (TensorView<const std::int32_t>* list : lists) {
    if (!list->absent()) {
      *list = {kept, {config.num_layers}};
      kept += config.num_layers;
    }
  }
  return keep_factors(config);
}

Status KeptLists::keep_factors(LanguageModelConfig& config) noexcept {
  bool uses[] = {config.positions == ModelPositions::kRotary, false};
  for (Index n = 0; !config.rotations.absent() && n < config.num_layers; ++n) {
    uses[1] = uses[1] || config.rotations.data[n] == 2;
  }
  RotaryScaling* const scalings[] = {&config.rotary.scaling, &config.second_rotary.scaling};
  std::size_t count = 0;
  for (int i = 0; i < 2; ++i) {
    // What nobody has checked is nobody's either.
    TensorView<const float>& factors = scalings[i]->factors;
    if (!uses[i] || scalings[i]->type != RotaryScaling::Type::kFactors) {
      factors = {};
    }
    count += factors.absent() ? 0 : static_cast<std::size_t>(factors.size());
  }
  QKV_RETURN_IF_ERROR(rotary_factors_.reserve(count));
  float* to = rotary_factors_.data();
  for (RotaryScaling* scaling : scalings) {
    TensorView<const float>& factors = scaling->factors;
    if (!factors.absent()) {
      std::memcpy(to, factors.data, static_cast<std::size_t>(factors.size()) * sizeof(float));
      factors = {to, {factors.size()}};
      to += factors.size();
    }
  }
  return {};
}

}  // namespace qkv
