// Gradients of the operators.
#include "attention_fields.hpp"
#include "operators/rotary_fields.hpp"
#include "qkv/train/activation.hpp"
#include "qkv/train/attention.hpp"
#include "qkv/train/embedding.hpp"
#include "qkv/train/linear.hpp"
#include "qkv/train/norm.hpp"
#include "qkv/train/softmax.hpp"
#include "support.hpp"

namespace qkv::wasm {

Status attentionBackward(const AttentionBackwardFields& given) noexcept {
  return train::attention_backward({.d_out = given.d_out.heads(given.num_heads),
                                    .q = given.q.heads(given.num_heads),
                                    .k = given.k.heads(given.num_kv_heads),
                                    .v = given.v.heads(given.num_kv_heads),
                                    .out = given.out.heads(given.num_heads),
                                    .lse = given.lse,
                                    .options = attention_options(given.options),
                                    .dq = given.dq.heads(given.num_heads),
                                    .dk = given.dk.heads(given.num_kv_heads),
                                    .dv = given.dv.heads(given.num_kv_heads),
                                    .d_bias = given.d_bias,
                                    .d_sinks = given.d_sinks},
                                   scratch());
}

Status linearBackward(const LinearBackwardFields& given) noexcept {
  return train::linear_backward({.d_out = given.d_out,
                                 .x = given.x,
                                 .w = given.w,
                                 .layout = given.layout,
                                 .dx = given.dx,
                                 .dw = given.dw,
                                 .d_bias = given.d_bias},
                                scratch());
}

Status softmaxBackward(const SoftmaxBackwardFields& given) noexcept {
  // [before, n, after] here, as in softmax().
  return train::softmax_backward(given.d_out, given.out, given.dx,
                                 {.axis = 1, .temperature = static_cast<float>(given.temperature)});
}

Status layerNormBackward(const LayerNormBackwardFields& given) noexcept {
  return train::layer_norm_backward({.d_out = given.d_out,
                                     .x = given.x,
                                     .gamma = given.gamma,
                                     .epsilon = static_cast<float>(given.epsilon),
                                     .dx = given.dx,
                                     .d_gamma = given.d_gamma,
                                     .d_beta = given.d_beta},
                                    scratch());
}

Status rmsNormBackward(const RmsNormBackwardFields& given) noexcept {
  return train::rms_norm_backward({.d_out = given.d_out,
                                   .x = given.x,
                                   .gamma = given.gamma,
                                   .epsilon = static_cast<float>(given.epsilon),
                                   .dx = given.dx,
                                   .d_gamma = given.d_gamma},
                                  scratch());
}

Status activationBackward(const ActivationBackwardFields& given) noexcept {
  return train::activate_backward(given.d_out, given.x, given.dx, given.activation);
}

Status gateBackward(const GateBackwardFields& given) noexcept {
  return train::gate_backward(
      {.d_out = given.d_out, .x = given.x, .y = given.gated, .dx = given.dx, .dy = given.dy},
      given.activation);
}

Status rotaryEmbeddingBackward(const RotaryEmbeddingBackwardFields& given) noexcept {
  return train::rotary_embedding_backward(given.d_out.heads(given.num_heads),
                                          given.dx.heads(given.num_heads),
                                          rotary_options(given.rotary), scratch());
}

Status embeddingBackward(const EmbeddingBackwardFields& given) noexcept {
  return train::embedding_backward(given.d_out, given.ids, given.d_table);
}

}  // namespace qkv::wasm
