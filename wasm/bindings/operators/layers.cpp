// Linear maps, and layers that hold weights: multi-head attention and the transformer block.
#include "attention_fields.hpp"
#include "operators/rotary_fields.hpp"
#include "support.hpp"

namespace qkv::wasm {
namespace {

MultiHeadAttentionConfig config_of(const LayerConfigFields& given) noexcept {
  MultiHeadAttentionConfig config{.d_model = given.d_model,
                                  .num_heads = given.num_heads,
                                  .num_kv_heads = given.num_kv_heads,
                                  .d_k = given.d_k,
                                  .d_v = given.d_v,
                                  .d_context = given.d_context,
                                  .weight_layout = given.weight_layout,
                                  .rotary = {},
                                  .qk_norm = given.qk_norm.get(),
                                  .qk_epsilon = static_cast<float>(given.qk_epsilon)};
  if (given.rotary.given) {
    config.rotary = rotary_options(given.rotary.fields);
  }
  return config;
}

MultiHeadAttentionWeights weights_of(const LayerWeightsFields& given) noexcept {
  return {.wq = given.wq,
          .wk = given.wk,
          .wv = given.wv,
          .wqkv = given.wqkv,
          .wo = given.wo,
          .bq = given.bq,
          .bk = given.bk,
          .bv = given.bv,
          .bqkv = given.bqkv,
          .bo = given.bo,
          .q_gamma = given.q_gamma,
          .k_gamma = given.k_gamma,
          .q_beta = given.q_beta,
          .k_beta = given.k_beta};
}

LinearWeights weights_of(const LinearWeightsFields& given) noexcept {
  return {.w = given.w, .bias = given.bias, .layout = given.layout};
}

NormWeights weights_of(const NormWeightsFields& given) noexcept {
  return {.gamma = given.gamma, .beta = given.beta};
}

FeedForwardWeights weights_of(const FeedForwardWeightsFields& given) noexcept {
  return {.w1 = given.w1,
          .b1 = given.b1,
          .w2 = given.w2,
          .b2 = given.b2,
          .w_gate = given.w_gate,
          .b_gate = given.b_gate};
}

}  // namespace

Status linear(const LinearFields& given) noexcept {
  const LinearWeights weights = weights_of(given.weights);
  return qkv::linear({.x = given.x,
                      .w = weights.w,
                      .bias = weights.bias,
                      .out = given.out,
                      .layout = weights.layout},
                     scratch());
}

Status createLinear(const CreateLinearFields& given) noexcept {
  return make<Linear>(
      [&](Linear& map) noexcept { return Linear::create(weights_of(given.weights), map); });
}

Status forwardLinear(const ForwardLinearFields& given) noexcept {
  return given.layer->forward(given.x, given.out, scratch());
}

Status destroyLinear(const DestroyLinearFields& given) noexcept {
  return destroy<Linear>(given.object);
}

Status createLayer(const CreateLayerFields& given) noexcept {
  return make<MultiHeadAttention>([&](MultiHeadAttention& layer) noexcept {
    return MultiHeadAttention::create(config_of(given.config), weights_of(given.weights), layer);
  });
}

Status forwardLayer(const ForwardLayerFields& given) noexcept {
  return given.layer->forward({.x = given.x,
                               .context = given.context,
                               .y = given.y,
                               .options = attention_options(given.options),
                               .extras = attention_extras(given.extras),
                               .cache = given.cache},
                              scratch());
}

Status destroyLayer(const DestroyLayerFields& given) noexcept {
  return destroy<MultiHeadAttention>(given.object);
}

Status createBlock(const CreateBlockFields& given) noexcept {
  return make<TransformerBlock>([&](TransformerBlock& block) noexcept {
    return TransformerBlock::create({.attention = config_of(given.config),
                                     .d_feed_forward = given.d_feed_forward,
                                     .norm = given.norm,
                                     .norm_type = given.norm_type,
                                     .activation = given.activation,
                                     .cross_attention = given.cross_attention,
                                     .epsilon = static_cast<float>(given.epsilon)},
                                    {.attention = weights_of(given.attention),
                                     .cross = weights_of(given.cross),
                                     .norm1 = weights_of(given.norm1),
                                     .norm_cross = weights_of(given.norm_cross),
                                     .norm2 = weights_of(given.norm2),
                                     .feed_forward = weights_of(given.feed_forward)},
                                    block);
  });
}

Status forwardBlock(const ForwardBlockFields& given) noexcept {
  return given.block->forward({.x = given.x,
                               .context = given.context,
                               .y = given.y,
                               .options = attention_options(given.options),
                               .extras = attention_extras(given.extras),
                               .cache = given.cache,
                               .context_key_lengths = given.context_key_lengths},
                              scratch());
}

Status destroyBlock(const DestroyBlockFields& given) noexcept {
  return destroy<TransformerBlock>(given.object);
}

}  // namespace qkv::wasm
