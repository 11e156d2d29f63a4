// What attention() and the layers around it read in the same way.
#pragma once

#include "abi.hpp"

namespace qkv::wasm {

[[nodiscard]] inline AttentionOptions attention_options(
    const AttentionOptionsFields& given) noexcept {
  return {.scale = given.scale.get<float>(),
          .softcap = static_cast<float>(given.softcap),
          .temperature = static_cast<float>(given.temperature),
          .causal = given.causal,
          .causal_offset = given.causal_offset.get(),
          .causal_offsets = given.causal_offsets,
          .window_left = given.window_left,
          .window_right = given.window_right,
          .key_lengths = given.key_lengths,
          .mask = given.mask,
          .additive_mask = given.additive_mask,
          .bias = given.bias,
          .alibi_slopes = given.alibi_slopes,
          .sinks = given.sinks,
          .dropout = {.rate = static_cast<float>(given.dropout_rate),
                      .seed = static_cast<std::uint64_t>(given.dropout_seed)}};
}

[[nodiscard]] inline AttentionExtras attention_extras(const ExtrasFields& given) noexcept {
  return {.weights = given.weights,
          .logits = given.logits,
          .logit_stage = given.logit_stage,
          .row_begin = given.row_begin,
          .row_end = given.row_end,
          .lse = given.lse,
          .entropy = given.entropy};
}

}  // namespace qkv::wasm
