#include "config_refusals.hpp"

#include "qkv/positional.hpp"

namespace qkv::test {

std::span<const ConfigRefusal> config_refusals() {
  static const ConfigRefusal rows[] = {
      {[](auto& c) { c.vocabulary = 0; }, {kRange, "vocabulary", "is 0", "at least 1"}},
      {[](auto& c) { c.num_layers = 0; }, {kRange, "num_layers", "is 0", "at least 1"}},
      {[](auto& c) { c.d_model = -1; }, {kRange, "d_model", "is -1", "at least 1"}},
      {[](auto& c) { c.num_heads = 0; }, {kRange, "num_heads", "is 0", "at least 1"}},
      {[](auto& c) { c.num_kv_heads = 3; },
       {kRange, "num_kv_heads", "is 3", "a divisor of num_heads = 4"}},
      {[](auto& c) {
         c.d_k = 0;
         c.d_model = 65;
       },
       {kRange, "d_model", "is 65", "a multiple of num_heads = 4"}},
      {[](auto& c) { c.d_k = -2; }, {kRange, "d_k", "is -2", "at least 1"}},
      {[](auto& c) { c.d_k = 5; }, {kRange, "rotary.rotary_dim", "5", "even"}},
      {[](auto& c) { c.d_feed_forward = -1; }, {kRange, "d_feed_forward", "is -1", "at least 0"}},
      {[](auto& c) { c.max_length = 0; }, {kRange, "max_length", "is 0", "at least 1"}},
      {[](auto& c) { c.max_length = kMaxPosition + 1; },
       {kRange, "max_length", "is 1048577", "at most 1048576"}},
      {[](auto& c) { c.norm = static_cast<NormPlacement>(3); },
       {kInvalid, "norm", "is 3", "0 to 2"}},
      {[](auto& c) { c.norm_type = static_cast<NormType>(9); },
       {kInvalid, "norm_type", "is 9", "0 to 1"}},
      {[](auto& c) { c.activation = static_cast<ModelActivation>(8); },
       {kInvalid, "activation", "is 8", "0 to 7"}},
      {[](auto& c) { c.positions = static_cast<ModelPositions>(5); },
       {kInvalid, "positions", "is 5", "0 to 4"}},
      {[](auto& c) {
         c.norm = NormPlacement::kPost;
         c.post_norms = false;
         c.parallel_residual = true;
       },
       {kInvalid, "parallel_residual", "is true", "false"}},
      {[](auto& c) { c.rotary.offset = 1; }, {kInvalid, "rotary", "has an offset", "base"}},
      {[](auto& c) { c.rotary.base = 0.5; }, {kInvalid, "rotary.base", "0.5", "at least 1"}},
      {[](auto& c) { c.epsilon = -1.0F; }, {kInvalid, "epsilon", "is -1", "finite"}},
      {[](auto& c) { c.window = -2; }, {kRange, "window", "is -2", "at least -1"}},
      {[](auto& c) { c.embedding_scale = 0.0F; },
       {kRange, "embedding_scale", "is 0", "other than 0"}},
      {[](auto& c) { c.attention_softcap = -1.0F; },
       {kRange, "attention_softcap", "is -1", "at least 0"}},
  };
  return rows;
}

}  // namespace qkv::test
