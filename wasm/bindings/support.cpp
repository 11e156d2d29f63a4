#include "support.hpp"

namespace qkv::wasm {

Workspace& scratch() noexcept {
  static Workspace workspace;
  return workspace;
}

RotaryOptions read_rotary(const Descriptor& d) noexcept {
  RotaryOptions options;
  options.offset = whole(d.offset);
  options.positions = d.positions.view<const std::int32_t>();
  options.base = d.base;
  options.rotary_dim = whole(d.rotaryDim);
  options.interleaved = d.interleaved != 0;
  options.scaling.type = static_cast<RotaryScaling::Type>(whole(d.scaling));
  options.scaling.factor = d.factor;
  options.scaling.original_length = whole(d.originalLength);
  options.scaling.beta_fast = d.betaFast;
  options.scaling.beta_slow = d.betaSlow;
  if (d.hasAttentionFactor != 0) {
    options.scaling.attention_factor = d.attentionFactor;
  }
  options.cos = d.cos.view<const float>();
  options.sin = d.sin.view<const float>();
  return options;
}

}  // namespace qkv::wasm
