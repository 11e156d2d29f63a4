// Tiny language models of every family with random weights, filled, run, and held to the oracle.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "language_model_oracle.hpp"
#include "problem.hpp"
#include "qkv/language_model.hpp"
#include "random.hpp"

namespace qkv::test {

/// Two bytes as numbers, from the definitions of the formats.
double number_of_half(std::uint16_t bits);
double number_of_bfloat(std::uint16_t bits);
/// The nearest of the format, the even one of two.
std::uint16_t nearest_half(double x);
std::uint16_t nearest_bfloat(double x);

/// A block of at most 32 numbers as 8-bit ones: d round(w / d) with d = float16(max |w| / 127).
struct Int8Block {
  std::uint16_t scale = 0;
  std::vector<std::int8_t> numbers;
  [[nodiscard]] double number(std::size_t i) const { return number_of_half(scale) * numbers[i]; }
};
Int8Block int8_block(const std::vector<double>& w);

/// What an array keeps of `values`: a matrix [in, out], or with `by_rows` a table whose rows are inputs.
struct Matrix {
  std::vector<float> values;
  Index rows, columns;
};
std::vector<double> kept(const Matrix& m, WeightFormat format, bool by_rows);

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

/// What is asked of a pass.
struct ModelAsk {
  bool last = false;              ///< logits and hidden of the last tokens alone
  bool readings = false;          ///< everything of every layer
  Index row_begin = 0;            ///< of the weights that are read
  Index row_end = -1;             ///< likewise
  ModelSession* session = nullptr;
  std::vector<ModelHead> ablated = {};
};

/// What a pass wrote.
struct ModelResults {
  struct Layer {
    std::vector<float> weights, entropy, residual, logits;
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
};
ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask,
                 Workspace& workspace);
ModelResults run(const LanguageModel& model, const ModelTokens& tokens, const ModelAsk& ask = {});

/// What rounds on the way through a model.
struct Rounding {
  bool int8_activations = false;  ///< rows that enter maps are 8-bit numbers, too
  bool bf16_cache = false;        ///< keys and values are
};
/// How far results may be from the oracle's: 8 times the root of the mean square of what the oracle's results move by when
/// everything that rounds is moved at random, as far as its bound says: results of maps (qkv/linear.hpp), numbers of a block of 32
/// by half a step, stored numbers by half a step of bfloat16. Taken apart for what is compared.
struct ModelBounds {
  double logits = 0.0, hidden = 0.0, surprisal = 0.0;
  struct Layer {
    double weights, entropy, residual, logits;
  };
  std::vector<Layer> layers;
};

/// A model and what it should give for tokens.
class ModelCheck {
 public:
  ModelCheck(oracle::Model model, const ModelTokens& tokens, const Rounding& rounding = {},
             std::vector<ModelHead> ablated = {});
  /// Holds all that was asked to the oracle. Quantities are "<name> logits", ... and `first` is the first token that `found` is of.
  void compare(const std::string& name, const ModelResults& found, const ModelAsk& ask = {},
               Index first = 0, Index count = -1) const;

  std::vector<oracle::Trace> rows;
  ModelBounds bounds;

 private:
  void compare_layers(const std::string& name, const ModelResults& found, const ModelAsk& ask,
                      Index first, Index count) const;

  ModelTokens tokens_;
  std::vector<oracle::Rows> lenses_;  ///< of each row and layer: logits as if the stack ended there
  bool meaningful_;
};

}  // namespace qkv::test
