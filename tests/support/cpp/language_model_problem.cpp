#include "language_model_problem.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace qkv::test {
// ------------------------------------------------------------------------------------------- arrays

namespace {

/// Writes the list of arrays.
class Lister {
 public:
  explicit Lister(const LanguageModelConfig& config) : c_(config) {
    const bool layer_norm = c_.norm_type == NormType::kLayer;
    biases_ = c_.biases.value_or(layer_norm);
    betas_ = biases_ && layer_norm;
    qkv_biases_ = c_.qkv_biases.value_or(biases_);
  }

  std::vector<ModelArrayOf> list() {
    add("embedding", {c_.vocabulary, c_.d_model});
    if (c_.token_types > 0) {
      add("tokenTypes", {c_.token_types, c_.d_model});
    }
    if (c_.positions == ModelPositions::kLearned) {
      add("positions", {c_.max_length, c_.d_model});
    }
    if (c_.embedding_norm) {
      norm("embeddingNorm");
    }
    stack("", c_.num_layers, c_.encoder_layers > 0);
    if (c_.head_transform != HeadTransform::kNone) {
      map("headTransform.", "", c_.d_model, c_.d_model, biases_);
    }
    if (c_.head_norm) {
      norm("headTransform.norm");
    }
    const Index outputs = c_.classes > 0 ? c_.classes : c_.vocabulary;
    if (c_.head && !c_.tied_embeddings) {
      add("head", {c_.d_model, outputs});
    }
    if (c_.head_bias) {
      add("headBias", {outputs});
    }
    if (c_.encoder_layers > 0) {
      stack("encoder.", c_.encoder_layers, false);
    }
    return std::move(all_);
  }

 private:
  void add(const std::string& name, std::vector<Index> shape) {
    all_.push_back({name, std::move(shape)});
  }
  void norm(const std::string& at) {
    add(at + ".gamma", {c_.d_model});
    if (betas_) {
      add(at + ".beta", {c_.d_model});
    }
  }
  void map(const std::string& at, const std::string& name, Index in, Index out, bool bias) {
    add(at + "w" + name, {in, out});
    if (bias) {
      add(at + "b" + name, {out});
    }
  }
  void maps(const std::string& at, bool biases) {
    map(at, "1", c_.d_model, c_.d_feed_forward, biases);
    if (c_.activation >= ModelActivation::kSwiglu && c_.activation != ModelActivation::kRelu2) {
      map(at, "Gate", c_.d_model, c_.d_feed_forward, biases);
    }
    map(at, "2", c_.d_feed_forward, c_.d_model, biases);
  }
  void stack(const std::string& at, Index layers, bool crosses) {
    if (c_.relative_buckets > 0) {
      add(at + "relativeBias", {c_.relative_buckets, c_.num_heads});
    }
    for (Index n = 0; n < layers; ++n) {
      layer(at + "layers." + std::to_string(n) + ".", n > 0 || c_.first_norm, crosses);
    }
    if (c_.norm != NormPlacement::kPost) {
      norm(at + "norm");
    }
  }
  void layer(const std::string& at, bool first_norm, bool crosses) {
    const bool after = c_.norm == NormPlacement::kAfter;
    const Index d_k = c_.d_k == 0 ? c_.d_model / c_.num_heads : c_.d_k;
    const Index of_q = c_.num_heads * d_k;
    const Index of_kv = (c_.num_kv_heads == 0 ? c_.num_heads : c_.num_kv_heads) * d_k;
    const std::string attention = at + "attention.";
    if (!after && first_norm) {
      norm(at + "norm1");
    }
    map(attention, "q", c_.d_model, of_q, qkv_biases_);
    map(attention, "k", c_.d_model, of_kv, qkv_biases_);
    map(attention, "v", c_.d_model, of_kv, qkv_biases_);
    const bool whole = c_.qk_norm_of == QkNorm::kWhole;
    for (const std::string head : {"q", "k"}) {
      const Index width = whole ? (head == "q" ? of_q : of_kv) : d_k;
      if (c_.qk_norm) {
        add(attention + head + "Gamma", {width});
      }
      if (c_.qk_norm && betas_) {
        add(attention + head + "Beta", {width});
      }
    }
    map(attention, "o", of_q, c_.d_model, biases_);
    if (c_.post_norms || after) {
      norm(at + "postNorm1");
    }
    if (crosses) {
      const std::string cross = at + "cross.";
      norm(at + "normCross");
      map(cross, "q", c_.d_model, of_q, qkv_biases_);
      map(cross, "k", c_.d_model, of_kv, qkv_biases_);
      map(cross, "v", c_.d_model, of_kv, qkv_biases_);
      map(cross, "o", of_q, c_.d_model, biases_);
    }
    if (c_.d_feed_forward == 0) {
      return;
    }
    if (!after) {
      norm(at + "norm2");
    }
    if (c_.num_experts == 0) {
      maps(at + "feedForward.", biases_);
    } else {
      add(at + "feedForward.router", {c_.d_model, c_.num_experts});
    }
    for (Index e = 0; e < c_.num_experts; ++e) {
      maps(at + "feedForward.experts." + std::to_string(e) + ".", false);
    }
    if (c_.post_norms || after) {
      norm(at + "postNorm2");
    }
  }

