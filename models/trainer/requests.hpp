// What a request to the trainer says of a model and of how to train it, from JSON.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "qkv/train/language_model.hpp"
#include "qkv/train/seq2seq.hpp"

namespace qkv::program {

using Json = nlohmann::json;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(const Status& status) {
  if (!status.ok()) {
    throw Refused(status.message());
  }
}

/// Takes every key out of `from` that it knows, so that what is left over can be refused.
class Fields {
 public:
  Fields(const char* name, Json from) : name_(name), from_(std::move(from)) {}
  ~Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  template <class T>
  void take(const char* key, T& to) {
    if (from_.contains(key)) {
      to = from_[key].get<T>();
      from_.erase(key);
    }
  }
  /// What may be left out; null leaves it out, too.
  template <class T>
  void take(const char* key, std::optional<T>& to) {
    if (const Json found = take(key); !found.is_null()) {
      to = found.get<T>();
    }
  }
  /// One of the names of an enumeration, in its order.
  template <class T>
  void take(const char* key, T& to, std::initializer_list<const char*> names) {
    if (!from_.contains(key)) {
      return;
    }
    const std::string name = from_[key];
    const auto* at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      throw Refused(std::string(key) + " is " + name + ", which is unknown");
    }
    to = static_cast<T>(at - names.begin());
    from_.erase(key);
  }
  Json take(const char* key) {
    Json found = from_.value(key, Json());
    from_.erase(key);
    return found;
  }
  void finish() const {
    if (!from_.empty()) {
      throw Refused(std::string(name_) + " has no " + from_.begin().key());
    }
  }

 private:
  const char* name_;
  Json from_;
};

inline RotaryScaling rotary_scaling(const Json& json) {
  RotaryScaling s;
  Fields fields("scaling", json);
  fields.take("type", s.type, {"none", "linear", "ntk", "yarn", "llama3"});
  fields.take("factor", s.factor);
  fields.take("originalLength", s.original_length);
  fields.take("betaFast", s.beta_fast);
  fields.take("betaSlow", s.beta_slow);
  fields.take("attentionFactor", s.attention_factor);
  fields.take("lowFrequencyFactor", s.low_frequency_factor);
  fields.take("highFrequencyFactor", s.high_frequency_factor);
  fields.finish();
  return s;
}

inline LanguageModelConfig language_model_config(const Json& json) {
  LanguageModelConfig c;
  Fields fields("config", json);
  fields.take("vocabulary", c.vocabulary);
  fields.take("numLayers", c.num_layers);
  fields.take("dModel", c.d_model);
  fields.take("numHeads", c.num_heads);
  fields.take("numKvHeads", c.num_kv_heads);
  fields.take("dK", c.d_k);
  fields.take("dFeedForward", c.d_feed_forward);
  fields.take("maxLength", c.max_length);
  fields.take("causal", c.causal);
  fields.take("norm", c.norm, {"pre", "post"});
  fields.take("normType", c.norm_type, {"layer", "rms"});
  fields.take("epsilon", c.epsilon);
  fields.take("activation", c.activation,
              {"relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu", "geglu_tanh"});
  fields.take("positions", c.positions, {"none", "learned", "sinusoidal", "rotary", "alibi"});
  if (const Json rotary = fields.take("rotary"); !rotary.is_null()) {
    Fields of_rotary("rotary", rotary);
    of_rotary.take("base", c.rotary.base);
    of_rotary.take("rotaryDim", c.rotary.rotary_dim);
    of_rotary.take("interleaved", c.rotary.interleaved);
    if (const Json scaling = of_rotary.take("scaling"); !scaling.is_null()) {
      c.rotary.scaling = rotary_scaling(scaling);
    }
    of_rotary.finish();
  }
  fields.take("qkNorm", c.qk_norm);
  fields.take("parallelResidual", c.parallel_residual);
  fields.take("tiedEmbeddings", c.tied_embeddings);
  fields.take("biases", c.biases);
  fields.take("embeddingScale", c.embedding_scale);
  fields.take("window", c.window);
  fields.take("attentionSoftcap", c.attention_softcap);
  fields.take("logitSoftcap", c.logit_softcap);
  fields.take("attentionScale", c.attention_scale);
  fields.take("qkvBiases", c.qkv_biases);
  fields.take("postNorms", c.post_norms);
  fields.take("tokenTypes", c.token_types);
  fields.take("embeddingNorm", c.embedding_norm);
  fields.take("head", c.head);
  fields.finish();
  return c;
}

inline train::TrainerOptions trainer_options(const Json& json) {
  train::TrainerOptions o;
  Fields fields("options", json);
  fields.take("seed", o.seed);
  const Json rate = fields.take("learningRate");
  if (rate.is_number()) {
    o.schedule.peak = rate.get<float>();
  } else if (!rate.is_null()) {
    Fields schedule("learningRate", rate);
    schedule.take("peak", o.schedule.peak);
    schedule.take("warmup", o.schedule.warmup);
    schedule.take("steps", o.schedule.steps);
    schedule.take("final", o.schedule.last);
    schedule.finish();
  }
  if (const Json betas = fields.take("betas"); !betas.is_null()) {
    o.beta1 = betas.at(0).get<float>();
    o.beta2 = betas.at(1).get<float>();
  }
  fields.take("epsilon", o.epsilon);
  fields.take("weightDecay", o.weight_decay);
  fields.take("clipNorm", o.clip_norm);
  fields.take("dropout", o.dropout);
  fields.take("deviation", o.deviation);
  fields.finish();
  return o;
}

inline train::Seq2SeqConfig seq2seq_config(const Json& json) {
  train::Seq2SeqConfig c;
  Fields fields("config", json);
  fields.take("kind", c.kind, {"gru", "gru_attention", "transformer"});
  fields.take("vocabulary", c.vocabulary);
  fields.take("dModel", c.d_model);
  fields.take("numHeads", c.num_heads);
  fields.take("numLayers", c.num_layers);
  fields.take("dFeedForward", c.d_feed_forward);
  fields.take("maxLength", c.max_length);
  fields.take("score", c.score, {"additive", "dot"});
  fields.finish();
  return c;
}

}  // namespace qkv::program
