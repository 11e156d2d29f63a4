// Tiny language models of every family with random weights, filled and run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "language_model_oracle.hpp"
#include "model_numbers.hpp"
#include "problem.hpp"
#include "qkv/language_model.hpp"
#include "random.hpp"

namespace qkv::test {

struct Family {
  const char* name;
  LanguageModelConfig config;
};
/// One model of each family, 2 or 3 layers, at most 48 tokens.
std::vector<Family> families();
LanguageModelConfig family(const std::string& name);

/// An array that a config asks for.
struct ModelArrayOf {
  std::string name;
  std::vector<Index> shape;
};
/// All of them in their order, from the headers.
std::vector<ModelArrayOf> arrays_of(const LanguageModelConfig& config);

/// Random weights for a config: gains beside 1, biases and tables beside 0, maps that keep the size of what they map.
class ModelWeights {
 public:
  ModelWeights(const LanguageModelConfig& config, std::uint64_t seed);

  /// A model that is filled and finished.
  [[nodiscard]] LanguageModel make(WeightFormat format = WeightFormat::kF32) const;
  /// The same in double precision, of the numbers that such a model keeps.
  [[nodiscard]] oracle::Model exact(WeightFormat format = WeightFormat::kF32) const;
  [[nodiscard]] const LanguageModelConfig& config() const { return config_; }

  std::vector<ModelArrayOf> list;
  std::map<std::string, std::vector<float>> arrays;

 private:
  LanguageModelConfig config_;
};

/// Gives one array all its rows: float32, tables and maps as they are kept in ModelWeights.
Status fill_whole(LanguageModel& model, Index i, const std::vector<float>& values);

/// Rows of random tokens.
struct ModelTokens {
  ModelTokens(const LanguageModelConfig& config, Index batch, Index length, std::uint64_t seed);
  /// Of all rows, tokens [first, first + count).
  [[nodiscard]] ModelTokens part(Index first, Index count) const;
  [[nodiscard]] std::vector<std::int32_t> row(Index b) const {
    return {ids.begin() + b * length, ids.begin() + (b + 1) * length};
  }

  Index batch, length;
  std::vector<std::int32_t> ids, types, lengths;  ///< the last two may be empty
};

/// A head of a layer, both counted from 0.
struct ModelHead {
  Index layer = 0, head = 0;
};

/// Zeros in place of what a head mixes.
ModelEdit silenced(ModelHead head);

/// What is asked of a pass.
struct ModelAsk {
  bool last = false;      ///< logits and hidden of the last tokens alone
  bool readings = false;  ///< everything of every layer
  Index row_begin = 0;    ///< of the weights and queries that are read
  Index row_end = -1;     ///< likewise
  ModelSession* session = nullptr;
  std::vector<ModelHead> ablated = {};
};

/// What a pass wrote.
struct ModelResults {
  struct Layer {
    std::vector<float> weights, entropy, residual, logits, q, k, v;
  };
  std::vector<float> logits, hidden, surprisal;
  std::vector<Layer> layers;

  [[nodiscard]] std::vector<float> all() const { return joined({&logits, &hidden, &surprisal}); }
};

/// The arguments of a pass and all that they point to.
class ModelCall {
 public:
  ModelCall(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask = {});
  ModelCall(const ModelCall&) = delete;
  ModelCall& operator=(const ModelCall&) = delete;

  LanguageModel::ForwardArgs args;
  ModelTokens tokens;
  ModelAsk ask;
  ModelResults results;
  std::vector<ModelReading> readings;
  std::vector<ModelEdit> edits;  ///< one for each head that is ablated

  /// The reading of a site of a layer, which there must be.
  ModelReading& reading(ModelSite site, Index layer);
};
ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask,
                 Workspace& workspace);
ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask = {});

}  // namespace qkv::test
