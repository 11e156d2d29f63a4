// The families, each with what is its own.
#include <catch2/catch_test_macros.hpp>

#include "language_model_problem.hpp"

namespace qkv::test {
namespace {

LanguageModelConfig base() {
  LanguageModelConfig c;
  c.vocabulary = 19;
  c.num_layers = 2;
  c.d_model = 24;
  c.num_heads = 4;
  c.d_feed_forward = 40;
  c.max_length = 48;
  return c;
}

LanguageModelConfig rms(ModelActivation activation = ModelActivation::kSwiglu) {
  LanguageModelConfig c = base();
  c.norm_type = NormType::kRms;
  c.activation = activation;
  c.positions = ModelPositions::kRotary;
  c.epsilon = 1e-6F;
  return c;
}

LanguageModelConfig gpt2() {
  LanguageModelConfig c = base();
  c.activation = ModelActivation::kGeluTanh;
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig neox(bool interleaved) {
  LanguageModelConfig c = base();
  c.num_heads = 3;
  c.positions = ModelPositions::kRotary;
  c.rotary.rotary_dim = interleaved ? 6 : 2;
  c.rotary.interleaved = interleaved;
  c.parallel_residual = true;
  return c;
}

LanguageModelConfig llama3() {
  LanguageModelConfig c = rms();
  c.num_kv_heads = 1;
  c.rotary.base = 500000;
  c.rotary.scaling = {.type = RotaryScaling::Type::kLlama3, .factor = 8, .original_length = 64};
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig qwen3() {
  LanguageModelConfig c = rms();
  c.num_kv_heads = 2;
  c.d_k = 10;
  c.qk_norm = true;
  c.rotary.base = 1e6;
  return c;
}

LanguageModelConfig gemma() {
  LanguageModelConfig c = rms(ModelActivation::kGegluTanh);
  c.num_kv_heads = 1;
  c.d_k = 8;
  c.embedding_scale = 4.89898F;
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig gemma2() {
  static const std::vector<std::int32_t> windows = {3, -1, 4};
  LanguageModelConfig c = gemma();
  c.num_layers = 3;
  c.d_model = 64;
  c.d_feed_forward = 96;
  c.num_kv_heads = 2;
  c.attention_scale = 0.25F;
  c.attention_softcap = 5.0F;
  c.logit_softcap = 3.0F;
  c.windows = {windows.data(), {3}};
  c.post_norms = true;
  return c;
}

LanguageModelConfig bert() {
  LanguageModelConfig c = base();
  c.causal = false;
  c.norm = NormPlacement::kPost;
  c.token_types = 2;
  c.embedding_norm = true;
  c.head = false;
  c.epsilon = 1e-12F;
  return c;
}

LanguageModelConfig masked_bert() {
  LanguageModelConfig c = bert();
  c.head = c.tied_embeddings = c.head_bias = c.head_norm = true;
  c.head_transform = HeadTransform::kGelu;
  return c;
}

LanguageModelConfig bloom() {
  LanguageModelConfig c = gpt2();
  c.num_heads = 6;
  c.positions = ModelPositions::kAlibi;
  c.embedding_norm = true;
  return c;
}

LanguageModelConfig sinusoidal() {
  LanguageModelConfig c = base();
  c.norm = NormPlacement::kPost;
  c.activation = ModelActivation::kRelu;
  c.positions = ModelPositions::kSinusoidal;
  c.embedding_scale = -2.0F;
  c.biases = false;
  c.norm_type = NormType::kRms;
  return c;
}

LanguageModelConfig masked() {
  LanguageModelConfig c = base();
  c.causal = false;
  c.positions = ModelPositions::kRotary;
  c.activation = ModelActivation::kGeglu;
  c.window = 5;
  c.tied_embeddings = true;
  return c;
}

LanguageModelConfig bare() {
  LanguageModelConfig c = base();
  c.d_feed_forward = 0;
  c.positions = ModelPositions::kNone;
  c.qk_norm = true;
  return c;
}

LanguageModelConfig phi() {
  LanguageModelConfig c = neox(false);
  c.head_bias = true;
  return c;
}

LanguageModelConfig nemotron() {
  LanguageModelConfig c = base();
  c.activation = ModelActivation::kRelu2;
  c.positions = ModelPositions::kRotary;
  return c;
}

LanguageModelConfig hunyuan() {
  LanguageModelConfig c = rms();
  c.num_kv_heads = 2;
  c.qk_norm = true;
  c.qk_norm_of = QkNorm::kRotated;
  return c;
}

LanguageModelConfig olmo2() {
  LanguageModelConfig c = rms();
  c.num_kv_heads = 2;
  c.norm = NormPlacement::kAfter;
  c.qk_norm = true;
  c.qk_norm_of = QkNorm::kWhole;
  return c;
}

LanguageModelConfig gemma3() {
  static const std::vector<std::int32_t> windows = {3, 3, -1, -1};
  static const std::vector<std::int32_t> rotations = {2, 2, 1, 0};
  LanguageModelConfig c = rms(ModelActivation::kGegluTanh);
  c.num_layers = 4;
  c.num_kv_heads = 2;
  c.qk_norm = true;
  c.post_norms = true;
  c.windows = {windows.data(), {4}};
  c.rotary.base = 1e6;
  c.rotary.scaling = {.type = RotaryScaling::Type::kLinear, .factor = 8};
  c.rotations = {rotations.data(), {4}};
  c.second_rotary.rotary_dim = 4;
  return c;
}

LanguageModelConfig phi3() {
  static const std::vector<float> factors = {1.0F, 1.5F, 4.0F};
  LanguageModelConfig c = rms();
  c.rotary.scaling = {.type = RotaryScaling::Type::kFactors,
                      .attention_factor = 1.25,
                      .factors = {factors.data(), {3}}};
  return c;
}

LanguageModelConfig modern_bert() {
  static const std::vector<std::int32_t> windows = {-1, 3};
  static const std::vector<std::int32_t> rotations = {1, 2};
  LanguageModelConfig c = base();
  c.biases = false;
  c.causal = c.head = c.first_norm = false;
  c.embedding_norm = c.symmetric_window = true;
  c.activation = ModelActivation::kGeglu;
  c.positions = ModelPositions::kRotary;
  c.rotary.base = 160000;
  c.windows = {windows.data(), {2}};
  c.rotations = {rotations.data(), {2}};
  return c;
}

LanguageModelConfig t5(bool causal) {
  LanguageModelConfig c = rms(ModelActivation::kRelu);
  c.positions = ModelPositions::kNone;
  c.causal = c.head = causal;
  c.attention_scale = 1.0F;
  c.relative_buckets = causal ? 6 : 8;
  c.relative_max_distance = 16;
  return c;
}

LanguageModelConfig experts(bool normalized) {
  LanguageModelConfig c = normalized ? base() : rms();
  c.num_experts = normalized ? 3 : 5;
  c.experts_per_token = 2;
  c.normalized_experts = normalized;
  return c;
}

}  // namespace

std::vector<Family> families() {
  LanguageModelConfig llama = rms();
  llama.num_kv_heads = 2;
  LanguageModelConfig mistral = llama;
  mistral.window = 3;
  LanguageModelConfig qwen2 = llama;
  qwen2.qkv_biases = true;
  LanguageModelConfig silu = base();
  silu.activation = ModelActivation::kSilu;
  silu.qkv_biases = false;
  return {{"gpt2", gpt2()},
          {"gpt-neox", neox(false)},
          {"gpt-j", neox(true)},
          {"llama", llama},
          {"llama3", llama3()},
          {"mistral", mistral},
          {"qwen2", qwen2},
          {"qwen3", qwen3()},
          {"gemma", gemma()},
          {"gemma2", gemma2()},
          {"bert", bert()},
          {"masked bert", masked_bert()},
          {"bloom", bloom()},
          {"sinusoidal", sinusoidal()},
          {"masked", masked()},
          {"bare", bare()},
          {"silu", silu},
          {"phi", phi()},
          {"nemotron", nemotron()},
          {"hunyuan", hunyuan()},
          {"olmo2", olmo2()},
          {"gemma3", gemma3()},
          {"phi3", phi3()},
          {"modern-bert", modern_bert()},
          {"t5", t5(false)},
          {"t5 decoder", t5(true)},
          {"experts", experts(false)},
          {"normalized experts", experts(true)}};
}

LanguageModelConfig family(const std::string& name) {
  for (const Family& f : families()) {
    if (f.name == name) {
      return f.config;
    }
  }
  FAIL("there is no family " << name);
  return {};
}

}  // namespace qkv::test
