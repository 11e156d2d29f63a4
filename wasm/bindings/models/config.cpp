#include "models/config.hpp"

#include "operators/rotary_fields.hpp"
#include "support.hpp"

namespace qkv::wasm {

namespace {

RotaryOptions rotary_of(const ModelRotaryFields& given) noexcept {
  RotaryOptions options = rotary_options(given.rotary);
  if (given.llama3.given) {
    const Llama3ScalingFields& scaling = given.llama3.fields;
    options.scaling = {.type = RotaryScaling::Type::kLlama3,
                       .factor = scaling.factor,
                       .original_length = scaling.original_length,
                       .low_frequency_factor = scaling.low_frequency_factor,
                       .high_frequency_factor = scaling.high_frequency_factor};
  }
  if (const TensorView<const float> factors = given.factors; !factors.absent()) {
    options.scaling = {.type = RotaryScaling::Type::kFactors,
                       .attention_factor = given.factors_attention,
                       .factors = factors};
  }
  return options;
}

}  // namespace

LanguageModelConfig model_config(const ModelConfigFields& given) noexcept {
  return {.vocabulary = given.vocabulary,
          .num_layers = given.num_layers,
          .d_model = given.d_model,
          .num_heads = given.num_heads,
          .num_kv_heads = given.num_kv_heads,
          .d_k = given.d_k,
          .d_feed_forward = given.d_feed_forward,
          .max_length = given.max_length,
          .causal = given.causal,
          .norm = given.norm,
          .norm_type = given.norm_type,
          .epsilon = static_cast<float>(given.epsilon),
          .activation = given.activation,
          .positions = given.positions,
          .rotary = rotary_of(given.rotary),
          .qk_norm = given.qk_norm,
          .parallel_residual = given.parallel_residual,
          .tied_embeddings = given.tied_embeddings,
          .biases = given.biases,
          .embedding_scale = static_cast<float>(given.embedding_scale),
          .window = given.window,
          .attention_softcap = static_cast<float>(given.attention_softcap),
          .windows = given.windows,
          .attention_scale = given.attention_scale.get<float>(),
          .logit_softcap = static_cast<float>(given.logit_softcap),
          .qkv_biases = given.qkv_biases,
          .post_norms = given.post_norms,
          .token_types = given.token_types,
          .embedding_norm = given.embedding_norm,
          .head = given.head,
          .head_bias = given.head_bias,
          .qk_norm_of = given.qk_norm_of,
          .first_norm = given.first_norm,
          .symmetric_window = given.symmetric_window,
          .rotations = given.rotations,
          .second_rotary =
              given.second_rotary.given ? rotary_of(given.second_rotary.fields) : RotaryOptions{},
          .relative_buckets = given.relative_buckets,
          .relative_max_distance = given.relative_max_distance,
          .encoder_layers = given.encoder_layers,
          .num_experts = given.num_experts,
          .experts_per_token = given.experts_per_token,
          .normalized_experts = given.normalized_experts,
          .head_transform = given.head_transform,
          .head_norm = given.head_norm,
          .classes = given.classes,
          .head_pooling = given.head_pooling};
}

}  // namespace qkv::wasm