  LanguageModelConfig c_;
  bool biases_, betas_, qkv_biases_;
  std::vector<ModelArrayOf> all_;
};

/// Whether an array is kept in the format of the weights, and if so, by rows.
bool is_formatted(const ModelArrayOf& array) {
  return array.shape.size() == 2 && array.name != "positions" && array.name != "tokenTypes" &&
         !array.name.ends_with("relativeBias") && !array.name.ends_with("router");
}

}  // namespace

std::vector<ModelArrayOf> arrays_of(const LanguageModelConfig& config) {
  return Lister(config).list();
}

ModelWeights::ModelWeights(const LanguageModelConfig& config, std::uint64_t seed)
    : list(arrays_of(config)), config_(config) {
  Random random(seed);
  for (const ModelArrayOf& array : list) {
    const bool matrix = array.shape.size() == 2;
    const Index count = array.shape[0] * (matrix ? array.shape[1] : 1);
    const bool table = array.name == "embedding" || (matrix && !is_formatted(array));
    const double limit = table    ? 1.0
                         : matrix ? 2.4 / std::sqrt(static_cast<double>(array.shape[0]))
                                  : 0.4;
    std::vector<float> values = random_floats(random, count, static_cast<float>(limit));
    const bool gain = array.name.ends_with("amma");
    for (float& x : values) {
      x += gain ? 1.0F : 0.0F;
    }
    arrays[array.name] = std::move(values);
  }
}

Status fill_whole(LanguageModel& model, Index i, const std::vector<float>& values) {
  const ModelArray array = model.array(i);
  const Index columns = array.shape[array.rank - 1];
  return model.fill(i, {.type = NumberType::kF32,
                        .data = values.data(),
                        .count = array.rank == 2 ? array.shape[0] : 1,
                        .row_bytes = columns * 4});
}

LanguageModel ModelWeights::make(WeightFormat format) const {
  LanguageModel model;
  require_ok(LanguageModel::create(config_, format, model));
  REQUIRE(model.array_count() == static_cast<Index>(list.size()));
  for (Index i = 0; i < model.array_count(); ++i) {
    require_ok(fill_whole(model, i, arrays.at(model.array(i).name)));
  }
  require_ok(model.finish());
  return model;
}

oracle::Model ModelWeights::exact(WeightFormat format) const {
  std::map<std::string, std::vector<double>> all;
  for (const ModelArrayOf& array : list) {
    const std::vector<float>& values = arrays.at(array.name);
    all[array.name] = is_formatted(array) ? kept({values, array.shape[0], array.shape[1]}, format,
                                                 array.name == "embedding")
                                          : std::vector<double>(values.begin(), values.end());
  }
  return {config_, std::move(all)};
}

// -------------------------------------------------------------------------------------------- calls

