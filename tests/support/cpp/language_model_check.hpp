// What a language model should give for tokens, and how far from it a computed one may be.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "language_model_oracle.hpp"
#include "language_model_problem.hpp"

namespace qkv::test {

/// What rounds on the way through a model.
struct Rounding {
  bool int8_activations = false;  ///< rows that enter maps are 8-bit numbers, too
  bool bf16_cache = false;        ///< keys and values are
};
/// What moves the numbers of an oracle at random, as far as it rounds.
oracle::Model::Noise noise_of(const Rounding& rounding, Random& random);

/// How far results may be from the oracle's (qkv/language_model.hpp): three times the greatest of what the oracle's own results move by when
/// everything that rounds is moved at random, four times over, as far as its bound says, and the rounding of the result itself.
/// Taken apart for what is compared.
struct ModelBounds {
  double logits = 0.0, hidden = 0.0, surprisal = 0.0;
  struct Layer {
    double weights, entropy, residual, logits, q, k, v;
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
  void compare_heads(const std::string& name, const ModelResults& found, const ModelAsk& ask,
                     Index first, Index count) const;
  void compare_layers(const std::string& name, const ModelResults& found, const ModelAsk& ask,
                      Index first, Index count) const;

  ModelTokens tokens_;
  std::vector<oracle::Rows> lenses_;  ///< of each row and layer: logits as if the stack ended there
  bool meaningful_;
};

}  // namespace qkv::test