ModelTokens::ModelTokens(const LanguageModelConfig& config, Index b, Index n, std::uint64_t seed)
    : batch(b), length(n) {
  Random random(seed);
  for (Index i = 0; i < b * n; ++i) {
    ids.push_back(static_cast<std::int32_t>(random.below(config.vocabulary)));
    if (config.token_types > 0) {
      types.push_back(static_cast<std::int32_t>(random.below(config.token_types)));
    }
  }
}

ModelTokens ModelTokens::part(Index first, Index count) const {
  ModelTokens some = *this;
  some.length = count;
  some.ids.clear();
  some.types.clear();
  for (Index b = 0; b < batch; ++b) {
    const Index from = b * length + first;
    some.ids.insert(some.ids.end(), ids.begin() + from, ids.begin() + from + count);
    if (!types.empty()) {
      some.types.insert(some.types.end(), types.begin() + from, types.begin() + from + count);
    }
  }
  return some;
}

ModelCall::ModelCall(const LanguageModel& model, const ModelTokens& of, const ModelAsk& asked)
    : tokens(of), ask(asked) {
  const LanguageModelConfig& c = model.config();
  const Index b = tokens.batch;
  const Index t = tokens.length;
  const Index rows = ask.last ? 1 : t;
  args.ids = {tokens.ids.data(), {b, t}};
  if (!tokens.types.empty()) {
    args.token_types = {tokens.types.data(), {b, t}};
  }
  if (!tokens.lengths.empty()) {
    args.key_lengths = {tokens.lengths.data(), {b}};
  }
  const auto room = [](std::vector<float>& values, Index count) {
    values.assign(to_size(count), kUntouched);
    return values.data();
  };
  if (c.head) {
    args.logits = {room(results.logits, b * rows * c.vocabulary), {b, rows, c.vocabulary}};
  }
  if (c.head && t > 1 && !ask.last) {
    args.surprisal = {room(results.surprisal, b * (t - 1)), {b, t - 1}};
  }
  args.hidden = {room(results.hidden, b * rows * c.d_model), {b, rows, c.d_model}};
  args.session = ask.session;
  for (const ModelHead& head : ask.ablated) {
    edits.push_back(silenced(head));
  }
  args.edits = edits;
  results.layers.resize(ask.readings ? to_size(c.num_layers) : 0);
  for (Index n = 0; n < c.num_layers && ask.readings; ++n) {
    ModelResults::Layer& layer = results.layers[to_size(n)];
    const auto read = [&](ModelSite site, std::vector<float>& values, bool rows_of_ask) {
      ModelReading reading{.site = site, .layer = n};
      if (rows_of_ask) {
        reading.row_begin = ask.row_begin;
        reading.row_end = ask.row_end;
      }
      reading.to = model.reading_view(args, reading, nullptr);
      reading.to.data = room(values, reading.to.size());
      readings.push_back(reading);
    };
    read(ModelSite::kWeights, layer.weights, true);
    read(ModelSite::kEntropy, layer.entropy, false);
    read(ModelSite::kResidual, layer.residual, false);
    if (c.head) {
      read(ModelSite::kLogits, layer.logits, false);
    }
    read(ModelSite::kQ, layer.q, true);
    read(ModelSite::kK, layer.k, false);
    read(ModelSite::kV, layer.v, false);
  }
  args.readings = readings;
}

ModelReading& ModelCall::reading(ModelSite site, Index layer) {
  for (ModelReading& each : readings) {
    if (each.site == site && each.layer == layer) {
      return each;
    }
  }
  FAIL("the site is not read");
  return readings[0];
}

ModelEdit silenced(ModelHead head) {
  static const float zero = 0.0F;
  ModelEdit edit{.site = ModelSite::kZ, .layer = head.layer, .head = head.head};
  edit.scale = zero;
  return edit;
}

ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask,
                 Workspace& workspace) {
  ModelCall call(model, tokens, ask);
  require_ok(model.forward(call.args, workspace));
  return std::move(call.results);
}

ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask) {
  Workspace workspace;
  return run(model, tokens, ask, workspace);
}

}  // namespace qkv::test
